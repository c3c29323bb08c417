"""What a compiler is to the wrapper: names of its files, a directory for its version, and one call.

A compiler reads a graph file and writes its artifact under temporary names; it knows nothing of caches. It runs in a
process of its own, so that a crash or the out-of-memory killer takes a compile, not a training job.
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
    """Digest of that file: a compile process compiles no other bytes."""
    graph_digest: str = ""
    """Digest of the graph's exact description; empty where it has none."""
    outputs: Mapping[str, Path]
    flags: tuple[str, ...] = ()
    lock: Path | None = None
    token: str = ""
    """The entry lock held for this compile: what outlives a killed job removes it in the job's name."""
    workdir: Path | None = None
    """Where the compiler's scratch is to be kept (`--compile_workdir`)."""
    dump: Path | None = None
    """Where the compiler is to lay down its intermediate stages (`--dump`)."""
    scratch: Path | None = None
    """Where the job works because its usual place is full; None: in its usual place."""


class CompileOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a successful compile cost. Seconds; bytes of the largest process; None where it is not known."""

    seconds: float
    peak_rss_bytes: int | None = None
    guards: str = ""
    """Assumptions about symbolic sizes, see `cache.model.record.Stats.guards`."""


class NotSerializable(Exception):
    """The graph refers to something that only exists in the job's own process (an operator the script defines)."""


class Compiler(Protocol):
    """A compiler behind the wrapper."""

    graph_name: str
    """File name of the graph in an entry."""
    artifact_names: Sequence[str]
    """File names of the artifact; the first one is what log lines name."""

    def directory(self) -> str:
        """`<compiler>-<version>`, the cache directory of everything that this very compiler makes."""
        ...

    def command(self, task: CompileTask) -> list[str]:
        """The command line that log lines and failure records quote."""
        ...

    def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
        """Compile `task`, telling `began` the compile process's pid.

        Raises CompileError (with what the compiler said in `log`) for what is the graph's own fault; CompilerKilled,
        CompilerMissing, DiskFull or NotSerializable for what is not.
        """
        ...

    def hold(self, lock: Path, token: str) -> None:
        """A lock has been taken for a compile: whoever outlives this process, if anybody does, is to give it back."""
        ...

    def start(self) -> None:
        """Prepare in the background for a compile that is certain to come. Raises CompilerMissing."""
        ...

    def close(self) -> None:
        """End every compile under way, from any thread; their callers get CompilerKilled."""
        ...
