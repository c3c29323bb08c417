"""A compiler in ten lines, and the helper processes that tests kill."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from neuron_top.cache.model import graph_header
from neuron_top.cache.model.keys import module_key
from neuron_top.compile.compiler import CompileOutcome, CompileTask
from neuron_top.compile.wrapper.compiling import GraphToCompile
from neuron_top.compile.wrapper.flags import WrapperOptions
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.compile.wrapper.log_lines import WrapperLog
from neuron_top.errors import CompilerKilled

GRAPH = GraphToCompile(key=module_key("0123456789abcdef0123", []), data=lambda: b"the graph")


class Copying:
    """Its artifact is the graph, twice; `delay` seconds each; counts in `journal` (a line per compile)."""

    graph_name = "model.fxgraph"
    artifact_names: Sequence[str] = ("model.inductor", "model.kernels")

    def __init__(self, journal: Path | None = None, delay: float = 0.0, error: Exception | None = None) -> None:
        self._journal, self._delay, self.error = journal, delay, error
        self.compiled = 0

    def directory(self) -> str:
        return "inductor-1.0.0+00000000"

    def command(self, task: CompileTask) -> list[str]:
        return ["copy", str(task.graph)]

    def hold(self, lock: Path, token: str) -> None:
        """Nobody outlives a test."""

    def start(self) -> None:
        pass

    def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
        self.compiled += 1
        if self._journal:
            with open(self._journal, "a") as file:
                file.write(f"{os.getpid()}\n")
        began(os.getpid())
        time.sleep(self._delay)
        if self.error:
            raise self.error
        for path in task.outputs.values():
            path.write_bytes(graph_header.body(task.graph.read_bytes()) * 2)
        return CompileOutcome(seconds=self._delay)


class Gated(Copying):
    """Begins a compile whenever it is asked, and ends it when it is allowed to; closed, as one that was killed."""

    def __init__(self) -> None:
        super().__init__()
        self.began: list[str] = []
        self.allowed, self.closed = threading.Event(), False

    def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
        self.began.append(task.module)
        assert self.allowed.wait(600)
        if self.closed:
            raise CompilerKilled("it was ended", module=task.module)
        return super().compile(task, began=began)

    def close(self) -> None:
        self.closed = True
        self.allowed.set()


def server_command(folder: Path, script: str) -> tuple[str, ...]:
    """What starts a script in the compile server's place."""
    path = folder / "server.py"
    path.write_text(script)
    return sys.executable, str(path)


def wrapper(root: Path, compiler: Copying | None = None, **options: object) -> Wrapper:
    """A wrapper on `root`; its lines go to stderr."""
    chosen = WrapperOptions(cache_url=str(root), **options)  # type: ignore[arg-type]
    return Wrapper(compiler or Copying(), chosen, log=WrapperLog(level=chosen.log_level))


def obtain_once(root: str, journal: str, delay: float) -> None:
    """What a rank does."""
    obtained = wrapper(Path(root), Copying(Path(journal), delay)).get_or_compile(GRAPH)
    assert obtained.entry.artifact.read_bytes() == b"the graphthe graph"
