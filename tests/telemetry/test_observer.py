"""Neuron Observer's metrics: both spellings read, a real server asked, bad answers bounded, doctor and CLI told.

The texts are written from the public reference and a public export configuration; no real capture was at hand.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeVar

import pytest

from neuron_top import events
from neuron_top.errors import UsageError
from neuron_top.events import AnyEvent
from neuron_top.parsers import neuron_observer
from neuron_top.parsers.neuron_observer import read_name, read_scrape
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.telemetry import observer, sources
from neuron_top.telemetry.observer import NoScrape, ObserverAddress, ObserverSource, address_of, checked_url, fetch
from neuron_top.telemetry.observer_events import ObserverReader
from neuron_top.telemetry.telemetry_file import TelemetryFile
from neuron_top.views.overview import overview

Kind = TypeVar("Kind")
GIB = 1024**3

MACHINE = """\
# TYPE neuron_system_info gauge
neuron_system_info{instance_type="trn2.48xlarge",region="eu-north-1"} 1
neuron_device_info{neuron_device_index="0",device_name="Trainium2",connected_devices="4,12,3,1"} 1
neuron_system_neuron_device_count 16
neuron_system_logical_neuroncore_count 64
neuron_system_physical_neuroncore_count 128
neuron_system_memory_total_bytes 2199023255552
neuron_system_memory_used_bytes 1099511627776
neuron_vcpu_vcpu_idle_percent_avg 75
go_goroutines 12
"""
CORES = """\
neuron_core_utilization_avg{neuroncore="0",neuron_device_index="0"} 87.5
neuron_core_utilization_max{neuroncore="0",neuron_device_index="0"} 99
neuron_core_utilization_sum{neuroncore="0",neuron_device_index="0"} 875
neuron_core_utilization_avg{neuroncore="4",neuron_device_index="1"} 0
neuron_core_device_mem_tensors_sum{neuroncore="0",neuron_device_index="0"} 1073741824
neuron_core_device_mem_model_code_sum{neuroncore="0",neuron_device_index="0"} 104857600
neuron_device_power_avg_avg{neuron_device_index="0"} 42
neuron_device_mem_ecc_corrected_sum_total{neuron_device_index="1"} 3
neuron_core_infer_completed_sum_total{neuroncore="0"} 100
neuron_core_utilization_system_avg 1.4
neuron_core_invented_here_avg{neuroncore="0"} 1
neuron_efa_tx_bytes_total{efa_device="rdmap0",efa_port="1"} 5
"""


def dotted(text: str) -> str:
    """The same scrape as OpenTelemetry spells it, quoted as Prometheus 3 writes such names."""
    lines = []
    for line in text.splitlines():
        name, brace, rest = line.partition("{")
        known = read_name(name.split(" ")[0])
        if line.startswith("#") or known is None:
            lines.append(line)
            continue
        spelled = ".".join(part for part in ("neuron", known.scope, known.base, known.strategy) if part)
        lines.append(f'{{"{spelled}",{rest}' if brace else f'{{"{spelled}"}} {line.split(" ")[1]}')
    return "\n".join([*lines, ""])


def read(text: str, reader: ObserverReader | None = None) -> list[AnyEvent]:
    return (reader or ObserverReader()).events(read_scrape(text))


def only(kind: type[Kind], found: list[AnyEvent]) -> Kind:
    matching = [event for event in found if isinstance(event, kind)]
    assert len(matching) == 1, found
    return matching[0]


def cores(text: str) -> dict[int, events.CoreSample]:
    return {core.core: core for core in only(events.CoresSampled, read(text)).cores}


class Answers:
    """A real HTTP server; `answer` decides what a request gets."""

    def __init__(self) -> None:
        self.answer: Callable[[BaseHTTPRequestHandler], None] = lambda handler: self.send(handler, MACHINE + CORES)
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/metrics"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @staticmethod
    def send(handler: BaseHTTPRequestHandler, text: str, status: int = 200, **headers: str) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(text.encode())

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Answers]:
    answers = Answers()
    yield answers
    answers.close()


@pytest.mark.parametrize("spell", [str, dotted], ids=["prometheus", "opentelemetry"])
def test_both_spellings_give_the_same_cores_host_and_machine(spell: Callable[[str], str]) -> None:
    found = read(spell(MACHINE + CORES))
    first, fifth = only(events.CoresSampled, found).cores
    assert (first.core, first.device, first.bank, first.utilization, first.power) == (0, 0, 0, 0.875, 0.42)
    assert (first.memory, first.kinds) == (GIB + 100 * 1024**2, {"tensors": GIB, "model_code": 100 * 1024**2})
    assert first.capacity == 24 * GIB
    assert (fifth.core, fifth.device, fifth.utilization, fifth.memory) == (4, 1, 0.0, None)
    host = only(events.HostSampled, found)
    assert (host.cpu, host.memory_used, host.memory_total) == (0.25, 1024 * GIB, 2048 * GIB)
    machine = only(events.DevicesFound, found)
    assert (machine.instance_type, machine.lnc, len(machine.devices)) == ("trn2.48xlarge", 2, 16)
    assert (machine.devices[0].connected_to, machine.devices[0].kind) == ((4, 12, 3, 1), "Trainium2")
    assert only(events.HardwareErrorsCounted, found).counts == {"mem_ecc_corrected": 3}
    assert not any(isinstance(event, events.ExecutionsCounted) for event in found), "a total alone is no tally"


def test_a_name_that_is_not_known_is_reported_and_others_are_not_ours() -> None:
    scrape = read_scrape(MACHINE + CORES)
    assert (scrape.unknown, scrape.unknown_count) == (("neuron_core_invented_here_avg",), 1)
    assert "names not known: neuron_core_invented_here_avg" in observer.described(scrape)
    assert scrape.malformed == 0


@pytest.mark.parametrize(
    ("name", "base", "strategy"),
    [
        ("neuron_device_power_avg", "power_avg", ""),
        ("neuron_device_power_avg_avg", "power_avg", "avg"),
        ("neuron.core.latency_total_p50", "latency_total_p50", ""),
        ("neuron_core_latency_total_system_p50", "latency_total", "p50"),
        ("neuron_core_mem_usage_total_device_core_max", "mem_usage_total_device", "max"),
        ("neuron_core_device_mem_tensors_bytes_sum", "device_mem_tensors", "sum"),
        ("neuron_core_utilization_avg_ratio", "utilization", "avg"),
    ],
)
def test_renamed_aggregates_and_units_meet_under_the_documented_name(name: str, base: str, strategy: str) -> None:
    read_as = read_name(name)
    assert read_as is not None
    assert (read_as.base, read_as.strategy) == (base, strategy)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ('neuron_core_utilization_avg{neuroncore="0"} 42\n', 0.42),
        ('neuron_core_utilization_avg{neuroncore="0"} 0.42\n', 0.42),
        ('neuron_core_utilization_avg_percent{neuroncore="0"} 0.5\n', 0.005),
        ('# HELP neuron_core_utilization_avg In percent\nneuron_core_utilization_avg{neuroncore="0"} 0.5\n', 0.005),
        ('# HELP neuron_core_utilization_avg A ratio\nneuron_core_utilization_avg{neuroncore="0"} 1\n', 1.0),
        ('neuron_core_utilization_avg{neuroncore="0"} 0\n', 0.0),
    ],
)  # fmt: skip
def test_the_scale_is_what_the_answer_says_or_shows(text: str, share: float) -> None:
    assert cores(text)[0].utilization == pytest.approx(share)


def test_a_source_in_percent_stays_in_percent() -> None:
    reader = ObserverReader()
    read('neuron_core_utilization_avg{neuroncore="0"} 90\n', reader)
    later = only(events.CoresSampled, read('neuron_core_utilization_avg{neuroncore="0"} 0.5\n', reader))
    assert later.cores[0].utilization == pytest.approx(0.005)


def test_cores_numbered_within_their_device_get_the_number_of_the_instance() -> None:
    lines = [
        f'neuron_core_utilization_avg{{neuroncore="{core}",neuron_device_index="{device}"}} {10 * device + core + 2}\n'
        for device in range(2)
        for core in range(4)
    ]
    counts = "neuron_system_neuron_device_count 2\nneuron_system_logical_neuroncore_count 8\n"
    found = cores("".join(lines) + counts)
    assert sorted(found) == list(range(8))
    assert (found[5].device, found[5].utilization) == (1, 0.13)


def test_physical_cores_are_added_up_to_logical_ones() -> None:
    lines = [
        f'neuron_core_utilization_avg{{neuroncore="{core}"}} {core * 10}\n'
        f'neuron_core_device_mem_tensors_sum{{neuroncore="{core}"}} 100\n'
        f'neuron_core_hw_err_hbm_ue_sum_total{{neuroncore="{core}"}} {core}\n'
        for core in range(8)
    ]
    info = 'neuron_device_info{neuron_device_index="0",device_name="Trainium2",logical_neuroncore_config="2"} 1\n'
    counts = "neuron_system_neuron_device_count 1\nneuron_system_logical_neuroncore_count 4\n"
    found = read("".join(lines) + info + counts)
    samples = {core.core: core for core in only(events.CoresSampled, found).cores}
    assert sorted(samples) == [0, 1, 2, 3]
    assert (samples[1].utilization, samples[1].physical, samples[1].memory) == (0.25, {2: 0.2, 3: 0.3}, 200)
    reported = {event.physical: event.counts for event in found if isinstance(event, events.CoreCountersRead)}
    assert reported[7] == {"hw_err_hbm_ue": 7}
    assert 0 not in reported


def test_running_totals_become_what_was_added_since_the_last_scrape() -> None:
    now = [100.0]
    reader = ObserverReader(clock=lambda: now[0])
    line = (
        'neuron_core_infer_completed_sum_total{{neuroncore="{}",runtime_tag="a"}} {}\n'
        'neuron_core_err_model_sum_total{{neuroncore="{}",runtime_tag="a"}} {}\n'
    )
    read(line.format(0, 100, 0, 1) + line.format(1, 10, 1, 0) + "neuron_core_infer_completed_sum_total 110\n", reader)
    now[0] = 105.0
    second = read(line.format(0, 130, 0, 3) + line.format(1, 4, 1, 0), reader)  # core 1 began anew
    counted = only(events.ExecutionsCounted, second)
    assert (counted.tag, counted.period) == ("a", 5.0)
    assert (counted.statuses, counted.errors) == ({"completed": 34}, {"model": 2})


def test_broken_lines_are_counted_and_the_others_read() -> None:
    text = CORES + 'neuron_core_utilization_avg{neuroncore="9} 5\nneuron_core_utilization_avg{neuroncore="7"} many\n'
    scrape = read_scrape(text + 'neuron_core_utilization_avg{neuroncore="3"} NaN\n')
    assert scrape.malformed == 2
    assert scrape.problem
    assert {sample.labels.get("neuroncore") for sample in scrape.samples} >= {"0", "4"}


def test_hostile_names_labels_and_amounts_are_bounded_and_made_visible() -> None:
    many = "".join(f"neuron_core_made_up_{n} 1\n" for n in range(500))
    odd = f'neuron_core_utilization_avg{{neuroncore="0",x="{"y" * 9000}"}} 1\n'
    tagged = 'neuron_core_infer_completed_total{neuroncore="0",runtime_tag="\x1b[2J"} 1e308\n'
    huge = 'neuron_core_device_mem_tensors_sum{neuroncore="99999"} 1e300\n'
    scrape = read_scrape(many + odd + tagged + huge + "neuron_core_bad\x1b]0;x\x07 1\n")
    assert scrape.unknown_count == 500
    assert len(scrape.unknown) == neuron_observer.MOST_UNKNOWN
    assert scrape.malformed == 1
    reader = ObserverReader()
    reader.events(scrape)
    found = reader.events(scrape)
    assert "\x1b" not in json.dumps([event.tag for event in found if isinstance(event, events.ExecutionsCounted)])
    assert only(events.CoresSampled, found).cores[0].memory == neuron_observer.json_fields.LARGEST_BYTES


def test_more_samples_than_are_taken_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neuron_observer, "MOST_SAMPLES", 3)
    scrape = read_scrape(CORES)
    assert scrape.documented == 3
    assert "left out" in scrape.problem


def test_a_real_server_is_asked_for_its_metrics(server: Answers) -> None:
    assert fetch(checked_url(server.url.removesuffix("/metrics"))).documented > 10
    assert server.asked == ["/metrics"]


@pytest.mark.parametrize(
    ("status", "text", "headers", "reason"),
    [
        (503, "not ready", {}, "status 503"),
        (302, "", {"Location": "http://127.0.0.1:1/"}, "status 302"),
        (200, "<html>another program</html>", {}, "none of the known metrics"),
        (200, "", {}, "none of the known metrics"),
        (200, "x", {"Content_Encoding": "gzip"}, "compressed"),
        (200, CORES, {"Content_Length": "100000"}, "closed the connection before its answer was complete"),
    ],
)
def test_an_answer_that_is_none_is_a_reason(
    server: Answers, status: int, text: str, headers: dict[str, str], reason: str
) -> None:
    server.answer = lambda handler: server.send(handler, text, status, **headers)
    with pytest.raises(NoScrape, match=reason):
        fetch(server.url)


def test_an_endless_answer_is_cut_at_its_limit(server: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observer, "LONGEST_SCRAPE", 1 << 20)

    def endless(handler: BaseHTTPRequestHandler) -> None:
        server.send(handler, "")
        with contextlib.suppress(OSError):
            while True:
                handler.wfile.write(CORES.encode() * 100)

    server.answer = endless
    with pytest.raises(NoScrape, match="more than 1048576 bytes"):
        fetch(server.url, seconds=60)


@pytest.mark.parametrize("where", ["head", "body", "silence"])
def test_a_server_that_drips_is_left_after_the_time_in_all(server: Answers, where: str) -> None:
    done = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        if where == "body":
            server.send(handler, "neuron_core_")
        while not done.wait(0.02):
            if where != "silence":
                try:
                    handler.wfile.write(b"x")
                    handler.wfile.flush()
                except OSError:
                    return

    server.answer = drip
    began = time.monotonic()
    with pytest.raises(NoScrape, match=r"within 0\.5 s|cannot be read|none of the known"):
        fetch(server.url, seconds=0.5)
    done.set()
    assert time.monotonic() - began < 30, "the deadline is one of all, not of each byte"


def test_nobody_answers() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/metrics"
        with pytest.raises(NoScrape, match="refused"):
            fetch(url)
        reported: list[AnyEvent] = []
        for by_person in (False, True):
            source = ObserverSource(ObserverAddress(url, by_person), retry=0.01)
            thread = threading.Thread(target=source.start, args=(reported.append,))
            thread.start()
            if by_person:
                while not reported:
                    time.sleep(0.01)
            else:
                time.sleep(0.1)
                assert not reported, "the default is tried quietly"
            source.stop()
            thread.join()
    assert "refused" in only(events.SourceUnavailable, reported).reason


@pytest.mark.parametrize(
    "text",
    ["ftp://h/m", "http://", "http://u:p@h/metrics", "http://h:99999/", "http://h/a b", "http://h\x1b/", "h:7001"],
)
def test_an_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        checked_url(text)


def test_the_setting_names_the_address_or_turns_it_off() -> None:
    assert address_of("off") is None
    assert address_of("") == ObserverAddress("http://127.0.0.1:7001/metrics", by_person=False)
    assert address_of("http://10.0.0.7:7001") == ObserverAddress("http://10.0.0.7:7001/metrics", by_person=True)
    assert ObserverAddress("http://localhost:1/").is_local
    assert not ObserverAddress("http://10.0.0.7:1/").is_local


def test_stop_ends_an_answer_in_progress(server: Answers) -> None:
    asked, done = threading.Event(), threading.Event()

    def hang(_: BaseHTTPRequestHandler) -> None:
        asked.set()
        done.wait(60)

    server.answer = hang
    source = ObserverSource(ObserverAddress(server.url))
    thread = threading.Thread(target=source.start, args=(lambda event: None,))
    thread.start()
    assert asked.wait(30)
    source.stop()
    thread.join(30)
    done.set()
    assert not thread.is_alive()


def test_core_samples_are_held_back_while_the_monitor_delivers(server: Answers) -> None:
    reported: list[AnyEvent] = []
    arrived = threading.Event()

    def take(event: AnyEvent) -> None:
        reported.append(event)
        arrived.set()

    source = ObserverSource(ObserverAddress(server.url), silent=lambda: True)
    thread = threading.Thread(target=source.start, args=(take,))
    thread.start()
    assert arrived.wait(30)
    source.stop()
    thread.join()
    assert source.delivering
    assert [type(event) for event in reported] == [events.SourceAvailable]
    assert "neuron_core_invented_here_avg" in only(events.SourceAvailable, reported).detail


def test_executions_that_the_monitor_counted_are_not_counted_again_after_it(server: Answers) -> None:
    totals, silent = iter((100, 107, 5000, 5003)), iter((False, False, True, False))
    server.answer = lambda handler: server.send(
        handler,
        CORES.replace(
            'infer_completed_sum_total{neuroncore="0"} 100',
            f'infer_completed_sum_total{{neuroncore="0"}} {next(totals)}',
        ),
    )
    reported: list[AnyEvent] = []
    source = ObserverSource(ObserverAddress(server.url), silent=lambda: next(silent))
    for _ in range(4):
        source._look(reported.append)
    counted = [event.statuses for event in reported if isinstance(event, events.ExecutionsCounted)]
    assert counted == [{"completed": 7}, {"completed": 3}]


def test_it_is_among_the_sources_of_a_machine_and_feeds_the_same_rows(
    server: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = sources.telemetry_sources(Settings(observer_url=server.url), tmp_path)
    assert "neuron-observer" in [source.name for source in found]
    assert "neuron-observer" not in [
        source.name for source in sources.telemetry_sources(Settings(observer_url="off"), tmp_path)
    ]
    (source,) = [source for source in found if isinstance(source, ObserverSource)]
    run, seen = Run(), threading.Event()

    def take(event: AnyEvent) -> None:
        run.apply(event)
        if isinstance(event, events.CoresSampled):
            seen.set()

    thread = threading.Thread(target=source.start, args=(take,))
    thread.start()
    assert seen.wait(30)
    source.stop()
    thread.join()
    view = overview(run, time.time())
    assert [(row.core, row.utilization, row.memory) for row in view.cores] == [
        (0, 0.875, GIB + 100 * 1024**2),
        (4, 0.0, None),
    ]
    assert any(status.name == "neuron-observer" and status.available for status in view.sources)


def test_a_saved_scrape_is_a_telemetry_file() -> None:
    reader = TelemetryFile("observer:saved")
    found = [*reader.feed((MACHINE + CORES).encode()), *reader.flush()]
    assert (reader.documents, reader.malformed) == (1, 0)
    assert len(only(events.CoresSampled, found).cores) == 2


def neurontop(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    command = [sys.executable, "-m", "neuron_top", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


def test_the_command_reads_an_address(server: Answers) -> None:
    done = neurontop("telemetry", "--once", "--source", server.url)
    assert done.returncode == 0, done.stderr
    assert "88 %" in done.stdout
    assert "trn2.48xlarge" in done.stdout
    assert "names not known: neuron_core_invented_here_avg" in done.stderr
    lines = neurontop("telemetry", "--once", "--json", "--source", server.url).stdout.splitlines()
    assert {json.loads(line)["type"] for line in lines} >= {"DevicesFound", "CoresSampled", "HostSampled"}


def test_the_command_says_why_an_address_gives_nothing(server: Answers) -> None:
    server.answer = lambda handler: server.send(handler, "no", 503)
    done = neurontop("telemetry", "--once", "--source", server.url)
    assert done.returncode == 3
    assert "answered with the status 503" in done.stderr
    assert neurontop("telemetry", "--source", "http://u:p@h/").returncode == 2


def test_doctor_says_what_was_found(server: Answers) -> None:
    done = neurontop("doctor", NEURONTOP_OBSERVER_URL=server.url)
    assert f"{server.url}: " in done.stdout
    assert "names not known: neuron_core_invented_here_avg" in done.stdout
    server.answer = lambda handler: server.send(handler, "no", 503)
    findings = json.loads(neurontop("doctor", "--json", NEURONTOP_OBSERVER_URL=server.url).stdout)["findings"]
    (found,) = [finding for finding in findings if finding["check"] == "Neuron Observer"]
    assert found["level"] == "problem"
    assert "status 503" in found["text"]
