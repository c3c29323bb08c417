"""What is fuzzed, one row each: how an input is read and what must hold, and the words of its formats."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tests import builders
from tests.fuzz import invariants


class Target(NamedTuple):
    """One family of inputs."""

    check: Callable[[bytes], None]
    words: tuple[bytes, ...]
    modules: tuple[str, ...]
    """Packages whose branches guide the fuzzer."""


def _logs(data: bytes) -> None:
    invariants.check(data, [1 + byte for byte in data[:7]] or [1])


def _diagnosis(data: bytes) -> None:
    """The first bytes say in which portions the rest is fed."""
    from neuron_top.diagnose import Diagnosis
    from neuron_top.ingest.advised import AdvisedDiagnoser, diagnose

    sizes, log = [1 + byte for byte in data[:4]] or [1], data[4:]
    whole = diagnose(log, "log:fuzz")
    portions, position, index = AdvisedDiagnoser("log:fuzz"), 0, 0
    while position < len(log):
        size = sizes[index % len(sizes)]
        portions.feed(log[position : position + size])
        if index % 8 == 0:
            invariants.printable(msgspec.to_builtins(portions.so_far()))
        position, index = position + size, index + 1
    portions.flush()
    assert portions.diagnosis() == whole
    invariants.printable(msgspec.to_builtins(whole))
    assert not (whole.failed and whole.recovered)
    assert msgspec.json.decode(msgspec.json.encode(whole), type=Diagnosis) == whole


def _neff(data: bytes) -> None:
    """The first byte says what surrounds the rest, so that a fuzzer gets behind the header and the compression."""
    from neuron_top.parsers.neff import read_header
    from neuron_top.parsers.neff_payload import read_payload

    way, rest = (data[0] % 4, data[1:]) if data else (0, data)
    if way == 1:
        rest = builders.neff(payload=rest, name=rest[:200])
    elif way == 2:
        rest = builders.neff(payload=gzip.compress(rest, 1, mtime=0))
    elif way == 3:
        names = ("kelf-0.json", "sg00/def.json", "hlo_stats.json", "sg01/def.json", "info.json")
        rest = builders.neff(list(zip(names, rest.split(b"\xff", 4), strict=False)))
    header = read_header(rest[:1024], len(rest))
    if header is None:
        return
    invariants.printable(msgspec.to_builtins(header))
    pieces = [rest[at : at + 300] for at in range(1024, len(rest), 300)]
    payload = read_payload(header, pieces)
    assert read_payload(header, [rest[1024:]]) == payload
    invariants.printable(msgspec.to_builtins(payload))


def _hlo(data: bytes) -> None:
    from neuron_top.parsers import hlo, hlo_nodes, hlo_program

    for read in (hlo.read_hlo, hlo_nodes.read_nodes, hlo_program.read_program):
        try:
            invariants.printable(msgspec.to_builtins(read(data)))
        except hlo.MalformedHlo as problem:
            invariants.printable(str(problem))


def _telemetry(data: bytes) -> None:
    from neuron_top.events import decode, encode
    from neuron_top.parsers import neuron_ls, sysfs_values
    from neuron_top.parsers.neuron_observer import read_scrape
    from neuron_top.telemetry.monitor_events import MonitorReader
    from neuron_top.telemetry.observer_events import ObserverReader
    from neuron_top.telemetry.telemetry_file import TelemetryFile

    for reader in (MonitorReader(), TelemetryFile("x")):
        for event in [*reader.feed(data), *reader.flush()]:
            line = encode(event)
            assert encode(decode(line)) == line
            invariants.printable(json.loads(line))
    try:
        neuron_ls.read_devices(data.decode("utf-8", "replace"))
    except ValueError as problem:
        invariants.printable(str(problem))
    text = data.decode("utf-8", "replace")
    for value in (sysfs_values.whole(text), sysfs_values.power(text), sysfs_values.neighbors(text)):
        invariants.printable(msgspec.to_builtins(value))
    assert sysfs_values.name(text).isprintable()
    scraped = ObserverReader(clock=lambda: 1.0)
    for _ in range(2):
        for event in scraped.events(read_scrape(text)):
            line = encode(event)
            assert encode(decode(line)) == line
            invariants.printable(json.loads(line))


_FILES = (
    "compile_flags.json", "compile_flags.txt", "model.hlo_module.pb.lock", "model.log", "model.neff", "model.done",
    "model.hlo_module.pb.owner.json", "model.stats.json", "model.hlo_module.pb", "../../lock",
)  # fmt: skip
_folder: Path | None = None


def _cache(data: bytes) -> None:
    """One entry whose files hold pieces of the input; the first byte says which are there."""
    from neuron_top.cache.locks.lock_owner import read_record
    from neuron_top.cache.scan.scanner import scan

    global _folder
    if _folder is None:
        _folder = Path(tempfile.mkdtemp(prefix="neurontop-fuzz-"))
    shutil.rmtree(_folder)  # noqa: TID251 (our own scratch folder)
    entry = _folder / builders.COMPILER / f"MODULE_{builders.GRAPH}+d41d8cd9"
    entry.mkdir(parents=True)
    chosen = int.from_bytes(data[:2].ljust(2, b"\0"), "little")
    names = [name for bit, name in enumerate(_FILES) if chosen >> bit & 1] or [_FILES[0]]
    for name, content in zip(names, data[2:].split(b"\xff\xff"), strict=False):
        (entry / name).write_bytes(content)
    for found in scan(str(_folder), lock_verdicts=lambda *_: {}).entries:
        invariants.printable(msgspec.to_builtins(msgspec.structs.replace(found, flags=None)))  # kept as stored
        invariants.printable(found.flag_list())
    owner = read_record(entry / _FILES[2])
    assert owner is None or isinstance(owner.pid, int)


def _words(values: Any) -> tuple[bytes, ...]:
    return tuple(json.dumps(value).encode() for value in values)


def _log_words() -> tuple[bytes, ...]:
    from neuron_top.parsers.families import KEYWORDS
    from tests.fuzz.log_words import WORDS

    return (*KEYWORDS, *WORDS)


def _diagnosis_words() -> tuple[bytes, ...]:
    """Lines of the cases of the diagnosis, which hold the words of its table in sentences."""
    from tests.diagnose.cases import CASES

    lines = (line for case in CASES for line in case.log.splitlines(keepends=True))
    return tuple(dict.fromkeys(line for line in lines if line.strip()))


def named(name: str) -> Target:
    """The target of that name. Imports what is fuzzed, so that instrumentation can come before."""
    return {
        "logs": lambda: Target(_logs, _log_words(), ("neuron_top.parsers", "neuron_top.events")),
        "diagnosis": lambda: Target(_diagnosis, _diagnosis_words(), ("neuron_top.diagnose", "neuron_top.parsers")),
        "neff": lambda: Target(
            _neff,
            (
                b"\x03",
                b"\xff",
                builders.KELF,
                builders.DEFINITION,
                b'"var": {',
                b'"type": "virtual", "size": ',
                b"-1",
                b"9" * 30,
                b"../x",
                b"\0" * 512,
                b"ustar  \0",
                b"\x80" + b"\0" * 11,
                builders.neff(),
                builders.archive([]),
            ),
            ("neuron_top.parsers.neff", "neuron_top.parsers.neff_payload", "neuron_top.parsers.neff_metadata"),
        ),
        "hlo": lambda: Target(
            _hlo,
            (
                builders.small_hlo(),
                builders.varint(2**63),
                b"\x1a",
                b"\x12",
                b"\x0a",
                b"\xff" * 10,
                b"dot",
                b"fusion",
                b"custom-call",
                b"all-reduce",
                b"constant",
                b"parameter",
            ),
            ("neuron_top.parsers.hlo", "neuron_top.parsers.hlo_nodes"),
        ),
        "telemetry": lambda: Target(
            _telemetry,
            (
                *_words(
                    (
                        "neuron_runtime_data",
                        "report",
                        "neuroncore_counters",
                        "neuroncores_in_use",
                        "pid",
                        "period",
                        "error",
                        "memory_used",
                        "neuron_runtime_used_bytes",
                        "usage_breakdown",
                        "loaded_models",
                        "0",
                        "neuroncore_memory_usage",
                        "execution_stats",
                        "latency_stats",
                        "system_data",
                        "memory_info",
                        "neuron_hardware_info",
                        "neuron_device_count",
                        "v3d",
                        "neuron_k8s_info",
                        "bdf",
                        "connected_to",
                        "neuron_device",
                        "nc_count",
                        "neuron_processes",
                        "\x1b[2J",
                        None,
                        1e308,
                        -1,
                        2**70,
                        [],
                        {},
                    )
                ),
                b"{",
                b"}",
                b"[",
                b"]",
                b":",
                b",",
                b"\n",
                b"POWER_STATUS_VALID,1787754540,0.32,3.04,1.57",
                b"12, 3, 4",
            ),
            ("neuron_top.parsers", "neuron_top.runtime"),
        ),
        "cache": lambda: Target(
            _cache,
            (
                b"\xff\xff",
                b'["--target=trn1", "-O1"]',
                b"--model-type=transformer",
                b'{"pid": 3, "host": "h"}',
                b"Failed compilation with ['neuronx-cc']: 2026-01-02T03:04:05Z [NCC_EOOM002] x",
                b"[libneuronxla 2.2]",
                b'{"compile_seconds": 1.5, "files": {"model.neff": {"bytes": 3}}}',
                builders.neff()[:1100],
                b"\x1b[2J",
                b"\xc2\x9b",
                b"5\n",
                b"[" * 200,
                b"\0" * 64,
            ),
            ("neuron_top.cache",),
        ),
    }[name]()
