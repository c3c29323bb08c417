"""HLO modules of two jobs that shaped no rule: a decoder that serves (one token at a time, a cache of keys and values),
and a convolutional training step whose gradients go over all workers. Written by the tests' own wire-format writer;
they could not run, but have operators, shapes, constants, inputs and results where such graphs have them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tests.builders import F32, field, hlo, instruction, replica_groups, shape

S32, TUPLE = 4, 13


@dataclass(frozen=True)
class Inference:
    """A decoder at work."""

    batch: int = 1
    bucket: int = 128
    hidden: int = 256
    heads: int = 8
    layers: int = 12
    cores: int = 2
    vocabulary: int = 2000
    top: int = 50
    scale: float = 0.125
    dtype: int = F32
    logits: bool = False
    greedy: bool = False


@dataclass(frozen=True)
class Sharded:
    """A training step of a convolutional net on many workers."""

    batch: int = 4
    image: int = 32
    channels: int = 16
    depth: int = 3
    classes: int = 100
    workers: int = 8
    rate: float = 0.01
    lion: bool = False
    scattered: bool = False
    update: bool = True


class _Module:
    def __init__(self, dtype: int = F32) -> None:
        self.dtype = dtype
        self.made: list[bytes] = []
        self.shapes: dict[int, tuple[int, tuple[int, ...]]] = {}

    def add(
        self, opcode: str, dims: tuple[int, ...], *operands: int, dtype: int | None = None, extra: bytes = b""
    ) -> int:
        identity = len(self.made) + 1
        kind = self.dtype if dtype is None else dtype
        self.shapes[identity] = (kind, dims)
        self.made.append(instruction(identity, opcode, shape(kind, *dims), operands, extra))
        return identity

    def constant(self, value: float) -> int:
        literal = field(1, shape(F32)) + field(8, struct.pack("<f", value))
        return self.add("constant", (), dtype=F32, extra=field(8, literal))

    def over(self, opcode: str, dims: tuple[int, ...], operand: int, members: int) -> int:
        return self.add(opcode, dims, operand, extra=replica_groups(tuple(range(members))))

    def bytes(self, *results: int) -> bytes:
        parts = b"".join(field(4, shape(kind, *dims)) for kind, dims in (self.shapes[one] for one in results))
        self.made.append(instruction(len(self.made) + 1, "tuple", field(2, TUPLE) + parts, results))
        return hlo(self.made)


def inference(job: Inference) -> bytes:
    """The module of one decoding step."""
    module, own = _Module(job.dtype), job.hidden // job.cores
    token = module.add("parameter", (job.batch, 1), dtype=S32)
    place = module.add("parameter", (job.batch,), dtype=S32)
    mask = module.add("parameter", (job.batch, job.bucket), dtype=S32)
    value = module.add("gather", (job.batch, job.hidden), module.add("parameter", (job.vocabulary, job.hidden)), token)
    kept = []
    for _ in range(job.layers):
        value, caches = _decoded(module, job, own, value, place, mask)
        kept += caches
    logits = module.add(
        "dot", (job.batch, job.vocabulary), value, module.add("parameter", (job.hidden, job.vocabulary))
    )
    if job.greedy:
        chosen = module.add("reduce", (job.batch,), logits, dtype=S32)
    else:
        best = module.add("custom-call", (job.batch, job.top), logits, extra=field(28, b"AwsNeuronTopK"))
        chances = module.add(
            "divide", (job.batch, job.top), module.add("exponential", (job.batch, job.top), best), best
        )
        chosen = module.add("compare", (job.batch,), chances, module.add("parameter", (job.batch,)), dtype=S32)
    return module.bytes(chosen, *([logits] if job.logits else []), *kept)


def _decoded(module: _Module, job: Inference, own: int, value: int, place: int, mask: int) -> tuple[int, list[int]]:
    batch, hidden = job.batch, job.hidden
    heads = max(1, job.heads // job.cores)
    kept = []
    parts = []
    for _ in range(2):
        made = module.add("dot", (batch, own), value, module.add("parameter", (hidden, own)))
        old = module.add("parameter", (batch, heads, job.bucket, own // heads))
        whole = module.add("dynamic-update-slice", (batch, heads, job.bucket, own // heads), old, made, place)
        kept.append(whole)
        parts.append(whole)
    query = module.add("dot", (batch, own), value, module.add("parameter", (hidden, own)))
    scores = module.add("dot", (batch, heads, job.bucket), query, parts[0])
    scores = module.add("multiply", (batch, heads, job.bucket), scores, module.constant(job.scale))
    scores = module.add("select", (batch, heads, job.bucket), mask, scores, scores)
    mixed = module.add("dot", (batch, own), scores, parts[1])
    out = module.add("dot", (batch, hidden), mixed, module.add("parameter", (own, hidden)))
    value = module.add("add", (batch, hidden), value, module.over("all-reduce", (batch, hidden), out, job.cores))
    scaled = module.add("multiply", (batch, hidden), value, module.add("parameter", (hidden,)))
    wide = module.add("dot", (batch, 4 * own), scaled, module.add("parameter", (hidden, 4 * own)))
    wide = module.add("logistic", (batch, 4 * own), wide)
    out = module.add("dot", (batch, hidden), wide, module.add("parameter", (4 * own, hidden)))
    return module.add("add", (batch, hidden), value, module.over("all-reduce", (batch, hidden), out, job.cores)), kept


def sharded(job: Sharded) -> bytes:
    """The module of one training step."""
    module = _Module()
    value = module.add("parameter", (job.batch, 3, job.image, job.image))
    labels = module.add("parameter", (job.batch,), dtype=S32)
    weights, before = [], 3
    for _ in range(job.depth):
        weight = module.add("parameter", (job.channels, before, 3, 3))
        norm = module.add("parameter", (job.channels,))
        weights += [(weight, (job.channels, before, 3, 3)), (norm, (job.channels,))]
        dims = (job.batch, job.channels, job.image, job.image)
        value = module.add("multiply", dims, module.add("convolution", dims, value, weight), norm)
        value, before = module.add("maximum", dims, value, module.constant(0.0)), job.channels
    pooled = module.add("reduce", (job.batch, job.channels), value)
    last = module.add("parameter", (job.channels, job.classes))
    weights.append((last, (job.channels, job.classes)))
    logits = module.add("dot", (job.batch, job.classes), pooled, last)
    loss = module.add("reduce", (), module.add("log", (job.batch, job.classes), logits), labels)
    slopes = [_slope(module, job, weight, dims, loss) for weight, dims in weights]
    if not job.update:
        return module.bytes(loss, *slopes)
    made = [
        one
        for (weight, dims), slope in zip(weights, slopes, strict=True)
        for one in _updated(module, job, weight, dims, slope)
    ]
    return module.bytes(loss, *made)


def _slope(module: _Module, job: Sharded, weight: int, dims: tuple[int, ...], loss: int) -> int:
    opcode = {4: "convolution", 2: "dot", 1: "reduce"}[len(dims)]
    slope = module.add(opcode, dims, weight, loss)
    if not job.scattered:
        return module.over("all-reduce", dims, slope, job.workers)
    part = module.over("reduce-scatter", dims, slope, job.workers)
    return module.over("all-gather", dims, part, job.workers)


def _updated(module: _Module, job: Sharded, weight: int, dims: tuple[int, ...], slope: int) -> tuple[int, int]:
    moment = module.add("parameter", dims)
    held = module.add("multiply", dims, moment, module.constant(0.9))
    moment = module.add("add", dims, held, slope)
    step = module.add("sign", dims, moment) if job.lion else moment
    scaled = module.add("multiply", dims, step, module.constant(job.rate))
    return module.add("subtract", dims, weight, scaled), moment
