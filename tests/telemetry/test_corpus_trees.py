"""The published samples that are no records: driver trees rebuilt from their listings, series of decoded values."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top.events import CoreKind, CoreSample, CoresSampled
from neuron_top.events.runtime import MEMORY_KINDS
from neuron_top.parsers.neuron_ls import read_devices
from neuron_top.run.cores import CoreTracker
from neuron_top.telemetry.monitor import RUNTIME_GROUPS, SYSTEM_GROUPS, configuration
from neuron_top.telemetry.monitor_events import MonitorReader
from neuron_top.telemetry.sysfs import SysfsTree
from tests.corpus import corpus
from tests.telemetry.records import counters, line, record, runtime
from tests.telemetry.trees import put

MIB = 1024**2
CORE = "neuron_core0/stats/memory_usage/device_mem"


def spelled_out(path: str) -> Iterator[str]:
    """`a/{b,c}` → `a/b`, `a/c`."""
    found = re.search(r"\{([^}]*)\}", path)
    if found is None:
        yield path
        return
    for choice in found[1].split(","):
        yield from spelled_out(path[: found.start()] + choice + path[found.end() :])


def rebuilt(root: Path, name: str, cores: int) -> tuple[Path, list[str]]:
    """One device with every file that the listing names, each holding `1`; gives its folder and the files' names."""
    base = root / "devices/virtual/neuron_device/neuron0"
    listed = []
    lines = corpus("telemetry", name).read_text().splitlines()
    collapsed = [line for line in lines if line.startswith("neuronN/")]  # beside them, this listing names folders
    for one in collapsed or lines:
        path = one.partition("#")[0].strip()
        found = re.search(r"neuron[0N]/(\S+)$", path)
        if found and " " not in path and not path.startswith("$"):
            listed += list(spelled_out(found[1]))
    names = [
        one.replace("neuron_coreN", f"neuron_core{core}").replace("neuron_core0", f"neuron_core{core}")
        for one in listed
        for core in range(cores if "neuron_core" in one else 1)
    ]
    for one in names:
        if not (base / one).is_dir():
            put(base / one, "1\n")
    return base, names


@pytest.mark.parametrize(
    ("name", "fewest"),
    [("sysfs_inf2.xlarge_driver2.26_tree.txt", 100), ("sysfs_tree_reference_driver_2.24.7.txt", 150)],
)
def test_a_drivers_tree_is_read_as_its_listing_names_it(tmp_path: Path, name: str, fewest: int) -> None:
    base, names = rebuilt(tmp_path, name, cores=2)
    assert len(names) >= fewest
    values = corpus("telemetry", "sysfs_inf2.xlarge_values.txt").read_text()
    for path, value in re.findall(r"^([\w/]+) += ([\w.]+)$", values, re.MULTILINE):
        if (base / path).exists():
            put(base / path, f"{value}\n")
    kinds = {
        re.findall(r"device_mem/(\w+)/total$", one)[0] for one in names if re.search(r"device_mem/\w+/total$", one)
    }
    for core in (0, 1):
        folder = CORE.replace("core0", f"core{core}")
        for number, kind in enumerate(sorted(kinds), start=1):
            put(base / folder / kind / "total", f"{number * MIB}\n")
        put(base / folder / "total", f"{sum(range(1, len(kinds) + 1)) * MIB}\n")
        put(base / folder / "peak", f"{1000 * MIB}\n")
    tree = SysfsTree(tmp_path)
    assert [(device.index, device.cores) for device in tree.found().devices] == [(0, (0, 1))]
    sampled = tree.sample().cores
    assert [core.core for core in sampled] == [0, 1]
    for core in sampled:
        assert set(core.kinds) == kinds <= set(MEMORY_KINDS)
        assert core.memory == sum(core.kinds.values())
        assert core.peak == 1000 * MIB
    counted = tree.counters()
    assert [found.physical for found in counted] == [0, 1]
    groups = {
        re.findall(r"(?:status|other_info)/(\w+)/total$", one)[0]
        for one in names
        if re.search(r"neuron_core0/stats/(?:status|other_info)/\w+/total$", one)
    }
    for one, found in zip((0, 1), counted, strict=True):
        silent = (
            {"reset_fail_count"}
            if (base / f"neuron_core{one}/stats/other_info/reset_fail_count/total").exists()
            else set()
        )
        assert groups - silent <= set(found.counts) <= groups


def test_identity_and_counters_of_the_published_values_are_reported(tmp_path: Path) -> None:
    base, _ = rebuilt(tmp_path, "sysfs_inf2.xlarge_driver2.26_tree.txt", cores=2)
    values = corpus("telemetry", "sysfs_inf2.xlarge_values.txt").read_text()
    named = dict(re.findall(r"^([\w/]+) += ([\w.]+)$", values, re.MULTILINE))
    for path, value in named.items():
        put(base / path, f"{value}\n")
    put(base / "connected_devices", "\n")
    tree = SysfsTree(tmp_path)
    (device,) = tree.found().devices
    assert (named["info/architecture/device_name"], named["core_count"]) == ("Inferentia2", str(len(device.cores)))
    assert device.connected_to == ()
    assert tree.counters()[0].counts["reset_req_count"] == int(
        named["neuron_core0/stats/other_info/reset_req_count/total"]
    )


