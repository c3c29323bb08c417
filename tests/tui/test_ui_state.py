"""The next start looks as the last one was left; a broken file is as good as none."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from neuron_top.run.estimate import Estimator
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.ui_state import FILE_NAME, UiState, load, save
from neuron_top.views.entries import EntryRow
from neuron_top.views.entry_tree import CompilerRow

from . import feeds


def opened(folder: Path) -> TopApp:
    return TopApp(feeds.full(), Settings(), services=feeds.StillServices((), feeds.catalog()), state_folder=folder)


async def test_screen_and_theme_are_there_again_after_a_restart(tmp_path: Path) -> None:
    app = opened(tmp_path)
    async with app.run_test() as pilot:
        await pilot.press("3", "t")
        await pilot.press("q")
    again = opened(tmp_path)
    async with again.run_test():
        assert again.current_mode == "compile"
        assert again.render_theme.palette.name == "light"


async def test_without_colors_no_theme_is_offered_and_the_chosen_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(tmp_path)
    async with app.run_test() as pilot:
        await pilot.press("t", "q")
    with monkeypatch.context() as environment:
        environment.setenv("NO_COLOR", "1")
        colorless = opened(tmp_path)
        async with colorless.run_test() as pilot:
            titles = [command.title for command in colorless.get_system_commands(colorless.screen)]
            assert not [title for title in titles if title.startswith("Theme")]
            await pilot.press("t", "q")
            assert colorless.render_theme.palette.name == "no-color"
    again = opened(tmp_path)
    async with again.run_test():
        assert again.render_theme.palette.name == "light"


@pytest.mark.parametrize("text", ["", "{", '{"screen": 3}', '{"screen": "gone", "theme": "pink"}', "[]"])
async def test_a_broken_or_foreign_file_opens_the_overview(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    app = opened(tmp_path)
    async with app.run_test():
        assert app.current_mode == "overview"
        assert app.render_theme.palette.name == "dark"


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    save(tmp_path / "file", UiState(screen="logs"))
    assert load(tmp_path / "file") == UiState()


async def test_past_compile_times_come_after_the_first_frame() -> None:
    known = Estimator()
    app = TopApp(feeds.full(), Settings(), past=lambda: known)
    assert app.estimator is not known
    async with app.run_test() as pilot:
        for _ in range(500):  # the thread is started after the first frame, whenever that is
            await pilot.pause()
            await app.workers.wait_for_complete()
            if app.estimator is known:
                return
    raise AssertionError("past compile times never came")


async def test_sort_filter_and_folded_groups_of_each_screen_are_there_again(tmp_path: Path) -> None:
    app = opened(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("4")
        await rested(app, pilot)
        await pilot.press("down", "enter", "s", "s", "escape", "slash", *"!failed", "enter")
        await pilot.press("3", "s", "S", "q")
    again = opened(tmp_path)
    async with again.run_test(size=(120, 40)) as pilot:
        await rested(again, pilot)
        assert again.front is not None
        assert (again.front.table.sorted_title, again.front.table.reversed) == ("State", True)
        await pilot.press("4")
        await rested(again, pilot)
        assert again.front.table.sorted_title == "Size"
        assert again.front.query_one("#filter", Input).value == "!failed"
        assert {row.state for row in again.front.table.order.rows if isinstance(row, EntryRow)} == {"hit", "compiling"}
        await pilot.press("escape")
        await rested(again, pilot)
        folded = [row for row in again.front.table.order.rows if isinstance(row, CompilerRow)]
        assert [len([*again.front.table.order.rows]), len(folded)] == [3, 2]


async def rested(app: TopApp, pilot: Pilot[int]) -> None:
    """Until rows from disks have come and are drawn."""
    app.draw()
    await app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()
