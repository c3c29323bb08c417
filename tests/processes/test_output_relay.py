"""The relay of a job's output, run as the process that it is."""

from __future__ import annotations

import os
import pty
import select
import socket
import subprocess
import sys

from neuron_top.processes import output_relay


def test_a_job_whose_terminal_was_lost_before_the_relay_began_writes_on() -> None:
    """The relay takes milliseconds to start, in which an SSH session may end."""
    (source, job), (ours, lost) = pty.openpty(), pty.openpty()
    os.close(ours)
    watcher, packets = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    asking, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    given = [packets.fileno(), control.fileno(), watcher.fileno(), source, lost]
    with watcher, packets, asking, control:
        relay = subprocess.Popen(
            [sys.executable, output_relay.__file__, "1", "-1", *map(str, given[:3]), f"{source}:{lost}"],
            pass_fds=given,
        )
        for descriptor in (source, lost):
            os.close(descriptor)
        watcher.settimeout(60)
        for words in (b"one\n", b"two\n"):
            os.write(job, words)
            assert watcher.recv(100).replace(b"\r", b"") == b"\0" + words
        asking.send(output_relay.QUIT)
        assert relay.wait(60) == 0
    os.close(job)


def test_a_watcher_that_is_killed_before_it_read_an_answer_leaves_the_job_its_reader() -> None:
    """The kernel reports a socket whose other side was closed with unread data as reset, not as ended."""
    (source, job), (shown, ours) = os.pipe(), os.pipe()
    watcher, packets = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    asking, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    given = [packets.fileno(), control.fileno(), watcher.fileno(), source, ours]
    with watcher, packets, asking, control:
        relay = subprocess.Popen(
            [sys.executable, output_relay.__file__, "1", "-1", *map(str, given[:3]), f"{source}:{ours}"],
            pass_fds=given,
        )
        for descriptor in (source, ours):
            os.close(descriptor)
        asking.send(output_relay.IDLE)
        assert select.select([asking], [], [], 60)[0], "the answer waits, and nobody reads it"
    os.write(job, b"later\n")
    os.close(job)
    with open(shown, "rb") as output:
        assert output.read() == b"later\n"
    assert relay.wait(60) == 0