def test_the_devices_beside_a_list_of_packages_are_those_of_the_same_tools_alone() -> None:
    text = corpus("telemetry", "neuron_ls_trn1.2xlarge_tools2.31_with_packages.txt").read_text()
    listed = text[text.index("\n[\n") : text.index("\n]") + 2]
    alone = corpus("telemetry", "neuron_ls_trn1.2xlarge_tools2.31.json").read_text()
    assert read_devices(listed) == read_devices(alone)


def test_our_configuration_asks_for_all_that_the_published_one_asks_for() -> None:
    theirs = json.loads(corpus("telemetry", "nm_config_all_groups.json").read_text())
    ours = json.loads(configuration(1.0))
    groups = lambda config: {one["type"] for entry in config["neuron_runtimes"] for one in entry["metrics"]}  # noqa: E731
    assert groups(theirs) == groups(ours) == set(RUNTIME_GROUPS)
    assert {one["type"] for one in theirs["system_metrics"]} == set(SYSTEM_GROUPS)
    assert (ours["period"], ours["neuron_runtimes"][0]["tag_filter"]) == (theirs["period"], ".*")


SERIES = (
    "series_trn1.2xlarge_smoke_tinyllama_1hz.csv",
    "series_trn1.2xlarge_llama31_lora_1hz_excerpt.csv",
    "series_trn1.2xlarge_ctx8192_compile_failure_1hz_excerpt.csv",
)


@pytest.mark.parametrize("name", SERIES)
def test_a_published_square_wave_is_smoothed_and_its_peak_kept(name: str) -> None:
    rows = [row for row in csv.DictReader(corpus("telemetry", name).read_text().splitlines()) if row["util_nc0"]]
    cores, seen, smooth = CoreTracker(), [], []
    for row in rows:
        busy, used = float(row["util_nc0"]) / 100, int(float(row["mem_used_mib"]) * MIB)
        sample = CoreSample(core=0, utilization=busy, memory=used)
        cores.apply(CoresSampled(source="x", kind=CoreKind.NEURON, cores=(sample,), at=float(row["t_s"])))
        (core,) = cores.cores.values()
        seen.append(busy)
        smooth.append(core.smoothed(5.0) or 0.0)
        assert 0 <= smooth[-1] <= 1
        assert core.peak is None or core.peak >= used
    jumps = lambda series: sum(abs(b - a) for a, b in itertools.pairwise(series))  # noqa: E731
    assert jumps(smooth) <= jumps(seen)
    assert core.peak == max(int(float(row["mem_used_mib"]) * MIB) for row in rows)
    if "lora" in name:  # a job that trains: the wave never rests between its ends, the smoothed curve does
        assert jumps(smooth) < 0.2 * jumps(seen)


def test_memory_of_a_second_trainer_lies_on_the_monitors_third_core() -> None:
    """Trn2 hands out its cores in an order of its own: the published run holds memory on index 2, not on 0."""
    lines = corpus("telemetry", "series_trn2.3xlarge_lnc2_tp2_memory_1hz.log").read_text().splitlines()
    reported = [json.loads(found[1]) for line in lines if (found := re.search(r"\[MEM\] \S+ (\{.*\}) <<<", line))]
    held = {core for one in reported for core, size in one["hbm_gb"].items() if size}
    assert held
    assert min(held, key=int) == "2"
    for one in reported:
        for core, kinds in one["hbm_breakdown"].items():
            assert sum(kinds.values()) == pytest.approx(one["hbm_gb"][core], abs=0.05)


def test_operations_of_a_published_burst_come_through_as_rates() -> None:
    text = corpus("telemetry", "series_trn1.2xlarge_effective_flops_5s.txt").read_text()
    rows = [
        tuple(map(float, row))
        for row in re.findall(r"period=([\d.]+) +effective_flops= +([\d.]+) TFLOPS +util=([\d.]+)", text)
    ]
    assert len(rows) >= 12
    reader, reported = MonitorReader(), []
    for period, tera, busy in rows:
        core = {0: {"neuroncore_utilization": busy, "effective_flops": tera * 1e12}}
        events = reader.feed(line(record(runtime(5, neuroncore_counters=counters(core, period)))))
        reported += [event.cores[0] for event in events if isinstance(event, CoresSampled)]
    rates = [(core.flops, core.utilization) for core in reported[1:]]  # the first record has no period yet
    assert rates == [(pytest.approx(tera * 1e12), pytest.approx(busy / 100)) for _, tera, busy in rows[1:]]
    assert reported[0].flops is None
