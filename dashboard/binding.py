"""Binds a page to its data: one callback returns what has changed in all its sections since the last answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from dash import Dash, Input, Output, State, no_update, set_props

from neuron_top.dashboard import page_diff
from neuron_top.dashboard.address import state_of
from neuron_top.dashboard.chart_colors import ChartColors, chart_colors
from neuron_top.dashboard.components import problem_card
from neuron_top.dashboard.layout import show_permission
from neuron_top.errors import NeuronTopError, NothingToShow


class PageOutputs(NamedTuple):
    """The sections of a page by kind; a section's name is its component's id."""

    parts: Sequence[str] = ()
    charts: Sequence[str] = ()
    tracks: Sequence[str] = ()
    grids: Sequence[str] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all sections, in the order of their outputs."""
        return (*self.parts, *self.charts, *self.tracks, *self.grids)

    @property
    def outputs(self) -> list[Output]:
        """The callback's outputs."""
        pairs = [(name, "children") for name in self.parts]
        pairs += [(name, "figure") for name in (*self.charts, *self.tracks)]
        pairs += [(name, prop) for name in self.grids for prop in ("rowData", "rowTransaction")]
        return [Output(name, prop) for name, prop in pairs]


class PageRequest(NamedTuple):
    """A request of a page: its URL state, chart colors, and the values of its controls."""

    state: dict[str, str]
    colors: ChartColors
    values: tuple[Any, ...]

    @property
    def run(self) -> str:
        """The run that the address names; "" is live."""
        return self.state.get("run", "")


def bind(
    app: Dash,
    page: str,
    outputs: PageOutputs,
    answer: Callable[[PageRequest], Mapping[str, Any] | Awaitable[Mapping[str, Any]]],
    controls: Sequence[Input] = (),
    *,
    is_of_one: bool = True,
) -> None:
    """Register the page's callback. `answer` gives a value for every section, at once or as a coroutine where something
    slow happens in a thread; what it raises is shown above the page.

    `is_of_one`: all of the page is about the run or job of its address, and is hidden where there is none of that name.
    """
    targets = outputs.outputs

    @app.callback(
        [*targets, Output(f"{page}-marks", "data")],
        [Input("pulse", "data"), Input("url", "search"), Input("theme", "data"), *controls],
        [State(f"{page}-marks", "data"), State("permission", "data")],
    )
    async def update(_pulse: Any, search: str, theme: str, *rest: Any) -> list[Any]:
        *values, known, permission = rest
        show_permission(app.config.requests_pathname_prefix, permission)
        try:
            made = answer(PageRequest(state_of(search), chart_colors(theme), tuple(values)))
            rendered = await made if isinstance(made, Awaitable) else made
        except NeuronTopError as problem:
            if (known or {}).get("problem") != str(problem):  # sent once, as it is an alert of the page
                is_alone = is_of_one and isinstance(problem, NothingToShow)
                set_props("problem", {"children": problem_card(str(problem), is_alone=is_alone)})
            return [no_update] * len(targets) + [{"problem": str(problem)}]
        if known and "problem" in known:
            set_props("problem", {"children": None})
            known = {}
        values, marks = page_diff.outputs_of({name: rendered[name] for name in outputs.names}, known or {})
        return [*values, marks]
