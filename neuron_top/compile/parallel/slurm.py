"""Runs compiles as jobs of Slurm, submitted through submitit: one array for tasks with equal memory and nodes.

Slurm places, starts and ends them, and queues a task again if its node dies. The outcome of a task is read from its
result file, or from `squeue` if it left none: accounting need not be set up.
"""

from __future__ import annotations

import contextlib
import logging
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from neuron_top import programs
from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult, Fault
from neuron_top.compile.parallel.executor import EntryTask, Memory, Placement
from neuron_top.compile.parallel.medium import Medium, result_of
from neuron_top.compile.parallel.on_node import compile_on_node
from neuron_top.compile.parallel.slurm_options import SlurmOptions
from neuron_top.errors import UsageError
from neuron_top.identity import NODE_VARIABLES

try:
    import submitit
    from submitit.core.utils import FailedJobError, FailedSubmissionError, UncompletedJobError
except ImportError:
    raise UsageError("compiling through Slurm needs submitit: pip install 'neuron-top[slurm]'") from None

LONGEST_ARRAY = 1000
"""Slurm's own default for MaxArraySize is 1001."""
_LOOK_SECONDS = 1.0
_SQUEUE_SECONDS = 3.0
_COMMAND_SECONDS = 60.0
_CANCELED_SECONDS = 60.0
_READERS = 8
_AT_ONCE = 200
"""The most jobs in one command."""
_RESULT_SECONDS = 30.0
"""How long a result may stay unseen after Slurm has said that its task ended."""
_WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SUSPENDED", "RESV_DEL_HOLD"})
_GOING = frozenset({"RUNNING", "CONFIGURING", "COMPLETING", "STAGE_OUT", "SIGNALING", "STOPPED", "RESIZING"})
_LONGEST_MINUTES = 24 * 60
_CHECK = "import sys; from neuron_top.cache import trust; trust.open_folder(sys.argv[1])"
"""A node runs this before it unpickles a task, as it may see another folder under this path than the one made here."""


def check_programs() -> None:
    """Raise UsageError if Slurm's programs are not here."""
    missing = [program for program in ("sbatch", "srun", "squeue", "scancel") if programs.find(program) is None]
    if missing:
        raise UsageError(f"no {', '.join(missing)} on the PATH: compile --on slurm runs where jobs are submitted")


class _Job(NamedTuple):
    task: EntryTask
    future: Future[CompileResult]
    job: submitit.Job[bytes]


class _Seen(NamedTuple):
    """What squeue says about a job."""

    state: str
    node: str


