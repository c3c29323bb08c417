"""What differs between two graphs, in the terms of a training script, the likeliest cause first.

A cause is recognized by what it leaves unchanged: another batch size changes data and activations but no weight, more
layers add weights of known shapes and matrix products, another optimizer adds arithmetic but no matrix product,
another learning rate changes one number and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from neuron_top.explain.kinds import Became, CauseCode, CauseKind, CauseValue, CauseValues
from neuron_top.explain.signature import GraphSignature, SignatureNode, products, same_weights
from neuron_top.explain.size_changes import Pair, meaning

_SHOWN = 4
_BY_ELEMENT = ("constant", "add", "mul", "div", "lerp", "power", "pow", "sub", "neg", "sign", "multiply", "subtract",
               "divide", "reciprocal", "sqrt", "maximum", "where", "foreach", "copy")  # fmt: skip
_COPIES = ("clone", "detach")
"""A first momentum is a copy of its gradient."""
_UPDATES = ("sqrt", "lerp", "sign", "copy_")
_UNEVEN = 0.2
"""How unevenly an update's operators may grow with its inputs: a step counter is there once."""
_SHORTEST = 3
_TO_PRINT = 4
"""Operators that a printed number takes: absolute, mean, conversion, copy."""
_CHANCE = 0.1
"""Share of the smaller graph that both may have in common at the other side, by chance."""
_SAME_RUN = 0.9
"""Share of the smaller graph that must stand in the same order: its last operators keep what the next graph needs."""


class Change(msgspec.Struct, frozen=True):
    """One difference. `score` orders causes, 0…1; it is no probability."""

    kind: CauseKind
    code: CauseCode
    score: float
    values: CauseValues = {}


def changes(before: GraphSignature, now: GraphSignature) -> tuple[Change, ...]:
    """What became of `before` in `now`, the likeliest cause first; empty when the two are the same."""
    found = [
        *_world(before, now),
        *_dtype(before, now),
        *_structure(before, now),
        *_shapes(before, now),
        *_constants(before, now),
        *_outputs(before, now),
    ]
    return tuple(sorted(found, key=lambda change: -change.score))


