"""Training jobs of five further kinds, traced by PyTorch, each choice changeable alone: the third unseen set's graphs.

A decoder with grouped queries and rotary positions, an LSTM, patches of an image with a class token, a network with
transposed convolutions and skips, a recommender, and a tensor-parallel layer with its collectives.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tests.explain import traced_graphs


@dataclass(frozen=True)
class Job:
    """What the user of a script chooses. `options`: further arguments of the optimizer."""

    model: str = "grouped"
    batch: int = 4
    length: int = 12
    """Tokens, pixels a side, or items to score."""
    width: int = 32
    depth: int = 2
    classes: int = 96
    heads: int = 4
    shared_heads: int = 2
    """Of keys and values."""
    patch: int = 8
    tied: bool = True
    base: float = 10_000.0
    """Of the rotary positions."""
    activation: str = "silu"
    extra_branch: bool = False
    bias: bool = True
    pooled: bool = False
    upsampled: bool = False
    workers: int = 2
    dropout: float = 0.0
    smoothing: float = 0.0
    accumulated: int = 1
    printed: bool = False
    dtype: torch.dtype = torch.float32
    norm_dtype: torch.dtype | None = None
    autocast: torch.dtype | None = None
    optimizer: str = "AdamW"
    rate: float = 1e-3
    options: tuple[tuple[str, Any], ...] = ()
    clipped: float = 0.0


class Grouped(nn.Module):
    """A decoder whose heads share keys and values, with rotary positions and a gated layer."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job, part = job, job.width // job.heads
        self.embedding = nn.Embedding(job.classes, job.width)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "before": nn.RMSNorm(job.width, eps=1e-6),
                    "query": nn.Linear(job.width, job.width, bias=False),
                    "key": nn.Linear(job.width, job.shared_heads * part, bias=False),
                    "value": nn.Linear(job.width, job.shared_heads * part, bias=False),
                    "out": nn.Linear(job.width, job.width, bias=False),
                    "between": nn.RMSNorm(job.width, eps=1e-6),
                    "gate": nn.Linear(job.width, 2 * job.width, bias=False),
                    "up": nn.Linear(job.width, 2 * job.width, bias=False),
                    "down": nn.Linear(2 * job.width, job.width, bias=False),
                }
            )
            for _ in range(job.depth)
        )
        self.last = nn.Linear(job.width, job.classes, bias=False)
        if job.tied:
            self.last.weight = self.embedding.weight

    def forward(self, tokens: Any) -> Any:
        """Logits."""
        job, value = self.job, self.embedding(tokens)
        for block in self.blocks:
            value = value + self._attended(block, _normed(block["before"], value))
            inner = _normed(block["between"], value)
            inner = getattr(functional, job.activation)(block["gate"](inner)) * block["up"](inner)
            value = value + functional.dropout(block["down"](inner), job.dropout)
            if job.extra_branch:
                value = torch.where(value.abs() > 10, value.tanh(), value)
        return self.last(value)

    def _attended(self, block: Any, value: Any) -> Any:
        job = self.job
        batch, length, width = value.shape
        shape = (batch, length, -1, width // job.heads)
        query, key, content = (block[name](value).view(shape).transpose(1, 2) for name in ("query", "key", "value"))
        query, key = (self._turned(one) for one in (query, key))
        key, content = (one.repeat_interleave(job.heads // job.shared_heads, dim=1) for one in (key, content))
        weights = functional.scaled_dot_product_attention(query, key, content, is_causal=True)
        return block["out"](weights.transpose(1, 2).reshape(batch, length, width))

    def _turned(self, value: Any) -> Any:
        half = value.shape[-1] // 2
        steps = torch.arange(half, dtype=torch.float32) / half
        angles = torch.arange(value.shape[-2], dtype=torch.float32)[:, None] * self.job.base**-steps
        sine, cosine = angles.sin().to(value.dtype), angles.cos().to(value.dtype)
        left, right = value[..., :half], value[..., half:]
        return torch.cat((left * cosine - right * sine, right * cosine + left * sine), -1)


class Lstm(nn.Module):
    """LSTM cells, unrolled over their tokens."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.embedding = nn.Embedding(job.classes, job.width)
        self.cells = nn.ModuleList(nn.LSTMCell(job.width, job.width, job.bias) for _ in range(job.depth))
        self.last = nn.Linear(job.width, job.classes)

    def forward(self, tokens: Any) -> Any:
        """Logits at each token."""
        value = self.embedding(tokens)
        zero = torch.zeros(tokens.shape[0], self.job.width)
        states, found = [(zero, zero) for _ in self.cells], []
        for place in range(tokens.shape[1]):
            given = value[:, place]
            for index, cell in enumerate(self.cells):
                states[index] = cell(given, states[index])
                given = states[index][0]
            found.append(given)
        return self.last(torch.stack(found, 1))


class Patches(nn.Module):
    """Patches of an image through an encoder."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job, count = job, (job.length // job.patch) ** 2
        self.cut = nn.Conv2d(3, job.width, job.patch, job.patch)
        self.token = nn.Parameter(torch.zeros(1, 1, job.width))
        self.places = nn.Parameter(torch.zeros(1, count + 1, job.width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(job.width, job.heads, 2 * job.width, job.dropout, batch_first=True)
            for _ in range(job.depth)
        )
        self.last = nn.Linear(job.width, job.classes)

    def forward(self, images: Any) -> Any:
        """Logits of each image."""
        value = self.cut(images).flatten(2).transpose(1, 2)
        value = torch.cat((self.token.expand(value.shape[0], -1, -1), value), 1) + self.places
        for layer in self.layers:
            value = layer(value)
        return self.last(value.mean(1) if self.job.pooled else value[:, 0])


class Skips(nn.Module):
    """Down, up again by transposed convolutions, with a skip at each level."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        sizes = [job.width * 2**level for level in range(job.depth + 1)]
        self.first = nn.Conv2d(3, sizes[0], 3, padding=1)
        self.down = nn.ModuleList(nn.Conv2d(a, b, 3, 2, 1) for a, b in itertools.pairwise(sizes))
        self.up = nn.ModuleList(
            nn.Conv2d(b, a, 3, padding=1) if job.upsampled else nn.ConvTranspose2d(b, a, 2, 2)
            for a, b in itertools.pairwise(sizes)
        )
        self.norms = nn.ModuleList(nn.GroupNorm(4, size) for size in sizes[1:])
        self.last = nn.Conv2d(sizes[0], job.classes, 1)

    def forward(self, images: Any) -> Any:
        """Logits of each pixel, classes last."""
        value, kept = self.first(images), []
        for down, norm in zip(self.down, self.norms, strict=True):
            kept.append(value)
            value = functional.leaky_relu(norm(down(value)))
        for up in reversed(self.up):
            value = functional.interpolate(value, scale_factor=2.0) if self.job.upsampled else value
            value = up(value) + kept.pop()
        return self.last(value).movedim(1, -1)


class Recommender(nn.Module):
    """A person and some items, scored by their product."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.people, self.items = nn.Embedding(50, job.width), nn.Embedding(job.classes, job.width)
        self.mixed = nn.Linear(job.width, job.width)

    def forward(self, person: Any, items: Any) -> Any:
        """A score for each item."""
        return torch.einsum("bd,bnd->bn", self.mixed(self.people(person)), self.items(items))


class Parallel(nn.Module):
    """One worker's part of a layer whose columns are spread over all."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.columns = nn.Linear(job.width, 2 * job.width // job.workers)
        self.rows = nn.Linear(2 * job.width // job.workers, job.width, bias=False)
        self.last = nn.Linear(job.width, job.classes)

    def forward(self, value: Any) -> Any:
        """Logits, summed over the workers."""
        from torch.distributed import _functional_collectives as collectives

        part = self.rows(functional.gelu(self.columns(value)))
        whole = collectives.all_gather_tensor(part, 0, torch.distributed.group.WORLD)
        return self.last(whole.unflatten(0, (self.job.workers, -1)).sum(0))


_MODELS: dict[str, Callable[[Job], nn.Module]] = {
    "grouped": Grouped, "lstm": Lstm, "patches": Patches, "skips": Skips, "recommender": Recommender,
    "parallel": Parallel,
}  # fmt: skip


def _normed(norm: nn.RMSNorm, value: Any) -> Any:
    return norm(value.to(norm.weight.dtype)).to(value.dtype)


def _sample(job: Job) -> tuple[Any, ...]:
    if job.model in ("patches", "skips"):
        return (torch.randn(job.batch, 3, job.length, job.length, dtype=job.dtype),)
    if job.model == "recommender":
        return torch.randint(0, 50, (job.batch,)), torch.randint(0, job.classes, (job.batch, job.length))
    if job.model == "parallel":
        return (torch.randn(job.batch, job.width, dtype=job.dtype),)
    return (torch.randint(0, job.classes, (job.batch, job.length)),)


def graphs(job: Job) -> traced_graphs.Graphs:
    """The graphs of one step, see `traced_graphs.step_graphs`."""
    traced_graphs.fresh()
    with _workers(job):
        model = _MODELS[job.model](job).to(job.dtype)
        if job.norm_dtype is not None:
            for norm in (one for one in model.modules() if isinstance(one, nn.RMSNorm)):
                norm.to(job.norm_dtype)
        return traced_graphs.step_graphs(_step(job, model), _sample(job), _update(job, model))


@contextmanager
def _workers(job: Job) -> Iterator[None]:
    if job.model != "parallel":
        yield
        return
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=job.workers)
    try:
        yield
    finally:
        torch.distributed.destroy_process_group()


def _step(job: Job, model: nn.Module) -> Callable[..., Any]:
    def step(*sample: Any) -> Any:
        with torch.autocast("cpu", job.autocast or torch.bfloat16, enabled=job.autocast is not None):
            logits = model(*sample).float()
            flat = logits.flatten(0, -2)
            goals = torch.zeros(flat.shape[0], dtype=torch.int64)
            loss = functional.cross_entropy(flat, goals, label_smoothing=job.smoothing)
            if job.accumulated > 1:
                loss = loss / job.accumulated
        return (loss, logits.amax()) if job.printed else loss

    return step


def _update(job: Job, model: nn.Module) -> Callable[[], None]:
    optimizer = getattr(torch.optim, job.optimizer)(model.parameters(), lr=job.rate, **dict(job.options))

    def update() -> None:
        if job.clipped:
            torch.nn.utils.clip_grad_norm_(model.parameters(), job.clipped)
        optimizer.step()

    return update
