"""The next start looks as the last one was left; a broken file is as good as none."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.run.estimate import Estimator
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.remembered import FILE_NAME, Remembered, recall, remember

from . import feeds


def opened(folder: Path) -> TopApp:
    return TopApp(feeds.full(), Settings(), library=feeds.StillLibrary((), feeds.catalogue()), memory=folder)


async def test_screen_and_theme_are_there_again_after_a_restart(tmp_path: Path) -> None:
    app = opened(tmp_path)
    async with app.run_test() as pilot:
        await pilot.press("3", "t")
        await pilot.press("q")
    again = opened(tmp_path)
    async with again.run_test():
        assert again.current_mode == "compile"
        assert again.look.palette.name == "light"


@pytest.mark.parametrize("text", ["", "{", '{"screen": 3}', '{"screen": "gone", "theme": "pink"}', "[]"])
async def test_a_broken_or_foreign_file_opens_the_overview(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    app = opened(tmp_path)
    async with app.run_test():
        assert app.current_mode == "overview"
        assert app.look.palette.name == "dark"


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    remember(tmp_path / "file", Remembered(screen="logs"))
    assert recall(tmp_path / "file") == Remembered()


async def test_past_compile_times_come_after_the_first_frame() -> None:
    known = Estimator()
    app = TopApp(feeds.full(), Settings(), past=lambda: known)
    assert app.estimator is not known
    async with app.run_test():
        await app.workers.wait_for_complete()
        assert app.estimator is known
