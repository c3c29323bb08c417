"""What goes wrong around an agent, with a real PostgreSQL: nothing is lost, nothing is reported twice.

Counts are compared with those of the same logs read on one machine. Killed agents and servers: `test_agent.py`.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from neuron_top.events import ClockMeasured
from neuron_top.store.postgres.fleet import FleetStore
from tests.adversary.attacker import mounted
from tests.agent.logs import write_job
from tests.agent.test_agent import agent, ended, environment, figures, landed, read, run_of, until
from tests.store.fleet_rows import rows


class Wire:
    """A way to a server on loopback that can be slow, or dead: bytes are held back, connections stay open."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.delay = 0.0
        self._open = threading.Event()
        self._open.set()
        self._ended = False
        self.carried = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Nothing arrives any more, in either direction, and nobody is reported."""
        self._open.clear()

    def mend(self) -> None:
        """What was held back arrives."""
        self._open.set()

    def close(self) -> None:
        """End."""
        self._ended = True
        self._open.set()
        self._listener.close()

    def _accept(self) -> None:
        while not self._ended:
            try:
                here, _ = self._listener.accept()
                there = socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                return
            for one, other in ((here, there), (there, here)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                time.sleep(self.delay)
                self._open.wait()
                target.sendall(data)
                self.carried += len(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def wire_to(url: str) -> Iterator[tuple[str, Wire]]:
    """An address that goes over a wire of ours, which gives up soon where nobody answers."""
    parts = urlsplit(url)
    wire = Wire(parts.port or 0)
    try:
        yield f"{url.replace(f':{parts.port}/', f':{wire.port}/')}?connect_timeout=2&tcp_user_timeout=2000", wire
    finally:
        wire.close()


def test_a_slow_network_and_one_that_is_cut_lose_nothing(tmp_path: Path, postgres_url: str) -> None:
    whole, log = tmp_path / "whole.log", tmp_path / "job.log"
    write_job(whole, ranks=20, steps=30)
    lines = whole.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: len(lines) // 3]))
    with wire_to(postgres_url) as (url, wire):
        wire.delay = 0.05
        process = agent(tmp_path, url, str(log))
        until(postgres_url, figures(read(log)), seconds=240)
        wire.cut()
        with log.open("ab", buffering=0) as file:
            file.write(b"".join(lines[len(lines) // 3 : 2 * len(lines) // 3]))
        before = figures(run_of(landed(postgres_url)))
        time.sleep(3.0)  # in which the agent asks, and is not answered
        assert figures(run_of(landed(postgres_url))) == before != figures(read(log))
        with log.open("ab", buffering=0) as file:
            file.write(b"".join(lines[2 * len(lines) // 3 :]))
        wire.mend()
        until(postgres_url, figures(read(log)), seconds=240)
        process.send_signal(signal.SIGTERM)
        ended(process)
    assert figures(run_of(landed(postgres_url))) == figures(read(whole))


def test_two_machines_with_one_name_at_once_leave_one_that_is_right(tmp_path: Path, postgres_url: str) -> None:
    log = tmp_path / "job.log"
    write_job(log)
    first = agent(tmp_path, postgres_url, str(log))
    until(postgres_url, figures(read(log)), seconds=240)
    with FleetStore(postgres_url) as store:
        (record,) = store.nodes("bert")
    # The other machine, as far as the database can show: the same name, and another boot.
    program = (
        "import sys; from neuron_top import identity; identity.machine_id = lambda root=None: 'another-boot'; "
        "from neuron_top.cli.main import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", program, "agent", "--store", postgres_url, "--job", "bert", str(log)]
    environ = os.environ | {
        "NEURONTOP_NODE": "n1",
        "NEURONTOP_STATE_DIR": str(tmp_path / "other"),
        "NEURONTOP_CONFIG": os.devnull,
    }
    other = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=240)
    assert other.returncode == 4, other.stderr
    assert "its machine id differs" in other.stderr
    assert "NEURONTOP_NODE" in other.stderr
    first.send_signal(signal.SIGTERM)
    ended(first)
    assert figures(run_of(landed(postgres_url))) == figures(read(log))
    with FleetStore(postgres_url) as store:
        assert [node.machine_id for node in store.nodes("bert")] == [record.machine_id]


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """No byte of this disk is free while the block runs."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        free = os.statvfs(disk)
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_bsize)
    try:
        yield
    finally:
        filler.unlink()


def written_without_room(process: subprocess.Popen[str], log: Path, data: bytes) -> None:
    """The job writes more, and the agent has reported that its spool cannot take it."""
    with log.open("ab", buffering=0) as file:
        file.write(data)
    assert process.stderr is not None
    while "until there is room" not in (reported := process.stderr.readline()):
        assert reported, "the agent ended"


