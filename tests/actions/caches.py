"""A small cache on disk whose sizes spell out what was counted, and entries of every state."""

from __future__ import annotations

import hashlib
import os
import struct
import time
from pathlib import Path
from typing import Any

import msgspec

from neuron_top.actions import plan_context
from neuron_top.actions.backends.base import ExecuteOptions
from neuron_top.actions.execution.local import execute
from neuron_top.actions.journal.records import PlanRestored
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Outcome, Plan
from neuron_top.actions.plan_context import PlanContext
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import scanner
from neuron_top.views.plan_sentences import not_done_text

DAY = 86400.0
FLAGS = b'["--target=trn1"]'
COMPILER = "neuronxcc-2.21.18209.0+043b1bf7"


def module(number: int, flags: bytes = FLAGS) -> str:
    return f"MODULE_{number:020d}+{hashlib.md5(flags).hexdigest()[:8]}"


def neff(payload: int) -> bytes:
    """A header of 1,024 bytes that the cheap test accepts, and so many bytes behind it."""
    head = struct.pack("<QQQQQ", 2, 1024, payload, 2, 0)
    return head.ljust(1024, b"\0") + b"x" * payload


def entry(
    root: Path,
    number: int,
    *,
    blocks: int = 1,
    age_days: float = 10.0,
    compiler: str = COMPILER,
    flags: bytes = FLAGS,
    files: dict[str, bytes] | None = None,
) -> Path:
    """A hit whose artifact takes `blocks` × 4 KiB, last written `age_days` ago; or whatever `files` say."""
    place = root / compiler / module(number, flags)
    place.mkdir(parents=True)
    if files is None:
        files = {"model.neff": neff(blocks * 4096 - 1024), "model.done": b"", "model.hlo_module.pb": b"\x0a\x01m"}
    files = {"compile_flags.json": flags, **files}
    for name, data in files.items():
        (place / name).write_bytes(data)
    grow_old(place, age_days)
    return place


def grow_old(place: Path, days: float) -> None:
    then = time.time() - days * DAY
    for path in (*place.iterdir(), place):
        os.utime(path, (then, then))


def looked_at(root: Path) -> Snapshot:
    return scanner.scan(str(root))


def context(snapshot: Snapshot, **changes: object) -> PlanContext:
    """The machine as it is, but nobody using the cache (the test's own files below it are young), and no process
    compiling: other tests compile modules of the same names meanwhile."""
    facts = {"in_use": None, "shared": None, "compiling": frozenset(), **changes}
    return msgspec.structs.replace(plan_context.collect_context(snapshot), **facts)


def carried_out(plan: Plan, trash: Trash, **options: Any) -> Outcome:
    """Execute where nobody uses the cache: what else runs on the machine of the tests does not count."""
    return execute(plan, trash, ExecuteOptions(in_use=lambda root: None, **options))


def reasons(outcome: Outcome | PlanRestored) -> list[str]:
    """Why steps were not done, or things not brought back, in the words that people read."""
    pairs = outcome.kept if isinstance(outcome, PlanRestored) else outcome.refused
    return [not_done_text(why) for _, why in pairs]


def everything(root: Path) -> dict[str, tuple[bytes, int, int]]:
    """Each file below `root` with its bytes, mode and modification time; folders with mode and time."""
    found = {}
    for path in sorted(root.rglob("*")):
        facts = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        if path.is_file():
            # Reading is use: it must not make the next plan protect the entry.
            os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        found[str(path.relative_to(root))] = (
            content,
            facts.st_mode,
            facts.st_mtime_ns if path.is_file() or path.name.startswith("MODULE") else 0,
        )
    return found
