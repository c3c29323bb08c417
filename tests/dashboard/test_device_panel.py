"""Devices on the page Cores: their places by their links, their state, their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.dashboard import device_panel
from neuron_top.dashboard.chart_colors import DARK
from neuron_top.dashboard.figures import Figure
from neuron_top.views.core_metrics import UTILIZATION
from neuron_top.views.cores import CoreTable, core_table
from tests.dashboard.test_pages import words_of
from tests.tui.feeds import START, StillFeed, job

IDLE, BROKEN = 11, 5


def ring(count: int) -> dict[int, tuple[int, ...]]:
    return {index: tuple(sorted({(index + 1) % count, (index - 1) % count})) for index in range(count)}


def torus(rows: int, columns: int) -> dict[int, tuple[int, ...]]:
    def neighbors(row: int, column: int) -> tuple[int, ...]:
        places = ((row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column))
        return tuple(sorted(y % rows * columns + x % columns for y, x in places))

    return {row * columns + column: neighbors(row, column) for row in range(rows) for column in range(columns)}


def machine(links: Mapping[int, tuple[int, ...]], nodes: tuple[str, ...] = ("trn1",), per_device: int = 2) -> CoreTable:
    """Devices with so many cores each; one idle, one with errors of the hardware."""
    found = [*job(), ev.DevicesFound(
        instance_type="trn2.48xlarge", at=START,
        devices=tuple(ev.Device(index=index, core_count=per_device, connected_to=to) for index, to in links.items()),
    )]  # fmt: skip
    found += [
        ev.HardwareErrorsCounted(
            device=BROKEN, counts={"mem_ecc_corrected": 1203, "sram_ecc_uncorrected": 0}, at=START, node=nodes[0]
        ),
        ev.ExecutionsCounted(
            statuses={"completed": 1_234_567},
            errors={"generic": 23_654, "model": 1},
            latency={"p50": 0.000_095},
            at=START,
        ),
    ]
    for node in nodes:
        cores = tuple(
            ev.CoreSample(
                core=core, device=core // per_device, memory=10 << 30, capacity=24 << 30,
                utilization=0.004 if core // per_device == IDLE else 0.9,
            )
            for core in range(len(links) * per_device)
        )  # fmt: skip
        found.append(ev.CoresSampled(kind=ev.CoreKind.NEURON, node=node, at=START, cores=cores))
    return StillFeed(found, now=START + 1).read(core_table)


def panel(view: CoreTable) -> Any:
    return device_panel.device_panel(view, view.devices(UTILIZATION.name))


def figure(view: CoreTable) -> Figure:
    return device_panel.device_figure(view, view.devices(UTILIZATION.name), DARK)


def drawn(view: CoreTable) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Links, devices that report, the others."""
    links, marks, unknown = figure(view)["data"]
    return links, marks, unknown


def test_a_torus_stands_in_rows_and_columns_and_its_closing_links_are_stubs() -> None:
    links, marks, _ = drawn(machine(torus(4, 4)))
    assert list(zip(marks["x"], marks["y"], strict=True))[:5] == [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1)]
    pieces = list(zip(links["x"][::3], links["y"][::3], links["x"][1::3], links["y"][1::3], strict=True))
    assert len(pieces) == 2 * 4 * 3 + 2 * 4 * 2, "24 links between neighbors, 8 that close a line, drawn at both ends"
    assert all(abs(to_x - x) + abs(to_y - y) <= 1 for x, y, to_x, to_y in pieces)
    assert "a torus of 4 × 4" in words_of(panel(machine(torus(4, 4))))


def test_a_ring_stands_in_a_circle_with_each_link_once() -> None:
    links, marks, _ = drawn(machine(ring(16)))
    assert {round((x / 2) ** 2 + y**2, 2) for x, y in zip(marks["x"], marks["y"], strict=True)} == {1.0}
    assert len(links["x"]) == 3 * 16
    assert "a ring" in words_of(panel(machine(ring(16))))


