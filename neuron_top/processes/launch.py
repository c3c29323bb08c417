"""Runs a command unchanged, and reads every byte of its output.

For the job it is as if the shell had started it:

- A stream of ours that is a terminal becomes a terminal of the job's (a pseudo-terminal in raw mode, one per stream),
  a pipe or a file becomes a pipe. So programs keep their colors and their line buffering, standard output and
  standard error stay apart, and bytes pass unchanged.
- Its exit status is ours; death by signal n is 128+n, a command that is missing 127, one that may not be run 126, as
  in a shell.
- It runs in a session of its own, so that Ctrl-C in the terminal reaches us alone and is passed on once. Signals go to
  its process group; the second Ctrl-C ends and the third kills every process of the job, wherever torchrun put it.
  Ctrl-Z stops all of them, and us; `fg` and `bg` carry all of them on.
- Its environment gains two names: NEURONTOP_RUN, by which every process of the job can be found again, and
  NEURONTOP_EVENTS_DIR, where our compile component reports what log lines cannot say.

If the reader of our standard output goes away, the job's pipe is closed too, so it gets the SIGPIPE that it would have
got. Processes that a command leaves behind when it succeeds go on writing to where they would have written. The output
goes through a process of its own (`output_relay`), so that the job keeps its reader when we are killed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

import psutil

from neuron_top.errors import NeuronTopError
from neuron_top.processes.relayed_output import RelayedOutput, Stream
from neuron_top.processes.streams import copy_window_size, make_raw

RUN_VARIABLE = "NEURONTOP_RUN"
_SHELL = "/bin/sh"
_QUIET_SECONDS = 1.0
"""How long output may still come after the command itself ended (a daemon it left behind holds the pipe open)."""
_LONGEST_REST_SECONDS = 3.0
"""How long such output is waited for if it does not stop."""
_PIPE_BYTES = 1 << 22
"""More bytes than can wait between the command and us, in pipes, sockets and the relay."""
_GRACE_SECONDS = 5.0
_SIGNAL_MILLISECONDS = 500
"""The longest delay until a signal is handled that another thread received."""
_LOOKS = 5
"""How often processes of a job that is being stopped are searched for."""

OnOutput = Callable[[str, bytes], None]


class CommandNotStarted(NeuronTopError):
    """The command is missing (127) or may not be run (126)."""

    def __init__(self, command: str, problem: OSError) -> None:
        self.exit_code = 127 if isinstance(problem, FileNotFoundError) else 126  # type: ignore[misc]
        super().__init__(f"cannot start {command!r}: {problem.strerror or problem}")


class _Rest:
    """Decides how long to wait for output after the command has ended."""

    def __init__(self) -> None:
        self._began = self._quiet_since = time.monotonic()
        self._bytes = 0

    def came(self, size: int) -> None:
        """Note that this many more bytes came."""
        self._quiet_since = time.monotonic()
        self._bytes += size

    def is_over(self, output: RelayedOutput, *, is_ending: bool) -> bool:
        """Whether to stop waiting: all output of the command itself has come if nothing waits, or if more has come than
        the pipes hold. `is_ending`: the remaining processes were asked to end."""
        now = time.monotonic()
        if is_ending and now > self._began + _GRACE_SECONDS:
            return True
        if now > self._quiet_since + _QUIET_SECONDS:
            return output.idle()
        return now > self._began + _LONGEST_REST_SECONDS and (self._bytes > _PIPE_BYTES or output.idle())


class Job:
    """One command. `start`, then `pump` in one thread while `wait` in another."""

    def __init__(self, command: Sequence[str], environ: Mapping[str, str], *, shown: bool = True) -> None:
        """`shown`: pass output on to our own streams, and the keyboard to the job; else output is only reported."""
        self.command = tuple(command)
        self.interrupted_by = ""
        """Name of the first signal that was passed on, "" while none was."""
        self.ended: float | None = None
        """When the command was seen to have ended, seconds since the epoch; what it left behind may write on."""
        self.left_processes = False
        """The command has ended, and something that it started may still write."""
        self._environ = dict(environ)
        self._shown = shown
        self._output: RelayedOutput | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id of the command; only after `start`."""
        return self._started.pid

    @property
    def started(self) -> bool:
        """True once the command runs, or has run."""
        return self._process is not None

    @property
    def running(self) -> bool:
        """True while the command runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the job was not started")
        return self._process

    def start(self, log: int | None = None) -> None:
        """Start the command. `log`: its output is appended to this file if we are killed. Raises CommandNotStarted."""
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            try:
                streams, ends = [], []
                for name, number in (("stdout", 1), ("stderr", 2)):
                    source, end = _channel(number)
                    ours.callback(os.close, source)
                    theirs.callback(os.close, end)
                    streams.append(Stream(name, source, number))
                    ends.append(end)
                ours.pop_all()  # the relay closes them
                self._output = RelayedOutput(streams, shown=self._shown, log=log)
                self._process = self._spawn(self.command, *ends)
            except OSError as problem:
                self._close_output()
                raise CommandNotStarted(self.command[0], problem) from None

    def _spawn(self, command: Sequence[str], stdout: int, stderr: int) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                command,
                stdin=None if self._shown else subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=self._environ,
                start_new_session=True,
            )
        except OSError as problem:
            # A script without `#!`: a shell runs it itself, and so do we.
            if problem.errno != errno.ENOEXEC or command[0] == _SHELL:
                raise
            return self._spawn([_SHELL, *command], stdout, stderr)

    def pump(self, on_output: OnOutput, on_idle: Callable[[], None] = lambda: None) -> None:
        """Pass the output on until its end; `on_idle` is called at least every 100 ms.

        Workers that a killed launcher left behind are asked to end, too, as they would go on writing. Other processes
        that are left behind go on; their output is not waited for once it pauses, nor for long if it never does.
        """
        output = self._output
        if output is None:
            raise RuntimeError("the job was not started")
        rest: _Rest | None = None
        is_ending_rest = False
        while not output.ended:
            if (came := output.receive()) is not None:
                on_output(*came)
                if rest is not None:
                    rest.came(len(came[1]))
            on_idle()
            if rest is None and (status := self._started.poll()) is not None:
                self._note_end()
                rest = _Rest()
                is_ending_rest = bool(self.interrupted_by) or status < 0
                if is_ending_rest:
                    self.signal_all(signal.SIGTERM)
            if rest is not None and rest.is_over(output, is_ending=is_ending_rest):
                for came in output.waiting():  # a slow reader of a command that wrote much at its end is behind
                    on_output(*came)
                break
        self.left_processes = not (output.ended or is_ending_rest)
        output.leave() if self.left_processes else output.quit()

    def wait(self) -> int:
        """Block until the command ended; its status, negative for a signal.

        The kernel may give a signal to any thread while one is pending for the main thread, and then nothing wakes the
        main thread: so it checks by itself now and then.
        """
        with contextlib.suppress(OSError, AttributeError):  # it has ended, or the system has no pidfd
            descriptor = os.pidfd_open(self.pid)
            try:
                waiting = select.poll()
                waiting.register(descriptor, select.POLLIN)
                while not waiting.poll(_SIGNAL_MILLISECONDS):
                    pass
            finally:
                os.close(descriptor)
        status = self._started.wait()
        self._note_end()
        return status

    def _note_end(self) -> None:
        if self.ended is None:
            self.ended = time.time()

    def signal(self, number: int) -> None:
        """Pass a signal on to the job's process group."""
        self.interrupted_by = self.interrupted_by or signal.Signals(number).name
        self._signal_group(number)

    def _signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def processes(self) -> list[psutil.Process]:
        """All living processes of the job, found by NEURONTOP_RUN in their environment."""
        return processes_of_run(self._environ.get(RUN_VARIABLE, ""))

    def signal_all(self, number: int) -> None:
        """Send a signal to every process of the job, in whatever session it runs."""
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)

    def stop(self) -> None:
        """Stop every process of the job, as Ctrl-Z does in a terminal, until `proceed`.

        SIGSTOP is used, which cannot be ignored: in a session of its own the job has no shell that could continue it,
        so the kernel drops SIGTSTP. Processes that start meanwhile are found by searching again.
        """
        stopped: set[int] = set()
        for _ in range(_LOOKS):
            self._signal_group(signal.SIGSTOP)
            found = {process.pid: process for process in self.processes()}
            if found.keys() <= stopped:
                return
            for process in found.values():
                with contextlib.suppress(psutil.Error):
                    process.suspend()
            stopped |= found.keys()

    def proceed(self) -> None:
        """Continue the processes that `stop` stopped."""
        self.signal_all(signal.SIGCONT)
        self._signal_group(signal.SIGCONT)

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Within the block the job is stopped."""
        self.stop()
        try:
            yield
        finally:
            self.proceed()

    def end_rest(self, grace: float = _GRACE_SECONDS) -> list[int]:
        """End what is left of the job: ask, wait `grace` seconds, kill. Returns the ids of those that were left."""
        left = self.processes()
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.terminate()
        _, stubborn = psutil.wait_procs(left, timeout=grace)
        for process in stubborn:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(stubborn, timeout=1.0)
        return [process.pid for process in left]

    def copy_window_size(self) -> None:
        """Tell the job's terminals the size of ours (after SIGWINCH)."""
        if self._output is not None:
            self._output.copy_window_size()

    def show_output(self) -> None:
        """Pass the output through to our own streams from now on."""
        if self._output is not None:
            self._output.show()

    @contextlib.contextmanager
    def between_lines(self, number: int) -> Iterator[str | None]:
        """Within the block, a line of ours may be written to our stream `number`, after the yielded bytes, and is then
        between lines of the job. None: not now, ask again."""
        if self._output is None:
            yield ""
            return
        with self._output.between_lines(number) as before:
            yield before

    def _close_output(self) -> None:
        if self._output is not None:
            self._output.quit()


def _channel(number: int) -> tuple[int, int]:
    """Make a pipe, or a terminal if our stream `number` is one; returns the end to read, and the job's end."""
    if not os.isatty(number):
        return os.pipe()
    ours, theirs = os.openpty()
    make_raw(theirs)
    copy_window_size(number, ours)
    return ours, theirs


def shell_status(returncode: int) -> int:
    """The exit status that a shell would report: 128+n for death by signal n."""
    return 128 - returncode if returncode < 0 else returncode


def processes_of_run(run: str) -> list[psutil.Process]:
    """Living processes of this user whose environment names the run."""
    wanted = f"{RUN_VARIABLE}={run}".encode()
    found = []
    for pid in psutil.pids() if run else ():
        if _environment_holds(pid, wanted):
            with contextlib.suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(pid))
    return found


def _environment_holds(pid: int, wanted: bytes) -> bool:
    if pid == os.getpid():
        return False
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return wanted in file.read().split(b"\0")
    except OSError:
        return False
