"""The frame of every page: navigation, run picker, connection state, theme and sign-in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dash import dcc, html, set_props

from neuron_top.dashboard import detail_drawer
from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.components import attributes
from neuron_top.dashboard.feed_registry import LIVE
from neuron_top.dashboard.guard import acting_offered, current_permission
from neuron_top.services.jobs import PREFIX
from neuron_top.views.jobs import JobCard
from neuron_top.views.runs import RunRow

RUNS_OFFERED = 200
LIVE_OPTION = "live"
"""The live run in a picker and in an address, where its name (`LIVE`) would be no value."""
RANGES = (("", "all time"), ("5", "last 5 m"), ("15", "last 15 m"), ("60", "last 1 h"), ("360", "last 6 h"))
"""Minutes and their labels."""


class NavigationLink(NamedTuple):
    """An entry of the navigation."""

    path: str
    """Below the prefix: "" is the front page."""
    name: str


class OpenPage(NamedTuple):
    """A page that is open in a browser: the path and the search of its address, and its layout."""

    path: str
    search: str
    page: Any


def app_layout(
    prefix: str,
    links: Sequence[NavigationLink],
    permission: Permission,
    open_page: OpenPage | None = None,
    *,
    can_act: bool = True,
) -> Any:
    """The frame; the page goes into `page`, at once where it is known which one the browser has opened.

    `can_act`: the server has an act token for signing in.
    """
    where = {"pathname": open_page.path, "search": open_page.search} if open_page is not None else {}
    return html.Div(
        [
            dcc.Location(id="url", refresh="callback-nav", **where),
            dcc.Store(id="pulse", data=0),
            dcc.Store(id="theme", storage_type="local"),
            dcc.Store(id="prefix", data=prefix),
            dcc.Store(id="permission", data=permission.value),
            html.A("Skip to the content", href="#page", className="skip"),
            html.Header(
                [_TITLE, _brand(prefix), _navigation(prefix, links), _tools(prefix, permission, can_act)],
                className="top",
            ),
            html.Div(id="problem", role="alert"),
            html.Nav(id="jobs", hidden=True, **attributes(aria_label="Jobs")),
            html.Div(id="offer", role="status", hidden=True),
            detail_drawer.layout(),
            html.Main(
                open_page.page if open_page is not None else None,
                id="page",
                tabIndex=-1,
                **attributes(data_path=open_page.path if open_page is not None else ""),
            ),
        ],
        className="frame",
    )


_TITLE = html.H1("neurontop", className="visually-hidden")
"""The page's heading for screen readers: panels begin with headings of the second order."""


def _brand(prefix: str) -> Any:
    return dcc.Link(
        [html.Img(src=f"{prefix}assets/icon.svg", alt="", width=22, height=22), "neurontop"],
        href=prefix,
        className="brand",
    )


def _navigation(prefix: str, links: Sequence[NavigationLink]) -> Any:
    items = [
        html.Li(dcc.Link(link.name, href=f"{prefix}{link.path}", id=f"to-{link.path or 'live'}")) for link in links
    ]
    return html.Nav(html.Ul(items), **attributes(aria_label="Pages"))


def _sign(prefix: str, permission: Permission, can_act: bool) -> Any:
    if permission is Permission.ACT:
        button = html.Button("Sign out", type="submit", className="plain")
        return html.Form(button, method="post", action=f"{prefix}sign-out")
    if not can_act:
        return None
    return html.A(["Sign in", html.Span(" to act")], href=f"{prefix}sign-in", className="plain sign")


def _tools(prefix: str, permission: Permission, can_act: bool) -> Any:
    return html.Div(
        [
            html.Div(
                [
                    html.Div(  # keeps its room until Dash has read the choice
                        dcc.Dropdown(
                            id="run",
                            options=[],
                            placeholder="live",
                            clearable=True,
                            searchable=True,
                            className="run-picker",
                        ),
                        className="run-place",
                    ),
                    html.Span("connecting", id="connection", className="chip", role="status"),
                ],
                className="of-run",
            ),
            html.Span("", id="said", role="status", className="quiet"),
            html.Select(
                [
                    *(html.Option(name, value=minutes) for minutes, name in RANGES),
                    html.Option("chosen", value="chosen", hidden=True),  # by a chart or an address; ranges.js
                ],
                id="range",
                title="Time range of all charts of the page",
                **attributes(aria_label="Time range of all charts of the page"),
            ),
            html.Span("UTC", className="quiet zone", title="The times of all charts are UTC"),
            html.Button("Find", id="palette-open", className="plain", title="Find anything (ctrl K)", n_clicks=0),
            html.Button(
                "Link",
                id="copy-link",
                className="plain",
                title="Copy the link to what is shown",
                n_clicks=0,
                **attributes(aria_label="Copy the link to what is shown"),
            ),
            html.Button(
                "≡",
                id="density-switch",
                className="plain",
                n_clicks=0,
                title="Rows closer together, or apart (d)",
                **attributes(aria_label="Rows closer together, or apart"),
            ),
            html.Button(
                "◐",
                id="theme-switch",
                className="plain",
                n_clicks=0,
                title="Dark or light",
                **attributes(aria_label="Switch between dark and light"),
            ),
            html.Div(_sign(prefix, permission, can_act), id="sign"),
        ],
        className="tools",
    )


def show_permission(prefix: str, shown: int) -> None:
    """Within a callback: let the frame offer to sign in or out by the permission that the client has by now, which is
    not the `shown` one after its session has ended, or has begun in another window."""
    permission = current_permission.get()
    if shown != permission.value:
        set_props("permission", {"data": permission.value})
        set_props("sign", {"children": _sign(prefix, permission, acting_offered.get())})


def run_of(option: str | None) -> str:
    """The run that was chosen in a picker."""
    return LIVE if option is None or option == LIVE_OPTION else option


def run_options(
    rows: Sequence[RunRow],
    jobs: Sequence[JobCard] = (),
    dropped: Sequence[tuple[str, str]] = (),
    *,
    live: str,
) -> list[dict[str, str]]:
    """Options of the run picker: the live run under its name, logs that were dropped into this browser, jobs of several
    logs, recordings by age."""
    options = [{"label": live, "value": LIVE_OPTION}]
    options += [{"label": f"{name}  dropped here", "value": run} for run, name in dropped]
    options += [{"label": card.name, "value": card.id} for card in jobs if card.id.startswith(PREFIX)]
    on_several = len({row.node for row in rows}) > 1
    for row in rows[:RUNS_OFFERED]:
        words = " · ".join(part for part in (row.called, row.node if on_several else "", row.state_text) if part)
        options.append({"label": f"{words}  {row.id}", "value": row.id})
    return options
