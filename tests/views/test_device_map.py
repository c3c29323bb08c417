"""Cores by device: which stand out, which are worst, how devices are linked."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.run.alerts.alert import Limits
from neuron_top.run.alerts.raised import raised
from neuron_top.run.model import Run
from neuron_top.tui.drawing import cells_in
from neuron_top.tui.panels.device_rows import device_rows
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.cores import core_table
from neuron_top.views.device_map import DeviceMap, Topology, device_map, summary_text

LOOK = Theme(DARK, UNICODE)
GIB = 1024**3


def map_of(run: Run, now: float, metric: str = "utilization") -> DeviceMap:
    return core_table(run, now).devices(metric)


def torus(side: int) -> dict[int, tuple[int, ...]]:
    return {
        row * side + column: (
            row * side + (column + 1) % side,
            row * side + (column - 1) % side,
            (row + 1) % side * side + column,
            (row - 1) % side * side + column,
        )
        for row in range(side)
        for column in range(side)
    }


def whole_machine(idle_device: int = 11, full_core: int = 43, unknown_core: int = 77) -> Run:
    """128 cores of 16 devices: one device idle, one core fuller, one core untold."""
    run = Run()
    links = torus(4)
    devices = tuple(ev.Device(index=device, core_count=8, connected_to=links[device]) for device in range(16))
    run.apply(ev.DevicesFound(instance_type="trn2.48xlarge", devices=devices, at=0.0, node="n"))
    cores = tuple(
        ev.CoreSample(
            core=core,
            device=core // 8,
            utilization=None if core == unknown_core else 0.004 if core // 8 == idle_device else 0.88,
            memory=(22 if core == full_core else 12) * GIB,
            capacity=24 * GIB,
        )
        for core in range(128)
    )
    run.apply(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=cores, period=1.0, at=100.0, node="n"))
    return run


def test_the_idle_device_stands_out_as_one_beside_the_fuller_core() -> None:
    view = map_of(whole_machine(), 101.0)
    assert [strip.device for strip in view.strips] == list(range(16))
    assert view.outliers == {f"n/neuron/{core}" for core in range(88, 96)}
    assert [(worst.name, worst.typical) for worst in view.worst] == [("d11 c88–c95", "88 %"), ("c43", "50 %")]
    assert view.worst[1].text == "22.0 GiB (92 %)"
    assert (view.low, view.typical, view.high) == (0.004, 0.88, 0.88)


def test_the_fuller_core_stands_out_by_memory() -> None:
    assert map_of(whole_machine(), 101.0, "memory").outliers == {"n/neuron/43"}


def test_a_map_begins_with_what_the_cores_report_and_goes_back_to_it_where_the_chosen_is_not_reported() -> None:
    run = Run()
    cores = tuple(ev.CoreSample(core=core, memory=core * GIB, capacity=24 * GIB) for core in range(8))
    run.apply(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=cores, period=1.0, at=100.0, node="n"))
    assert [map_of(run, 101.0, metric).metric for metric in ("", "power", "memory")] == ["memory"] * 3
    assert map_of(whole_machine(), 101.0, "").metric == "utilization"


def test_what_is_alike_has_no_outlier_and_few_cores_have_none() -> None:
    rows = map_of(whole_machine(idle_device=99, full_core=999), 101.0)
    assert (rows.outliers, rows.worst) == (frozenset(), ())
    few = map_of(whole_machine(), 101.0).strips[11].rows[:3]
    assert device_map(few, 101.0).outliers == frozenset()


def test_old_values_are_no_outliers_and_keep_their_age() -> None:
    view = map_of(whole_machine(), 4000.0)
    assert (view.stale, view.newest, view.outliers, view.typical) == (128, 100.0, frozenset(), None)


def test_the_age_of_stale_cores_is_not_that_of_those_that_report() -> None:
    run = whole_machine()
    cores = tuple(ev.CoreSample(core=core, device=0, utilization=0.5) for core in range(8))
    run.apply(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=cores, period=1.0, at=699.0, node="n"))
    assert "120 stale, last 10 m 00 s ago" in summary_text(map_of(run, 700.0))


@pytest.mark.parametrize(("links", "expected", "sides"), [
    (torus(4), Topology.TORUS, (4, 4)),
    ({device: ((device + 1) % 6, (device - 1) % 6) for device in range(6)}, Topology.RING, None),
    ({0: (1,), 1: (0, 2), 2: (1, 3), 3: (2,)}, Topology.OTHER, None),
    ({0: (1, 2), 1: (0, 2), 2: (0, 1), 3: (4, 5), 4: (3, 5), 5: (3, 4)}, Topology.OTHER, None),
    ({}, Topology.UNKNOWN, None),
])  # fmt: skip
def test_the_shape_of_the_links_is_reported_only_where_it_is_one(
    links: dict[int, tuple[int, ...]], expected: Topology, sides: tuple[int, int] | None
) -> None:
    view = device_map((), 0.0, links=links)
    assert (view.topology, view.sides) == (expected, sides)


@pytest.mark.parametrize(("width", "height"), [(80, 5), (66, 17), (110, 20), (20, 3), (1, 1)])
def test_lines_have_their_width_and_every_device_is_there_or_counted(width: int, height: int) -> None:
    strips = device_rows(LOOK, map_of(whole_machine(), 101.0), width, height)
    assert len(strips) <= height
    assert all(strip.cell_length == cells_in(strip.text) == width for strip in strips)
    if (width, height) in ((80, 5), (66, 17), (110, 20)):
        text = " ".join(strip.text for strip in strips)
        assert all(f"d{device} " in text for device in range(16))
        assert "worst" in text


def test_a_core_without_a_value_is_marked_unknown_never_zero() -> None:
    view = map_of(whole_machine(), 101.0)
    line = device_rows(LOOK, view, 110, 20)[9].text
    assert "?" in line
    assert "·" not in line.partition("%")[0], "what stands behind are bars of memory"


def test_cores_without_a_device_stand_in_lines_of_32() -> None:
    rows = [
        msgspec.structs.replace(row, device=None)
        for strip in map_of(whole_machine(), 101.0).strips
        for row in strip.rows
    ]
    assert [len(strip.rows) for strip in device_map(rows, 101.0).strips] == [32, 32, 32, 32]


def test_a_bank_that_cores_share_counts_once_in_a_devices_memory() -> None:
    alone = [row for strip in map_of(whole_machine(), 101.0).strips[:1] for row in strip.rows]
    shared = [msgspec.structs.replace(row, bank=row.core // 2) for row in alone]
    assert [device_map(rows, 101.0).strips[0].capacity for rows in (alone, shared)] == [8 * 24 * GIB, 4 * 24 * GIB]


@pytest.mark.parametrize(("each", "free"), [(9, 0.25), (14, 1 - 14 / 24)])
def test_what_is_free_is_of_the_bank_unless_more_is_reported_than_fits_in_it(each: int, free: float) -> None:
    run = Run()
    cores = tuple(
        ev.CoreSample(core=core, device=0, bank=core // 2, memory=each * GIB, capacity=24 * GIB) for core in range(4)
    )
    run.apply(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=cores, period=1.0, at=100.0, node="n"))
    rows = [row for group in core_table(run, 101.0).groups for row in group.rows]
    assert [row.headroom for row in rows] == [pytest.approx(free)] * 4
    assert [alert.kind for alert in raised(run, 101.0, Limits(memory_headroom=0.3))] == (
        ["memory-low"] if free < 0.3 else []
    )
