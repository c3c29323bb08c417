"""The interface of a compiler to the wrapper: names of its files, a directory for its version, and one call.

A compiler reads a graph file and writes its artifact under temporary names; it knows nothing of caches. It runs in a
process of its own, so that a crash or the out-of-memory killer ends a compile, not a training job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec


class CompileTask(msgspec.Struct, frozen=True, kw_only=True):
    """One compile: `graph` in, the files of `outputs` (artifact name → where to write it) out."""

    module: str
    graph: Path
    graph_sha256: str = ""
    """Digest of the graph's file: a compile process compiles no other bytes."""
    graph_digest: str = ""
    """Digest of the graph's exact description; empty where it has none."""
    outputs: Mapping[str, Path]
    flags: tuple[str, ...] = ()
    lock: Path | None = None
    token: str = ""
    """The entry lock held for this compile; if the job is killed, the compile server removes it."""
    workdir: Path | None = None
    """Folder in which to keep the compiler's scratch files (`--compile_workdir`)."""
    dump: Path | None = None
    """Folder for the compiler's intermediate stages (`--dump`)."""
    scratch: Path | None = None
    """The scratch folder that the job moved to because its usual one is full; None if it did not move."""


class CompileOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a successful compile cost: seconds, peak bytes of the largest process; None where not known."""

    seconds: float
    peak_rss_bytes: int | None = None
    guards: str = ""
    """Assumptions about symbolic sizes, see `cache.model.record.Stats.guards`."""


class NotSerializable(Exception):
    """The graph refers to something that exists only in the job's own process (an operator the script defines)."""


class Compiler(Protocol):
    """A compiler behind the wrapper."""

    graph_name: str
    """File name of the graph in an entry."""
    artifact_names: Sequence[str]
    """File names of the artifact; the first one is what log lines name."""

    def directory(self) -> str:
        """`<compiler>-<version>`, the cache directory for everything that this version of the compiler makes."""
        ...

    def command(self, task: CompileTask) -> list[str]:
        """The command line that log lines and failure records quote."""
        ...

    def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
        """Compile `task`, telling `began` the compile process's pid.

        Raises CompileError (with what the compiler said in `log`) where the graph is at fault, and CompilerKilled,
        CompilerMissing, DiskFull or NotSerializable where it is not.
        """
        ...

    def hold(self, lock: Path, token: str) -> None:
        """Note a lock taken for a compile, so that a process that outlives this one, if there is one, gives it back."""
        ...

    def start(self) -> None:
        """Prepare in the background for a compile that is certain to come. Raises CompilerMissing."""
        ...

    def close(self) -> None:
        """End every compile under way, from any thread; their callers get CompilerKilled."""
        ...