def _world(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    if before.groups != now.groups and (before.groups or now.groups):
        old, new = ("; ".join(one.groups[:_SHOWN]) for one in (before, now))
        yield Change(CauseKind.WORLD_SIZE, CauseCode.WORLD_SIZE, 0.95, {"before": old, "now": new})


def _dtype(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    old, new = _main_dtype(before), _main_dtype(now)
    if old != new and old and new:
        yield Change(CauseKind.DTYPE, CauseCode.DTYPE_OF_MOST, 0.93, {"before": old, "now": new})
        return
    moved = Counter(one.dtype for one in now.inputs) - Counter(one.dtype for one in before.inputs)
    same = Counter(one.dims for one in before.inputs) == Counter(one.dims for one in now.inputs)
    if same and moved:
        values: CauseValues = {"count": moved.total(), "dtypes": ", ".join(moved)}
        yield Change(CauseKind.DTYPE, CauseCode.DTYPE_OF_INPUTS, 0.9, values)


def _main_dtype(signature: GraphSignature) -> str:
    """The element type of most results of matrix products, else of most floating-point results."""
    for nodes in ([node for node in signature.nodes if products([node.name])], signature.nodes):
        found = Counter(array.dtype for node in nodes for array in node.arrays if array.floating)
        if found:
            return found.most_common(1)[0][0]
    return ""


def _structure(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    old, new = before.names, now.names
    added, removed = new - old, old - new
    if not added and not removed:
        if _order(before) != _order(now):
            yield Change(CauseKind.ORDER, CauseCode.ORDER, 0.5)
        yield from _inputs(before, now)
        return
    size = max(sum(old.values()), sum(new.values())) or 1
    part = (sum(added.values()) + sum(removed.values())) / size
    values: CauseValues = {"operators": _counts_text(added, removed)}
    if split := _split(before, now):
        yield split
    elif layers := _layers(before, now):
        yield layers
    elif _optimizer(before, now, added, removed):
        yield Change(CauseKind.OPTIMIZER, CauseCode.OPTIMIZER, 0.9, values)
    elif not removed or not added:
        code = CauseCode.MORE_OPERATORS if added else CauseCode.FEWER_OPERATORS
        yield Change(CauseKind.OPERATORS, code, 0.75 if part > 0.02 else 0.7, values)
    else:
        yield Change(CauseKind.OPERATORS, CauseCode.OTHER_OPERATORS, 0.72, values)


def _order(signature: GraphSignature) -> list[str]:
    return [node.name for node in signature.nodes]


def _inputs(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    """The same arithmetic on more or fewer arrays: one that stood for two is two now, or the other way round."""
    old, new = Counter(before.inputs), Counter(now.inputs)
    more, fewer = new - old, old - new
    if len(before.inputs) != len(now.inputs) and not (more and fewer):
        code, some = (CauseCode.MORE_INPUTS, more) if more else (CauseCode.FEWER_INPUTS, fewer)
        values: CauseValues = {"count": some.total(), "arrays": ", ".join(map(str, list(some)[:_SHOWN]))}
        yield Change(CauseKind.INPUTS, code, 0.77, values)


def _layers(before: GraphSignature, now: GraphSignature) -> Change | None:
    """Recognized by inputs: the weights of a layer came again (or went), and no weight of another shape is there.

    In an optimizer's graph, which has no matrix products, all arithmetic came again with them.
    """
    old, new = Counter(before.inputs), Counter(now.inputs)
    few, many = (old, new) if sum(old.values()) < sum(new.values()) else (new, old)
    if few == many or set(few) != set(many) or few - many:
        return None
    matrix = products(now.names.elements()) - products(before.names.elements())
    if not matrix and not _repeated(before, now):
        return None
    values: CauseValues = {"before": len(before.inputs), "now": len(now.inputs), "products": matrix}
    code = CauseCode.LAYERS if matrix else CauseCode.LAYERS_UPDATED
    return Change(CauseKind.LAYERS, code, 0.92, values)


def _repeated(before: GraphSignature, now: GraphSignature) -> bool:
    """Whether both do the same to each weight: every operator occurs so many times more as there are more inputs."""
    old, new = before.names, now.names
    share = len(now.inputs) / max(1, len(before.inputs))
    return set(old) == set(new) and all(abs(new[name] / count - share) < _UNEVEN * share for name, count in old.items())


def _split(before: GraphSignature, now: GraphSignature) -> Change | None:
    """Recognized by order: one graph is the beginning or the end of the other, and a matrix product or more is missing.

    Where layers came or went, the two have beginning and end in common.
    """
    small, large = sorted((_order(before), _order(now)), key=len)
    missing = len(large) - len(small)
    work = products(large) != products(small) or (_is_update_part(large[len(small) :]) and missing > len(small) / 4)
    if len(small) < _SHORTEST or missing < _SHORTEST or not work or not products(large):
        return None
    short, long = sorted((_run(small, large), _run(small[::-1], large[::-1])))
    if long < _SAME_RUN * len(small) or short > max(_SHORTEST, _CHANCE * len(small)):
        return None
    code = CauseCode.SPLIT if len(now.nodes) < len(before.nodes) else CauseCode.MERGED
    return Change(CauseKind.GRAPH_SPLIT, code, 0.93, {"before": len(before.nodes), "now": len(now.nodes)})


def _is_update_part(names: Sequence[str]) -> bool:
    """Whether these operators only combine arrays element by element, as an update does."""
    return sum(any(word in name for word in _BY_ELEMENT) for name in names) >= 0.6 * len(names)


def _only_updates(signature: GraphSignature) -> bool:
    """Whether a graph only updates weights: each comes with its gradient, and nothing is multiplied out."""
    arrays = Counter(one.dims for one in signature.inputs if one.floating and one.dims)
    names = [node.name for node in signature.nodes if not any(word in node.name for word in _COPIES)]
    return bool(arrays) and min(arrays.values()) > 1 and not products(names) and _is_update_part(names)


def _run(one: Sequence[str], other: Sequence[str]) -> int:
    """How many names both begin with."""
    for index, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return index
    return min(len(one), len(other))


def _optimizer(before: GraphSignature, now: GraphSignature, added: Counter[str], removed: Counter[str]) -> bool:
    """State of an optimizer is one more (or less) array of each weight's shape; its arithmetic is by element."""
    if same_weights(before, now):
        return True
    names = [*added, *removed]
    if _only_updates(before) and _only_updates(now):
        return _is_update_part(names)
    if products(before.names.elements()) != products(now.names.elements()):
        return False
    grown = len(before.inputs) != len(now.inputs)
    weights = sum(1 for one in before.inputs if one.floating)
    each = weights > 1 and all(count % weights == 0 for count in (added + removed).values())
    return _is_update_part(names) and (grown or each or any(word in name for word in _UPDATES for name in names))


def _counts_text(added: Counter[str], removed: Counter[str]) -> str:
    parts = [f"+{count} {name}" for name, count in added.most_common(_SHOWN)]
    parts += [f"-{count} {name}" for name, count in removed.most_common(_SHOWN)]
    return ", ".join(parts)


def _shapes(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    if Counter(before.inputs) == Counter(now.inputs) and _order(before) != _order(now):
        return  # the same arrays, used in another order
    if len(before.inputs) != len(now.inputs):
        yield from _data_alone(before, now)
        return
    pairs = [(old, new) for old, new in zip(before.inputs, now.inputs, strict=True) if old.dims != new.dims]
    if not pairs:
        if inner := _inner(before, now):
            values: CauseValues = {"operator": inner.name, "before": inner.before, "now": inner.now}
            yield Change(CauseKind.MODEL_SIZE, CauseCode.INNER_SHAPES, 0.85, values)
        return
    yield _sizes(before, now, pairs, 2)


def _data_alone(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    """Whole numbers are data whatever else came with them: of a loop that was unrolled, say, more results are kept."""
    old, new = ([one for one in signature.inputs if not one.floating and one.dims] for signature in (before, now))
    if len(old) != len(new):
        return
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a.dims != b.dims]
    if pairs:
        yield _sizes(before, now, pairs, 1)


def _sizes(before: GraphSignature, now: GraphSignature, pairs: Sequence[Pair], shown: int) -> Change:
    kind, code = meaning(before, now, pairs)
    return Change(kind, code, 0.94, {"examples": tuple(Became(str(old), str(new)) for old, new in pairs[:shown])})


def _inner(before: GraphSignature, now: GraphSignature) -> Became | None:
    if _order(before) != _order(now):
        return None
    for old, new in zip(before.nodes, now.nodes, strict=True):
        if len(old.arrays) == len(new.arrays) and [a.dims for a in old.arrays] != [a.dims for a in new.arrays]:
            return Became(_first(old), _first(new), old.name)
    return None


def _first(node: SignatureNode) -> str:
    return str(node.arrays[0]) if node.arrays else ""


def _constants(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    if len(before.nodes) != len(now.nodes):
        return
    found = []
    for old, new in zip(before.nodes, now.nodes, strict=True):
        if old.name != new.name or old.arrays != new.arrays:
            continue
        if old.detail != new.detail and not new.collective:
            found.append(Became(old.detail, new.detail, old.name))
    if found:
        values: CauseValues = {"count": len(found), "examples": tuple(dict.fromkeys(found))[:2]}
        yield Change(CauseKind.CONSTANT, CauseCode.CONSTANTS, 0.8, values)


def _outputs(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    more = len(now.outputs) - len(before.outputs)
    if more and before.outputs:
        values: dict[str, CauseValue] = {"count": abs(more)}
        code = CauseCode.MORE_RESULTS if more > 0 else CauseCode.FEWER_RESULTS
        if added := Counter(now.outputs) - Counter(before.outputs):
            values["example"] = str(next(iter(added)))
            code = CauseCode.MORE_RESULTS_LIKE if more > 0 else CauseCode.FEWER_RESULTS_LIKE
        # Where much else changed, results follow from that and explain nothing.
        yield Change(CauseKind.OUTPUT, code, 0.78 if _for_printing(before, now) else 0.68, values)


def _for_printing(before: GraphSignature, now: GraphSignature) -> bool:
    """Whether no more changed than it takes to print a number: a mean or a norm, and a copy."""
    small, large = sorted((before.names, now.names), key=Counter.total)
    more = large - small
    return not small - large and more.total() <= _TO_PRINT and not products(more)
