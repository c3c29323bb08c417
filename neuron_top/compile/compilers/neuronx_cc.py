"""The Neuron compiler as the SDK's wrapper calls it: one subprocess on one HLO module.

Used where a Neuron SDK is installed, to compile graphs that lie in a cache (a retry, a collected graph).
"""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from neuron_top import programs
from neuron_top.cache.model import filenames
from neuron_top.compile.child_output import ChildOutput, text_of
from neuron_top.compile.child_processes import die_with_parent, end_group, signal_group, wait_with_usage
from neuron_top.compile.compiler import CompileOutcome, CompileTask
from neuron_top.compile.wrapper import compile_end
from neuron_top.errors import CompileError, CompilerMissing

_VERSION = re.compile(r"\bversion\s+(\d+\.\d+\.[\w.]+\+\w+)")
_VERSION_SECONDS = 60.0
_VERBOSITY = "--verbose=35"
"""Options that the SDK's wrapper appends; they are never part of the flags hash."""


class NeuronxCC:
    """`neuronx-cc` on the PATH (or at `program`)."""

    graph_name = filenames.HLO_NAMES[0]
    artifact_names: Sequence[str] = (filenames.NEFF,)

    def __init__(self, program: str = "neuronx-cc", *, graph_name: str = filenames.HLO_NAMES[0]) -> None:
        self._program, self.graph_name = program, graph_name
        self._running: set[subprocess.Popen[bytes]] = set()

    def directory(self) -> str:
        """`neuronxcc-<version>+<commit>`, asked from the compiler itself. Raises CompilerMissing."""
        try:
            answer = programs.ask([self._path(), "--version"], seconds=_VERSION_SECONDS)
        except (OSError, programs.NoAnswer) as problem:
            raise CompilerMissing(f"{self._program} --version cannot be run: {problem}") from None
        said = (answer.out + b"\n" + answer.err).decode(errors="replace")
        found = _VERSION.search(said)
        if found is None:
            raise CompilerMissing(f"{self._program} --version does not name a version: {said.strip()[:200]!r}")
        return f"neuronxcc-{found[1]}"

    def command(self, task: CompileTask) -> list[str]:
        """The SDK's own argument order: framework, graph, output, flags, verbosity."""
        output = task.outputs[filenames.NEFF]
        return [
            self._program,
            "compile",
            "--framework=XLA",
            str(task.graph),
            "--output",
            str(output),
            *task.flags,
            _VERBOSITY,
        ]

    def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
        """Run the compiler to its end. Raises CompilerMissing, CompilerKilled, DiskFull or CompileError."""
        command, started = [self._path(), *self.command(task)[1:]], time.monotonic()
        folder, log = _work_folder(task), ChildOutput()
        try:
            status, peak = self._run(command, log, began, folder)
        finally:
            text = text_of(log.drain())
        places = [task.outputs[filenames.NEFF].parent, folder or Path.cwd()]
        if (problem := compile_end.failure(status, text, task.module, places, "the compiler")) is not None:
            raise problem
        if not task.outputs[filenames.NEFF].exists():
            raise CompileError("the compiler exited with status 0 but wrote no NEFF", module=task.module, log=text)
        return CompileOutcome(seconds=time.monotonic() - started, peak_rss_bytes=peak)

    def _run(
        self,
        command: list[str],
        output: ChildOutput,
        began: Callable[[int], None],
        folder: Path | None,
    ) -> tuple[int, int | None]:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output.writer,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=die_with_parent(),
            )
        except OSError as problem:
            raise CompilerMissing(f"{self._program} cannot be started: {problem}") from None
        finally:
            output.child_started()
        self._running.add(process)
        try:
            began(process.pid)
            return wait_with_usage(process, output)
        except BaseException:
            end_group(process)
            raise
        finally:
            self._running.discard(process)

    def hold(self, lock: Path, token: str) -> None:
        """Does nothing: no process outlives this one, and whoever finds its lock sees that the owner is dead."""

    def start(self) -> None:
        """Does nothing: each compile is a program of its own."""

    def close(self) -> None:
        """End every compile under way; the threads that wait for them get CompilerKilled."""
        for process in list(self._running):
            signal_group(process.pid, signal.SIGKILL)

    def _path(self) -> str:
        found = programs.find(self._program)
        if found is None:
            raise CompilerMissing(f"{self._program} is not on the PATH: install the Neuron SDK or activate its venv")
        return str(Path(found).absolute())  # the compiler may be started in another folder


def _work_folder(task: CompileTask) -> Path | None:
    """Working folder of the compiler, which writes its scratch files there; None: the job's working folder."""
    wanted = task.scratch or task.workdir or task.dump
    if wanted is None:
        return None
    folder = wanted / task.module
    folder.mkdir(exist_ok=True)
    return folder
