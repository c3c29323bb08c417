"""Runs compiles as tasks of a Ray cluster that is up already; no accelerator is requested.

Ray places and starts them. We retry ourselves: Ray's retries do not consider memory or nodes without a compiler.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model import filenames
from neuron_top.compile.parallel.compile_queue import CollectedGraph, CompileResult, Fault
from neuron_top.compile.parallel.executor import EntryTask, Memory, Placement
from neuron_top.compile.parallel.medium import Medium, result_of
from neuron_top.compile.parallel.on_node import compile_on_node
from neuron_top.database_address import has_password
from neuron_top.errors import UsageError
from neuron_top.identity import NODE_VARIABLES
from neuron_top.parsers.secrets import is_secret_name

try:
    import ray
    from ray.exceptions import OutOfMemoryError, RayError, RayTaskError
    from ray.util.scheduling_strategies import NodeLabelSchedulingStrategy, NotIn
except ImportError:
    raise UsageError("compiling through Ray needs its package: pip install 'neuron-top[ray]'") from None

_PASSED = ("NEURON", "XLA_", "TORCHINDUCTOR_")
"""Prefixes of this process's environment variables that a compile on a node gets."""
_WEBHOOKS = "NEURONTOP_WEBHOOK_"
_NODE_LABEL = "ray.io/node-id"
_DIED_AT_ITS_START = ("Starting Ray client server failed", "psutil.ZombieProcess", "psutil.NoSuchProcess")
"""About one in fifteen of the processes that Ray's client server starts for a client dies as it is forked
(ray-project/ray#63202), which the server notices or stumbles over; another attempt gets another."""
_ATTEMPTS = 3
_LOOK_SECONDS = 2.0
_CANCEL_SECONDS = 20.0


class _Task(NamedTuple):
    task: EntryTask
    future: Future[CompileResult]
    reference: Any  # an ObjectRef, or a client's stand-in for one


class RayExecutor:
    """See Executor."""

    def __init__(self, address: str, medium: Medium) -> None:
        """Raises UsageError where no cluster answers."""
        try:
            _connect(address or "auto")
        except (ConnectionError, RayError, RuntimeError, ValueError) as problem:
            where = f"at {address}" if address else "that runs here (ray start, or name one with --ray)"
            raise UsageError(f"no Ray cluster {where} can be used: {gist(problem)}") from None
        self._medium = medium
        self._compile = ray.remote(_compile_and_say_where)
        self._tasks: list[_Task] = []
        self._began: dict[CollectedGraph, Placement] = {}
        self._looked: dict[CollectedGraph, float] = {}
        self._lock = threading.Lock()
        self._stopped = False
        self._counted = float("-inf")
        self._with_cores: set[CollectedGraph] = set()
        """Graphs whose tasks are assumed to have the cores that Ray says are taken."""

    def submit(self, task: EntryTask) -> Future[CompileResult]:
        """See Executor."""
        options: dict[str, Any] = {"num_cpus": task.cores, "max_retries": 0, "name": task.graph.module}
        if task.memory is not None:
            options["memory"] = task.memory
        if task.avoid:
            options["scheduling_strategy"] = NodeLabelSchedulingStrategy(
                {_NODE_LABEL: NotIn(*sorted(task.avoid))}  # type: ignore[no-untyped-call]
            )
        future: Future[CompileResult] = Future()
        data = self._medium.task(task.graph.path, task.retries)
        entry = _Task(task, future, self._compile.options(**options).remote(data))
        with self._lock:
            self._tasks.append(entry)
            self._began.pop(task.graph, None)
        entry.reference.future().add_done_callback(lambda ended: self._finish(entry, ended))
        return future

    def flush(self) -> None:
        """See Executor: each task is submitted by itself."""

    def memory(self) -> Memory:
        """See Executor: Ray manages memory."""
        return Memory(None)

    def placement(self, task: EntryTask) -> Placement:
        """See Executor: taken from its entry's lock; a task without the lock counts as queued.

        Where no lock is visible, Ray says how many cores are taken, and the first tasks are assumed to have them.
        """
        graph, now = task.graph, time.monotonic()
        if not self._medium.shows_locks:
            return Placement(queued=not self._has_cores(task, now))
        known = self._began.get(graph)
        if known is not None or now - self._looked.get(graph, 0.0) < _LOOK_SECONDS:
            return known or Placement(queued=True)
        self._looked[graph] = now
        owner = lock_owner.read_record(f"{graph.path}{filenames.LOCK_SUFFIX}")
        if owner is None:
            return Placement(queued=True)
        self._began[graph] = Placement(owner.host, since=now)
        return self._began[graph]

    def _has_cores(self, task: EntryTask, now: float) -> bool:
        if now - self._counted >= _LOOK_SECONDS:
            self._counted = now
            every = ray.cluster_resources()  # type: ignore[no-untyped-call]
            free = ray.available_resources()  # type: ignore[no-untyped-call]
            taken = float(every.get("CPU", 0.0)) - float(free.get("CPU", 0.0))
            with self._lock:
                going = [each.task for each in self._tasks if not each.future.done()]
            sums = itertools.accumulate(each.cores for each in going)
            self._with_cores = {each.graph for each, cores in zip(going, sums, strict=True) if cores <= taken}
        return task.graph in self._with_cores

    def leave_out(self, node: str) -> None:
        """See Executor: Ray cannot move what is queued; a task that fails there is submitted elsewhere."""

    def logs(self) -> Path | None:
        """See Executor: in the session folder of each node's Ray."""
        return None

    def cancel(self) -> None:
        """See Executor: tasks are interrupted first, so that locks are given back; those that do not end are killed."""
        self._stopped = True
        with self._lock:
            references = [each.reference for each in self._tasks]
        for force in (False, True):
            for reference in references:
                ray.cancel(reference, force=force)
            if references:
                _, references = ray.wait(references, num_returns=len(references), timeout=_CANCEL_SECONDS)

    def close(self) -> None:
        """See Executor."""
        ray.shutdown()

    def _finish(self, entry: _Task, ended: Future[tuple[str, bytes]]) -> None:
        with self._lock:
            self._tasks.remove(entry)
        if self._stopped:
            return
        # This is called in Ray's own thread, which must not wait for a slow file system.
        threading.Thread(target=_deliver, args=(entry, ended, self._medium), name="ray-result", daemon=True).start()


