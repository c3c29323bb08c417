"""A training step of a small transformer as an HLO module, written by the tests' own wire-format writer.

It is no program that could run; it has the operators, shapes, constants and inputs in the places where a traced step
has them, and each of its sizes can be changed alone.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tests.builders import BF16, F32, field, hlo, instruction, replica_groups, shape

S64, TUPLE = 5, 13


@dataclass(frozen=True)
class Step:
    """What a training script chooses."""

    batch: int = 8
    sequence: int = 128
    hidden: int = 64
    heads: int = 4
    layers: int = 2
    vocabulary: int = 1000
    dtype: int = F32
    optimizer: str = "sgd"
    learning_rate: float = 1e-3
    epsilon: float = 1e-5
    weight_decay: float | None = None
    groups: tuple[tuple[int, ...], ...] = ((0, 1, 2, 3),)
    printed: int = 0
    clipping: bool = False
    activation: str = "maximum"
    labels: bool = True


class _Writer:
    def __init__(self, step: Step) -> None:
        self.step = step
        self.made: list[bytes] = []
        self.weights: list[tuple[int, tuple[int, ...]]] = []

    def add(
        self,
        opcode: str,
        dims: tuple[int, ...],
        operands: tuple[int, ...] = (),
        dtype: int | None = None,
        extra: bytes = b"",
    ) -> int:
        identity = len(self.made) + 1
        result = shape(self.step.dtype if dtype is None else dtype, *dims)
        self.made.append(instruction(identity, opcode, result, operands, extra))
        return identity

    def weight(self, *dims: int) -> int:
        identity = self.add("parameter", dims)
        self.weights.append((identity, dims))
        return identity

    def constant(self, value: float) -> int:
        literal = field(1, shape(F32)) + field(8, struct.pack("<f", value))
        return self.add("constant", (), dtype=F32, extra=field(8, literal))

    def module(self) -> bytes:
        step = self.step
        tokens = (step.batch, step.sequence)
        ids = self.add("parameter", tokens, dtype=S64)
        value = self.add("gather", (*tokens, step.hidden), (self.weight(step.vocabulary, step.hidden), ids))
        for _ in range(step.layers):
            value = self.layer(value)
        logits = self.add("dot", (*tokens, step.vocabulary), (value, self.weight(step.vocabulary, step.hidden)))
        loss = self.add("reduce", (), (logits, self.add("parameter", tokens, dtype=S64) if step.labels else logits))
        results = [loss, *[value] * step.printed, *(self.update(one, dims) for one, dims in tuple(self.weights))]
        parts = b"".join(field(4, shape(self.step.dtype)) for _ in results)
        self.made.append(instruction(len(self.made) + 1, "tuple", field(2, TUPLE) + parts, results))
        return hlo(self.made)

    def layer(self, value: int) -> int:
        step = self.step
        tokens, hidden = (step.batch, step.sequence), step.hidden
        for _ in range(3):
            value = self.add("dot", (*tokens, hidden), (value, self.weight(hidden, hidden)))
        split = (step.batch, step.heads, step.sequence, hidden // step.heads)
        value = self.add("transpose", split, (self.add("reshape", split, (value,)),))
        scores = self.add("dot", (step.batch, step.heads, step.sequence, step.sequence), (value, value))
        value = self.add("reshape", (*tokens, hidden), (self.add("dot", split, (scores, value)),))
        value = self.add("add", (*tokens, hidden), (value, self.constant(step.epsilon)))
        value = self.add(
            "multiply", (*tokens, hidden), (self.add("rsqrt", (*tokens, 1), (value,)), self.weight(hidden))
        )
        wide = self.add("dot", (*tokens, 4 * hidden), (value, self.weight(4 * hidden, hidden)))
        wide = self.add(step.activation, (*tokens, 4 * hidden), (wide,))
        return self.add("dot", (*tokens, hidden), (wide, self.weight(hidden, 4 * hidden)))

    def update(self, weight: int, dims: tuple[int, ...]) -> int:
        step = self.step
        gradient = self.add("dot", dims, (weight, weight)) if len(dims) > 1 else self.add("reduce", dims, (weight,))
        if len(step.groups[0]) > 1:
            gradient = self.add("all-reduce", dims, (gradient,), extra=replica_groups(*step.groups))
        if step.clipping:
            gradient = self.add("clamp", dims, (gradient,))
        if step.weight_decay is not None:
            decay = self.add("multiply", dims, (weight, self.constant(step.weight_decay)))
            gradient = self.add("add", dims, (gradient, decay))
        if step.optimizer == "adam":
            first, second = self.add("parameter", dims), self.add("parameter", dims)
            first = self.add("add", dims, (self.add("multiply", dims, (first, self.constant(0.9))), gradient))
            second = self.add("add", dims, (self.add("multiply", dims, (second, self.constant(0.999))), gradient))
            gradient = self.add("divide", dims, (first, self.add("sqrt", dims, (second,))))
        scaled = self.add("multiply", dims, (gradient, self.constant(step.learning_rate)))
        return self.add("subtract", dims, (weight, scaled))


def training_step(step: Step) -> bytes:
    """The module's bytes."""
    return _Writer(step).module()


def of_another_kind() -> bytes:
    """A graph that resembles no training step."""
    writer = _Writer(Step(dtype=BF16))
    value = writer.add("parameter", (3, 224, 224))
    for opcode in ("fft", "sort", "cholesky", "triangular-solve", "rng-bit-generator", "scatter"):
        for _ in range(20):
            value = writer.add(opcode, (3, 224, 224), (value,))
    return hlo(writer.made)
