"""The watcher's end of the relay that a job's output goes through: see `output_relay`."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from neuron_top.processes import output_relay
from neuron_top.processes.output_relay import AFTER_LINE_END, DONE, IDLE, LEAVE, NO, PACKET_BYTES, QUIT, SHOW, SIZE

_SCRIPT = Path(output_relay.__file__)
_RECEIVE_SECONDS = 0.1
_LAST_SECONDS = 5.0
_PACKET_COST = 256
"""The kernel counts at least this many bytes for a packet that waits in a socket, beside its data."""


class Stream(NamedTuple):
    """One stream of the job: its name, where it is read from, and which of our streams it goes to."""

    name: str
    source: int
    target: int


class RelayedOutput:
    """The relay of one job, from its start to its end."""

    def __init__(self, streams: Sequence[Stream], *, shown: bool, log: int | None) -> None:
        """Start the relay, which owns the sources from now on, also if it cannot be started. Raises OSError.

        `shown`: the output goes through to our own streams. `log`: what comes is appended there once we are gone.
        """
        self._names = [stream.name for stream in streams]
        self._ended: set[int] = set()
        self._mid_line = False
        self._asking = threading.Lock()
        logs = [] if log is None else [log]
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:  # both are closed if it cannot start
            for stream in streams:
                theirs.callback(os.close, stream.source)
            self._packets, packets = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.enter_context(self._packets)
            theirs.enter_context(packets)
            self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.enter_context(self._control)
            theirs.enter_context(control)
            sockets = [packets.fileno(), control.fileno(), self._packets.fileno()]
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", str(_SCRIPT), str(int(shown)), str(-1 if log is None else log)),
                    *map(str, sockets),
                    *(f"{stream.source}:{stream.target}" for stream in streams),
                ],
                stdin=subprocess.DEVNULL,
                pass_fds=[*sockets, *logs, *(stream.source for stream in streams)],
                start_new_session=True,
            )
            ours.pop_all()
        self._packets.settimeout(_RECEIVE_SECONDS)

    @property
    def ended(self) -> bool:
        """Whether every stream has come to its end."""
        return len(self._ended) == len(self._names)

    def receive(self) -> tuple[str, bytes] | None:
        """The next output of a stream; None if nothing came for a tenth of a second, or only an end."""
        try:
            packet = self._packets.recv(PACKET_BYTES + 1)
        except (TimeoutError, BlockingIOError):
            return None
        if not packet:  # the relay is gone, and the job's output with it
            self._ended.update(range(len(self._names)))
            return None
        number, data = packet[0], packet[1:]
        if not data:
            self._ended.add(number)
            return None
        self._mid_line = not data.endswith(b"\n")
        return self._names[number], data

    def waiting(self) -> Iterator[tuple[str, bytes]]:
        """What the relay has passed on by now and was not received yet. It ends however much comes meanwhile."""
        most_packets = self._packets.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // _PACKET_COST + 1
        self._packets.setblocking(False)
        for _ in range(most_packets):
            if (came := self.receive()) is not None:
                yield came
        self._packets.settimeout(_RECEIVE_SECONDS)

    def show(self) -> None:
        """Pass the output on to our own streams from now on."""
        self._say(SHOW)

    def copy_window_size(self) -> None:
        """Tell the job's terminals the size of ours."""
        self._say(SIZE)

    @contextlib.contextmanager
    def between_lines(self, number: int) -> Iterator[str | None]:
        """While inside, a line of ours may be written to `number`, after what is given; None: not now, ask again."""
        with self._asking:
            answer = self._asked(str(number).encode())
            try:
                yield None if answer == NO else ("\n" if answer == AFTER_LINE_END else "")
            finally:
                if answer != NO:
                    self._say(DONE)

    def idle(self) -> bool:
        """Whether all that the job wrote so far has been passed on; waits for a reader of ours that is slow."""
        with self._asking:
            return self._asked(IDLE) != NO

    def quit(self) -> None:
        """End the relay; later output has no reader any more."""
        self._say(QUIT)
        try:
            self._process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:  # it is writing to a reader that does not read
            self._process.kill()
            self._process.wait()
        self._close()

    def leave(self) -> None:
        """Leave the relay to processes that still write: their output goes to the same place, and not to us."""
        self._say(LEAVE)
        threading.Thread(target=self._process.wait, name="relay that was left", daemon=True).start()
        self._close()

    def _close(self) -> None:
        self._packets.close()
        with self._asking:
            self._control.close()

    def _asked(self, question: bytes) -> bytes:
        self._say(question)
        with contextlib.suppress(OSError):
            if answer := self._control.recv(1):
                return answer
        return NO if self._mid_line else b""  # its end has come: nothing is between us and the stream

    def _say(self, command: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(command)
