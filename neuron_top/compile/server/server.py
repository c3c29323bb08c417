"""The process that compiles for a job: it imports PyTorch once, then forks for each graph.

Run as `python -m neuron_top.compile.server.server <parent pid>` by `server.client`. Requests and replies are JSON
lines on standard input and output. A fork starts in milliseconds, and a crash, a kill or a canceled compile costs
that fork alone. The server has one thread and never compiles itself, so its forks start clean.

It ends with its parent, whatever ends the parent: it notices the end of standard input, or that the parent's pid is
gone (an inherited pipe end can outlive the job). It then kills running compiles and removes the temporary files of all
compiles and every entry lock that the job reported. So a killed job leaves nothing behind, even if both are ended at
once, or before PyTorch is imported here. Terminal signals are the job's to handle, not ours.

Output and results of a fork come back through pipes: on a disk that its compile fills up both would be lost.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neuron_top.cache.locks import protocol
from neuron_top.cache.locks.protocol import EntryFolder
from neuron_top.cache.model import graph_header
from neuron_top.compile import compiles_at_once
from neuron_top.compile.child_output import ChildOutput, text_of
from neuron_top.compile.child_processes import FORK_GRACE_SECONDS, LOOK_SECONDS, die_with_parent, signal_group
from neuron_top.compile.wrapper.compile_end import full_place
from neuron_top.compile.wrapper.persistent_cache import discard
from neuron_top.compile.wrapper.scratch import forget_probes, remove_dead, usual_places, work_in
from neuron_top.without_gc import without_gc

COMPILE_ERROR = 70
"""Exit status of a fork whose compile failed (the Neuron compiler's, too)."""
NOT_SERIALIZABLE = 71
"""Exit status of a fork that could not load the graph or save its code: the job compiles it itself then."""
NOT_THE_GRAPHS_FAULT = 72
"""Exit status of a fork that must not compile: its graph file was changed, or Inductor's folder cannot be trusted."""
NO_FORK = "Cannot fork"
"""Start of the log of a compile that could not even begin; the reason follows."""
_PARENT_POLL_SECONDS, _WARM_UP_POLL_SECONDS = 1.0, 0.2
_LAST_WORDS_SECONDS = 2.0
_LARGEST_RESULT = 1 << 20


class _Compile:
    """One fork at work on a request."""

    def __init__(self, request: dict[str, Any], pid: int, log: ChildOutput, result: ChildOutput) -> None:
        self.request, self.pid, self.log, self.result = request, pid, log, result
        self.started = time.monotonic()
        self._deadline: float | None = None

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to end."""
        return self._deadline is not None

    @property
    def is_overdue(self) -> bool:
        """Whether it was asked to end and has had its time."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def stop(self) -> None:
        """Ask the fork and the tools it started to end: the C++ compiler then deletes its temporary files."""
        if self._deadline is None:
            self._deadline = time.monotonic() + FORK_GRACE_SECONDS
        signal_group(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End the fork and the tools it started."""
        signal_group(self.pid, signal.SIGKILL)

    def clean_up(self) -> None:
        """End the tools of a fork that was ended from outside or has failed, and remove what it left."""
        self.stop()
        while signal_group(self.pid, 0) and not self.is_overdue:
            time.sleep(LOOK_SECONDS)
        self.kill()
        _remove_joined(self.request, self.pid)

    def reply(self, status: int, peak_rss_bytes: int) -> dict[str, Any]:
        """The reply to the request, from the fork's exit status and what it wrote into its pipes."""
        log, result = text_of(self.log.drain()), self.result.drain()
        return {
            "id": self.request["id"],
            "status": status,
            "seconds": time.monotonic() - self.started,
            "peak_rss_bytes": peak_rss_bytes,
            "log": log,
            "result": json.loads(result) if status == 0 and result else {},
        }

    def written(self) -> list[Path]:
        """The files that the compile writes for the job to publish."""
        return [Path(path) for path in self.request["outputs"].values()]


class Server:
    """Reads requests, keeps the forks, sends replies, until the parent is gone."""

    def __init__(self, parent: int, requests: int, replies: int) -> None:
        self._parent, self._requests, self._replies = parent, requests, replies
        self._running: dict[int, _Compile] = {}
        self._written: list[Path] = []
        """By compiles that ended: the job publishes it later, or never."""
        self._locks: dict[str, str] = {}
        self._pending = b""
        self._woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        """Serve until the end of input or of the parent."""
        self._send({"ready": os.getpid()})
        while os.getppid() == self._parent and self._turn():
            pass

    def _turn(self) -> bool:
        outputs = [
            output
            for compile_ in self._running.values()
            for output in (compile_.log, compile_.result)
            if not output.ended
        ]
        waited_for = [self._requests, self._woken, *(output.fileno() for output in outputs)]
        is_stopping = any(compile_.is_stopping for compile_ in self._running.values())
        readable, _, _ = select.select(waited_for, [], [], LOOK_SECONDS if is_stopping else _PARENT_POLL_SECONDS)
        for output in outputs:
            if output.fileno() in readable:
                output.take()
        if self._woken in readable:
            os.read(self._woken, 4096)
        self._reap()
        if self._requests not in readable:
            return True
        data = os.read(self._requests, 1 << 20)
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            self._handle(json.loads(line))
        return bool(data)

    def _handle(self, request: dict[str, Any]) -> None:
        if request.get("lock"):
            self._locks[request["lock"]] = request["token"]
        if request.get("cancel"):
            for compile_ in self._running.values():
                if compile_.request["id"] == request["id"]:
                    compile_.stop()
        elif "graph" in request:
            self._begin(request)

    def _begin(self, request: dict[str, Any]) -> None:
        outputs: list[ChildOutput] = []
        try:
            outputs += [ChildOutput()]
            outputs += [ChildOutput(_LARGEST_RESULT)]
            arrange = die_with_parent()
            pid = os.fork()
        except OSError as problem:  # no process, file or memory available: only this compile fails, not the server
            for output in outputs:
                output.child_started()
                output.drain()
            self._send({"id": request["id"], "status": COMPILE_ERROR, "log": f"{NO_FORK}: {problem}"})
            return
        log, result = outputs
        if pid == 0:
            _be_the_fork(request, log.writer, result.writer, arrange, (self._requests, self._replies, self._woken))
        for output in (log, result):
            output.child_started()
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)  # the fork does it too; the first call counts
        self._running[pid] = _Compile(request, pid, log, result)
        compiles_at_once.tell(len(self._running))
        self._send({"id": request["id"], "began": pid})

    def _reap(self) -> None:
        for pid, compile_ in list(self._running.items()):
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if not done and compile_.is_overdue:
                compile_.kill()
            elif done:
                compile_.clean_up() if status else compile_.kill()  # tools that outlived the fork
                self._written += self._running.pop(pid).written()
                compiles_at_once.tell(len(self._running))
                self._send(compile_.reply(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024))

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._replies, data) :]

    def end(self) -> None:
        """End all compiles; remove what they wrote and the locks that the job may have held."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for compile_ in self._running.values():
            compile_.stop()
        for pid, compile_ in self._running.items():
            with contextlib.suppress(ChildProcessError):
                while not os.waitpid(pid, os.WNOHANG)[0]:
                    if compile_.is_overdue:
                        compile_.kill()
                    time.sleep(LOOK_SECONDS)
            compile_.clean_up()
            discard(compile_.written())
        if self._read_last_words():
            discard(self._written)
            for lock, token in self._locks.items():
                protocol.release(EntryFolder.at(Path(lock).parent), Path(lock).name, token)

    def _read_last_words(self) -> bool:
        """Read the job's remaining requests: locks are noted, compiles are not begun any more.

        A job that was ended together with us may still be about to write; its pipe closes when it ends. Returns whether
        the job is gone; one that lives gives its locks back itself.
        """
        gone = os.getppid() != self._parent
        while select.select([self._requests], [], [], _LAST_WORDS_SECONDS)[0]:
            if not (data := os.read(self._requests, 1 << 20)):
                gone = True
                break
            self._pending += data
        for line in self._pending.split(b"\n")[:-1]:
            request = json.loads(line)
            if request.get("lock"):
                self._locks[request["lock"]] = request["token"]
        return gone


def _remove_joined(request: dict[str, Any], pid: int) -> None:
    """Remove the folders in which a fork had kernels compiled together."""
    from neuron_top.compile.graphs import joined_kernels

    chosen = request["environ"].get("TORCHINDUCTOR_CACHE_DIR")
    if request["scratch"]:
        chosen = f"{request['scratch']}/inductor"
    if not chosen:
        from torch._inductor.runtime.cache_dir_utils import default_cache_dir

        chosen = default_cache_dir()
    joined_kernels.remove_left(Path(chosen), pid)


def _be_the_fork(request: dict[str, Any], log: int, result: int, arrange: Any, closing: tuple[int, ...]) -> None:
    """Run the compile in the fork and exit; never returns to the server's loop."""
    status = COMPILE_ERROR
    try:
        arrange()
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        for handle in closing:
            os.close(handle)
        os.environ.clear()
        os.environ.update(request["environ"])
        if request["scratch"]:
            work_in(Path(request["scratch"]))
        _redirect(log)
        status = _compile(request, result)
    except BaseException:  # noqa: BLE001 (whatever it is, it belongs in the compile's log)
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(status)


