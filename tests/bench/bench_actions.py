"""What planning, evicting and purging cost, and listing a bucket against the client's own bare listing.

`python -m tests.bench.bench_actions [ENTRIES] [OBJECTS]`: a plan for 50,000 entries read from the index (aims 60 and
80 ms), 10,000 entries of five files into the trash (aim 20,000 a second; beside it what the bare system calls of an
eviction take from the same interpreter), purging them ÷ `rm -rf` (at most 1.2), and objects listed ÷ boto3's bare
listing of them (at most 1.2): 100,000 from a server that answers listings only and at once (`s3_listing`), the same for
both sides.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from neuron_top.actions.backends.base import ExecuteOptions
from neuron_top.actions.execution.local import execute
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Action, Fingerprint, Plan, Step, Totals, identity_of
from neuron_top.actions.plan_context import PlanContext
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.actions.reasons import Reason, ReasonCode
from neuron_top.actions.verb import Verb
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import index, scanner
from tests.bench.figures import Figure, Row, cpu_of_children, report, summarize
from tests.builders import write_entry

ROUNDS = 5
EVICTED = 10_000
DAY = 86400.0
LOCK = "model.hlo_module.pb.lock"
FILES = {"model.hlo_module.pb": b"g" * 2000, "model.neff": b"", "model.done": b"", "wrapped_neff.hlo": b"w" * 3000}
NEFF_HEAD = (2).to_bytes(8, "little") + (1024).to_bytes(8, "little") + (3072).to_bytes(8, "little")


def context(snapshot: Snapshot, now: float) -> PlanContext:
    """Nobody uses the cache."""
    totals = snapshot.totals().all
    return PlanContext(
        now=now, before=Totals(entries=totals.entries, files=5 * totals.entries, size=totals.bytes, free=1 << 30)
    )


def many(entry: Entry, count: int) -> Snapshot:
    """`count` entries like one that was scanned, of all ages and sizes."""
    entries = tuple(
        msgspec.structs.replace(
            entry,
            module=f"MODULE_{number:020d}+f7f529f3",
            allocated=entry.allocated * (1 + number % 50),
            compiled_at=entry.changed_at - number % 400 * DAY,
            changed_at=entry.changed_at - number % 400 * DAY,
            compile_seconds=None if number % 3 else float(number % 3600),
        )
        for number in range(count)
    )
    return Snapshot(root="/bench", taken_at=time.time(), seconds=0.0, entries=entries, folders=())


def planning(count: int) -> None:
    """A plan that halves the cache, from the index in memory and from the file."""
    with tempfile.TemporaryDirectory() as folder:
        write_entry(Path(folder), {**FILES, "model.neff": NEFF_HEAD.ljust(4096, b"\0")}, age=2 * DAY)
        snapshot = many(scanner.scan(folder).entries[0], count)
        state = Path(folder, "state")
        index.save(snapshot, state)
        best: dict[str, list[float]] = {"load": [], "size": [], "age": [], "all": []}
        for _ in range(ROUNDS):
            best["load"].append(spent(lambda: index.load("/bench", state)))
            facts = context(snapshot, time.time())
            half = EvictCriteria(max_bytes=facts.before.size // 2)
            best["size"].append(spent(lambda half=half, facts=facts: plan(snapshot, half, facts)))
            old = EvictCriteria(older_than=300 * DAY)
            best["age"].append(spent(lambda old=old, facts=facts: plan(snapshot, old, facts)))
            best["all"].append(spent(lambda facts=facts: plan(snapshot, EvictCriteria(older_than=2 * DAY), facts)))
        taken = {"size": len(plan(snapshot, half, facts).steps), "all": count}
        loops = {
            name: [spent(partial(bare_loop, snapshot, facts, most)) for _ in range(ROUNDS)]
            for name, most in taken.items()
        }
    aims = {"size": 60, "all": 80}
    for name, aim in aims.items():
        milliseconds, loop = [seconds * 1000 for seconds in best[name]], min(loops[name]) * 1000
        spread = f"{min(milliseconds):.0f}–{max(milliseconds):.0f}"
        what = f"plan for {count:,} entries, {name}, processor time"
        summarize(Row(what, min(milliseconds), "ms", aim, "a loop that makes the same steps", loop, spread))
        print(f"a loop that makes the same steps, {name}: {loop:.0f} ms of processor time", flush=True)
    for name, seconds in best.items():
        aim_text = f" (aim: {aims[name]} ms)" if name in aims else ""
        print(f"plan {count:,} entries, {name}: {min(seconds) * 1000:.0f} ms of processor time{aim_text}", flush=True)


def bare_loop(snapshot: Snapshot, facts: PlanContext, most: int) -> str:
    """The least that Python must do for a plan that takes `most` entries: look when each was used and how long it would
    take to compile, put them in order, make the steps, and name the plan after them."""
    judged = [(*facts.last_use(entry), *facts.rebuild(entry), entry) for entry in snapshot.entries]
    judged.sort(key=lambda row: (row[0] - facts.now) / (1 + (row[2] or 0.0) / 60))
    steps = [
        Step(
            action=Action.EVICT,
            path=entry.path,
            cause=Reason(ReasonCode.UNUSED, "", facts.now - used),
            frees=entry.allocated,
            files=5,
            fingerprint=Fingerprint.of(entry),
            rebuild_seconds=seconds,
            rebuild_from=known_by,
            last_used=used,
            last_used_from=known_from,
        )
        for used, known_from, seconds, known_by, entry in judged[:most]
    ]
    return identity_of(Verb.EVICT, snapshot.root, facts.now, steps)


def plan(snapshot: Snapshot, policy: EvictCriteria, facts: PlanContext) -> Plan:
    """What the command does with a snapshot."""
    return plan_eviction(snapshot.entries, snapshot.root, policy, facts)


def spent(work: Callable[[], object]) -> float:
    """Processor seconds of this process."""
    before = time.process_time()
    work()
    return time.process_time() - before


def taking_and_purging(folder: Path) -> list[Figure]:
    """Evict, purge; against the bare system calls of an eviction, and `rm -rf` of the same tree.

    All lies on the disk before it goes, ours and the peers': what was never written is forgotten in no time. Who is
    first takes turns.
    """
    taken, bare_calls, ours, theirs = Measured(), Measured(), Measured(), Measured()
    for number in range(3):
        root, twin = folder / f"cache-{number}", folder / f"twin-{number}"
        build(root)
        build(twin)
        os.sync()
        bare_calls.take(lambda twin=twin, number=number: moved_bare(twin, folder / f"moved-{number}"))
        evict = Eviction(root)
        taken.take(evict.run)
        os.sync()
        peer = partial(theirs.take, lambda number=number: removed(folder / f"moved-{number}"))
        turns = [partial(ours.take, evict.purge), peer]
        for turn in turns if number % 2 else reversed(turns):
            turn()
        shutil.rmtree(root)  # noqa: TID251 (our own scratch folder)
    for who, measured in (("evict", taken), ("the same system calls alone", bare_calls)):
        rates = ", ".join(f"{EVICTED / seconds:,.0f}" for seconds in measured.wall)
        print(
            f"{who}, {EVICTED:,} entries × 5 files: {rates} entries/s; per second of processor time "
            f"{EVICTED / min(measured.cpu):,.0f} (aim: 20,000)",
            flush=True,
        )
    ratios = [ours / bare for ours, bare in zip(bare_calls.cpu, taken.cpu, strict=True)]
    spread = f"{min(ratios):.2f}–{max(ratios):.2f}"
    ratio = min(bare_calls.cpu) / min(taken.cpu)
    name = "evict, entries a processor second ÷ bare calls"
    summarize(Row(name, ratio, "×", 0.8, "the same system calls", 1.0, spread, at_least=True))
    return [Figure(f"purge {EVICTED:,} entries", "rm -rf", ours.wall, theirs.wall, 1.2, ours.cpu, theirs.cpu)]


class Measured:
    """Wall and processor seconds of each run, of this process and of those it waited for."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def take(self, work: Callable[[], object]) -> None:
        """Run it once."""
        began, used = time.perf_counter(), time.process_time() + cpu_of_children()
        work()
        self.wall.append(time.perf_counter() - began)
        self.cpu.append(time.process_time() + cpu_of_children() - used)


