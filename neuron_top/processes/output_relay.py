"""The process that a job's output goes through, so that it has a reader for as long as the job writes.

It reads the job's streams, writes them to our own standard output and error, and hands a copy to `neurontop run` (the
watcher). When the watcher is killed (kill -9), nothing changes for the job: its output still goes to the same place,
and into the recording's `output.log`, to which the watcher appended until then. It ends when the job's output ends, or
when the watcher says so. If the command left processes behind, the watcher says `leave` when it ends: their output
still goes to the same place, and is not recorded.

Nothing is buffered: a portion is passed on before the next one is read, so a slow reader slows the job down, as it
would without us. Run as a file, with the standard library and three modules of ours that need nothing else: it starts
in milliseconds, in a session of its own, so that neither Ctrl-C nor the loss of the terminal reaches it.

Copies go to the watcher as packets: the number of the stream, then its bytes; none at its end. The watcher asks on a
second socket, a byte each: `show` the output from now on, take over the `size` of the terminal, `quit`, `leave`,
whether all that the job wrote has been passed on (`idle`), or whether a line may stand between the job's lines on
standard output (1) or error (2). The answer to that is no, yes, or yes after a line end; after a yes nothing is written
until `done`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from neuron_top.processes.interleave import Interleaver
from neuron_top.processes.streams import SharedStreams, copy_window_size, write_all

SHOW, SIZE, QUIT, LEAVE, IDLE, DONE = b"s", b"w", b"q", b"l", b"i", b"d"
NO, YES, AFTER_LINE_END = b"0", b"1", b"2"
PACKET_BYTES = 1 << 16
_HALF_LINE_MILLISECONDS = 250


class _Stream:
    """One stream of the job on its way to one of ours."""

    def __init__(self, source: int, target: int) -> None:
        self.source, self.target = source, target
        self.is_terminal = os.isatty(source)
        """Whether our stream is one: the job got one then. Our own may be gone already, and is none any more."""
        self.lost = False
        """Our terminal is gone, or its disk took nothing: what comes is read all the same, so that the job goes on."""

    def copy_window_size(self) -> None:
        """Give the job's terminal the size of ours."""
        if os.isatty(self.source) and os.isatty(self.target):
            copy_window_size(self.target, self.source)


