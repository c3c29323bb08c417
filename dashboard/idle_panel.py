"""The first page if nothing runs: what was searched, what was found, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from dash import html

from neuron_top.dashboard.components import attributes, panel, table, with_commands
from neuron_top.services.dropped_logs import IDLE_SECONDS, MOST_BYTES
from neuron_top.units import UNKNOWN, bytes_text, counted, duration_text, whole_seconds_text
from neuron_top.views.overview import Overview
from neuron_top.views.runs import RunRow
from neuron_top.views.welcome import NEXT, looks_for_jobs

RUNS_SHOWN = 8


def idle_panel(view: Overview, runs: Sequence[RunRow]) -> list[Any]:
    """The panel."""
    commands = html.Div([_command(command, text) for command, text in NEXT], className="commands")
    parts = [panel("What you can do", commands)]
    if found := _found(view):
        lines = html.Ul([html.Li(with_commands(line)) for line in found], className="found")
        parts.append(panel("What was looked for", lines))
    if runs:
        rows = [
            (
                html.A(row.called, href=f"runs?{urlencode({'run': row.id})}"),
                row.reason or row.state_text,
                f"{whole_seconds_text(max(0.0, view.now - row.started))} ago" if row.started is not None else UNKNOWN,
                duration_text(row.seconds),
            )
            for row in runs[:RUNS_SHOWN]
        ]
        parts.append(
            panel(
                "Recent jobs",
                table(("run", "how it ended", "started", "took"), rows, caption="Recent jobs", right=(2, 3)),
            )
        )
    waits = "A job that starts is shown by itself." if looks_for_jobs(view) else "Only what was named is watched."
    return [html.P(waits, className="full"), *parts]


def drop_zone() -> Any:
    """The place that takes a log; `drops.js` sends it."""
    return panel(
        "A log from your disk",
        html.Div(
            [
                html.P(
                    "Drop a log or a capture of neuron-monitor here to see its verdict, graphs, training and errors."
                ),
                html.Button("Choose a file", id="drop-choose", className="plain", n_clicks=0),
                html.P(id="drop-words", role="status"),
                html.P(
                    f"{MOST_BYTES >> 20} MiB at most. It is shown in this browser only, recorded nowhere, and deleted "
                    f"{int(IDLE_SECONDS // 60)} minutes after its page was closed.",
                    className="quiet",
                ),
            ],
            id="drop-zone",
            **attributes(data_most=str(MOST_BYTES)),
        ),
        wide=True,
        extra="drop-place",
    )


def _command(command: str, text: str) -> Any:
    copy = html.Button("Copy", className="link", **attributes(data_copy=command, aria_label=f"Copy {command}"))
    return html.P([html.Code(command), copy, html.Span(text, className="quiet")], className="row command")


def _found(view: Overview) -> list[str]:
    lines = [
        f"{source.name}: {source.text or ('found' if source.available else 'not found')}"
        for source in view.sources
        if not (source.available and source.name.startswith("cache:"))
    ]
    if view.host.memory_total is not None and not view.host.stale:
        used, total = bytes_text(view.host.memory_used), bytes_text(view.host.memory_total)
        lines.append(f"this host: {used} of {total} memory in use")
    for place in view.cache.places:
        facts = [counted(place.entries, "entry", "entries")]
        facts += [bytes_text(place.size)] if place.size is not None else []
        facts += [f"{bytes_text(place.free)} free"] if place.free is not None else []
        lines.append(f"compile cache {place.root}: {', '.join(facts)}")
    return lines