class Eviction:
    """All entries of a root, planned."""

    def __init__(self, root: Path) -> None:
        snapshot, self.trash = scanner.scan(str(root)), Trash(root)
        self.plan = plan(snapshot, EvictCriteria(older_than=0.0), context(snapshot, time.time() + 5 * DAY))

    def run(self) -> None:
        """Into the trash."""
        outcome = execute(self.plan, self.trash, ExecuteOptions(in_use=lambda root: None))
        assert outcome.done == EVICTED, outcome.refused[:3]

    def purge(self) -> None:
        """For ever."""
        self.trash.purge(self.trash.history_of(self.plan.identity))


def moved_bare(root: Path, target: Path) -> None:
    """What no eviction can do without: open an entry, look at it, lock it, look again, rename it, unlock it."""
    token = target / "token"
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    for compiler in root.iterdir():
        (target / compiler.name).mkdir(parents=True)
        token.touch()
        above, there = os.open(compiler, flags), os.open(target / compiler.name, flags)
        for name in os.listdir(above):  # noqa: PTH208 (a descriptor, not a path)
            entry = os.open(name, flags, dir_fd=above)
            os.fstat(entry)
            os.stat(LOCK.removesuffix(".lock"), dir_fd=entry, follow_symlinks=False)
            os.link(token, LOCK, dst_dir_fd=entry)
            os.stat("model.neff", dir_fd=entry, follow_symlinks=False)
            os.stat(name, dir_fd=above, follow_symlinks=False)
            os.rename(name, name, src_dir_fd=above, dst_dir_fd=there)
            os.unlink(LOCK, dir_fd=entry)  # noqa: TID251 (our own scratch folder)
            os.close(entry)
        os.close(above)
        os.close(there)


