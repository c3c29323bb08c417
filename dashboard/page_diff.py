"""Differences of a page since a browser's last update: parts whole, figures by patch, series by appending.

A page renders all its sections as plain values. The browser sends back, with every question, the marks of what it has;
so the server keeps nothing per browser, a reload begins anew, and after a lost connection the next answer brings
exactly what is missing.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from dash import Patch, no_update

from neuron_top.late_pattern import late_pattern

Marks = Mapping[str, Any]
"""Section → mark."""


class PageChart(NamedTuple):
    """A figure of which the parts at the paths `moving` change with every sample, the rest seldom.

    Where a part only grew at its end, the browser is sent the new end.
    """

    figure: dict[str, Any]
    moving: tuple[tuple[str | int, ...], ...] = ()


class AppendChart(NamedTuple):
    """A figure of series that grow at their end: `x` of every trace is time, and rises.

    `spare`: old points that a browser may keep beside those that are still known here; one with more begins anew.
    """

    figure: dict[str, Any]
    spare: int = 3600


class Marked(NamedTuple):
    """A section with its mark, which is computed once for all browsers that get the section."""

    section: Any
    mark: Any


class Markup(NamedTuple):
    """A part as a browser gets it: what is only text and elements of HTML is one component, which `markup.js` draws.

    Each component of Dash's own is told of every change of the page, and a table has hundreds of them.
    """

    part: Any


class Rows(NamedTuple):
    """The rows of a grid, each with its `id`. Takes two outputs: all rows, or those that came, changed and went."""

    rows: list[dict[str, Any]]


def marked(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Parts and charts that move, with their marks; what each browser has another part of, as it is."""
    return {
        name: section if isinstance(section, AppendChart | Rows) else _marked(section)
        for name, section in sections.items()
    }


def _marked(section: Any) -> Marked:
    """With the components as plain values, which Dash then need not walk through for each browser."""
    if isinstance(section, PageChart):
        return Marked(section._replace(figure=_plain(section.figure)), _chart_mark(section))
    return Marked(Markup(_with_markup(_plain(section))), _digest(section))


def outputs_of(sections: Mapping[str, Any], known: Marks) -> tuple[list[Any], dict[str, Any]]:
    """(a value per section, two for Rows; the marks of what the browser then has)."""
    values: list[Any] = []
    marks: dict[str, Any] = {}
    for name, section in sections.items():
        before = known.get(name)
        section, mark = section if isinstance(section, Marked) else (section, None)
        if isinstance(section, PageChart):
            value, marks[name] = _chart(section, mark or _chart_mark(section), before)
            values.append(value)
        elif isinstance(section, AppendChart):
            value, marks[name] = _track(section, before)
            values.append(value)
        elif isinstance(section, Rows):
            whole, changes, marks[name] = _rows(section, before)
            values += (whole, changes)
        else:
            marks[name] = mark or _digest(section)
            values.append(no_update if marks[name] == before else _sent(section))
    return values, marks


def _chart_mark(chart: PageChart) -> list[str]:
    """The marks of a chart: first of what stays, then of each moving part."""
    parts = (_at(chart.figure, path) for path in chart.moving)
    return [_digest(_without(chart.figure, chart.moving)), *map(_part_mark, parts)]


def _part_mark(part: Any) -> str:
    """The mark of a part: its digest, and the length of a list."""
    return f"{_digest(part)}:{len(part)}" if isinstance(part, list) else _digest(part)


def _grown(part: Any, mark: Any) -> list[Any] | None:
    """What a part holds behind that which had this mark, which a browser sent; None where it is another one."""
    match = _LIST_MARK.fullmatch(mark) if isinstance(mark, str) and isinstance(part, list) else None
    if match is None or not 0 < int(match[2]) < len(part):
        return None
    return part[int(match[2]) :] if _digest(part[: int(match[2])]) == match[1] else None


def _chart(chart: PageChart, mark: list[str], before: Any) -> tuple[Any, list[str]]:
    if mark == before:
        return no_update, mark
    if not isinstance(before, list) or len(before) != len(mark) or before[0] != mark[0]:
        return chart.figure, mark
    patch = Patch()
    for path, old, new in zip(chart.moving, before[1:], mark[1:], strict=True):
        if old != new:
            place: Any = patch
            for step in path[:-1]:
                place = place[step]
            part = _at(chart.figure, path)
            end = _grown(part, old)
            if end is None:
                place[path[-1]] = part
            else:
                place[path[-1]].extend(end)
    return patch, mark


