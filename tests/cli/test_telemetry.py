"""`neurontop telemetry` as a user runs it: files, pipes, a tree, stand-ins for the tools, and nothing at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from neuron_top import events
from neuron_top.units import UNKNOWN
from neuron_top.views.core_metrics import CORE_METRICS
from neuron_top.views.telemetry import core_table
from tests.corpus import corpus
from tests.telemetry import trees
from tests.telemetry.executables import executable, monitor
from tests.telemetry.records import counters, line, memory, model, record, runtime

USED = runtime(
    77,
    neuroncore_counters=counters({0: {"neuroncore_utilization": 25}, 1: {"neuroncore_utilization": 0}}),
    memory_used=memory({0: {"tensors": 3 * 1024**3}}, [model("/c/MODULE_12345678+0a1b2c3d/model.neff", 0, 0)]),
)


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "neuron_top", "telemetry", *options]


def telemetry(*options: str, stdin: bytes = b"", path: str = "/nonexistent") -> subprocess.CompletedProcess[bytes]:
    environ = os.environ | {"PATH": path, "NEURONTOP_CONFIG": os.devnull}
    return subprocess.run(command(*options), input=stdin, env=environ, capture_output=True, check=False, timeout=120)


def reported(result: subprocess.CompletedProcess[bytes]) -> list[Any]:
    return [events.decode(text) for text in result.stdout.splitlines()]


def test_a_file_of_records_becomes_one_table_of_the_last(tmp_path: Path) -> None:
    file = tmp_path / "monitor.jsonl"
    file.write_bytes(line(record()) + line(record(USED)))
    result = telemetry("--source", str(file))
    assert result.returncode == 0, result.stderr
    text = result.stdout.decode()
    assert "MODULE_12345678+0a1b2c3d" in text
    assert text.count("utilization") == 1
    assert "compute" not in text, "no core reports its operations"
    row = next(row for row in text.splitlines() if row.split()[:1] == ["0"] and "25 %" in row)
    assert "3.0 GiB" in row
    assert "16.0 GiB" in row
    assert "13.0 GiB" in row


def test_the_table_has_each_declared_metric_that_a_core_reports() -> None:
    core = events.CoreSample(core=3, power=0.25, flops=5e12, memory=1 << 30, capacity=4 << 30, device=1, bank=0, pid=7)
    table = core_table(events.CoresSampled(kind=events.CoreKind.NEURON, cores=(core,)), {(1, 0): 3 << 30})
    (row,) = [dict(zip(table.header, cells, strict=True)) for cells in table.rows]
    assert (row["power"], row["compute"], row["memory"], row["free"]) == ("25 %", "5 TFLOP/s", "1.0 GiB", "3.0 GiB")
    assert (row["utilization"], row["pid"]) == (UNKNOWN, "7")
    shown = {metric.title for metric in CORE_METRICS if metric.prometheus}
    assert shown <= set(table.header), "a metric is declared once, and the table has it"


def test_json_gives_every_sample_as_an_event(tmp_path: Path) -> None:
    file = tmp_path / "monitor.jsonl"
    file.write_bytes(line(record()) + line(record(USED)))
    found = reported(telemetry("--source", str(file), "--json"))
    assert sum(isinstance(event, events.CoresSampled) for event in found) == 2
    last = reported(telemetry("--source", str(file), "--json", "--once"))
    (sampled,) = [event for event in last if isinstance(event, events.CoresSampled)]
    assert sampled.cores[0].pid == 77


def test_a_pipe_is_read_line_by_line_and_may_hold_one_document_over_many_lines() -> None:
    spread = json.dumps(record(USED), indent=4).encode()
    for data in (line(record(USED)), spread, spread + b"\n"):
        found = reported(telemetry("--source", "-", "--json", stdin=data))
        assert any(isinstance(event, events.CoresSampled) for event in found)


def test_a_live_pipe_is_shown_before_it_ends() -> None:
    with subprocess.Popen(command("--source", "-", "--json"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(line(record(USED)))
        running.stdin.flush()
        assert isinstance(events.decode(running.stdout.readline()), events.DevicesFound)
        running.stdin.close()
        running.stdout.read()
    assert running.returncode == 0


def test_broken_lines_are_left_out_and_said(tmp_path: Path) -> None:
    file = tmp_path / "monitor.jsonl"
    file.write_bytes(line(record(USED)) + b"{broken\n\x1b[2Jworse\n")
    result = telemetry("--source", str(file))
    assert result.returncode == 0
    assert b"skipped 2 lines in all" in result.stderr
    assert b"\x1b" not in result.stderr + result.stdout


def test_a_file_without_any_record_is_a_failure_and_a_missing_one_nothing_to_show(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("not a record\n")
    assert telemetry("--source", str(tmp_path / "x")).returncode == 1
    assert telemetry("--source", str(tmp_path / "y")).returncode == 3
    assert telemetry("--sysfs-root", str(tmp_path / "z")).returncode == 2


def test_a_listing_of_neuron_ls_is_recognized() -> None:
    result = telemetry("--source", str(corpus("telemetry", "neuron_ls_trn2.48xlarge_one_device_container.json")))
    assert b"trn2.48xlarge" in result.stdout
    assert b"logical core = 2 physical" in result.stdout


def test_where_nothing_is_the_reasons_are_reported_and_the_status_is_3(tmp_path: Path) -> None:
    for options in ((), ("--once",), ("--source", "monitor"), ("--source", "ls"), ("--source", "sysfs", "--once")):
        result = telemetry(*options, "--sysfs-root", str(tmp_path))
        assert result.returncode == 3, (options, result.stdout)
        assert result.stdout == b""
        assert b"neurontop doctor" in result.stderr


def test_the_drivers_counters_alone_are_enough(tmp_path: Path) -> None:
    trees.device(tmp_path, 0, 2, used={"tensors": 5 * 1024**3})
    found = reported(telemetry("--source", "sysfs", "--once", "--json", "--sysfs-root", str(tmp_path)))
    (sampled,) = [event for event in found if isinstance(event, events.CoresSampled)]
    assert [core.memory for core in sampled.cores] == [5 * 1024**3] * 2


def test_once_waits_for_a_record_with_rates_and_takes_memory_from_the_driver(tmp_path: Path) -> None:
    trees.device(tmp_path / "sys", 0, 2, used={"tensors": 9, "dma_rings": 1})
    monitor(tmp_path / "bin", "say(5, period=0.001)\ntime.sleep(0.05)\nsay(6)\ntime.sleep(3600)")
    executable(tmp_path / "bin", "neuron-ls", "print('[]', end='')")
    options = ("--once", "--json", "--sysfs-root", str(tmp_path / "sys"))
    result = telemetry(*options, path=str(tmp_path / "bin"))
    assert result.returncode == 0, result.stderr
    (sampled,) = [event for event in reported(result) if isinstance(event, events.CoresSampled)]
    core = sampled.cores[0]
    assert (core.utilization, core.memory, core.kinds) == (0.5, 10, {"tensors": 9, "dma_rings": 1})
    assert core.power is not None
    on_host = str(Path("/proc/self/ns/pid").readlink()) == "pid:[4026531836]"
    assert core.process == ("neuron-monitor" if on_host else "")


@pytest.mark.parametrize("source", ["auto", "ls"])
def test_once_waits_no_longer_than_it_says_where_neuron_ls_hangs_and_names_it(tmp_path: Path, source: str) -> None:
    (tmp_path / "sys").mkdir()
    executable(tmp_path / "bin", "neuron-ls", "import time\ntime.sleep(3600)")
    options = ("--once", "--source", source, "--sysfs-root", str(tmp_path / "sys"))
    began = time.monotonic()
    result = telemetry(*options, path=str(tmp_path / "bin"))
    assert time.monotonic() - began < 15.0, "8 s, and the start of a program on a busy machine"
    assert result.returncode == 3
    assert b"/neuron-ls --output-format json did not answer within 7.2 s\n" in result.stderr


@pytest.mark.parametrize("source", ["auto", "ls"])
def test_ctrl_c_does_not_wait_for_a_neuron_ls_that_hangs(tmp_path: Path, source: str) -> None:
    (tmp_path / "sys").mkdir()
    started = tmp_path / "started"
    said = f"import os, time\nopen({str(started)!r}, 'w').write(str(os.getpid()))\ntime.sleep(3600)"
    executable(tmp_path / "bin", "neuron-ls", said)
    environ = os.environ | {"PATH": str(tmp_path / "bin")}
    options = command("--source", source, "--sysfs-root", str(tmp_path / "sys"))
    with subprocess.Popen(options, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
        until = time.monotonic() + 60
        while not (started.exists() and started.read_text()) and time.monotonic() < until:
            time.sleep(0.02)
        began = time.monotonic()
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert time.monotonic() - began < 10.0, "half of what neuron-ls may take"
        assert running.stderr is not None
        assert b"was stopped" not in running.stderr.read()
    assert not Path(f"/proc/{started.read_text()}").exists()


def test_ctrl_c_ends_the_stream_with_130_and_leaves_no_child(tmp_path: Path) -> None:
    monitor(tmp_path, "say(6)\ntime.sleep(3600)")
    environ = os.environ | {"PATH": str(tmp_path)}
    options = command("--source", "monitor", "--json")
    with subprocess.Popen(options, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        sampled = next(
            event
            for text in iter(running.stdout.readline, b"")
            if isinstance(event := events.decode(text), events.CoresSampled)
        )
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
    pid = sampled.cores[0].pid
    assert pid is not None
    assert not Path(f"/proc/{pid}").exists()
