"""How long explaining a miss takes against 50,000 entries, beside doing so against 50.

    python -m tests.bench.bench_explain

The graphs that are compared are real HLO modules on disk; the catalog of the fifty thousand is read from its stored
index, as the command does it (asking each folder whether it changed is the catalog's own benchmark). Printed besides:
seconds of the whole, index and explanation; its processor seconds are held against the aim, since wall time reports
the other work on a busy machine.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import index
from neuron_top.cache.scan.scanner import scan
from neuron_top.explain.miss_causes import explain
from tests.bench.figures import Figure
from tests.explain.one_change_cases import NOW, OLD, stored
from tests.explain.transformer_step_hlo import Step, training_step

ENTRIES = 50_000
REAL = 50
AIM = 2.0
BOUND = 20.0
"""A thousand times the entries: sorting them may cost, reading their graphs must not."""


def measure() -> Iterator[Figure]:
    """Explain ÷ explain among few, five turns each."""
    with tempfile.TemporaryDirectory(prefix="neurontop-bench-") as folder:
        root = Path(folder) / "cache"
        for number in range(REAL):
            stored(root, training_step(Step(layers=4, batch=8 + number)), number, OLD + number)
        module = stored(root, training_step(Step(layers=4, sequence=256)), 99_999, NOW)
        few = scan(str(root))
        many = _padded(few)
        state = Path(folder) / "state"
        index.save(many, state)
        ours, theirs, whole, used = [], [], [], []
        for _ in range(5):
            began, busy = time.perf_counter(), time.process_time()
            loaded = index.load(many.root, state)
            assert loaded is not None
            read = time.perf_counter() - began
            ours.append(_seconds(module, loaded))
            whole.append(read + ours[-1])
            used.append(time.process_time() - busy)
            theirs.append(_seconds(module, few))
        took, cpu = statistics.median(whole), statistics.median(used)
        print(
            f"index of {len(many.entries):,} entries read and a miss explained: {took:.2f} s, of processor time "
            f"{cpu:.2f} s (aim {AIM:g} s, {'kept' if cpu <= AIM else 'MISSED'})"
        )
        yield Figure(f"explain against {ENTRIES:,} entries", f"against {REAL}", ours, theirs, BOUND)


def _padded(few: Snapshot) -> Snapshot:
    """As many entries as a large cache has; the padding is older and of other sizes, so that the real ones are read."""
    one = few.entries[0]
    padding = tuple(
        msgspec.structs.replace(
            one,
            module=f"MODULE_{number:020x}+00000000",
            graph_bytes=10_000_000 + number,
            changed_at=one.changed_at - 10_000 - number,
            compiled_at=None,
        )
        for number in range(1_000_000, 1_000_000 + ENTRIES)
    )
    return msgspec.structs.replace(few, entries=few.entries + padding)


def _seconds(module: str, snapshot: Snapshot) -> float:
    began = time.perf_counter()
    explain(module, snapshot)
    return time.perf_counter() - began


if __name__ == "__main__":
    for figure in measure():
        print(figure.line())
