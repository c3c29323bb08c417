"""The job's client of the compile server: starts it on the first miss, sends graphs, waits, cancels.

Several threads may compile at once; a reader thread hands each reply to the thread that waits for it.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import sysconfig
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

from neuron_top.compile.child_processes import end_group
from neuron_top.compile.compiler import CompileOutcome, CompileTask, NotSerializable
from neuron_top.compile.server.server import NOT_SERIALIZABLE, NOT_THE_GRAPHS_FAULT
from neuron_top.compile.wrapper import compile_end
from neuron_top.errors import CacheUnusable, CompileError, CompilerKilled, CompilerMissing

_COMMAND = (sys.executable, "-P", "-m", "neuron_top.compile.server.server")
"""-P: modules are imported from where the job imports them, not from its working folder, whatever that is."""
_WORK_FOLDER = "TORCHINDUCTOR_CACHE_DIR"
_FOR_THE_JOB_ALONE = (
    "TORCH_TRACE",  # a log of the job's frames
    # Whether the job keeps PyTorch's own caches. Set, they win over any setting, and PyTorch saves what they hold.
    "TORCHINDUCTOR_FX_GRAPH_CACHE",
    "TORCHINDUCTOR_AUTOGRAD_CACHE",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES",
    "TORCH_COMPILE_FORCE_DISABLE_CACHES",
)
_MODULES = "PYTHONPATH"
_KERNELS = "TRITON_CACHE_DIR"
"""PyTorch sets it when a process loads its first kernel. Each compile reads it, and gets the job's value."""
_TEMPORARY = "/tmp"  # noqa: S108 (the C++ compiler's own default)
_SERVER_ENDED = "server"
"""Key of the reply that is made up if none comes because the server ended: how it ended."""


class _Waiting(NamedTuple):
    """A request that the server has not answered yet."""

    reply: Future[dict[str, Any]]
    began: Callable[[int], None]
    """Called with the pid of the compile's process."""


