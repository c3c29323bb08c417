"""What differs between two graphs, in the terms of a training script, the likeliest cause first.

A cause is recognized by what it leaves unchanged: another batch size changes data and activations but no weight, more
layers add weights of known shapes and matrix products, another optimizer adds arithmetic but no matrix product,
another learning rate changes one number and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from neuron_top.explain.kinds import CauseKind
from neuron_top.explain.signature import GraphSignature, SignatureNode, products, same_weights
from neuron_top.explain.size_changes import meaning

_SHOWN = 4
_NUMBERS = "learning rate, epsilon, dropout, a step counter"
_BRANCH = "a new branch, a tensor that is printed or logged, or a moved mark_step"
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
    text: str
    score: float


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
        old, new = ("; ".join(one.groups[:_SHOWN]) or "none" for one in (before, now))
        yield Change(CauseKind.WORLD_SIZE, f"another number of workers: replica groups {old} became {new}", 0.95)


def _dtype(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    old, new = _main_dtype(before), _main_dtype(now)
    if old != new and old and new:
        yield Change(
            CauseKind.DTYPE, f"most numbers were {old} and are {new} (autocast, model dtype, or --auto-cast)", 0.93
        )
        return
    moved = Counter(one.dtype for one in now.inputs) - Counter(one.dtype for one in before.inputs)
    same = Counter(one.dims for one in before.inputs) == Counter(one.dims for one in now.inputs)
    if same and moved:
        yield Change(CauseKind.DTYPE, f"{sum(moved.values())} input(s) are now {', '.join(moved)}", 0.9)


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
            text = "the same operators in another order: code was moved, or traced in another order"
            yield Change(CauseKind.ORDER, text, 0.5)
        yield from _inputs(before, now)
        return
    size = max(sum(old.values()), sum(new.values())) or 1
    part = (sum(added.values()) + sum(removed.values())) / size
    if cut := _split(before, now):
        yield Change(CauseKind.GRAPH_SPLIT, cut, 0.93)
    elif scaled := _layers(before, now):
        yield Change(CauseKind.LAYERS, scaled, 0.92)
    elif _optimizer(before, now, added, removed):
        yield Change(CauseKind.OPTIMIZER, f"another optimizer or update rule: {_counts_text(added, removed)}", 0.9)
    elif not removed or not added:
        word = "more" if added else "fewer"
        text = f"{word} operators: {_counts_text(added, removed)} ({_BRANCH})"
        yield Change(CauseKind.OPERATORS, text, 0.75 if part > 0.02 else 0.7)
    else:
        yield Change(
            CauseKind.OPERATORS, f"other operators: {_counts_text(added, removed)} (the model's code changed)", 0.72
        )


def _order(signature: GraphSignature) -> list[str]:
    return [node.name for node in signature.nodes]


def _inputs(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    """The same arithmetic on more or fewer arrays: one that stood for two is two now, or the other way round."""
    old, new = Counter(before.inputs), Counter(now.inputs)
    more, fewer = new - old, old - new
    if len(before.inputs) != len(now.inputs) and not (more and fewer):
        word, some = ("more", more) if more else ("fewer", fewer)
        text = f"{some.total()} {word} input(s) of the same operators: {', '.join(map(str, list(some)[:_SHOWN]))}"
        yield Change(
            CauseKind.INPUTS, f"{text} (weights tied or untied, or a value that is given instead of folded in)", 0.77
        )


def _layers(before: GraphSignature, now: GraphSignature) -> str:
    """Recognized by inputs: the weights of a layer came again (or went), and no weight of another shape is there.

    In an optimizer's graph, which has no matrix products, all arithmetic came again with them.
    """
    old, new = Counter(before.inputs), Counter(now.inputs)
    few, many = (old, new) if sum(old.values()) < sum(new.values()) else (new, old)
    if few == many or set(few) != set(many) or few - many:
        return ""
    matrix = products(now.names.elements()) - products(before.names.elements())
    if not matrix and not _repeated(before, now):
        return ""
    arithmetic = f"{matrix:+d} matrix products" if matrix else "the same arithmetic for each"
    grown = f"{len(before.inputs)} inputs became {len(now.inputs)}"
    return f"another number of layers: {grown}, {arithmetic}, no new shape of weight"


def _repeated(before: GraphSignature, now: GraphSignature) -> bool:
    """Whether both do the same to each weight: every operator occurs so many times more as there are more inputs."""
    old, new = before.names, now.names
    share = len(now.inputs) / max(1, len(before.inputs))
    return set(old) == set(new) and all(abs(new[name] / count - share) < _UNEVEN * share for name, count in old.items())


def _split(before: GraphSignature, now: GraphSignature) -> str:
    """Recognized by order: one graph is the beginning or the end of the other, and a matrix product or more is missing.

    Where layers came or went, the two have beginning and end in common.
    """
    small, large = sorted(([node.name for node in one.nodes] for one in (before, now)), key=len)
    missing = len(large) - len(small)
    work = products(large) != products(small) or (_is_update_part(large[len(small) :]) and missing > len(small) / 4)
    if len(small) < _SHORTEST or missing < _SHORTEST or not work or not products(large):
        return ""
    short, long = sorted((_run(small, large), _run(small[::-1], large[::-1])))
    if long < _SAME_RUN * len(small) or short > max(_SHORTEST, _CHANCE * len(small)):
        return ""
    smaller = len(now.nodes) < len(before.nodes)
    what = "a part of it became a graph of its own" if smaller else "two graphs became one"
    return f"{what}: a graph break or mark_step moved ({len(before.nodes)} operators, now {len(now.nodes)})"


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
    if _only_updates(before) and _only_updates(now):
        return _is_update_part([*added, *removed])
    if products(before.names.elements()) != products(now.names.elements()):
        return False
    names = [*added, *removed]
    plain = sum(any(word in name for word in _BY_ELEMENT) for name in names)
    grown = len(before.inputs) != len(now.inputs)
    weights = sum(1 for one in before.inputs if one.floating)
    each = weights > 1 and all(count % weights == 0 for count in (added + removed).values())
    return plain >= 0.6 * len(names) and (grown or each or any(word in name for word in _UPDATES for name in names))


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
        inner = _inner(before, now)
        if inner:
            yield Change(
                CauseKind.MODEL_SIZE, f"same inputs, other shapes inside: {inner} (heads, a reshape, a slice)", 0.85
            )
        return
    example = ", ".join(f"{old} became {new}" for old, new in pairs[:2])
    kind, what = meaning(before, now, pairs)
    yield Change(kind, f"{what}: {example}", 0.94)


def _data_alone(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    """Whole numbers are data whatever else came with them: of a loop that was unrolled, say, more results are kept."""
    old, new = ([one for one in signature.inputs if not one.floating and one.dims] for signature in (before, now))
    if len(old) != len(new):
        return
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a.dims != b.dims]
    if pairs:
        kind, what = meaning(before, now, pairs)
        yield Change(kind, f"{what}: {pairs[0][0]} became {pairs[0][1]}", 0.94)


def _inner(before: GraphSignature, now: GraphSignature) -> str:
    if _order(before) != _order(now):
        return ""
    for old, new in zip(before.nodes, now.nodes, strict=True):
        if len(old.arrays) == len(new.arrays) and [a.dims for a in old.arrays] != [a.dims for a in new.arrays]:
            return f"{old.name} {_first(old)} became {_first(new)}"
    return ""


def _first(node: SignatureNode) -> str:
    return str(node.arrays[0]) if node.arrays else "nothing"


def _constants(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    if len(before.nodes) != len(now.nodes):
        return
    found = []
    for old, new in zip(before.nodes, now.nodes, strict=True):
        if old.name != new.name or old.arrays != new.arrays:
            continue
        if old.detail != new.detail and not new.collective:
            found.append(f"{old.name}: {old.detail or 'nothing'} became {new.detail or 'nothing'}")
    if found:
        examples = "; ".join(list(dict.fromkeys(found))[:2])
        text = f"{len(found)} number(s) folded into the graph changed ({_NUMBERS}): {examples}"
        yield Change(CauseKind.CONSTANT, text, 0.8)


def _outputs(before: GraphSignature, now: GraphSignature) -> Iterator[Change]:
    more = len(now.outputs) - len(before.outputs)
    if more and before.outputs:
        what = "more" if more > 0 else "fewer"
        added = Counter(now.outputs) - Counter(before.outputs)
        example = f", {next(iter(added))} among them" if added else ""
        text = f"{abs(more)} {what} result(s){example}: a tensor that is printed, logged or kept, or a moved mark_step"
        # Where much else changed, results follow from that and explain nothing.
        yield Change(CauseKind.OUTPUT, text, 0.78 if _for_printing(before, now) else 0.68)


def _for_printing(before: GraphSignature, now: GraphSignature) -> bool:
    """Whether no more changed than it takes to print a number: a mean or a norm, and a copy."""
    small, large = sorted((before.names, now.names), key=Counter.total)
    more = large - small
    return not small - large and more.total() <= _TO_PRINT and not products(more)
