"""neuron-monitor as a real child process: started, drained, restarted, stopped, ended with its parent."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top import events
from neuron_top.events import AnyEvent
from neuron_top.telemetry.monitor import Backoff, MonitorSource
from tests.telemetry.executables import monitor

PATIENCE = 60.0


class Driven:
    """A source in a thread, as ingest drives it."""

    def __init__(self, source: MonitorSource) -> None:
        self.events: queue.SimpleQueue[AnyEvent] = queue.SimpleQueue()
        self.source = source
        self.thread = threading.Thread(target=source.start, args=(self.events.put,))
        self.thread.start()

    def until(self, kind: type[AnyEvent], count: int = 1) -> list[AnyEvent]:
        """Wait for so many events of a kind; gives all events up to then."""
        seen: list[AnyEvent] = []
        while count:
            seen.append(self.events.get(timeout=PATIENCE))
            count -= isinstance(seen[-1], kind)
        return seen

    def end(self) -> None:
        self.source.stop()
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


@contextlib.contextmanager
def driven(source: MonitorSource) -> Iterator[Driven]:
    running = Driven(source)
    try:
        yield running
    finally:
        running.end()


def sizes(found: list[AnyEvent]) -> list[int | None]:
    return [event.cores[0].memory for event in found if isinstance(event, events.CoresSampled)]


def wait_until_gone(pid: int) -> None:
    """Wait for the end of a process that is not our child."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            assert select.select([descriptor], [], [], PATIENCE)[0], f"process {pid} lives on"
        finally:
            os.close(descriptor)


def test_records_arrive_in_order_and_stop_ends_the_child(tmp_path: Path) -> None:
    command = monitor(tmp_path, "for n in range(3): say(n + 1)\ntime.sleep(3600)")
    with driven(MonitorSource(command=command)) as running:
        found = running.until(events.CoresSampled, 3)
        assert sizes(found) == [1, 2, 3]
        (pid,) = {event.cores[0].pid for event in found if isinstance(event, events.CoresSampled)}
        assert running.source.delivering
    assert pid is not None
    wait_until_gone(pid)
    assert not running.source.delivering


def test_the_configuration_asks_for_every_group_in_whole_seconds(tmp_path: Path) -> None:
    seen = tmp_path / "config.json"
    body = f"json.dump(config, open({str(seen)!r}, 'w'))\nsay(1)\ntime.sleep(3600)"
    with driven(MonitorSource(1.7, command=monitor(tmp_path, body))) as running:
        running.until(events.CoresSampled)
    config = json.loads(seen.read_text())
    assert config["period"] == "2s"
    runtimes = {metric["type"] for metric in config["neuron_runtimes"][0]["metrics"]}
    assert runtimes == {"neuroncore_counters", "memory_used", "neuron_runtime_vcpu_usage", "execution_stats"}
    assert {metric["type"] for metric in config["system_metrics"]} >= {"neuron_hw_counters", "vcpu_usage"}


def test_a_child_that_dies_is_started_again_and_its_last_words_are_reported(tmp_path: Path) -> None:
    command = monitor(tmp_path, "say(7)\nprint('driver went away', file=sys.stderr)\nsys.exit(3)")
    with driven(MonitorSource(command=command, backoff=Backoff(0.01))) as running:
        found = running.until(events.SourceUnavailable, 3)
    reasons = [event.reason for event in found if isinstance(event, events.SourceUnavailable)]
    assert all("ended with 3: driver went away" in reason for reason in reasons)
    assert [reason.rpartition("again in ")[2] for reason in reasons] == ["0.01 s", "0.02 s", "0.04 s"]
    assert sum(isinstance(event, events.SourceAvailable) for event in found) == 3
    assert sizes(found) == [7, 7, 7]


def test_a_child_that_is_killed_is_known_by_its_signal(tmp_path: Path) -> None:
    command = monitor(tmp_path, "say(7)\nos.kill(os.getpid(), 9)")
    with driven(MonitorSource(command=command, backoff=Backoff(30))) as running:
        (*_, reported) = running.until(events.SourceUnavailable)
    assert isinstance(reported, events.SourceUnavailable)
    assert "ended by signal 9" in reported.reason