class CompileClient:
    """One compile server, started when it is first needed and ended with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._environment: dict[str, str] = {}
        """What the server was started with."""
        self._has_worked = False
        self._waiting: dict[int, _Waiting] = {}
        self._number = 0
        _clients.add(self)

    def start(self) -> None:
        """Start the server now, so that it imports PyTorch while the caller continues. Raises CompilerMissing."""
        with self._lock:
            self._running()

    def hold(self, lock: Path, token: str) -> None:
        """Tell the server of a lock of this process, to give it back if we are killed. Raises CompilerMissing."""
        with self._lock:
            self._write(self._running(), {"lock": str(lock), "token": token})

    def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
        """Compile in a fork of the server; on an interrupt the fork is killed.

        Raises CompileError, CompilerKilled, CompilerMissing, DiskFull or NotSerializable.
        """
        number, reply = self._send(task, began)
        try:
            answer = reply.result()
        except BaseException:
            self._cancel(number)
            raise
        return _outcome(answer, task)

    def close(self) -> None:
        """End the server and everything it runs."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            end_group(process)

    def let_go(self) -> None:
        """Forget the server in a forked child of the job: the parent owns it, and all that other threads held.

        The child's copies of the pipes are closed: otherwise a worker of a data loader would keep the server from
        noticing that the parent closed its end, and the parent, when it ends, would wait for the server.
        """
        process, self._process = self._process, None
        self._lock, self._waiting = threading.Lock(), {}
        for pipe in (process.stdin, process.stdout) if process is not None else ():
            if isinstance(pipe, (io.BufferedWriter, io.BufferedReader)):
                pipe.raw.close()  # not flushed: at the fork, a thread of the parent may have been about to write

    def _send(self, task: CompileTask, began: Callable[[int], None]) -> tuple[int, Future[dict[str, Any]]]:
        reply: Future[dict[str, Any]] = Future()
        with self._lock:
            process = self._running()
            self._number += 1
            number = self._number
            self._waiting[number] = _Waiting(reply, began)
            self._write(process, _request(number, task))
        return number, reply

    def _cancel(self, number: int) -> None:
        with self._lock:
            waiting = self._waiting.get(number)
            if waiting is not None and self._process is not None:
                self._write(self._process, {"id": number, "cancel": True})
        if waiting is not None:
            with contextlib.suppress(Exception):
                waiting.reply.result(timeout=5)  # we may remove its files only when the fork is gone

    def _write(self, process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
        self._has_worked = True
        if process.stdin is None:
            raise AssertionError("the compile server is started with a pipe")
        with contextlib.suppress(OSError, ValueError):  # the reader thread reports the end of the server
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()

    def _running(self) -> subprocess.Popen[bytes]:
        """The server; it is started if there is none (a forked child of the job has forgotten the parent's).

        PyTorch reads settings from the environment as it is imported: a server that has had no work yet is replaced
        where the job's environment has changed since.
        """
        process = self._process
        if process is not None and not self._has_worked and _differ(self._environment, _environment()):
            end_group(process)
            process = None
        if process is None or process.poll() is not None:
            self._waiting = {}
            self._has_worked = False
            self._environment = _environment()
            process = _start(self._environment)
            self._have_read(process)
            self._process = process
        return process

    def _have_read(self, process: subprocess.Popen[bytes]) -> None:
        """Start the thread that hands out replies, without which no caller would get an answer."""
        reader = threading.Thread(
            target=self._read, args=(process, self._waiting), name="neurontop-compile", daemon=True
        )
        try:
            reader.start()
        except RuntimeError as problem:  # this user may have no more threads
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            end_group(process)
            raise CompilerMissing(f"the compile server cannot be used: {problem}") from None

    def _read(self, process: subprocess.Popen[bytes], waiting: dict[int, _Waiting]) -> None:
        """Hand out replies until the server ends; callers that still wait are then told so.

        A reply that is cut off counts as its end, too.
        """
        if process.stdout is None:
            raise AssertionError("the compile server is started with a pipe")
        try:
            for line in process.stdout:
                message = json.loads(line)
                if "began" in message:
                    waiting[message["id"]].began(message["began"])
                elif "id" in message and message["id"] in waiting:
                    waiting.pop(message["id"]).reply.set_result(message)
        except (ValueError, KeyError, OSError):
            end_group(process)
        process.stdout.close()
        status = process.wait()
        with self._lock:  # a thread that sends now either sees that the server has ended, or is among those that wait
            left = list(waiting.values())
            waiting.clear()
            if process.stdin is not None:
                with contextlib.suppress(OSError):  # a request that nobody read
                    process.stdin.close()
        for each in left:
            each.reply.set_result({_SERVER_ENDED: process.pid, "status": status, "log": ""})


_clients: weakref.WeakSet[CompileClient] = weakref.WeakSet()


def _let_go_all() -> None:
    for client in _clients:
        client.let_go()


os.register_at_fork(after_in_child=_let_go_all)


@atexit.register  # for the module, not for each server: users of a client register later, and so are called earlier
def _close_all() -> None:
    for client in _clients:
        client.close()


def _start(environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the server with SIGTERM blocked: if it is ended with the job while it starts, it still cleans up first."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        return subprocess.Popen(
            [*_COMMAND, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except OSError as problem:
        raise CompilerMissing(f"the compile server cannot be started: {problem}") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _environment() -> dict[str, str]:
    """The job's environment, with its search path for modules and without what is for the job alone."""
    found = {name: value for name, value in os.environ.items() if name not in _FOR_THE_JOB_ALONE}
    return {**found, _MODULES: os.pathsep.join(_search_path())}


def _search_path() -> Iterator[str]:
    """The job's search path for modules, behind Python's own library.

    A script may put a folder with a `queue.py` in front long after it has imported Python's; the server would import
    the script's. Items that are not text are left out, as Python ignores them; so are paths that contain the separator,
    which cannot be passed on and would be taken for two others.
    """
    library = sysconfig.get_path("stdlib")
    places: list[object] = [library, f"{library}/lib-dynload", *sys.path]
    for place in places:
        if place == "":
            with contextlib.suppress(FileNotFoundError):  # the working folder was deleted, so it has no modules
                yield str(Path.cwd())
        elif isinstance(place, str) and os.pathsep not in place:
            yield place


def _differ(then: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether servers that are started with these two environments may compile differently.

    Folders that installed packages append to the search path (setuptools does, whenever PyTorch imports it) do not
    count.
    """
    aside = {_MODULES: "", _KERNELS: ""}
    if {**then, **aside} != {**now, **aside}:
        return True
    before, after = then[_MODULES].split(os.pathsep), now[_MODULES].split(os.pathsep)
    added = after[len(before) :]
    packages = sysconfig.get_path("purelib")
    return after[: len(before)] != before or not all(Path(place).is_relative_to(packages) for place in added)


def _request(number: int, task: CompileTask) -> dict[str, Any]:
    return {
        "id": number,
        "graph": str(task.graph),
        "graph_sha256": task.graph_sha256,
        "graph_digest": task.graph_digest,
        "module": task.module,
        "outputs": {name: str(path) for name, path in task.outputs.items()},
        "lock": str(task.lock) if task.lock else "",
        "token": task.token,
        "environ": _environ(task),
        "dump": str(task.dump / task.module) if task.dump else "",
        "scratch": str(task.scratch) if task.scratch else "",
    }


def _environ(task: CompileTask) -> dict[str, str]:
    return {**os.environ, **({_WORK_FOLDER: str(task.workdir)} if task.workdir else {})}


def _outcome(answer: dict[str, Any], task: CompileTask) -> CompileOutcome:
    status, log = answer["status"], answer["log"]
    if _SERVER_ENDED in answer:
        raise _server_ended(answer[_SERVER_ENDED], status, task)
    if status == NOT_SERIALIZABLE:
        raise NotSerializable(log.splitlines()[-1] if log else "the graph cannot be loaded in another process")
    if status == NOT_THE_GRAPHS_FAULT:
        raise CacheUnusable(
            log.splitlines()[-1] if log else "the compile process may not compile", module=task.module, log=log
        )
    problem = compile_end.failure(status, log, task.module, _places(task), "the compile process")
    if type(problem) is CompileError and (folder := _split_folder(task)) is not None:
        raise CompilerMissing(
            f"PyTorch cannot compile in {folder}: it splits what it tells the C++ compiler at the spaces and quotes of "
            "that name; set TMPDIR and TORCHINDUCTOR_CACHE_DIR to folders without any",
            module=task.module,
            log=log,
        ) from problem
    if problem is not None:
        raise problem
    return CompileOutcome(
        seconds=answer["seconds"],
        peak_rss_bytes=answer["peak_rss_bytes"],
        guards=answer["result"].get("guards", ""),
    )


def _server_ended(pid: int, status: int, task: CompileTask) -> CompilerKilled:
    """The error for an ended server. It compiles nothing itself, so the graph is not what ended it."""
    process = f"the compile server (process {pid})"
    if status < 0:
        return compile_end.killed(process, -status, task.module)
    how = f"ended with exit status {status}, what it said stands above" if status else "was asked to end (SIGTERM)"
    return CompilerKilled(f"{process} {how}", module=task.module)


def _places(task: CompileTask) -> list[Path]:
    """The folders that a compile writes to: its outputs, Inductor's folder, temporary files of the C++ compiler."""
    kept = [task.dump] if task.dump else []
    return [*dict.fromkeys((*(path.parent for path in task.outputs.values()), *_work_folders(task), *kept))]


def _work_folders(task: CompileTask) -> tuple[Path, Path]:
    """Inductor's folder, and the one for temporary files."""
    environ = _environ(task)
    temporary = environ.get("TMPDIR") or _TEMPORARY
    return Path(environ.get(_WORK_FOLDER) or temporary), Path(temporary)


def _split_folder(task: CompileTask) -> Path | None:
    """The folder, if any, that PyTorch's command for the C++ compiler breaks: it splits the command as a shell does.

    The graph is not at fault: stored as its failure, this would keep everybody else from compiling it.
    """
    return next((folder for folder in _work_folders(task) if not _is_one_word(str(folder))), None)


def _is_one_word(text: str) -> bool:
    try:
        return shlex.split(text) == [text]
    except ValueError:  # a quote is not closed
        return False