class SlurmExecutor:
    """See Executor."""

    def __init__(self, options: SlurmOptions, folder: Path, medium: Medium) -> None:
        """`folder`, which all nodes see and only this user may write to, is for scripts, logs and results.

        Raises UsageError where Slurm is missing.
        """
        check_programs()
        logging.getLogger("submitit").setLevel(logging.ERROR)
        self._options, self._folder, self._medium = options, folder, medium
        self._minutes = _time_limit(options)
        self._gathered: list[tuple[EntryTask, Future[CompileResult]]] = []
        self._jobs: dict[str, _Job] = {}
        self._names: dict[CollectedGraph, str] = {}
        """The job that has each graph: a display asks for all of them, several times a second."""
        self._seen: dict[str, _Seen] = {}
        self._since: dict[str, float] = {}
        self._gone: dict[str, float] = {}
        self._reading: set[str] = set()
        self._left_out: set[str] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._watcher: threading.Thread | None = None

    def submit(self, task: EntryTask) -> Future[CompileResult]:
        """See Executor: tasks are gathered until `flush`."""
        future: Future[CompileResult] = Future()
        self._gathered.append((task, future))
        return future

    def flush(self) -> None:
        """See Executor: one array for tasks with equal requests. Raises UsageError where Slurm refuses them."""
        gathered, self._gathered = self._gathered, []
        arrays: dict[tuple[int | None, int, frozenset[str]], list[tuple[EntryTask, Future[CompileResult]]]] = {}
        for task, future in gathered:
            arrays.setdefault((_rounded(task.memory), task.cores, task.avoid), []).append((task, future))
        for members in arrays.values():
            for start in range(0, len(members), LONGEST_ARRAY):
                self._submit(members[start : start + LONGEST_ARRAY])
        with self._lock:
            if self._jobs and self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="slurm", daemon=True)
                self._watcher.start()

    def memory(self) -> Memory:
        """See Executor: Slurm manages memory."""
        return Memory(None)

    def placement(self, task: EntryTask) -> Placement:
        """See Executor."""
        with self._lock:
            job = self._names.get(task.graph, "")
            seen = self._seen.get(job)
            if seen is None or seen.state in _WAITING:
                return Placement(queued=True)
            return Placement(seen.node, since=self._since.get(job))

    def leave_out(self, node: str) -> None:
        """See Executor: pending jobs are updated; some may have begun meanwhile, which does no harm."""
        self._left_out.add(node)
        with self._lock:
            waiting = [name for name in self._jobs if self._seen.get(name, _Seen("PENDING", "")).state in _WAITING]
        for start in range(0, len(waiting), _AT_ONCE):
            jobs = ",".join(waiting[start : start + _AT_ONCE])
            _ask("scontrol", "update", f"JobId={jobs}", f"ExcNodeList={self._excluding(self._left_out)}")

    def logs(self) -> Path | None:
        """See Executor."""
        return self._folder

    def cancel(self) -> None:
        """See Executor: scancel, then wait until no job is left."""
        self._stopped.set()
        deadline = time.monotonic() + _CANCELED_SECONDS
        with self._lock:
            names = list(self._jobs)
        for _, future in self._gathered:
            future.cancel()
        while names and time.monotonic() < deadline:
            with contextlib.suppress(KeyboardInterrupt):  # also after a second interrupt nothing may be left behind
                _ask("scancel", *sorted({_array(name) for name in names}))
                states = _states(names) or {}
                names = [name for name in names if states.get(name, _Seen("", "")).state in _WAITING | _GOING]
                time.sleep(_LOOK_SECONDS if names else 0)

    def close(self) -> None:
        """See Executor."""
        self._stopped.set()

    def _submit(self, members: Sequence[tuple[EntryTask, Future[CompileResult]]]) -> None:
        sbatch = submitit.SlurmExecutor(self._folder)
        first = members[0][0]
        additional = _additional(self._options)
        if excluded := self._excluding(first.avoid):
            additional["exclude"] = excluded
        parameters: dict[str, object] = {
            "job_name": "neurontop-compile",
            "time": self._minutes,
            "cpus_per_task": first.cores,
            "array_parallelism": len(members),
            "use_srun": False,
            "setup": [
                f"unset {NODE_VARIABLES[0]}",  # it names this node, and sbatch would pass it on to all others
                f"{shlex.join((sys.executable, '-c', _CHECK, str(self._folder)))} || exit 1",
            ],
            "additional_parameters": additional,
        }
        if (memory := _rounded(first.memory)) is not None:
            parameters["mem"] = f"{memory}MB"
        sbatch.update_parameters(**parameters)
        try:
            with sbatch.batch():
                jobs = [
                    sbatch.submit(compile_on_node, self._medium.task(task.graph.path, task.retries))
                    for task, _ in members
                ]
        except (FailedJobError, FailedSubmissionError, OSError, subprocess.CalledProcessError) as problem:
            raise UsageError(f"Slurm refused the compiles: {_last_line(problem)}") from None
        with self._lock:
            for (task, future), job in zip(members, jobs, strict=True):
                self._jobs[job.job_id] = _Job(task, future, job)
                self._names[task.graph] = job.job_id

    def _excluding(self, nodes: Iterable[str]) -> str:
        """The nodes that tasks shall not get: these, and those that the person excludes."""
        return ",".join(filter(None, (*sorted(nodes), self._options.sbatch.get("exclude"))))

    def _watch(self) -> None:
        """Hand out results, and look at jobs that left none, until there are no jobs any more."""
        looked = 0.0
        with ThreadPoolExecutor(_READERS, "slurm-result") as readers:  # a slow file system must not delay the others
            while not self._stopped.wait(_LOOK_SECONDS):
                with self._lock:
                    jobs = {name: each for name, each in self._jobs.items() if name not in self._reading}
                    if not self._jobs:
                        self._watcher = None
                        return
                results = _results(self._folder)
                for name, job in jobs.items():
                    if job.job.paths.result_pickle.name in results:
                        self._reading.add(name)
                        readers.submit(self._read, name, job)
                if time.monotonic() - looked >= _SQUEUE_SECONDS:
                    looked = time.monotonic()
                    self._look({name: job for name, job in jobs.items() if name not in self._reading})

    def _read(self, name: str, job: _Job) -> None:
        self._finish(name, _read(job, self._medium))

    def _look(self, jobs: Mapping[str, _Job]) -> None:
        names = list(jobs)
        states = _states(names)
        if states is None:
            return  # the controller does not answer now, so no state is known
        now = time.monotonic()
        for name in names:
            seen = states.get(name, _Seen("", ""))
            with self._lock:
                self._seen[name] = seen
                if seen.state in _GOING:
                    self._since.setdefault(name, now)
                else:
                    self._since.pop(name, None)
            if seen.state in _WAITING | _GOING:
                self._gone.pop(name, None)
            elif now - self._gone.setdefault(name, now) >= (_RESULT_SECONDS if seen.state == "COMPLETED" else 0):
                self._finish(name, _without_result(seen, jobs[name].job.paths.stderr))

    def _finish(self, name: str, result: CompileResult) -> None:
        with self._lock:
            job = self._jobs.pop(name)
            self._names.pop(job.task.graph, None)
            self._seen.pop(name, None)
        job.future.set_result(result)


