"""Reports and comparisons as HTML documents, the same that the command line writes.

    GET /report?run=…            a run's report; without `run`: of the live run
    GET /comparison?a=…&b=…      two recordings side by side; with further `b=…` up to eight against the first

A recording is named by its id only: names of files, which the command line accepts, are refused here.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from html import escape

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from neuron_top.dashboard.endpoint import status_of
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry, is_dropped
from neuron_top.errors import NeuronTopError
from neuron_top.escapes import visible
from neuron_top.services.jobs import PREFIX
from neuron_top.services.reports import ReportService, html, html_page
from neuron_top.views.compare import Comparison, compare
from neuron_top.views.multi_compare import MultiComparison, multi_compare
from neuron_top.views.overlay import MOST_RUNS
from neuron_top.views.report import Report
from neuron_top.views.report import report as live_report


def report_of(feeds: FeedRegistry, run: str) -> Report:
    """The report of a run. Of a recording: slow, reads the store and the cache. Raises NothingToShow."""
    if run == LIVE or is_dropped(run) or run.startswith(PREFIX):  # read from logs: the store does not have it
        return feeds.read(run, live_report)
    return ReportService(feeds.settings).of_recording(run)


def comparison_of(feeds: FeedRegistry, a: str, b: str) -> Comparison:
    """Two runs side by side. Raises NothingToShow."""
    return compare(report_of(feeds, a), report_of(feeds, b))


def comparison_of_many(feeds: FeedRegistry, runs: Sequence[str]) -> MultiComparison:
    """Several runs, MOST_RUNS at most, against the first. Raises NothingToShow."""
    return multi_compare([report_of(feeds, run) for run in runs[:MOST_RUNS]], len(runs))


def register(server: FastAPI, feeds: FeedRegistry, prefix: str) -> None:
    """Add both documents."""

    async def report(request: Request) -> Response:
        run = request.query_params.get("run", LIVE)
        return await _document(lambda: html(report_of(feeds, run)))

    async def compared(request: Request) -> Response:
        a, others = request.query_params.get("a", LIVE), request.query_params.getlist("b") or [LIVE]
        if len(others) == 1:
            return await _document(lambda: html(comparison_of(feeds, a, others[0])))
        return await _document(lambda: html(comparison_of_many(feeds, [a, *others])))

    server.add_route(f"{prefix}report", report, methods=["GET"])
    server.add_route(f"{prefix}comparison", compared, methods=["GET"])


async def _document(make: Callable[[], str]) -> Response:
    try:
        return Response(await asyncio.to_thread(make), media_type="text/html; charset=utf-8")
    except NeuronTopError as problem:
        status = status_of(problem)
        title = "Not found" if status == 404 else "This document cannot be made"
        body = html_page(title, f"<h1>{title}</h1><p>{escape(visible(str(problem)))}</p>")
        return Response(body, status_code=status, media_type="text/html; charset=utf-8")


def script_hashes() -> list[str]:
    """The hash of the only script of these documents, as a Content-Security-Policy names it."""
    scripts = re.findall(r"<script>(.*?)</script>", html_page("", ""), re.DOTALL)
    return [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts]