def test_a_full_disk_under_the_spool_loses_nothing_and_the_agent_goes_on(tmp_path: Path, postgres_url: str) -> None:
    whole, log = tmp_path / "whole.log", tmp_path / "job.log"
    write_job(whole, ranks=20, steps=30)
    lines = whole.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: len(lines) // 2]))
    with mounted(tmp_path / "state-n1", "size=2m") as disk:
        process = agent(tmp_path, postgres_url, str(log))
        until(postgres_url, figures(read(log)), seconds=240)
        with full(disk):
            written_without_room(process, log, b"".join(lines[len(lines) // 2 :]))
            assert process.poll() is None
        until(postgres_url, figures(read(whole)), seconds=240)
        process.send_signal(signal.SIGTERM)
        ended(process)
    assert figures(run_of(landed(postgres_url))) == figures(read(whole))


def test_a_job_that_ends_on_a_full_disk_is_not_reported_as_shipped(tmp_path: Path, postgres_url: str) -> None:
    log = tmp_path / "job.log"
    write_job(log)
    with mounted(tmp_path / "state-n1", "size=2m") as disk:
        process = agent(tmp_path, postgres_url, str(log))
        until(postgres_url, figures(read(log)), seconds=240)
        with full(disk):
            written_without_room(process, log, b"ValueError: the last line\n" * 2)
            process.send_signal(signal.SIGTERM)
            reported = ended(process, status=1)
        assert "no room until the end" in reported
        with FleetStore(postgres_url) as store:
            assert [part.finished for part in rows(store, "parts", run="bert")] == [None]
        ended(agent(tmp_path, postgres_url, "--once", str(log)))  # the next agent reads what was not kept
        assert figures(run_of(landed(postgres_url))) == figures(read(log))
        with FleetStore(postgres_url) as store:
            assert all(part.finished is not None for part in rows(store, "parts", run="bert"))


def test_a_disk_that_fills_up_before_a_batch_is_shipped_does_not_stop_the_shipping(
    tmp_path: Path, postgres_url: str
) -> None:
    log = tmp_path / "job.log"
    write_job(log)
    with wire_to(postgres_url) as (url, wire), mounted(tmp_path / "state-n1", "size=2m") as disk:
        process = agent(tmp_path, url, str(log))
        until(postgres_url, figures(read(log)), seconds=240)
        wire.cut()
        with log.open("ab", buffering=0) as file:
            file.write(b"ValueError: while nobody is reached\n")
        spool = next((disk / "agent").glob("*.db"))
        size = spool.with_name(spool.name + "-wal").stat().st_size
        while spool.with_name(spool.name + "-wal").stat().st_size == size:  # in the spool, and not shipped
            time.sleep(0.1)
        with full(disk):
            wire.mend()
            until(postgres_url, figures(read(log)), seconds=240)
            assert process.poll() is None
        with log.open("ab", buffering=0) as file:
            file.write(b"ValueError: after that\n")
        until(postgres_url, figures(read(log)), seconds=240)
        process.send_signal(signal.SIGTERM)
        ended(process)


CLOCK = """
import sys, time
from pathlib import Path
real, moved = time.time, Path(sys.argv.pop(1))
time.time = lambda: real() - (3600.0 if moved.exists() else 0.0)
from neuron_top.cli.main import main
sys.exit(main())
"""


def test_a_clock_that_is_set_back_by_an_hour_loses_nothing_and_is_reported(tmp_path: Path, postgres_url: str) -> None:
    whole, log, moved = tmp_path / "whole.log", tmp_path / "job.log", tmp_path / "moved"
    write_job(whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: len(lines) // 2]))
    command = [sys.executable, "-c", CLOCK, str(moved), "agent", "--store", postgres_url, "--job", "bert", str(log)]
    process = subprocess.Popen(command, env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    until(postgres_url, figures(read(log)), seconds=240)
    moved.touch()
    with log.open("ab", buffering=0) as file:
        file.write(b"".join(lines[len(lines) // 2 :]))
    until(postgres_url, figures(read(whole)), seconds=240)
    deadline = time.monotonic() + 240
    with FleetStore(postgres_url) as store:
        while (store.nodes("bert")[0].clock_offset or 0.0) > -3500:
            assert time.monotonic() < deadline
            time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    ended(process)
    events = landed(postgres_url)
    assert figures(run_of(events)) == figures(read(whole))
    assert min(event.offset_seconds for event in events if isinstance(event, ClockMeasured)) < -3500
