"""Which of a script's sizes changed: batch, length, or a size of the model, by the arrays that carry it.

Whole numbers are data; weights are distinguished from data of the same type by what became of the matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence

from neuron_top.explain.kinds import CauseCode, CauseKind
from neuron_top.explain.signature import Array, GraphSignature, products

Pair = tuple[Array, Array]


def meaning(before: GraphSignature, now: GraphSignature, pairs: Sequence[Pair]) -> tuple[CauseKind, CauseCode]:
    """Which of a script's sizes changed, by the inputs that carry it and by what became of the matrix products."""
    if any(len(old.dims) != len(new.dims) for old, new in pairs):
        return CauseKind.SHAPES, CauseCode.RANK_OF_INPUTS
    whole = [pair for pair in pairs if not pair[0].floating]
    if whole:  # token numbers, positions, masks: only data are whole numbers
        return _data(whole)
    tokens = any(len(one.dims) > 1 and not one.floating for one in before.inputs)
    if tokens or _weights(pairs) or _other_products(before, now) or _of_weights(_product_axes(before, now)):
        return _model(before, pairs)
    return _data(pairs)


def _other_products(before: GraphSignature, now: GraphSignature) -> bool:
    """Whether the numbers of a product changed, the stride of a convolution say: more data never change those."""
    old, new = ([(node.name, node.detail) for node in one.nodes if products([node.name])] for one in (before, now))
    return [name for name, _ in old] == [name for name, _ in new] and old != new


def _product_axes(before: GraphSignature, now: GraphSignature) -> list[tuple[int, tuple[int, ...]]] | None:
    """(dimensions, changed axes) of each matrix product's result; None where the two don't do the same."""
    old, new = ([node for node in one.nodes if products([node.name])] for one in (before, now))
    if not old or [node.name for node in old] != [node.name for node in new]:
        return None
    found = []
    for one, other in zip(old, new, strict=True):
        for a, b in zip(one.arrays, other.arrays, strict=False):
            if len(a.dims) == len(b.dims):
                found.append((len(a.dims), tuple(axis for axis, size in enumerate(a.dims) if size != b.dims[axis])))
    return found


def _of_weights(axes: Sequence[tuple[int, tuple[int, ...]]] | None) -> bool:
    """More data give larger results; weights of another size give results of another width, or the same results.

    A kernel of another size, say, changes no result, and more features of a sample are summed over.
    """
    if axes is None:
        return False
    if not any(changed for _, changed in axes):
        return True
    # The second of three axes is a length; of two it is a width, and of four (images) it counts channels.
    return any(count in (2, 4) and changed == (1,) for count, changed in axes)


def _weights(pairs: Sequence[Pair]) -> bool:
    """Whether weights are among what changed, in a graph whose data cannot be recognized by their type.

    Biases and norms have one dimension and never a batch's size; a batch never changes the last one of a matrix.
    """
    if any(len(old.dims) == 1 for old, _ in pairs):
        return True
    return all(len(old.dims) == 2 and old.dims[-1] != new.dims[-1] for old, new in pairs)


def _model(before: GraphSignature, pairs: Sequence[Pair]) -> tuple[CauseKind, CauseCode]:
    share = len(pairs) / max(1, sum(1 for one in before.inputs if one.floating))
    if share < 0.34 or len(pairs) <= 2:
        return CauseKind.MODEL_SIZE, CauseCode.SHAPES_OF_FEW_WEIGHTS
    return CauseKind.MODEL_SIZE, CauseCode.SHAPES_OF_WEIGHTS


def _data(pairs: Sequence[Pair]) -> tuple[CauseKind, CauseCode]:
    """By the axes that changed. Arrays of which one axis changed say most: a mask of pairs has two of one length."""
    axes = [_changed(old, new) for old, new in pairs]
    single = [(len(old.dims), one[0]) for one, (old, _) in zip(axes, pairs, strict=True) if len(one) == 1]
    # Rows of a matrix may be samples times tokens: where deeper arrays keep the two apart, those decide.
    alone = {axis for count, axis in single if count > 2} or {axis for count, axis in single if count == 2}
    deepest = max(len(old.dims) for old, _ in pairs)
    changed = alone or {
        axis for one, (old, _) in zip(axes, pairs, strict=True) if len(old.dims) == deepest for axis in one
    }
    if changed == {0}:
        return CauseKind.BATCH_SIZE, CauseCode.BATCH
    if 0 not in changed and deepest <= 3:
        return CauseKind.SEQUENCE_LENGTH, CauseCode.LENGTH
    if 0 not in changed:
        return CauseKind.SEQUENCE_LENGTH, CauseCode.LENGTH_OR_IMAGE
    return CauseKind.BATCH_SIZE, CauseCode.BATCH_AND_LENGTH


def _changed(old: Array, new: Array) -> tuple[int, ...]:
    return tuple(axis for axis, (a, b) in enumerate(zip(old.dims, new.dims, strict=True)) if a != b)