def test_garbage_between_records_is_reported_and_passed_over(tmp_path: Path) -> None:
    command = monitor(tmp_path, "say(1)\nprint('\\x1b[2J{\"neuron_runtime_data\": [')\nsay(2)\ntime.sleep(3600)")
    with driven(MonitorSource(command=command)) as running:
        found = running.until(events.CoresSampled, 2)
    assert sizes(found) == [1, 2]
    (broken,) = [event for event in found if isinstance(event, events.LineMalformed)]
    assert "\x1b" not in broken.text


def test_a_child_that_hangs_is_reported_once_and_does_not_deliver_until_it_goes_on(tmp_path: Path) -> None:
    go_on = tmp_path / "go-on"
    body = f"""
say(1)
while not os.path.exists({str(go_on)!r}):
    print("no record", flush=True)
    time.sleep(0.1)
say(2)
time.sleep(3600)
"""
    with driven(MonitorSource(command=monitor(tmp_path, body), patience=0.5)) as running:
        running.until(events.SourceAvailable)
        (*_, reported) = running.until(events.SourceUnavailable)
        assert isinstance(reported, events.SourceUnavailable)
        assert "has printed no record for 0.5 s" in reported.reason
        assert not running.source.delivering
        go_on.touch()
        found = running.until(events.SourceAvailable)
        assert sizes(found) == [2]
        assert not [event for event in found if isinstance(event, events.SourceUnavailable)]


def test_a_child_that_left_a_helper_with_its_output_is_started_again(tmp_path: Path) -> None:
    body = "say(1)\nif os.fork(): os._exit(5)\ntime.sleep(3600)"
    with driven(MonitorSource(command=monitor(tmp_path, body), patience=0.3, backoff=Backoff(30))) as running:
        (*_, reported) = running.until(events.SourceUnavailable)
    assert isinstance(reported, events.SourceUnavailable)
    assert "ended with 5" in reported.reason


def test_a_flood_on_stderr_does_not_block_the_child(tmp_path: Path) -> None:
    command = monitor(tmp_path, "sys.stderr.write('x' * 4_000_000)\nsay(5)\ntime.sleep(3600)")
    with driven(MonitorSource(command=command)) as running:
        assert sizes(running.until(events.CoresSampled)) == [5]


def test_a_child_that_ignores_the_request_to_end_is_ended(tmp_path: Path) -> None:
    body = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay(1)\ntime.sleep(3600)"
    with driven(MonitorSource(command=monitor(tmp_path, body))) as running:
        (*_, sampled) = running.until(events.CoresSampled)
    assert isinstance(sampled, events.CoresSampled)
    assert sampled.cores[0].pid is not None
    wait_until_gone(sampled.cores[0].pid)


def test_a_tool_that_cannot_be_started_is_reported(tmp_path: Path) -> None:
    broken = tmp_path / "neuron-monitor"
    broken.write_text("#!/nonexistent/interpreter\n")
    broken.chmod(0o755)
    with driven(MonitorSource(command=str(broken), backoff=Backoff(30))) as running:
        (reported,) = running.until(events.SourceUnavailable)
    assert isinstance(reported, events.SourceUnavailable)
    assert str(broken) in reported.reason


def test_stop_before_start_and_twice_is_fine(tmp_path: Path) -> None:
    source = MonitorSource(command=monitor(tmp_path, "say(1)\ntime.sleep(3600)"))
    source.stop()
    source.stop()
    reported: list[AnyEvent] = []
    source.start(reported.append)
    assert reported == []


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_the_child_ends_with_its_parent_however_that_ends(tmp_path: Path, ending: signal.Signals) -> None:
    command = monitor(tmp_path, "say(1)\ntime.sleep(3600)")
    program = f"""
from neuron_top import events
from neuron_top.telemetry.monitor import MonitorSource
def show(event):
    if isinstance(event, events.CoresSampled):
        print(event.cores[0].pid, flush=True)
MonitorSource(command={command!r}).start(show)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(ending)
    wait_until_gone(pid)


def test_the_wait_grows_to_a_limit_and_starts_afresh_after_a_long_life() -> None:
    backoff = Backoff(1.0, 8.0)
    assert [backoff.after(0.1) for _ in range(5)] == [1.0, 2.0, 4.0, 8.0, 8.0]
    assert backoff.after(9.0) == 1.0
