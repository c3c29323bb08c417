"""Reports and comparisons as documents of their own: the same HTML files that the command line writes.

    GET /report?run=…            a run's report; without `run`: of what happens now
    GET /comparison?a=…&b=…      two recordings side by side

A recording is named by its id and nothing else: what the command line takes for a file is no name here.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from collections.abc import Callable
from html import escape

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.errors import NeuronTopError, NothingToShow
from neuron_top.report import comparison
from neuron_top.report.html import html, page
from neuron_top.views.compare import Comparison, compare
from neuron_top.views.report import Report
from neuron_top.views.report import report as live_report


def report_of(hub: FeedRegistry, run: str) -> Report:
    """The report of a run. Of a recording: slow, reads the store and the cache. Raises NothingToShow."""
    return hub.read(LIVE, live_report) if run == LIVE else hub.library.report(run)


def comparison_of(hub: FeedRegistry, a: str, b: str) -> Comparison:
    """Two runs side by side. Raises NothingToShow."""
    return compare(report_of(hub, a), report_of(hub, b))


def register(server: FastAPI, hub: FeedRegistry, prefix: str) -> None:
    """Add both documents."""

    async def report(request: Request) -> Response:
        run = request.query_params.get("run", LIVE)
        return await _document(lambda: html(report_of(hub, run)))

    async def compared(request: Request) -> Response:
        a, b = (request.query_params.get(name, LIVE) for name in ("a", "b"))
        return await _document(lambda: comparison.html(comparison_of(hub, a, b)))

    server.add_route(f"{prefix}report", report, methods=["GET"])
    server.add_route(f"{prefix}comparison", compared, methods=["GET"])


async def _document(make: Callable[[], str]) -> Response:
    try:
        return Response(await asyncio.to_thread(make), media_type="text/html; charset=utf-8")
    except NeuronTopError as problem:
        body = page("Nothing to show", f"<h1>Nothing to show</h1><p>{escape(str(problem))}</p>")
        status = 404 if isinstance(problem, NothingToShow) else 503
        return Response(body, status_code=status, media_type="text/html; charset=utf-8")


def script_hashes() -> list[str]:
    """The one script of these documents, as a Content-Security-Policy names it."""
    scripts = re.findall(r"<script>(.*?)</script>", page("", ""), re.DOTALL)
    return [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in scripts]
