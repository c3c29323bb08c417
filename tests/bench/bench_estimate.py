"""How good the estimates of compile time are: leave one out over recordings that are made here.

    python -m tests.bench.bench_estimate

A job of small models of several kinds, widths and depths is recorded twice, each time with an empty cache; each
measured compile is then estimated from all others: once with its own graph among them, and once, for graphs never
seen before, with all compiles of the same graph left out, also by their size alone. Printed are how many had ground
for an estimate, how many fell into its range, and the median of |middle of the range − truth| ÷ truth. Nobody else
estimates compile times, so there is no peer, and no ratio.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import msgspec

from neuron_top.run.estimate import Estimator, PastCompile
from neuron_top.settings import Settings
from neuron_top.store.records import CompileRecord
from tests.bench.figures import Figure, own_folders, timed

SIZES = tuple((kind, width, depth) for kind in ("mlp", "norm", "conv") for depth in (1, 3) for width in (16, 48))
JOB = """
import torch
from torch import nn

def layer(kind, width):
    if kind == "mlp":
        return nn.Linear(width, width), nn.Tanh()
    if kind == "norm":
        return nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width), nn.Softmax(-1)
    return nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()

for kind, width, depth in {sizes}:
    torch._dynamo.reset()
    model = nn.Sequential(*(part for _ in range(depth) for part in layer(kind, width)))
    sample = torch.ones(2, 4, width, width) if kind == "conv" else torch.ones(4, width)
    torch.compile(model, backend="neurontop")(sample).sum().backward()
"""


class Error(msgspec.Struct, frozen=True):
    """The errors of one kind of ground."""

    ground: str
    estimated: int
    inside: int
    relative: float
    """Median of |middle − truth| ÷ truth."""


def leave_one_out(past: Sequence[PastCompile], *, unseen: bool = False) -> tuple[Error, ...]:
    """Estimate each compile from all others; `unseen`: from those of other graphs alone."""
    found: dict[str, list[tuple[bool, float]]] = {}
    for index, one in enumerate(past):
        others = [other for place, other in enumerate(past) if place != index and not (unseen and _same(one, other))]
        reported = Estimator(others).total(one.module, one.graph_bytes, one.operators, one.op_counts)
        if reported is None or one.seconds <= 0:
            continue
        ground = "similar size" if "similar size" in reported.ground else reported.ground
        error = abs((reported.low + reported.high) / 2 - one.seconds) / one.seconds
        found.setdefault(ground, []).append((reported.low <= one.seconds <= reported.high, error))
    return tuple(
        Error(ground, len(rows), sum(inside for inside, _ in rows), median(error for _, error in rows))
        for ground, rows in sorted(found.items())
    )


def _same(one: PastCompile, other: PastCompile) -> bool:
    return one.module.partition("+")[0] == other.module.partition("+")[0]


def recorded(folder: Path, environ: dict[str, str]) -> list[CompileRecord]:
    """The measured compiles of two recordings of the same job, each with a cache of its own."""
    from neuron_top.ingest.run_loader import history

    script = folder / "job.py"
    script.write_text(JOB.format(sizes=SIZES))
    for turn in (1, 2):
        own = {
            **environ,
            "NEURON_COMPILE_CACHE_URL": str(folder / f"cache-{turn}"),
            "TORCHINDUCTOR_CACHE_DIR": str(folder / f"inductor-{turn}"),
        }
        timed(
            [sys.executable, "-m", "neuron_top", "run", "--name", f"turn-{turn}", "--", sys.executable, str(script)],
            own,
            folder,
        )
    return history(Settings(state_dir=environ["NEURONTOP_STATE_DIR"]))


def measure() -> Iterator[Figure]:
    """Prints its tables."""
    with own_folders() as (folder, environ):
        past = recorded(folder, environ)
    print(f"estimates: {len(past)} measured compiles of {len({one.module for one in past})} graphs, two recordings")
    tell("all other compiles known", leave_one_out(past))
    tell("graphs never seen before", leave_one_out(past, unseen=True))
    bare = [msgspec.structs.replace(one, op_counts={}) for one in past]
    tell("the same, were their operators not known", leave_one_out(bare, unseen=True))
    return
    yield


def tell(what: str, errors: Sequence[Error], say: Callable[[str], None] = print) -> None:
    """One table."""
    say(f"  {what}:" + ("" if errors else " no estimate has any ground"))
    for one in errors:
        say(
            f"    {one.ground}: {one.estimated} estimated, {one.inside / one.estimated:.0%} inside the range, "
            f"median error {one.relative:.0%}"
        )


if __name__ == "__main__":
    list(measure())