def _compile(request: dict[str, Any], result: int) -> int:
    from neuron_top.compile.compiler import NotSerializable
    from neuron_top.compile.graphs import graph_file, other_pytorch
    from neuron_top.compile.graphs.inductor_compile import compile_serialized
    from neuron_top.errors import CacheUnusable, RefusedForSafety

    data = Path(request["graph"]).read_bytes()
    if hashlib.sha256(data).hexdigest() != request["graph_sha256"]:
        print(f"the graph file {request['graph']} was changed while it was to be compiled", file=sys.stderr)
        return NOT_THE_GRAPHS_FAULT
    try:
        graph = graph_file.load(graph_header.body(data))
    except Exception:  # noqa: BLE001 (unpickling raises anything)
        traceback.print_exc()
        return NOT_SERIALIZABLE
    outputs = {name: Path(path) for name, path in request["outputs"].items()}
    try:
        outcome = compile_serialized(
            graph, outputs, module=request["module"], digest=request["graph_digest"], dump=request["dump"]
        )
    except NotSerializable as reason:
        print(reason, file=sys.stderr)
        return NOT_SERIALIZABLE
    except (RefusedForSafety, CacheUnusable) as reason:
        print(reason, file=sys.stderr)
        return NOT_THE_GRAPHS_FAULT
    except Exception as problem:
        if not (unknown := other_pytorch.mismatch(problem)):
            raise
        print(unknown, file=sys.stderr)
        return NOT_SERIALIZABLE
    with os.fdopen(result, "wb") as pipe:
        pipe.write(json.dumps(outcome).encode())
    return 0