class Relay:
    """Moves the output until its end."""

    def __init__(
        self,
        streams: Sequence[_Stream],
        packets: socket.socket,
        control: socket.socket,
        *,
        shown: bool,
        log: int | None,
    ) -> None:
        self._streams, self._packets, self._control = dict(enumerate(streams)), packets, control
        self._shared, self._shown, self._log = SharedStreams(), shown, log
        self._untold: list[bytes] = []
        """Packets that the watcher had no room for yet; while there are any, nothing is read."""
        self._alone: Interleaver | None = None
        """Set once the watcher is gone: makes one log of two streams."""
        self._watcher_gone = self._quit = self._complained = False

    def run(self, left_by_watcher: socket.socket) -> None:
        """Run until all streams end, or until told to quit. `left_by_watcher`: the watcher's end of `packets`."""
        while (self._streams or self._untold) and not self._quit:
            ready = self._wait()
            if self._control.fileno() in ready:
                self._obey(self._next_command())
            if self._watcher_gone and self._alone is None:
                self._go_alone(left_by_watcher)
            if self._untold:
                self._send_status()
                continue
            for number, stream in list(self._streams.items()):
                if stream.source in ready and not self._untold:
                    self._move(number, stream)
            if self._alone is not None:
                self._keep(self._alone.overdue(time.monotonic()))
        if self._alone is not None:
            self._keep(self._alone.flush())

    def _wait(self) -> set[int]:
        poll = select.poll()
        if not self._watcher_gone:
            poll.register(self._control, select.POLLIN)
        if self._untold:
            poll.register(self._packets, select.POLLOUT)
        else:
            for stream in self._streams.values():
                poll.register(stream.source, select.POLLIN)
        holds = self._alone is not None and self._alone.holds
        return {number for number, _ in poll.poll(_HALF_LINE_MILLISECONDS if holds else None)}

    def _next_command(self) -> bytes:
        """What the watcher says next; empty if it is gone."""
        try:
            return self._control.recv(1)
        except ConnectionResetError:  # it was killed before it had read our last answer
            return b""

    def _obey(self, command: bytes) -> None:
        """Carry out a command of the watcher; an empty one means that the watcher is gone."""
        if command == SHOW:
            self._shown = True
        elif command == SIZE:
            for stream in self._streams.values():
                stream.copy_window_size()
        elif command == IDLE:
            self._answer(YES if self._is_idle() else NO)
        elif command == QUIT:
            self._quit = True
        elif command == LEAVE:
            self._watcher_gone = True
            self._close_log()
        elif command in (b"1", b"2"):
            self._give_way(int(command))
        elif not command:
            self._watcher_gone = True

    def _answer(self, answer: bytes) -> None:
        with contextlib.suppress(OSError):  # the watcher is gone, which the next poll of the socket shows
            self._control.send(answer)

    def _is_idle(self) -> bool:
        poll = select.poll()
        for stream in self._streams.values():
            poll.register(stream.source, select.POLLIN)
        return not self._untold and not poll.poll(0)

    def _give_way(self, number: int) -> None:
        """Let the watcher write a line to one of our streams when that does not break a line of the job."""
        with self._shared.between_lines(number) as before:
            answer = {None: NO, "": YES}.get(before, AFTER_LINE_END)
            self._answer(answer)
            while answer != NO and not (self._quit or self._watcher_gone):
                if (command := self._next_command()) == DONE:
                    return
                self._obey(command)

    def _move(self, number: int, stream: _Stream) -> None:
        """Pass on the available output of one stream."""
        try:
            data = os.read(stream.source, PACKET_BYTES)
        except OSError as problem:
            if problem.errno != errno.EIO:  # EIO means that the other side of a pseudo-terminal was closed
                raise
            data = b""
        taken = bool(data) and (not self._shown or stream.lost or self._pass_on(stream, data))
        if data:
            self._report(number, data)
        if not taken:
            os.close(stream.source)
            del self._streams[number]
            self._report(number, b"")

    def _pass_on(self, stream: _Stream, data: bytes) -> bool:
        """Write output to our stream; False if its reader is gone, which the job must notice."""
        try:
            with self._shared.passing(stream.target, data):
                taken = write_all(stream.target, data)
        except OSError as problem:
            self._complain(stream, problem)
            return True
        if not taken and stream.is_terminal:
            stream.lost = True
            return True
        return taken

    def _complain(self, stream: _Stream, problem: OSError) -> None:
        """Warn that output could not be written (a full disk, say), an error that the job would have got without us."""
        if not self._complained:
            self._complained = True
            name = {1: "output", 2: "error"}.get(stream.target, "output")
            text = (
                f"neurontop: warning: standard {name} takes not all of the job's: {problem.strerror}; the job goes on\n"
            )
            try:
                os.write(2, text.encode())
            except OSError:
                return

    def _report(self, number: int, data: bytes) -> None:
        """Report output to the watcher, or store it in the watcher's place."""
        if self._alone is not None:
            self._keep(self._alone.feed(str(number), data, time.monotonic()))
            return
        self._untold.append(bytes([number]) + data)
        self._send_status()

    def _send_status(self) -> None:
        """Send as much as the watcher has room for."""
        while self._untold:
            try:
                self._packets.send(self._untold[0], socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError:  # the watcher is gone, which `control` shows, too
                return
            del self._untold[0]

    def _go_alone(self, left_by_watcher: socket.socket) -> None:
        """Take over after the watcher was killed: store what it had not read, and all output from now on."""
        self._alone = Interleaver()
        left_by_watcher.setblocking(False)
        packets = [*_waiting(left_by_watcher), *self._untold]
        self._untold.clear()
        for packet in packets:
            self._report(packet[0], packet[1:])

    def _keep(self, data: bytes) -> None:
        """Append to the recording's log. If its disk is full, the job goes on all the same."""
        if self._log is None or not data:
            return
        try:
            write_all(self._log, data)
        except OSError:
            self._close_log()

    def _close_log(self) -> None:
        if self._log is not None:
            os.close(self._log)
            self._log = None


def _waiting(packets: socket.socket) -> list[bytes]:
    """All packets that the watcher has not read."""
    found = []
    with contextlib.suppress(OSError):
        while packet := packets.recv(PACKET_BYTES + 1):
            found.append(packet)
    return found


def _ignore_signals() -> None:
    """Ignore signals that end the job: the relay still has to pass on the job's last output, and ends after that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)


def main(arguments: Sequence[str], begin: Callable[[], None] = _ignore_signals) -> None:
    """Arguments: shown (0 or 1), the log's descriptor (or -1), three sockets, then `source:target` for each stream."""
    begin()
    shown, log, packets, control, left_by_watcher = map(int, arguments[:5])
    streams = [_Stream(*map(int, pair.split(":"))) for pair in arguments[5:]]
    relay = Relay(
        streams,
        socket.socket(fileno=packets),
        socket.socket(fileno=control),
        shown=bool(shown),
        log=log if log >= 0 else None,
    )
    relay.run(socket.socket(fileno=left_by_watcher))


if __name__ == "__main__":
    main(sys.argv[1:])
