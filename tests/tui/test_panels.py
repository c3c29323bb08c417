"""Panels and tables: what is told whole or not at all, what is folded, and one color for each category."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.panels import core_rows, cores, entry_rows, graphs, slowest, welcome
from neuron_top.tui.panels.comparison import from_difference
from neuron_top.tui.panels.torch_frames import torch_lines, torch_panel
from neuron_top.tui.screens.jobs import jobs_lines
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.tui.widgets.header import Tabs
from neuron_top.views.core_rows import CoreRow, legend_kinds
from neuron_top.views.cores import core_page, core_table
from neuron_top.views.entries import EntryTable, entry_filter
from neuron_top.views.entry_tree import CompilerRow, compiler_rows
from neuron_top.views.graphs import GraphRow, graph_table
from neuron_top.views.jobs import JobCard
from neuron_top.views.model import GraphState, State
from neuron_top.views.overview import overview
from neuron_top.views.torch_trace import FrameRow, FrameState, TorchSummary, TorchView, added_up_words, nth_text
from neuron_top.views.verdict import verdict
from neuron_top.views.welcome import NEXT

from . import feeds

THEME = Theme(DARK, UNICODE)
GIB = 1024**3


def cores_of(kinds: dict[str, int], seconds: float = 0.0) -> tuple[CoreRow, ...]:
    """Two cores whose memory is filled so, looked at so much later."""
    run = Run()
    for second in range(2):
        samples = tuple(
            ev.CoreSample(core=core, memory=sum(kinds.values()), capacity=24 * GIB, kinds=kinds, device=0)
            for core in range(2)
        )
        run.apply(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=samples, period=1.0, at=100.0 + second))
    return overview(run, 101.0 + seconds).cores


def legend(rows: tuple[CoreRow, ...]) -> str:
    lines = [strip.text for strip in cores.cores_panel(THEME, rows, 101.0, 100, 4)]
    return next((line for line in lines if line.startswith("memory")), "")


def test_the_legend_names_what_has_a_cell_in_the_order_of_the_bars_and_leaves_out_the_smallest() -> None:
    rows = cores_of({"tensors": 3 * GIB, "constants": 2**20, "model_shared_scratchpad": 7 * GIB, "model_code": 2 * GIB})
    assert "constants" in legend_kinds(rows)
    assert "tensors 6.0 GiB ■ model code 4.0 GiB ■ scratchpad 14.0 GiB" in legend(rows)
    narrow = cores.legend_line(THEME, rows, legend_kinds(rows), 50).text
    assert narrow.split() == ["memory", "■", "tensors", "■", "model", "code", "■", "scratchpad"]
    assert "constants" not in legend(rows)


def test_where_all_bars_are_stale_there_is_no_legend_and_no_line_for_it() -> None:
    kinds = {"tensors": 3 * GIB, "constants": 2 * GIB}
    fresh, stale = cores_of(kinds), cores_of(kinds, 600.0)
    assert legend(fresh)
    assert not legend(stale)
    assert cores.size_request(stale).full == cores.size_request(fresh).full - 1


def test_how_busy_a_worker_on_a_gpu_is_counts_for_the_hosts_processor() -> None:
    run = Run()
    sampled = ev.CoresSampled(kind=ev.CoreKind.LOCAL, at=100.0, cores=(ev.CoreSample(core=0, pid=7, utilization=0.5),))
    gpu = ev.GpuMemory(name="G", index=1, memory=3 * GIB, capacity=80 * GIB)
    for event in (sampled, ev.WorkerMemoryReported(pid=7, gpu=gpu, at=100.5), sampled):
        run.apply(event)
    page = core_page(run, 101.0, next(iter(run.cores.cores)))
    assert page is not None
    told = [strip.text.strip() for strip in core_rows.core_page_lines(THEME, page, 100)]
    assert "utilization  50 % now, 50 % smoothed, of a core of the host" in told
    assert "memory       3.0 GiB of 80.0 GiB, peak 3.0 GiB" in told


def test_workers_that_stand_for_cores_are_called_workers_and_have_memory_of_no_unknown_size() -> None:
    run = Run()
    samples = tuple(ev.CoreSample(core=core, pid=7 + core, utilization=0.5, memory=3 * GIB) for core in range(2))
    run.apply(ev.CoresSampled(kind=ev.CoreKind.LOCAL, at=100.0, cores=samples))
    table = core_table(run, 101.0)
    assert core_rows.host_panel(THEME, table, 60, 1)[0].text.endswith("─ 2 workers")
    rows = [row for group in table.groups for row in group.rows]
    assert cores.cores_panel(THEME, rows, 101.0, 100, 9)[0].text.split("─ ")[-1].startswith("2 workers · ")
    assert "─ 2 workers · " in cores.cores_panel(THEME, rows, 101.0, 100, 2)[0].text, "by device, where lines are few"
    page = core_page(run, 101.0, next(iter(run.cores.cores)))
    assert page is not None
    told = [strip.text.strip() for strip in core_rows.core_page_lines(THEME, page, 100)]
    assert "memory       3.0 GiB, peak 3.0 GiB" in told


@pytest.mark.parametrize("width", [80, 54])
def test_no_fact_on_the_page_of_a_core_is_cut(width: int) -> None:
    run = Run()
    models = tuple(f"MODULE_{number:020d}+c7db2df4" for number in range(3))
    sampled = ev.CoresSampled(
        kind=ev.CoreKind.NEURON,
        cores=(
            ev.CoreSample(core=0, pid=7, memory=8 * GIB, capacity=24 * GIB, device=0, models=models,
                          kinds={"model_shared_scratchpad": 8 * GIB}),
            ev.CoreSample(core=1, pid=7, memory=7 * GIB, capacity=24 * GIB, device=0),
        ),
        at=100.0,
    )  # fmt: skip
    run.apply(sampled)
    page = core_page(run, 101.0, next(iter(run.cores.cores)))
    assert page is not None
    shown = [strip.text.rstrip() for strip in core_rows.core_page_lines(THEME, page, width)]
    assert not any("…" in line for line in shown), shown
    assert all(any(model in line for line in shown) for model in models)
    assert any(line.startswith("    model shared scratchpad ") for line in shown)


def test_the_memory_of_a_device_is_drawn_by_kind_as_that_of_its_cores() -> None:
    run = Run()
    kinds = {"tensors": 6 * GIB, "constants": 6 * GIB}
    samples = tuple(
        ev.CoreSample(core=core, memory=12 * GIB, capacity=24 * GIB, kinds=kinds, device=core // 2) for core in range(4)
    )
    run.apply(ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=samples, period=1.0, at=100.0))
    view = core_table(run, 101.0)
    head, core, *_ = core_rows.items(view, tuple(kinds), cores.Scale(24 * GIB, False), frozenset(), True)
    memory = next(column for column in core_rows.COLUMNS if column.title == "Memory")
    assert head.group is not None
    assert memory.cell(head, THEME, 20)[:2] == memory.cell(core, THEME, 20)[:2]  # behind them stands a core's peak


def test_a_state_has_one_color_on_the_compile_and_the_cache_screen() -> None:
    for entry, graph in (("hit", GraphState.HIT), ("failed", GraphState.FAILED), ("compiling", GraphState.COMPILING)):
        assert (
            entry_rows.state_sign(THEME, entry)
            == THEME.graph_sign(graph)
            == (
                THEME.graph_sign(graph)[0],
                THEME.state(entry),
            )
        )


def frame(rank: int, seconds: float, **more: object) -> FrameRow:
    fields: dict[str, object] = {
        "key": f"{rank}/0", "compile_id": "0/0", "function": "forward", "place": "model.py:1",
        "state": FrameState.COMPILING, "backend": "inductor", "rank": rank, "pid": 4000 + rank, "began": 1.0,
        "seconds": seconds, "graphs": 1, "breaks": 0, "attempts": 1, "operators": None, "recompiled": (), "step": None,
        "after_warm_up": False, "spans": (), "fx": "", "aot": "", "failure": "",
    }  # fmt: skip
    return FrameRow(**fields | more)  # type: ignore[arg-type]


def test_ranks_that_compile_the_same_share_a_row_of_torch_compile() -> None:
    frames = (frame(0, 105.0), frame(1, 107.0), frame(2, 106.0), frame(3, 100.0, function="loss"))
    summary = TorchSummary(
        compiling=4,
        compiles=4,
        graphs=4,
        graphs_ours=0,
        seconds=418.0,
        breaks=0,
        recompiles=0,
        failures=0,
        late=None,
        caches=(),
        processes=4,
    )
    assert added_up_words(summary).endswith("; counts and times of 4 processes, added up")
    view = TorchView(summary=summary, frames=frames, breaks=(), phases=())
    strips = torch_panel(THEME, view, 100, torch_lines(view))
    title, first, second = (strip.text for strip in strips)
    assert "4 ranks, added up: 4 compiles in " in title
    assert first.split() == ["▶", "1st", "compile", "1", "m", "47", "s", "r1+2", "forward"]
    assert second.split()[-2:] == ["r3", "loss"]


@pytest.mark.parametrize(
    ("compile_id", "shown"),
    [("0/0", "1st"), ("7/1", "2nd"), ("0/2", "3rd"), ("0/3_1", "4th"), ("3/10", "11th"), ("3/11", "12th"),
     ("3/20", "21st"), ("3/110", "111th"), ("!2/5/1", "2nd"), ("!2", "!2"), ("", "")],
)  # fmt: skip
def test_a_compile_is_counted_and_not_named_by_pytorchs_id(compile_id: str, shown: str) -> None:
    assert nth_text(compile_id) == shown


def graph_rows() -> list[GraphRow]:
    return list(feeds.full().read(graph_table).rows)


def test_slowest_graphs_are_named_alike_without_holes() -> None:
    failed, compiled = (next(row for row in graph_rows() if row.state == state) for state in ("failed", "compiled"))
    title, first, second = (strip.text for strip in slowest.slowest_panel(THEME, [failed, compiled], 120, 3))
    assert title.startswith("Failed and slowest graphs")
    assert first.index("+a1b2c3d4") == second.index("+a1b2c3d4")
    assert "MODULE_" not in first + second
    alone = msgspec.structs.replace(compiled, rank=None, pid=4100, artifact_bytes=None)
    title, line = (strip.text for strip in slowest.slowest_panel(THEME, [alone], 120, 2))
    assert title.startswith("Slowest graphs")
    assert "s  pid 4100 MODULE_" in line


def test_columns_of_graphs_that_say_nothing_are_left_out() -> None:
    rows = graph_rows()
    titles = [column.title for column in graphs.columns(rows)]
    assert "Left" not in titles
    assert "Message or lock" in titles
    compiled = [row for row in rows if row.state is GraphState.COMPILED]
    assert "Message or lock" not in [column.title for column in graphs.columns(compiled)]
    by_pid = [msgspec.structs.replace(row, rank=None, ranks=(), pid=1_234_567) for row in compiled]
    worker = next(column for column in graphs.columns(by_pid) if column.title == "Worker")
    assert worker.cell(by_pid[0], THEME, worker.width)[0][0] == "pid 1234567"
    assert worker.width == len("pid 1234567")


async def test_a_page_keeps_the_tab_of_its_screen() -> None:
    services = feeds.StillServices(feeds.recordings(), feeds.catalog())
    app = TopApp(feeds.full(), Settings(), first="compile", services=services)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        tabs = app.screen.query_one(Tabs).draw(120, 1)[0]
        assert [one.text.strip() for one in tabs if one.style == app.render_theme.title] == ["3 Compile"]


def test_a_text_of_the_list_of_jobs_that_is_cut_has_a_sign() -> None:
    view = feeds.failed_log(text="a statement of the compiler that takes more than two lines " * 6).read(overview)
    strips = jobs_lines(THEME, ((JobCard(id="x", name="x", verdict=verdict(view)),), ""), 80)
    assert len(strips) == 4
    assert strips[-1].text.rstrip().endswith("…")


@pytest.mark.parametrize("width", range(40, 120, 5))
def test_the_head_of_a_compiler_version_has_no_fact_that_is_cut(width: int) -> None:
    row = CompilerRow(
        key="k", root="/cache", compiler="neuronxcc-2.21.18209.0+043b1bf7", entries=134, bytes=2**24, failed=6,
        age=86_400.0, share=0.9,
    )  # fmt: skip
    cell = entry_rows.head(row, THEME, width, folded=False, roots=1)
    assert cell is not None
    text = "".join(part for part, _style in cell)
    assert text.endswith((" ago", "6 failed", "134 entries")) or width < 60
    assert len(text) <= width or len(cell) == 1


@pytest.mark.parametrize("width", [58, 60, 80, 120])
def test_builds_of_one_release_are_told_apart_on_a_narrow_screen(width: int) -> None:
    for build in ("ac3d1f3c", "082bc29a"):
        row = CompilerRow(
            key="k", root="/var/tmp/neuron-compile-cache", compiler=f"inductor-2.13.0.cpu+{build}", entries=134,
            bytes=2**24, failed=0, age=86_400.0, share=0.9,
        )  # fmt: skip
        cell = entry_rows.head(row, THEME, width, folded=False, roots=2)
        assert cell is not None
        assert f"+{build} " in "".join(part for part, _style in cell)


@pytest.mark.parametrize("failed", [0, 6])
@pytest.mark.parametrize("width", range(60, 180, 10))
def test_the_heads_of_one_compiler_in_two_roots_are_told_apart_by_the_ends_of_their_roots(
    width: int, failed: int
) -> None:
    row = CompilerRow(
        key="k", root="", compiler="inductor-2.13.0.cpu+ac3d1f3c", entries=134, bytes=2**24, failed=failed,
        age=86_400.0, share=0.9,
    )  # fmt: skip
    above = "/home/somebody/a/very/long/path/to/the/caches/of/this/project"
    for end in ("cache", "cache2"):
        root = f"{above}/{end}"
        head = msgspec.structs.replace(row, root=root)
        cell = entry_rows.head(head, THEME, width, folded=False, roots=2)
        assert cell is not None
        text = "".join(part for part, _style in cell)
        shown = text.rpartition("  ")[2]
        assert root.endswith(shown.removeprefix("…"))
        assert shown.endswith(f"/{end}")
        assert len(text) <= width


def test_sums_of_marked_entries_keep_their_beginning_where_the_title_is_narrow() -> None:
    shown = entry_rows.title(THEME, "16 marked · 184 KiB · 12 of unknown compile time", 50).text
    assert shown.startswith("Compile cache 16 marked · 184 KiB · 12 of unknown")
    path = entry_rows.title(THEME, "16 entries · 184 KiB · /data/of/everybody/neuron-cache", 50).text
    assert path.endswith("neuron-cache")


def test_every_state_of_an_entry_fits_into_its_column_and_is_found_by_what_stands_there() -> None:
    [column] = [one for one in entry_rows.columns(lambda key: False, lambda: 1, tree=True) if one.title == "State"]
    rows = [msgspec.structs.replace(feeds.catalog().rows[0], state=state) for state in State]
    for row in rows:
        [(text, _style)] = column.cell(row, THEME, column.width)
        assert len(text) <= column.width
        shown = text.split(" ")[1]
        assert entry_filter(f"state:{shown}")(row)
        assert shown in row.state


def test_only_a_lock_that_somebody_may_hold_has_the_sign_of_waiting() -> None:
    waiting = {state for state in State if entry_rows.state_sign(THEME, state)[0] == THEME.glyphs.waiting}
    assert waiting == {State.LOCKED_UNKNOWN}


def test_the_head_of_a_compiler_version_counts_failed_and_broken_entries_apart() -> None:
    one = feeds.catalog().rows[0]
    states = (State.FAILED, State.CORRUPT, State.INCONSISTENT, State.HIT)
    rows = tuple(msgspec.structs.replace(one, state=state) for state in states)
    [head] = compiler_rows(EntryTable(roots=((one.root, "", True),), rows=rows))
    cell = entry_rows.head(head, THEME, 120, folded=False, roots=1)
    assert cell is not None
    assert "✗ 1 failed, 2 corrupt" in "".join(text for text, _style in cell)


def test_a_path_in_the_title_of_the_cache_keeps_its_end() -> None:
    text = "400 entries · 74.7 MiB · /home/somebody/with/a/long/path/neuron-compile-cache"
    line = entry_rows.title(THEME, text, 70).text
    assert line.endswith("neuron-compile-cache")
    assert "400 entries · 74.7 MiB · …" in line
    assert entry_rows.title(THEME, "2 marked · 3 MiB", 70).text.endswith("2 marked · 3 MiB")


def test_the_title_of_the_cache_says_in_a_replay_that_entries_are_those_of_now() -> None:
    assert entry_rows.title(THEME, "4 entries · 3 MiB", 70, is_replay=True).text.startswith(
        "Compile cache, as it is now ─"
    )
    assert "now" not in entry_rows.title(THEME, "4 entries · 3 MiB", 70).text


def test_what_commands_do_stands_in_one_column_where_there_is_room() -> None:
    lines = [strip.text for strip in welcome.welcome_panel(THEME, overview(Run(), 0.0), 120, 30)]
    starts = {line.index(text) for _command, text in NEXT for line in lines if text in line}
    assert len(starts) == 1


def test_long_values_that_differ_are_shown_from_where_they_differ() -> None:
    one, other = (f"torchrun --nproc_per_node=4 train.py --steps {steps} --lr 1" for steps in (20, 40))
    assert from_difference(one, other, 100, "…") == (one, other), "there is room for all"
    assert from_difference(one, other, 30, "…") == ("…--steps 20 --lr 1", "…--steps 40 --lr 1")
    assert from_difference("a" * 40, "b" * 40, 30, "…") == ("a" * 40, "b" * 40)
    assert from_difference("", other, 30, "…") == ("", other)
