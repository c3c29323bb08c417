"""What is sent to a browser: only what it lacks, and after applying it the browser has what a fresh one would get."""

from __future__ import annotations

import copy
import json
from typing import Any

from dash import Patch, dcc, html, no_update
from hypothesis import given
from hypothesis import strategies as st
from plotly.io.json import to_json_plotly

from neuron_top.dashboard.page_diff import AppendChart, PageChart, Rows, marked, outputs_of


def applied(patch: Patch, figure: dict[str, Any]) -> dict[str, Any]:
    """What the browser makes of a patch that assigns and extends."""
    whole = copy.deepcopy(figure)
    for step in patch.to_plotly_json()["operations"]:
        place, (*path, last) = whole, step["location"]
        for key in path:
            place = place[key]
        if step["operation"] == "Extend":
            place[last] = [*place[last], *step["params"]["value"]]
        else:
            assert step["operation"] == "Assign"
            place[last] = step["params"]["value"]
    return whole


def heat(values: list[int], title: str = "a") -> PageChart:
    return PageChart({"data": [{"z": values, "x": ["fixed"] * 50}], "layout": {"title": title}}, (("data", 0, "z"),))


def test_what_has_not_changed_is_not_sent_again() -> None:
    sections = {"text": "12 %", "heat": heat([1, 2])}
    _first, known = outputs_of(sections, {})
    again, same = outputs_of(sections, known)
    assert again == [no_update, no_update]
    assert same == known


def test_a_chart_whose_numbers_moved_is_patched_and_one_of_another_form_is_sent_whole() -> None:
    _values, known = outputs_of({"heat": heat([1, 2])}, {})
    (patch,), _known = outputs_of({"heat": heat([3, 4])}, known)
    assert isinstance(patch, Patch)
    assert applied(patch, heat([1, 2]).figure) == heat([3, 4]).figure
    assert "fixed" not in str(patch.to_plotly_json())
    (whole,), _known = outputs_of({"heat": heat([3, 4], "b")}, known)
    assert whole == heat([3, 4], "b").figure


@given(st.lists(st.lists(st.integers(0, 2), max_size=8), min_size=1, max_size=6))
def test_of_numbers_that_only_grew_a_browser_gets_the_end(numbers: list[list[int]]) -> None:
    shown: dict[str, Any] = {}
    known: dict[str, Any] = {}
    before: list[int] = []
    for now in numbers:
        (answer,), known = outputs_of({"heat": heat(now)}, known)
        if isinstance(answer, Patch):
            (step,) = answer.to_plotly_json()["operations"]
            grew = bool(before) and before == now[: len(before)]
            assert step["operation"] == ("Extend" if grew else "Assign")
            shown = applied(answer, shown)
        elif answer is not no_update:
            shown = copy.deepcopy(answer)
        assert shown["data"] == heat(now).figure["data"]
        before = now


def test_a_mark_that_no_server_made_gets_the_numbers_whole() -> None:
    _values, known = outputs_of({"heat": heat([1, 2])}, {})
    for mark in (7, None, "", ":", "zz:1", f"{'0' * 8}:{'9' * 5000}", known["heat"][1].replace(":2", ":²")):
        (patch,), _known = outputs_of({"heat": heat([1, 2, 3])}, {"heat": [known["heat"][0], mark]})
        assert patch.to_plotly_json()["operations"][0]["operation"] == "Assign"


def plain(component: Any) -> Any:
    return json.loads(to_json_plotly(component))


def markup(component: Any) -> Any:
    """What stands for a component that Dash need not know."""
    return {"namespace": "neurontop", "type": "Markup", "props": {"tree": plain(component)}}


def test_a_marked_part_is_plain_values_and_equal_to_the_component_for_a_browser() -> None:
    component = html.Div([html.Strong("12 %"), None, 1.0], className="card", title="a")
    first, other = marked({"card": component}), marked({"card": html.Div("13 %")})
    (sent,), known = outputs_of(first, {})
    assert sent == markup(component)
    assert outputs_of({"card": component}, {})[0] == [sent]
    assert outputs_of({"card": component}, known)[0] == [no_update]
    assert outputs_of(other, known)[0] == [markup(html.Div("13 %"))]


def test_only_what_dash_need_not_know_of_a_part_is_markup() -> None:
    rows = html.Table([html.Tr(html.Td("a")), html.Tr(html.Td("b"))])
    act = html.Button("Act", id={"type": "act", "key": "a"})
    part = [html.Div([html.P(["words ", html.Code("c")]), act, rows]), dcc.Link(html.B("x"), href="/"), "text", None]
    (sent,), _known = outputs_of({"card": part}, {})
    div, link = plain(part[0]), plain(part[1])
    div["props"]["children"] = [markup(html.P(["words ", html.Code("c")])), plain(act), markup(rows)]
    link["props"]["children"] = markup(html.B("x"))
    assert sent == [div, link, "text", None]


def series(*lengths: int, first: int = 0) -> AppendChart:
    traces = [{"x": [f"{n:06d}" for n in range(first, end)], "y": list(range(first, end))} for end in lengths]
    return AppendChart({"data": traces, "layout": {}}, spare=10)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6).map(sorted), st.integers(0, 30))
def test_a_series_that_grows_is_appended_without_a_gap_or_a_double(lengths: list[int], other: int) -> None:
    shown: dict[str, Any] = {}
    known: dict[str, Any] = {}
    for length in lengths:
        track = series(length, other)
        (answer,), known = outputs_of({"loss": track}, known)
        if isinstance(answer, Patch):
            shown = applied(answer, shown)
        elif answer is not no_update:
            shown = copy.deepcopy(answer)
        assert shown["data"] == track.figure["data"]


def test_a_series_that_began_anew_is_sent_whole() -> None:
    _values, known = outputs_of({"loss": series(20)}, {})
    (figure,), _known = outputs_of({"loss": series(5)}, known)
    assert figure == series(5).figure


def test_a_browser_keeps_old_points_for_a_while_and_then_begins_anew() -> None:
    (shown,), known = outputs_of({"loss": series(20)}, {})
    (more,), known = outputs_of({"loss": series(25, first=10)}, known)
    assert applied(more, shown)["data"] == series(25).figure["data"], "what the server has forgotten stays in sight"
    (whole,), known = outputs_of({"loss": series(26, first=20)}, known)
    assert whole == series(26, first=20).figure
    (more,), _known = outputs_of({"loss": series(27, first=20)}, known)
    assert applied(more, whole) == series(27, first=20).figure


def test_rows_of_a_grid_come_as_what_was_added_changed_and_removed() -> None:
    _values, known = outputs_of({"g": Rows([{"id": "a", "n": 1}, {"id": "b", "n": 2}, {"id": "c", "n": 3}])}, {})
    (rows, changes), _known = outputs_of(
        {"g": Rows([{"id": "a", "n": 1}, {"id": "b", "n": 9}, {"id": "d", "n": 4}])}, known
    )
    assert rows is no_update
    assert changes == {"add": [{"id": "d", "n": 4}], "update": [{"id": "b", "n": 9}], "remove": [{"id": "c"}]}
