"""Components of the pages: tiles, panels, tables, notes, with classes of the style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from dash import dcc, html

from neuron_top.dashboard.table_order import TableOrder
from neuron_top.views.words import TERMS

Component = Any
_HIDDEN = {"visible": False}
_CLEAR = "rgba(0,0,0,0)"
BLANK: Any = {
    "data": [],
    "layout": {"paper_bgcolor": _CLEAR, "plot_bgcolor": _CLEAR, "xaxis": _HIDDEN, "yaxis": _HIDDEN},
}
"""A chart before its first data: blank, without axes."""


_FEW_COLUMNS, _SHORT, _SHORT_PAIR = 3, 14, 24
"""How many columns fit on a phone; the longest text that shares a line of a card with another one, without and with the
name of its column."""


def attributes(**attributes: str) -> Any:
    """Attributes with a dash in their name: `attributes(aria_label="…")`."""
    return {name.replace("_", "-"): value for name, value in attributes.items()}


def tile(identity: str, label: str) -> Component:
    """A number with its name; the page fills `<identity>` and, below it, `<identity>-sub`."""
    return html.Div(
        [
            html.Span(label, className="tile-label"),
            html.Span("—", id=identity, className="tile-value"),
            html.Span("", id=f"{identity}-sub", className="tile-sub"),
        ],
        className="tile",
    )


def panel(
    title: str | Component, *content: Component, tools: Sequence[Component] = (), wide: bool = False, extra: str = ""
) -> Component:
    """A titled part of a page; `wide` takes all columns, `extra` is a class for the style sheet."""
    return html.Section(
        [html.Div([html.H2(title), html.Div(list(tools), className="tools")], className="panel-head"), *content],
        className=" ".join(filter(None, ("panel", "wide" if wide else "", extra))),
    )


def chart(identity: str, name: str, height: int, figure: Any = None) -> Component:
    """A chart with PNG and SVG export; `name` is its accessible label and the name of the file. Before its first data
    it is as high as afterwards: the library's own height is twice that, and the page would jump."""
    if figure is None:
        figure = {**BLANK, "layout": {**BLANK["layout"], "height": height}}
    return html.Figure(
        [
            dcc.Graph(
                id=identity,
                figure=figure,
                config={
                    "displaylogo": False,
                    "responsive": True,
                    "scrollZoom": False,
                    "displayModeBar": "hover",
                    "modeBarButtonsToRemove": ["lasso2d", "select2d", "toImage", "sendChartToCloud"],
                    "plotlyServerURL": "",  # no button to upload a chart, so its data stays here
                },
                style={"minHeight": f"{height}px"},
            ),
            html.Figcaption(
                [
                    html.Span(name, className="visually-hidden"),
                    html.Details(
                        [
                            html.Summary("⋯", title="Save this chart", **attributes(aria_label=f"Save “{name}”")),
                            html.Div([_save(identity, name, kind) for kind in ("png", "svg")], className="menu-items"),
                        ],
                        className="menu",
                    ),
                ]
            ),
        ],
        className="chart",
        style={"minHeight": f"{height}px"},  # the part with this height of its own comes later
        **attributes(data_chart=identity),
    )


def _save(identity: str, name: str, kind: str) -> Component:
    label = attributes(
        data_chart=identity, data_format=kind, data_name=name, aria_label=f"Save the chart “{name}” as {kind.upper()}"
    )
    return html.Button(f"Save as {kind.upper()}", className="link", **label)


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[Component]],
    *,
    caption: str,
    right: Sequence[int] = (),
    minor: Sequence[int] = (),
    fits: bool = False,
    order: TableOrder | None = None,
) -> Component:
    """A small table; the columns in `right` hold numbers, those in `minor` are left out on a phone. Where its rows have
    an `order`, the heads are links that change it.

    One of many columns is a card per row on a phone, where each cell has the name of its column before it and the heads
    that sort stand in a line above; unless it `fits` there.
    """
    body = [list(row) for row in rows]
    is_wide = not fits and len(head) - len(minor) > _FEW_COLUMNS
    long = [i for i in range(len(head)) if any(_is_long(row[i], head[i]) for row in body)]
    marks = [("number", right), ("minor", minor), ("long", long if is_wide else ())]
    kind = [" ".join(name for name, columns in marks if i in columns) or None for i in range(len(head))]
    named = [attributes(data_label=text) if is_wide else {} for text in head]
    kinds = {"table-scroll": True, "cards": is_wide, "ordered": order is not None}
    return html.Div(
        html.Table(
            [
                html.Caption(caption, className="visually-hidden"),
                html.Thead(
                    html.Tr([_head(text, kind[i], order, falls_first=i in right) for i, text in enumerate(head)])
                ),
                html.Tbody([html.Tr(list(map(_cell, row, kind, named))) for row in body]),
            ]
        ),
        className=" ".join(name for name, is_so in kinds.items() if is_so),
        tabIndex=0,
        role="region",
        **attributes(aria_label=caption),
    )