def test_an_idle_device_and_one_with_errors_are_outlined_and_say_so() -> None:
    _, marks, _ = drawn(machine(torus(4, 4)))
    colors = marks["marker"]["line"]["color"]
    assert (colors[IDLE], colors[BROKEN], colors[0]) == (DARK.warn, DARK.bad, DARK.quiet)
    assert marks["text"][BROKEN] == "5: 90 % ✗ 1,203"
    assert marks["text"][IDLE].startswith("11: 0.4 %")


def test_the_table_has_errors_with_separators_executions_and_who_is_linked_with_whom() -> None:
    words = words_of(panel(machine(torus(4, 4))))
    assert "trn2.48xlarge · 1 execution error · latency p50 95 µs · 1,234,567 executions" in words
    assert "mem ecc corrected 1,203" in words
    assert "sram ecc uncorrected" not in words
    assert "1, 3, 4, 12" in words


def test_devices_that_no_longer_report_are_hatched() -> None:
    cores = tuple(ev.CoreSample(core=device, device=device, utilization=0.5) for device in range(2))
    sampled = ev.CoresSampled(kind=ev.CoreKind.NEURON, node="trn1", at=START, cores=cores)
    view = msgspec.structs.replace(StillFeed([sampled], now=START + 600).read(core_table), links={0: (1,), 1: (0,)})
    _, marks, unknown = drawn(view)
    assert (marks["text"], unknown["text"]) == ([], ["0<br>stale", "1<br>stale"])
    assert "hash" in unknown["marker"]["symbol"]
    assert "0, no longer reports" in words_of(panel(view))


@pytest.mark.parametrize("nodes", [("trn1",), ("trn1", "trn2")])
def test_links_are_drawn_for_one_machine_only(nodes: tuple[str, ...]) -> None:
    view = machine(torus(4, 4), nodes)
    assert bool(figure(view)["data"]) is (len(nodes) == 1)
    assert ("trn2 3" in words_of(panel(view))) is (len(nodes) == 2)


def test_local_workers_are_no_devices() -> None:
    worker = ev.CoresSampled(kind=ev.CoreKind.LOCAL, at=START, cores=(ev.CoreSample(core=0, utilization=0.5),))
    for found in ([], [worker]):
        view = StillFeed(found, now=START).read(core_table)
        assert panel(view).className == "left-out"
        assert figure(view)["data"] == []


def test_a_device_that_no_link_names_stands_in_a_line_with_the_others() -> None:
    for links in (ring(16), torus(4, 4)):
        view = machine({**links, 16: ()})
        known = msgspec.structs.replace(view, links=links)
        _, marks, _ = drawn(known)
        assert len(marks["x"]) == 17
        assert len(set(zip(marks["x"], marks["y"], strict=True))) == 17, "no two in one place"
        assert max(marks["x"]) == 7, "in lines of eight"


def test_what_nothing_is_reported_of_has_no_column() -> None:
    cores = tuple(ev.CoreSample(core=device, device=device, utilization=0.5) for device in range(2))
    sampled = ev.CoresSampled(kind=ev.CoreKind.NEURON, node="trn1", at=START, cores=cores)
    words = words_of(panel(StillFeed([sampled], now=START).read(core_table)))
    assert "no hardware errors reported" in words
    assert "linked with" not in words
    assert "hardware errors |" not in words


def test_devices_without_known_links_have_no_map() -> None:
    view = msgspec.structs.replace(machine(ring(16)), links={})
    assert figure(view)["data"] == []
    assert "no-map" in str(panel(view)), "the table has the same numbers"
    assert "no-map" not in str(panel(machine(ring(16))))


def test_one_device_alone_has_no_map() -> None:
    core = ev.CoreSample(core=0, device=0, utilization=0.5)
    sampled = ev.CoresSampled(kind=ev.CoreKind.NEURON, node="trn1", at=START, cores=(core,))
    view = StillFeed([sampled], now=START).read(core_table)
    assert figure(view)["data"] == []
    assert "no-map" in str(panel(view))
