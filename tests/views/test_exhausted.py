"""Device memory that ran out: a row per core, what filled it, the largest programs, the advice, on every surface."""

from __future__ import annotations

import pytest

from neuron_top.cli.main import main
from neuron_top.events import DeviceMemoryExhausted, MemoryRow, MemoryScope
from neuron_top.ingest.run_loader import read_logs
from neuron_top.run.exhausted import CORES_KEPT, Exhaustions
from neuron_top.run.model import Run
from neuron_top.tui.panels import core_rows
from neuron_top.tui.theme import choose
from neuron_top.views.cores import core_table
from neuron_top.views.exhausted import exhausted_memory, program_name
from neuron_top.views.report_context import exhausted_lines, exhausted_note
from tests.corpus import corpus

GIB = 1024**3


def neff(index: int, name: str, **kinds: int) -> MemoryRow:
    return MemoryRow(scope=MemoryScope.NEFF, index=index, total=sum(kinds.values()), kinds=kinds, name=name)


def failed(device: int, core: int, *, programs: int = 1, time: float = 1.0) -> DeviceMemoryExhausted:
    """Tensors fill the bank, and so many programs of a GiB each lie on two cores of it."""
    kinds = {"tensors": 12 * GIB, "dma_rings": programs * GIB, "constants": 0}
    rows = [MemoryRow(scope=MemoryScope.BANK, index=core // 2, total=sum(kinds.values()), kinds=kinds)]
    for half in (core, core + 1):
        rows.append(MemoryRow(scope=MemoryScope.CORE, index=half, total=6 * GIB, kinds={"tensors": 6 * GIB}))
        path = "/tmp/nxd_model/decoder/_tp0_bk{}/model.MODULE_00000000{:02}+d7517139.neff"
        rows += (neff(n, path.format(n, n), dma_rings=GIB // 2 + n) for n in range(programs))
    return DeviceMemoryExhausted(
        requested=1 << 20, usage="model code", device=device, core=core, rows=tuple(rows), at=time
    )


def exhausted(*found: DeviceMemoryExhausted) -> Exhaustions:
    tracker = Exhaustions()
    for event in found:
        tracker.add(event)
    return tracker


def test_no_failure_is_no_view() -> None:
    assert exhausted_memory(Exhaustions()) is None


def test_failures_are_reported_once_for_a_core() -> None:
    view = exhausted_memory(exhausted(failed(10, 1), failed(2, 0), failed(10, 1), failed(2, 3, programs=3)))
    assert view is not None
    assert [(core.device, core.core, core.count) for core in view.cores] == [(2, 0, 1), (2, 3, 1), (10, 1, 2)]
    assert view.failures == 4
    assert view.summary.startswith("4 allocations failed on 3 cores of 2 devices; up to 15.0 GiB were in use")
    assert "1.0 MiB were asked for (model code)" in view.summary
    assert view.kinds == {"tensors": 12 * GIB, "dma_rings": 3 * GIB}


def test_a_program_is_what_it_takes_on_all_cores_of_the_bank() -> None:
    view = exhausted_memory(exhausted(failed(0, 0, programs=2), failed(1, 0, programs=3)))
    assert view is not None
    largest = view.programs[0]
    assert largest.name == "decoder/_tp0_bk2/MODULE_0000000002+d7517139"
    assert (largest.total, largest.cores) == (GIB + 4, 1)
    assert [program.cores for program in view.programs] == [1, 2, 2]


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ({"tensors": 9, "model_code": 1}, ["tensors, 9 B: "]),
        ({"dma_rings": 6, "tensors": 4}, ["dma rings, 6 B: ", "tensors, 4 B: "]),
        ({"nonshared_scratchpad": 5}, ["NEURON_SCRATCHPAD_PAGE_SIZE"]),
        ({"profiler": 5}, ["NEURON_RT_INSPECT_ENABLE=0"]),
        ({"something_new": 5}, ["fewer or smaller programs"]),
        ({}, ["fewer or smaller programs"]),
    ],
)
def test_advice_follows_from_what_filled_the_memory(kinds: dict[str, int], words: list[str]) -> None:
    rows = (MemoryRow(scope=MemoryScope.CORE, index=0, kinds=kinds),) if kinds else ()
    view = exhausted_memory(exhausted(DeviceMemoryExhausted(device=0, core=0, rows=rows)))
    assert view is not None
    assert len(view.advice) == len(words)
    for text, word in zip(view.advice, words, strict=True):
        assert word in text


def test_many_programs_are_worth_a_word() -> None:
    view = exhausted_memory(exhausted(failed(0, 0, programs=9)))
    assert view is not None
    assert "9 programs are loaded at once" in view.advice[1]


def test_a_failure_without_place_or_table_is_reported_all_the_same() -> None:
    view = exhausted_memory(exhausted(DeviceMemoryExhausted(requested=5), failed(0, 0), DeviceMemoryExhausted()))
    assert view is not None
    assert (view.cores[0].place, view.cores[0].count) == ("a device that was not named", 2)
    assert view.failures == 3


def test_what_is_kept_is_bounded() -> None:
    tracker = Exhaustions()
    for core in range(CORES_KEPT + 10):
        tracker.add(DeviceMemoryExhausted(device=core, core=0))
    assert (tracker.count, len(list(tracker))) == (CORES_KEPT + 10, CORES_KEPT)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/tmp/nxd_model/encoder/_tp0_bk48/model.MODULE_1+2.neff", "encoder/_tp0_bk48/MODULE_1+2"),
        ("file.neff", "file"),
        ("", ""),
    ],
)
def test_a_program_is_named_by_what_distinguishes_it(path: str, name: str) -> None:
    assert program_name(path) == name


