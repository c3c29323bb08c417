"""Training jobs of several kinds, traced by PyTorch, each choice changeable alone: what the unseen cases are made from.

Disjoint from `small_transformer.py` on purpose: other models (perceptron, convolutions, attention written by hand, a
recurrent cell), other losses, other optimizers. The rules of `neuron_top.explain` were written without them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tests.explain import traced_graphs


@dataclass(frozen=True)
class Job:
    """What the user of a script chooses. `options`: further arguments of the optimizer."""

    model: str = "perceptron"
    batch: int = 16
    length: int = 12
    """Tokens, features or pixels a side: what one sample is long."""
    width: int = 24
    depth: int = 2
    classes: int = 10
    heads: int = 2
    kernel: int = 3
    activation: str = "relu"
    epsilon: float = 1e-5
    dropout: float = 0.0
    loss: str = "cross"
    dtype: torch.dtype = torch.float32
    autocast: bool = False
    training: bool = True
    bias: bool = True
    norm: str = "layer"
    causal: bool = True
    whole_numbers: torch.dtype = torch.int64
    printed: str = ""
    """`logits`: returned; `mean`: the mean of the logits is returned."""
    broken: bool = False
    """The graph breaks before the last layer: what a mark_step there does."""
    smoothing: float = 0.0
    temperature: float = 1.0
    optimizer: str = "SGD"
    rate: float = 0.1
    options: tuple[tuple[str, Any], ...] = ()
    clipped: str = ""
    """`value` or `norm`."""


class Perceptron(nn.Module):
    """Linear layers of one width."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.first = nn.Linear(job.length, job.width, job.bias)
        self.layers = nn.ModuleList(nn.Linear(job.width, job.width, job.bias) for _ in range(job.depth))
        self.last = nn.Linear(job.width, job.classes, job.bias)

    def forward(self, value: Any) -> Any:
        """Logits."""
        value = self.first(value)
        for layer in self.layers:
            value = nn.functional.dropout(_activated(self.job, layer(value)), self.job.dropout, self.training)
        return self.last(_broken(self.job, value))


class Convolutions(nn.Module):
    """Convolutions with batch norms, pooled."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        sizes = [3, *[job.width] * job.depth]
        self.layers = nn.ModuleList(
            nn.Conv2d(before, after, job.kernel, padding=job.kernel // 2, bias=job.bias)
            for before, after in itertools.pairwise(sizes)
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(job.width, eps=job.epsilon) for _ in range(job.depth))
        self.last = nn.Linear(job.width, job.classes)

    def forward(self, value: Any) -> Any:
        """Logits."""
        for layer, norm in zip(self.layers, self.norms, strict=True):
            value = _activated(self.job, norm(layer(value)))
        value = value.mean((2, 3))
        return self.last(_broken(self.job, value))


class Root(nn.Module):
    """Normalization by the root of the mean square."""

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(torch.ones(width)), epsilon

    def forward(self, value: Any) -> Any:
        """The same shape."""
        return value * torch.rsqrt(value.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight


class Attention(nn.Module):
    """A decoder whose attention is written out."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.embedding = nn.Embedding(job.classes, job.width)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "norm": Root(job.width, job.epsilon)
                    if job.norm == "root"
                    else nn.LayerNorm(job.width, eps=job.epsilon),
                    "all": nn.Linear(job.width, 3 * job.width, job.bias),
                    "out": nn.Linear(job.width, job.width, job.bias),
                    "up": nn.Linear(job.width, 2 * job.width, job.bias),
                    "down": nn.Linear(2 * job.width, job.width, job.bias),
                }
            )
            for _ in range(job.depth)
        )
        self.last = nn.Linear(job.width, job.classes, bias=False)

    def forward(self, tokens: Any) -> Any:
        """Logits."""
        value = self.embedding(tokens)
        for block in self.blocks:
            value = value + self._attended(block, value)
            value = value + block["down"](_activated(self.job, block["up"](value)))
        return self.last(_broken(self.job, value))

    def _attended(self, block: Any, value: Any) -> Any:
        job = self.job
        batch, length, width = value.shape
        split = block["all"](block["norm"](value)).view(batch, length, 3, job.heads, width // job.heads)
        query, key, content = split.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(-1, -2) / (width // job.heads) ** 0.5 / job.temperature
        if job.causal:
            hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, float("-inf"))
        weights = nn.functional.dropout(scores.softmax(-1), job.dropout, self.training)
        return block["out"]((weights @ content).transpose(1, 2).reshape(batch, length, width))


class Recurrent(nn.Module):
    """A gated cell, unrolled over its tokens."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.embedding = nn.Embedding(job.classes, job.width)
        self.cells = nn.ModuleList(nn.GRUCell(job.width, job.width, job.bias) for _ in range(job.depth))
        self.last = nn.Linear(job.width, job.classes)

    def forward(self, tokens: Any) -> Any:
        """Logits after the last token."""
        value = self.embedding(tokens)
        states = [torch.zeros(tokens.shape[0], self.job.width, dtype=value.dtype) for _ in self.cells]
        for place in range(tokens.shape[1]):
            given = value[:, place]
            for index, cell in enumerate(self.cells):
                states[index] = given = cell(given, states[index])
        return self.last(_broken(self.job, given))


_MODELS: dict[str, Callable[[Job], nn.Module]] = {
    "perceptron": Perceptron, "convolutions": Convolutions, "attention": Attention, "recurrent": Recurrent,
}  # fmt: skip


def _broken(job: Job, value: Any) -> Any:
    if job.broken:
        torch._dynamo.graph_break()
    return value


def _activated(job: Job, value: Any) -> Any:
    return getattr(nn.functional, job.activation)(value)


def _sample(job: Job) -> Any:
    if job.model == "perceptron":
        return torch.randn(job.batch, job.length, dtype=job.dtype)
    if job.model == "convolutions":
        return torch.randn(job.batch, 3, job.length, job.length, dtype=job.dtype)
    return torch.randint(0, job.classes, (job.batch, job.length), dtype=job.whole_numbers)


def graphs(job: Job) -> traced_graphs.Graphs:
    """The graphs of one step, see `traced_graphs.step_graphs`."""
    traced_graphs.fresh()
    model = _MODELS[job.model](job).to(job.dtype).train(job.training)
    return traced_graphs.step_graphs(_step(job, model), (_sample(job),), _update(job, model))


def _step(job: Job, model: nn.Module) -> Callable[[Any], Any]:
    def step(sample: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16, enabled=job.autocast):
            logits = model(sample).float()
            flat = logits.flatten(0, -2) if logits.dim() > 2 else logits
            if job.loss == "cross":
                goals = torch.zeros(flat.shape[0], dtype=torch.int64)
                loss = nn.functional.cross_entropy(flat, goals, label_smoothing=job.smoothing)
            else:
                loss = nn.functional.mse_loss(flat, torch.zeros_like(flat))
        if job.printed:
            return loss, logits if job.printed == "logits" else logits.mean()
        return loss

    return step


def _update(job: Job, model: nn.Module) -> Callable[[], None]:
    optimizer = getattr(torch.optim, job.optimizer)(model.parameters(), lr=job.rate, **dict(job.options))

    def update() -> None:
        if job.clipped == "value":
            torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)
        elif job.clipped == "norm":
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return update
