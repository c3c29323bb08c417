"""The pages of ranks × steps: of the run that is shown, and of a job of the fleet."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from neuron_top.tui.panels.rank_steps import rank_steps_lines, rows_that_fit, steps_that_fit
from neuron_top.tui.screens.detail import DetailPage
from neuron_top.tui.screens.polled_page import PolledPage
from neuron_top.views.model import Run
from neuron_top.views.rank_steps import StepMap, series_of_run, step_map


class RunSteps(DetailPage):
    """Rank steps of the shown run."""

    def __init__(self) -> None:
        super().__init__(self._map, rank_steps_lines, "")

    def _map(self, run: Run, now: float) -> StepMap:
        rows, columns = _room(self)
        return step_map(series_of_run(run), rows, columns, len(run.steps.left_out))


def fleet_page(find: Callable[..., StepMap], job: str) -> PolledPage:
    """The page of a job of the fleet: `find` gets the number of rows and columns for which there is room."""

    def ask(page: PolledPage) -> StepMap:
        rows, columns = _room(page)
        return find(rows=rows, columns=columns)

    draw = partial(rank_steps_lines, job=job)
    return PolledPage(ask, draw, waiting="asking the database…", failed="Step times cannot be shown")


def _room(page: DetailPage) -> tuple[int, int]:
    """Rows and columns; the page is as large as the terminal until it is drawn."""
    size = page.page.size if page.is_mounted and page.page.size.height else page.app.size
    return rows_that_fit(size.height), steps_that_fit(size.width)