def test_the_terminal_says_the_same() -> None:
    run = Run()
    for event in (failed(10, 1, programs=9), failed(2, 0)):
        run.apply(event)
    view = core_table(run, 1.0)
    lines = core_rows.exhausted_lines(view)
    text = [
        strip.text
        for strip in core_rows.exhausted_panel(
            choose("dark", ascii_only=False, encoding="utf-8", no_color=False), view, 160, lines
        )
    ]
    assert len(text) == lines
    assert "2 allocations failed on 2 cores of 2 devices" in text[0]
    assert "tensors 12.0 GiB" in text[1]
    assert "MODULE_0000000008" in text[2]
    assert "tensors, 12.0 GiB: " in text[3]


def test_the_report_has_a_line_per_core_and_the_advice() -> None:
    run = Run()
    for event in (failed(10, 1), failed(2, 0), failed(10, 1)):
        run.apply(event)
    assert [(line.device, line.core, line.count) for line in exhausted_lines(run)] == [(2, 0, 1), (10, 1, 2)]
    assert "Tensors, 12.0 GiB: " in exhausted_note(run)


def test_sixty_four_failures_of_a_real_job_are_sixty_four_cores(capsys: pytest.CaptureFixture[str]) -> None:
    log = corpus("logs/56-g3-llama70b-prefix32k-oom.log")
    view = exhausted_memory(read_logs([str(log)], 3600.0).cores.exhausted)
    assert view is not None
    assert len(view.cores) == view.failures == 64
    assert len({core.device for core in view.cores}) == 16
    assert all(core.in_use and core.kinds and core.programs > 40 for core in view.cores)
    assert next(iter(view.kinds)) == "tensors"
    assert view.programs[0].name == "context_encoding_model/_tp0_bk47/MODULE_96cabc735c116a55fbed+943a36ed"
    assert main(["tally", str(log)]) == 0
    reported = capsys.readouterr().out
    assert "device memory ran out: 64 allocations failed on 64 cores of 16 devices" in reported
    assert "programs are loaded at once" in reported
