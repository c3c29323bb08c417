"""Training jobs of four further kinds, traced by PyTorch, each choice changeable alone: the fourth unseen set's graphs.

An encoder and a decoder with attention between them, a mixture of experts, convolutions over sound, and adapters of
low rank on frozen layers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from tests.explain import traced_graphs


@dataclass(frozen=True)
class Job:
    """What the user of a script chooses. `options`: further arguments of the optimizer."""

    model: str = "translator"
    batch: int = 4
    length: int = 10
    """Tokens of the source, or samples of sound."""
    answer: int = 8
    """Tokens of the target."""
    width: int = 24
    depth: int = 2
    classes: int = 30
    heads: int = 4
    dropout: float = 0.0
    padded: bool = False
    """A mask of the source's padding is given."""
    waves: bool = False
    """Positions are sines instead of a table that is learned."""
    norm_first: bool = False
    experts: int = 4
    chosen: int = 1
    balance: float = 0.0
    """Weight of the loss that balances the experts."""
    stride: int = 2
    dilation: int = 1
    highest: bool = False
    """The highest value over time instead of the mean."""
    rank: int = 4
    scale: float = 16.0
    frozen: bool = True
    loss: str = "mean"
    dtype: torch.dtype = torch.float32
    optimizer: str = "Adam"
    rate: float = 1e-3
    options: tuple[tuple[str, Any], ...] = ()
    watched: bool = False
    """The norm of the gradients is logged."""


class Translator(nn.Module):
    """Encoder and decoder."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.words = nn.Embedding(job.classes, job.width)
        self.places = None if job.waves else nn.Embedding(64, job.width)
        self.body = nn.Transformer(
            job.width,
            job.heads,
            job.depth,
            job.depth,
            2 * job.width,
            job.dropout,
            batch_first=True,
            norm_first=job.norm_first,
        )
        self.last = nn.Linear(job.width, job.classes)

    def forward(self, source: Any, target: Any, mask: Any = None) -> Any:
        """Logits of the target."""
        later = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        given = [self._placed(self.words(tokens)) for tokens in (source, target)]
        return self.last(self.body(*given, tgt_mask=later, src_key_padding_mask=mask, tgt_is_causal=True))

    def _placed(self, value: Any) -> Any:
        steps = torch.arange(value.shape[1])
        if self.places is not None:
            return value + self.places(steps)
        rates = torch.exp(torch.arange(0, self.job.width, 2) * -0.4)
        angles = steps[:, None] * rates
        return value + torch.cat((angles.sin(), angles.cos()), -1).to(value.dtype)


class Experts(nn.Module):
    """A layer of which each token uses some experts only."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.words = nn.Embedding(job.classes, job.width)
        self.gate = nn.Linear(job.width, job.experts, bias=False)
        self.up = nn.Parameter(torch.randn(job.experts, job.width, 2 * job.width))
        self.down = nn.Parameter(torch.randn(job.experts, 2 * job.width, job.width))
        self.last = nn.Linear(job.width, job.classes)

    def forward(self, tokens: Any) -> Any:
        """Logits, and how unevenly the experts were used."""
        value = self.words(tokens)
        shares = self.gate(value).softmax(-1)
        best, which = shares.topk(self.job.chosen, -1)
        weights = torch.zeros_like(shares).scatter(-1, which, best)
        inner = functional.silu(torch.einsum("btw,ewh->bteh", value, self.up))
        mixed = torch.einsum("bteh,ehw,bte->btw", inner, self.down, weights)
        return self.last(value + mixed), shares.mean((0, 1)).square().sum()


class Sound(nn.Module):
    """Convolutions over time."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        sizes = [1, *[job.width] * job.depth]
        self.layers = nn.ModuleList(
            nn.Conv1d(before, job.width, 5, job.stride, 2 * job.dilation, job.dilation) for before in sizes[:-1]
        )
        self.norms = nn.ModuleList(nn.GroupNorm(4, job.width) for _ in range(job.depth))
        self.last = nn.Linear(job.width, job.classes)

    def forward(self, sound: Any) -> Any:
        """Logits."""
        value = sound
        for layer, norm in zip(self.layers, self.norms, strict=True):
            value = functional.gelu(norm(layer(value)))
        return self.last(value.amax(-1) if self.job.highest else value.mean(-1))


class Adapted(nn.Module):
    """Linear layers with an adapter of low rank each."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job
        self.base = nn.ModuleList(nn.Linear(job.width, job.width) for _ in range(job.depth))
        self.inner = nn.ModuleList(nn.Linear(job.width, job.rank, bias=False) for _ in range(job.depth))
        self.outer = nn.ModuleList(nn.Linear(job.rank, job.width, bias=False) for _ in range(job.depth))
        self.last = nn.Linear(job.width, job.classes)
        self.base.requires_grad_(not job.frozen)

    def forward(self, value: Any) -> Any:
        """Logits."""
        for base, inner, outer in zip(self.base, self.inner, self.outer, strict=True):
            value = functional.relu(base(value) + outer(inner(value)) * (self.job.scale / 4.0))
        return self.last(value)


_MODELS: dict[str, Callable[[Job], nn.Module]] = {
    "translator": Translator, "experts": Experts, "sound": Sound, "adapted": Adapted,
}  # fmt: skip


def graphs(job: Job) -> traced_graphs.Graphs:
    """The graphs of one step, see `traced_graphs.step_graphs`."""
    traced_graphs.fresh()
    model = _MODELS[job.model](job).to(job.dtype)
    return traced_graphs.step_graphs(_step(job, model), _sample(job), _update(job, model))


def _sample(job: Job) -> tuple[Any, ...]:
    if job.model == "translator":
        mask = (torch.zeros(job.batch, job.length, dtype=torch.bool),) if job.padded else ()
        return (
            torch.randint(0, job.classes, (job.batch, job.length)),
            torch.randint(0, job.classes, (job.batch, job.answer)),
            *mask,
        )
    if job.model == "experts":
        return (torch.randint(0, job.classes, (job.batch, job.length)),)
    shape = (job.batch, 1, job.length) if job.model == "sound" else (job.batch, job.width)
    return (torch.randn(shape, dtype=job.dtype),)


def _step(job: Job, model: nn.Module) -> Callable[..., Any]:
    def step(*sample: Any) -> Any:
        given = model(*sample)
        logits, uneven = given if isinstance(given, tuple) else (given, None)
        flat = logits.float().flatten(0, -2)
        loss = functional.cross_entropy(flat, torch.zeros(flat.shape[0], dtype=torch.int64), reduction=job.loss)
        return loss + job.balance * uneven if job.balance and uneven is not None else loss

    return step


def _update(job: Job, model: nn.Module) -> Callable[[], None]:
    trained = [one for one in model.parameters() if one.requires_grad]
    optimizer = getattr(torch.optim, job.optimizer)(trained, lr=job.rate, **dict(job.options))

    def update() -> Any:
        norm = None
        if job.watched:
            norm = torch.nn.utils.get_total_norm([one.grad for one in trained if one.grad is not None])
        optimizer.step()
        return norm

    return update