def removed(folder: Path) -> None:
    """As a person would."""
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def build(root: Path) -> None:
    """Ten thousand entries of five files."""
    data = {**FILES, "model.neff": NEFF_HEAD.ljust(4096, b"\0")}
    for number in range(EVICTED):
        write_entry(root, data, graph=f"{number:020d}", age=3 * DAY)


def listing(count: int) -> Figure | None:
    """Our listing with states ÷ the client's bare pages."""
    if importlib.util.find_spec("boto3") is None:
        print("S3 listing: skipped, boto3 is not installed", flush=True)
        return None
    from neuron_top.cache import s3
    from tests.bench.s3_listing import listed

    ours, theirs = [], []
    with listed(count) as url:
        bucket = s3.connect(url)
        for _ in range(3):
            theirs.append(spent(lambda: bare(bucket)))
            ours.append(spent(lambda: s3.take(bucket)))
        assert len(s3.take(bucket).snapshot.entries) == count // 5
    return Figure(f"list {count:,} objects (processor time of the client)", "boto3", ours, theirs, 1.2)


def bare(bucket: Any) -> int:
    """Every page, nothing done with it."""
    pages = bucket.client.get_paginator("list_objects_v2").paginate(Bucket=bucket.name, Prefix=bucket.prefix)
    return sum(len(page["Contents"]) for page in pages)


def main() -> int:
    """All of it."""
    numbers = [int(word) for word in sys.argv[1:]]
    planning(numbers[0] if numbers else 50_000)
    with tempfile.TemporaryDirectory(prefix="neurontop-bench-", dir=os.environ.get("TMPDIR")) as folder:
        figures = taking_and_purging(Path(folder))
    buckets = listing(numbers[1] if len(numbers) > 1 else 100_000)
    return report([*figures, *([buckets] if buckets else [])])


if __name__ == "__main__":
    sys.exit(main())