def _read(job: _Job, medium: Medium) -> CompileResult:
    """The result that a task left, once its artifact is visible here."""
    try:
        return result_of(job.job.result(), job.task.graph.path, medium)
    except (FailedJobError, UncompletedJobError) as problem:
        said = f"the task failed outside the compile ({_last_line(problem)})"
    except Exception as problem:  # noqa: BLE001 (whatever it is, whoever waits for the task gets it)
        said = f"its result cannot be read ({type(problem).__name__}: {_last_line(problem)})"
    return CompileResult(ok=False, message=f"{said}, see {job.job.paths.stderr}", fault=Fault.LOST)


def _without_result(seen: _Seen, log: Path) -> CompileResult:
    """The result for a task that has ended, according to Slurm, without a result file."""
    state = seen.state.partition(" ")[0]
    if state == "OUT_OF_MEMORY":
        said = "Slurm ended it for its memory"
        return CompileResult(ok=False, message=said, fault=Fault.MEMORY, node=seen.node)
    if state in ("TIMEOUT", "DEADLINE"):
        said = "Slurm's time limit ended it: give a longer one with --sbatch time=…"
        return CompileResult(ok=False, message=said, node=seen.node)
    if state == "CANCELLED":
        said = "its job was canceled (scancel): run the command again"
        return CompileResult(ok=False, message=said, node=seen.node)
    said = f"its task is gone (Slurm says {state.lower() or 'nothing'}), see {log}"
    return CompileResult(ok=False, message=said, fault=Fault.LOST, node=seen.node)


def _results(folder: Path) -> set[str]:
    """List the folder once for all tasks, which also makes a network file system refresh it."""
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
        return {path.name for path in folder.iterdir() if path.name.endswith("_result.pkl")}
    return set()


def _states(names: Iterable[str]) -> dict[str, _Seen] | None:
    """The states of these jobs in squeue, which keeps ended ones for a while; None if squeue does not answer."""
    arrays = sorted({_array(name) for name in names})
    if not arrays:
        return {}
    said = _ask("squeue", "--noheader", "--array", "--states=all", "--format=%i|%T|%N", f"--jobs={','.join(arrays)}")
    if said is None:
        return None
    rows = [line.split("|") for line in said.splitlines() if line.count("|") == 2]
    return {name.strip(): _Seen(state.strip(), node.strip()) for name, state, node in rows}


def _ask(*command: str) -> str | None:
    """The output of a Slurm command; None if it fails, but "" if it only no longer knows the jobs."""
    try:
        answer = programs.ask(list(command), seconds=_COMMAND_SECONDS)
    except (OSError, programs.NoAnswer):
        return None
    if answer.status and b"Invalid job id" not in answer.err:
        return None
    return answer.out.decode(errors="replace")


def _time_limit(options: SlurmOptions) -> int:
    """The time limit, in minutes: the one asked for, as it is; else a day, or less if the partition allows less."""
    partition = options.sbatch.get("partition", options.partition)
    said = _ask("sinfo", "--noheader", "--format=%P|%l", *([f"--partition={partition}"] if partition else [])) or ""
    rows = [line.split("|") for line in said.splitlines() if "|" in line]
    row = next((row for row in rows if row[0].strip().endswith("*")), rows[0] if rows else ["", ""])
    return min(_LONGEST_MINUTES, _minutes(row[1].strip()) or _LONGEST_MINUTES)


def _minutes(text: str) -> int | None:
    """`1-02:00:00`, `30:00` → minutes; None for `infinite`."""
    days, _, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdecimal() for part in parts):
        return None
    hours, minutes = (int(parts[0]), int(parts[1])) if len(parts) == 3 else (0, int(parts[0]))
    return (int(days) if days.isdecimal() else 0) * 1440 + hours * 60 + minutes


def _additional(options: SlurmOptions) -> dict[str, object]:
    given = {"partition": options.partition, "account": options.account}
    found: dict[str, object] = {name: value for name, value in given.items() if value}
    return found | {name.replace("-", "_"): value or True for name, value in options.sbatch.items()}


def _rounded(memory: int | None) -> int | None:
    """MiB, rounded up to a multiple of 256, so that tasks with similar needs share an array."""
    return None if memory is None else -(-memory // (256 * 1024**2)) * 256


def _array(name: str) -> str:
    return name.partition("_")[0]


def _last_line(problem: BaseException) -> str:
    lines = str(problem).strip().splitlines()
    return lines[-1] if lines else type(problem).__name__