def passed_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of our environment for compiles on nodes; nothing secret, as Ray shows it to everybody."""
    return {
        name: value
        for name, value in environ.items()
        if name.startswith(_PASSED) and name not in NODE_VARIABLES and not _may_be_secret(name, value)
    }


def _may_be_secret(name: str, value: str) -> bool:
    """By its name, or by a login or password in an address; for many services the address of a webhook is one."""
    has_login = "://" in value and "@" in value.partition("://")[2]
    return is_secret_name(name) or name.startswith(_WEBHOOKS) or has_login or has_password(value)


def _compile_and_say_where(data: bytes) -> tuple[str, bytes]:
    """Compile on the node, and say where."""
    return str(ray.get_runtime_context().get_node_id()), compile_on_node(data)


def _deliver(entry: _Task, ended: Future[tuple[str, bytes]], medium: Medium) -> None:
    entry.future.set_result(compile_result(entry.task.graph.path, ended, medium))


def compile_result(graph: Path, ended: Future[tuple[str, bytes]], medium: Medium) -> CompileResult:
    """How the compile of a task ended, once its artifact is visible here."""
    try:
        node, data = ended.result()
        return msgspec.structs.replace(result_of(data, graph, medium), node=node)
    except OutOfMemoryError as problem:
        return CompileResult(ok=False, message=_first_line(problem), fault=Fault.MEMORY)
    except RayTaskError as problem:
        said = f"the task failed outside the compile: {str(problem).strip().rpartition(chr(10))[2]}"
    except RayError as problem:
        said = _first_line(problem)
    except Exception as problem:  # noqa: BLE001 (whatever it is, whoever waits for the task gets it)
        said = f"its result cannot be read ({type(problem).__name__}: {_first_line(problem)})"
    return CompileResult(ok=False, message=said, fault=Fault.LOST)


def _connect(address: str) -> None:
    """Become a client of the cluster. Raises what Ray raises if there is none."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            ray.init(
                address=address,
                runtime_env={"env_vars": passed_variables(os.environ)},
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
            return
        except ConnectionError as problem:
            if attempt == _ATTEMPTS or not any(words in str(problem) for words in _DIED_AT_ITS_START):
                raise


def gist(problem: BaseException) -> str:
    """The first line of an error; if it only announces the reason, also the last line, which has the reason."""
    first, last = _first_line(problem), str(problem).strip().rpartition("\n")[2].strip()
    return f"{first} {last}" if first.endswith(":") and last != first else first


def _first_line(problem: BaseException) -> str:
    return str(problem).strip().partition("\n")[0] or type(problem).__name__