def _rows(section: Rows, before: Any) -> tuple[Any, Any, dict[str, str]]:
    mark = {str(row["id"]): _digest(row) for row in section.rows}
    if not isinstance(before, dict):
        return section.rows, no_update, mark
    if mark == before:
        return no_update, no_update, mark
    changes = {
        "add": [row for row in section.rows if row["id"] not in before],
        "update": [row for row in section.rows if before.get(row["id"], mark[row["id"]]) != mark[row["id"]]],
        "remove": [{"id": gone} for gone in before if gone not in mark],
    }
    return no_update, {name: rows for name, rows in changes.items() if rows}, mark


def _track(track: AppendChart, before: Any) -> tuple[Any, list[Any]]:
    traces = track.figure["data"]
    paths = tuple(("data", number, axis) for number in range(len(traces)) for axis in ("x", "y"))
    form = _digest(_without(track.figure, paths))
    whole = [form, [_end(trace) for trace in traces], [len(trace["x"]) for trace in traces]]
    if not isinstance(before, list) or before[0] != form or len(before[1]) != len(traces):
        return track.figure, whole
    if any(end is not None and not _continues(trace, end) for trace, end in zip(traces, before[1], strict=True)):
        return track.figure, whole
    news = [_after(trace, end) for trace, end in zip(traces, before[1], strict=True)]
    counts = [count + len(new[0]) for count, new in zip(before[2], news, strict=True)]
    if counts == before[2]:
        return no_update, before
    if any(count - kept > track.spare for count, kept in zip(counts, whole[2], strict=True)):
        return track.figure, whole
    patch = Patch()
    for number, (x, y) in enumerate(news):
        if x:
            patch["data"][number]["x"].extend(x)
            patch["data"][number]["y"].extend(y)
    return patch, [form, whole[1], counts]


def _end(trace: Mapping[str, Any]) -> Any:
    return trace["x"][-1] if trace["x"] else None


def _continues(trace: Mapping[str, Any], end: Any) -> bool:
    """Whether the points behind `end` continue what a browser has, without a gap."""
    return bool(trace["x"]) and trace["x"][0] <= end <= trace["x"][-1]


def _after(trace: Mapping[str, Any], end: Any) -> tuple[list[Any], list[Any]]:
    """The points of a trace behind `end`."""
    first = 0 if end is None else bisect_right(trace["x"], end)
    return trace["x"][first:], trace["y"][first:]


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _without(value: Any, paths: tuple[tuple[str | int, ...], ...]) -> Any:
    """A copy without the parts at these paths; what no path touches is not copied."""
    heads = {path[0] for path in paths}
    if not heads:
        return value
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return {
        key: _without(part, tuple(path[1:] for path in paths if path[0] == key)) if key in heads else part
        for key, part in pairs
        if (key,) not in paths
    }


def _digest(value: Any) -> str:
    return f"{zlib.crc32(_ENCODER.encode(value)):08x}"


def _sent(section: Any) -> Any:
    return section.part if isinstance(section, Markup) else _with_markup(_plain(section))


def _with_markup(part: Any) -> Any:
    """A part of plain values in which each tree without a component for callbacks is one component."""
    if isinstance(part, list):
        return [_with_markup(one) for one in part]
    if not isinstance(part, dict):
        return part
    if _is_markup(part):
        return {"namespace": "neurontop", "type": "Markup", "props": {"tree": part}}
    return {**part, "props": {**part["props"], "children": _with_markup(part["props"].get("children"))}}


def _is_markup(part: Any) -> bool:
    if isinstance(part, list):
        return all(map(_is_markup, part))
    if not isinstance(part, dict):
        return True
    is_plain = part["namespace"] == "dash_html_components" and "id" not in part["props"]
    return is_plain and _is_markup(part["props"].get("children"))


def _plain(value: Any) -> Any:
    """A component or a figure as plain values, as they are sent to a browser."""
    return msgspec.json.decode(_ENCODER.encode(value))


_LIST_MARK = late_pattern(r"([0-9a-f]{8}):([0-9]{1,9})")
_ENCODER = msgspec.json.Encoder(enc_hook=lambda component: component.to_plotly_json())