def _redirect(log: int) -> None:
    """Send standard output and error to the compile's own log."""
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)


@contextlib.contextmanager
def _ending_with(parent: int, requests: int) -> Iterator[None]:
    """Within the block, which prepares and reads no requests, end when the parent ends or the requests do."""
    hung_up = select.poll()
    hung_up.register(requests, 0)  # only the end of the pipe is an event

    def look(*_: Any) -> None:
        if os.getppid() != parent or hung_up.poll(0):
            sys.exit(0)

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _WARM_UP_POLL_SECONDS, _WARM_UP_POLL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _get_ready() -> None:
    """Prepare what forks inherit. If a test program finds no room, the machine seems to have no vector instructions;
    then each fork tests for itself."""
    from neuron_top.compile.graphs.inductor_compile import warm_up
    from neuron_top.errors import CacheUnusable, RefusedForSafety

    remove_dead(usual_places())
    # A full disk, or a folder that belongs to somebody else: each fork reports it in its own log.
    try:
        warm_up()
    except (OSError, CacheUnusable, RefusedForSafety):
        pass
    except Exception as problem:  # noqa: BLE001 (of a PyTorch that does it in another way)
        first_line = str(problem).partition("\n")[0]
        print(
            f"Each compile prepares itself, which takes longer: {type(problem).__name__}: {first_line}", file=sys.stderr
        )
    if full_place([Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR") or tempfile.gettempdir())]):
        forget_probes()


def main() -> None:
    """Move the protocol's descriptors out of reach of prints, import PyTorch, serve."""
    parent = int(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    server = Server(parent, requests, replies)
    status = 0
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, [])  # `server.client` blocks SIGTERM, the job perhaps others
        with _ending_with(parent, requests), without_gc():
            _get_ready()
            gc.freeze()  # a garbage collection in a fork would copy the pages of all that was imported
        server.serve()
    except Exception:  # noqa: BLE001 (it is printed, and ends this process)
        traceback.print_exc()
        status = 1
    finally:
        server.end()
        with contextlib.suppress(OSError):  # the job may be gone
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)  # the job waits for this process to end, and Python takes most of a second to finalize PyTorch


if __name__ == "__main__":
    main()
