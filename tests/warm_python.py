"""Python processes that have PyTorch imported when they begin: copies of one that waits for them.

`[*warm_python(), "-c", code]` in place of `[sys.executable, "-c", code]` is the same process for whoever starts it:
arguments, environment, working folder, standard streams, signals, exit status. Importing PyTorch and its compiler is
most of what a small job costs, and its compile server imports them again; the server begins as a copy, too.

Each call names the other of two processes that wait, which have other hash seeds and addresses: what depends on the
order of a set differs between two jobs, as it does between processes of their own. A process that would import PyTorch
with another environment than those that wait is started as one of its own. Tests of what is imported when, of
processes, and of how early a compile server starts have no use for it.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import functools
import gc
import importlib
import itertools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_CLIENT = Path(__file__).with_name("warm_client.py")
_SERVER = ("-P", "-m", "neuron_top.compile.server.server")
_READ_BY_IMPORTS = (
    "TORCH",
    "PYTORCH",
    "PYTHON",
    "OMP",
    "MKL",
    "KMP",
    "LD_",
    "CUDA",
    "TMPDIR",
    "HOME",
    "USER",
    "TRITON",
)
"""Beginnings of the names of variables that Python, PyTorch and its libraries read as they begin."""
_READ_LATER = ("TORCHINDUCTOR_CACHE_DIR", "PYTHONHASHSEED", "TRITON_CACHE_DIR", "OMP_NUM_THREADS")
"""Of these, those that a copy follows all the same."""
_MODULES = (
    "torch._dynamo.backends.registry",
    "torch._inductor.compile_fx",
    "torch._inductor.graph",
    "torch._inductor.codegen.cpp",
    "torch._inductor.codegen.cpp_wrapper_cpu",
)
_turns = itertools.count()


def warm_python() -> tuple[str, ...]:
    """The beginning of a command, in place of `sys.executable`."""
    if sys.platform != "linux":
        return (sys.executable,)
    return (sys.executable, "-I", "-S", str(_CLIENT), str(_waiting()[next(_turns) % 2]))


@functools.cache
def _waiting() -> tuple[Path, Path]:
    """The sockets of the two that wait, in one folder; they end with this process."""
    place = tempfile.TemporaryDirectory(prefix="neurontop-tests-warm-", ignore_cleanup_errors=True)
    atexit.register(place.cleanup)
    sockets = Path(place.name, "1"), Path(place.name, "2")
    environ = {name: value for name, value in os.environ.items() if name not in _READ_LATER}
    started = [
        subprocess.Popen(
            [sys.executable, "-P", __file__, str(path)],
            env=environ | {"PYTHONHASHSEED": path.name, "OMP_NUM_THREADS": "1"},  # no library starts threads
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for path in sockets
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        atexit.register(process.communicate)  # the end of its input ends it
    return sockets


class _Waiting:
    """The process that imports, waits, and copies itself."""

    def __init__(self, path: Path, owner: int) -> None:
        self.path, self.owner = path, owner
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(path))
        self.listening.listen(64)
        self.jobs: dict[int, socket.socket] = {}
        self.woken, waker = os.pipe()
        os.set_blocking(self.woken, False)
        os.set_blocking(waker, False)
        self.waker = waker
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> str | None:
        """Until the owner ends; returns in each copy with the code that it runs."""
        while True:
            connections = {connection.fileno(): pid for pid, connection in self.jobs.items()}
            waited_for = [self.owner, self.woken, self.listening.fileno(), *connections]
            readable, _, _ = select.select(waited_for, [], [])
            if self.owner in readable:
                return None
            if self.woken in readable:
                os.read(self.woken, 4096)
            for number in connections.keys() & set(readable):
                self.pass_on(connections[number])
            self.reap()
            if self.listening.fileno() in readable and (code := self.begin(self.listening.accept()[0])) is not None:
                return code

    def begin(self, connection: socket.socket) -> str | None:
        """Copy this process for the job that connected, or tell it to start one of its own."""
        asked, streams = _received(connection)
        if not asked:
            connection.close()
            return None
        code = _code(asked["command"])
        if code is None or not _alike(asked):
            for stream in streams:
                os.close(stream)
            connection.sendall(b"no\n")
            connection.close()
            return None
        pid = os.fork()
        if pid:
            for stream in streams:
                os.close(stream)
            self.jobs[pid] = connection
            connection.sendall(b"yes\n")
            return None
        for other in (*self.jobs.values(), connection, self.listening):
            other.close()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (self.owner, self.woken, self.waker):
            os.close(number)
        _become(asked, streams, self.path)
        return code

    def pass_on(self, pid: int) -> None:
        """A signal that the client got; at the client's end, the job is killed."""
        numbers = self.jobs[pid].recv(64) or bytes([signal.SIGKILL])
        for number in numbers:
            os.kill(pid, number)
        if signal.SIGKILL in numbers:
            self.jobs.pop(pid).close()

    def reap(self) -> None:
        """Give each client the status of its job."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if connection := self.jobs.pop(pid, None):
                with contextlib.suppress(OSError):  # the client may be gone
                    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
                connection.close()


def _received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, found = b"", array.array("i")
    while not data.endswith(b"\n"):
        more, ancillary, _, _ = connection.recvmsg(1 << 16, socket.CMSG_SPACE(3 * found.itemsize))
        for _, _, content in ancillary:
            found.frombytes(content)
        if not more:
            return {}, list(found)
        data += more
    return json.loads(data), list(found)


def _alike(asked: dict[str, Any]) -> bool:
    """Whether PyTorch would be imported as it was here. The server's path has the job's modules, and no others."""
    aside = (*_READ_LATER, "PYTHONPATH") if _is_server(asked["command"]) else _READ_LATER

    def read(of: Mapping[str, str]) -> dict[str, str]:
        return {name: of[name] for name in of if name.startswith(_READ_BY_IMPORTS) and name not in aside}

    return read(asked["environ"]) == read(os.environ)


def _is_server(command: list[str]) -> bool:
    return tuple(command[:3]) == _SERVER


def _code(command: list[str]) -> str | None:
    """What a copy runs, of `-c`, `-m` or a script; None for a command that is not run by a copy."""
    option, what, *_ = [*(command[1:] if _is_server(command) else command), "", ""]
    if option == "-m":
        return f"import runpy; runpy.run_module({what!r}, run_name='__main__', alter_sys=True)"
    if option == "-c":
        return what
    if option.startswith("-") or not Path(option).is_absolute():
        return None
    return f"import runpy; runpy.run_path({option!r}, run_name='__main__')"


def _become(asked: dict[str, Any], streams: list[int], path: Path) -> None:
    """All that a new process gets of the one that starts it."""
    import torch

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked["folder"])
    if asked["leads"]:
        os.setsid()
    os.umask(asked["umask"])
    if (threads := asked["environ"].get("OMP_NUM_THREADS")) != os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(threads or len(os.sched_getaffinity(0))))
    os.environ.clear()
    os.environ.update(asked["environ"])
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    if _is_server(asked["command"]):
        sys.argv = ["server", *asked["command"][3:]]
        sys.path[:] = os.environ["PYTHONPATH"].split(os.pathsep)
        _be_child_of(int(sys.argv[1]))
    else:
        first, *rest = asked["command"]
        is_script = not first.startswith("-")
        sys.argv = [first, *rest] if is_script else ["-c", *rest[1:]]
        sys.path.insert(0, str(Path(first).parent) if is_script else "")
        from neuron_top.compile.server import client

        other = path.with_name("2" if path.name == "1" else "1")
        client._COMMAND = (sys.executable, "-I", "-S", str(_CLIENT), str(other), *_SERVER)
    signal.pthread_sigmask(signal.SIG_SETMASK, asked["blocked"])


def _be_child_of(parent: int) -> None:
    """The server asks who its parent is, to notice its end; its own forks have the server."""
    of_this_process, asking = os.getppid, os.getpid()

    def began() -> str:
        try:
            return Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[19]
        except OSError:
            return ""

    at_first = began()

    def parent_or_none() -> int:
        if os.getpid() != asking:
            return of_this_process()
        return parent if began() == at_first != "" else 1

    os.getppid = parent_or_none


def _import() -> None:
    for name in _MODULES:
        with contextlib.suppress(ImportError):  # another version has it elsewhere
            importlib.import_module(name)
    from torch._inductor.codecache import torch_key

    torch_key()
    threads = list(Path("/proc/self/task").iterdir())
    assert len(threads) == 1, f"a copy of {len(threads)} threads is one that may hang"


def main() -> None:
    """Import, say so, wait; in a copy, run the code as Python runs that of `-c`."""
    owner, path = os.dup(0), Path(sys.argv[1])
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    sys.path.append(str(ROOT))
    _import()
    gc.freeze()  # a copy that looks for garbage would copy all that was imported
    waiting = _Waiting(path, owner)
    os.write(1, b"ready\n")
    os.dup2(0, 1)
    code = waiting.serve()
    os._exit(0 if code is None else _status_of(code))


def _status_of(code: str) -> int:
    """Run the code as that of `-c`, and what is to run at its exit; PyTorch is not taken apart, which takes long."""
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    status: Any = 0
    try:
        exec(compile(code, "<string>", "exec"), module.__dict__)
    except SystemExit as end:
        status = end.code
    except BaseException as problem:
        trace = problem.__traceback__
        sys.excepthook(type(problem), problem, trace and trace.tb_next)
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return (status or 0) & 0xFF


if __name__ == "__main__":
    main()