def _head(text: str, kind: str | None, order: TableOrder | None, *, falls_first: bool) -> Component:
    if order is None:
        return html.Th(text, className=kind, scope="col")
    address = f"?{urlencode({'sort': order.after(text, falls_first=falls_first).text})}"
    sorted_by = attributes(aria_sort="descending" if order.falls else "ascending") if order.column == text else {}
    link = html.A(text, href=address, className="narrows sorts", title="Sort by this column")
    return html.Th(link, className=kind, scope="col", **sorted_by)


def _is_long(content: Component, name: str) -> bool:
    if not isinstance(content, str | int):
        return True
    return len(str(content)) > _SHORT or len(name) + len(str(content)) > _SHORT_PAIR


def _cell(content: Component, kind: str | None, named: Any) -> Component:
    return html.Td(content, className=kind, **named)


def term(word: str, shown: str = "") -> Component:
    """A word with a `?` that shows its definition on hover and on focus; `shown`: the form of the word to print."""
    return html.Span(
        [
            shown or word,
            html.Span(
                "?",
                className="term",
                tabIndex=0,
                role="note",
                **attributes(data_words=TERMS[word], aria_label=f"{word}: {TERMS[word]}"),
            ),
        ],
        className="with-term",
    )


def note(text: str, *, kind: str = "quiet") -> Component:
    """A sentence, with commands between backticks; `kind`: quiet, warn, bad."""
    return html.P(with_commands(text), className=f"note {kind}")


def problem_card(text: str, *, is_alone: bool) -> Component:
    """What went wrong, above a page; `is_alone`: the style sheet hides the page, which has nothing to show."""
    return html.Div(note(text, kind="bad"), className="panel alone" if is_alone else "panel")


def sentences(lines: Iterable[str]) -> list[Component]:
    """Sentences below each other, within a paragraph."""
    return [html.Span(line, className="sentence quiet") for line in lines]


def text_block(lines: Iterable[str]) -> Component:
    """Lines as they are, in letters of one width."""
    return html.Pre("\n".join(lines), className="log")


def with_commands(text: str) -> Component:
    """A sentence whose commands between backticks stand as code."""
    parts = text.split("`")
    return [html.Code(part) if number % 2 else part for number, part in enumerate(parts)] if len(parts) > 2 else text


def absent(text: str) -> Component:
    """A sentence in the place of a panel's chart; the style sheet hides the chart then."""
    return note(text, kind="quiet absent")


def left_out() -> Component:
    """A marker in the place of a panel's content that has no data: the style sheet hides the panel."""
    return html.Span(className="left-out", hidden=True)


def stacked_bar(parts: Sequence[tuple[str, int, str]], *, total: int, label: str) -> Component:
    """A progress bar of several parts: (name, count, class)."""
    return html.Div(
        [
            html.Span(
                className=f"part {name_class}", style={"width": f"{100 * count / total:.3f}%"}, title=f"{count} {name}"
            )
            for name, count, name_class in parts
            if count and total
        ],
        className="stacked",
        role="img",
        **attributes(aria_label=label),
    )


def fact_list(pairs: Iterable[tuple[str, str]]) -> Component:
    """Names and values; a value that is empty is left out."""
    rows = [part for name, text in pairs if text for part in (html.Dt(name), html.Dd(html.Code(text)))]
    return html.Dl(rows, className="facts")
