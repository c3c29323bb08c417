"""The JSON API: the views of the pages as one table of endpoints, described by OpenAPI 3.1.

    GET /api/                    what there is, each endpoint in a line
    GET /api/overview?run=…      what the front page shows; `run` names a recording, without it: the live run
    GET /api/graphs.csv          rows of a table of the pages: graphs, cores, runs, cache; also .json, .parquet
    GET /api/openapi.json        every endpoint with the schema of its response, made from the types of the views

Numbers are plain: bytes, seconds, seconds since the epoch, shares 0…1; null is unknown. An error is
`{"error": "…"}` with 400, 401, 403, 404, 409, 413, 429 or 503.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from neuron_top import __version__
from neuron_top.dashboard import documents, entry_rows
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.endpoint import Endpoint, counted_parameter, status_of
from neuron_top.dashboard.exports import COLUMNS, CORE_COLUMNS, as_csv, as_parquet
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.fleet import DashboardFleet
from neuron_top.dashboard.fleet_api import fleet_endpoints
from neuron_top.dashboard.pages import compile as compile_page
from neuron_top.dashboard.pages import runs
from neuron_top.dashboard.plan_registry import current_requester
from neuron_top.decoders import MALFORMED
from neuron_top.errors import NeuronTopError, NothingToShow
from neuron_top.services.caches import Verb
from neuron_top.services.feeds import LogLine, Run
from neuron_top.services.plan_execution import PlanExecution
from neuron_top.views.cache_lookups import CacheLookup, cache_lookups
from neuron_top.views.compare import Comparison
from neuron_top.views.cores import CorePage, CoreTable, core_page, core_table
from neuron_top.views.entries import EntryTable
from neuron_top.views.fleet import METRICS
from neuron_top.views.graphs import GraphPage, GraphTable, graph_page, graph_table
from neuron_top.views.memory import MemoryKinds, MemoryTable, memory_kinds, memory_table
from neuron_top.views.overview import Overview, overview
from neuron_top.views.report import Report
from neuron_top.views.runs import RunRow
from neuron_top.views.summary import Summary, summary
from neuron_top.views.timeline import Timeline, timeline
from neuron_top.views.trends import Trends, trends

LINES = 200
MOST_LINES = 5000


class PlanRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The action to plan, and the entries to plan it for: keys as `/api/cache` gives them.

    `assume_exclusive` states that no other host or container uses these caches, without which nothing is taken from a
    bucket or a network file system; it needs the act token.
    """

    verb: Verb
    keys: list[str]
    assume_exclusive: bool = False


class PlanConfirmation(msgspec.Struct, forbid_unknown_fields=True):
    """`typed`: the word that the plan asks for; empty where it asks for none."""

    typed: str = ""


_plan_request = msgspec.json.Decoder(PlanRequest)  # made once, in one thread: see `cache/scan/index.py`
_confirmation = msgspec.json.Decoder(PlanConfirmation)


PARAMETERS = {
    "run": "id of a recording; without it: the live run",
    "a": "id of a recording; without it: the live run",
    "b": "what it is compared with",
    "count": f"how many lines or rows, at most {MOST_LINES}",
    "source": "only this source",
    "key": "the key of the graph or core",
    "identity": "the identity of the plan",
    "batch": "the id of the change",
    "job": "id, unique prefix of one, or name of a job of the fleet; without it: all of them",
    "core": "the number of a core of the node, from 0 on",
    "node": "the name of the node",
    "before": "what `at` of the page before said, as JSON: lines that stand before these offsets",
    "q": "a filter of lines, as the log page takes it",
    "sort": f"the worst first by one of {', '.join(metric.name for metric in METRICS)}; without it: by name",
    "metric": f"one of {', '.join(metric.name for metric in METRICS)}",
    "nodes": "names of nodes with commas between them; without it: the slow ones",
}
_EXPORTS: dict[str, tuple[Callable[[list[dict[str, Any]], Sequence[str]], bytes], str]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "parquet": (as_parquet, "application/vnd.apache.parquet"),
    "json": (lambda rows, _columns: msgspec.json.encode(rows), "application/json"),
}
"""By the ending of the address: how rows are written, and the media type. `pandas.read_json` takes the last one."""
OLD_PATHS = {"answers": "lookups"}
"""Paths of version 0.1 that are still served, and the endpoints that they mean."""


def endpoints(feeds: FeedRegistry, caches: DashboardCaches, fleet: DashboardFleet) -> tuple[Endpoint, ...]:
    """Every endpoint."""
    return (*_reading(feeds, caches), *fleet_endpoints(fleet), *_planning(caches))


def _reading(feeds: FeedRegistry, caches: DashboardCaches) -> tuple[Endpoint, ...]:

    def view_of_run(view: Callable[[Run, float], Any]) -> Callable[[Request], Awaitable[Any]]:
        async def handler(request: Request) -> Any:
            await feeds.opened(_run(request))
            return await asyncio.to_thread(feeds.cached_view, _run(request), view)

        return handler

    def view_by_key(view: Callable[[Run, float, str], Any]) -> Callable[[Request], Awaitable[Any]]:
        async def handler(request: Request) -> Any:
            key = request.path_params["key"]
            await feeds.opened(_run(request))
            page = await asyncio.to_thread(feeds.read, _run(request), lambda run, now: view(run, now, key))
            if page is None:
                raise NothingToShow(f"this run has no {key}")
            return page

        return handler

    async def lines(request: Request) -> list[LogLine]:
        count = counted_parameter(request, LINES, MOST_LINES)
        await feeds.opened(_run(request))
        return feeds.feed(_run(request)).log_tail(count, request.query_params.get("source"))

    async def report(request: Request) -> Report:
        return await asyncio.to_thread(documents.report_of, feeds, _run(request))

    async def comparison(request: Request) -> Comparison:
        a, b = (request.query_params.get(name, LIVE) for name in ("a", "b"))
        return await asyncio.to_thread(documents.comparison_of, feeds, a, b)

    async def recordings(_request: Request) -> tuple[RunRow, ...]:
        return await asyncio.to_thread(feeds.listed_recordings)

    async def entries(_request: Request) -> EntryTable:
        return await asyncio.to_thread(caches.table)

    return (
        Endpoint("overview", "the live page as one view", Overview, view_of_run(overview)),
        Endpoint("graphs", "every graph", GraphTable, view_of_run(graph_table)),
        Endpoint("graphs/{key}", "one graph in full", GraphPage, view_by_key(graph_page), ("run", "key")),
        Endpoint("timeline", "compiles and waits of each worker", Timeline, view_of_run(timeline)),
        Endpoint("lookups", "results of cache lookups", tuple[CacheLookup, ...], view_of_run(cache_lookups)),
        Endpoint("cores", "every core", CoreTable, view_of_run(core_table)),
        Endpoint("cores/{key:path}", "one core with its history", CorePage, view_by_key(core_page), ("run", "key")),
        Endpoint("memory", "memory of the cores over time", MemoryTable, view_of_run(memory_table)),
        Endpoint("trends", "loss, throughput and host over time", Trends, view_of_run(trends)),
        Endpoint("summary", "totals of the run so far", Summary, view_of_run(summary)),
        Endpoint(
            "memory/{key:path}",
            "memory of one core by category over time",
            MemoryKinds,
            view_by_key(_kinds),
            ("run", "key"),
        ),
        Endpoint("report", "the full report of a run", Report, report),
        Endpoint("comparison", "two runs side by side", Comparison, comparison, ("a", "b")),
        Endpoint("logs", "the last lines", list[LogLine], lines, ("run", "count", "source")),
        Endpoint("runs", "the recordings", tuple[RunRow, ...], recordings, ()),
        Endpoint("cache", "every cache entry", EntryTable, entries, ()),
    )


def _planning(caches: DashboardCaches) -> tuple[Endpoint, ...]:
    async def plan(request: Request) -> list[PlanExecution]:
        asked = _plan_request.decode(await request.body())
        return await asyncio.to_thread(
            caches.plan, asked.verb, asked.keys, current_requester(), assume_exclusive=asked.assume_exclusive
        )

    async def show(request: Request) -> PlanExecution:
        return caches.execution(request.path_params["identity"])

    async def execute(request: Request) -> PlanExecution:
        confirmation = _confirmation.decode(await request.body())
        return caches.execute(request.path_params["identity"], current_requester(), confirmation.typed)

    async def stop(request: Request) -> PlanExecution:
        return caches.stop(request.path_params["identity"], current_requester())

    async def undo(request: Request) -> PlanExecution:
        return await asyncio.to_thread(caches.undo, request.path_params["identity"], current_requester())

    plans, key = "cache/plans", ("identity",)
    body = PlanConfirmation
    return (
        Endpoint(plans, "plan an action; changes nothing", list[PlanExecution], plan, (), "POST", PlanRequest),
        Endpoint(f"{plans}/{{identity}}", "a plan and its progress or outcome", PlanExecution, show, key),
        Endpoint(f"{plans}/{{identity}}/execute", "execute a plan", PlanExecution, execute, key, "POST", body),
        Endpoint(f"{plans}/{{identity}}/stop", "stop before the next step", PlanExecution, stop, key, "POST", body),
        Endpoint(f"{plans}/{{identity}}/undo", "restore what a plan removed", PlanExecution, undo, key, "POST", body),
    )


def register(server: FastAPI, feeds: FeedRegistry, caches: DashboardCaches, fleet: DashboardFleet, prefix: str) -> None:
    """Add all endpoints below `<prefix>api/`."""
    table = endpoints(feeds, caches, fleet)
    description = msgspec.json.encode(openapi(table, prefix))

    contents = msgspec.json.encode(_contents(table, prefix))

    async def described(_request: Request) -> Response:
        return Response(description, media_type="application/json")

    async def listed(_request: Request) -> Response:
        return Response(contents, media_type="application/json")

    for path in ("api", "api/"):
        server.add_route(f"{prefix}{path}", listed, methods=["GET"])
    server.add_route(f"{prefix}api/openapi.json", described, methods=["GET"])
    for name, make in _tables(feeds, caches).items():
        for kind in _EXPORTS:
            server.add_route(f"{prefix}api/{name}.{kind}", _exported(name, kind, make), methods=["GET"])
    for row in table:
        for path in (row.path, *(old for old, new in OLD_PATHS.items() if new == row.path)):
            server.add_route(f"{prefix}api/{path}", _served(row), methods=[row.method])


def _contents(table: tuple[Endpoint, ...], prefix: str) -> dict[str, Any]:
    """The document of `/api/`: each endpoint in a line."""
    return {
        "described": f"{prefix}api/openapi.json",
        "endpoints": [
            {"method": row.method, "path": f"{prefix}api/{row.path.replace(':path', '')}", "summary": row.summary}
            for row in table
        ],
    }


def _served(row: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        try:
            view = await row.handler(request)
        except NeuronTopError as problem:
            return _problem(status_of(problem), str(problem))
        except MALFORMED as problem:
            return _problem(400, str(problem))
        return Response(msgspec.json.encode(view), media_type="application/json")

    return serve


def _exported(
    name: str, kind: str, make: Callable[[str], list[dict[str, Any]]]
) -> Callable[[Request], Awaitable[Response]]:
    write, media = _EXPORTS[kind]

    async def serve(request: Request) -> Response:
        try:
            data = await asyncio.to_thread(lambda: write(make(_run(request)), COLUMNS[name]))
        except NeuronTopError as problem:
            return _problem(status_of(problem), str(problem))
        headers = {"content-disposition": f'attachment; filename="neurontop-{name}.{kind}"'}
        return Response(data, media_type=media, headers=headers)

    return serve


def _tables(feeds: FeedRegistry, caches: DashboardCaches) -> dict[str, Callable[[str], list[dict[str, Any]]]]:
    """Tables of the pages for export."""
    return {
        "graphs": lambda run: [compile_page.row(one) for one in feeds.cached_view(run, graph_table).rows],
        "cores": lambda run: [
            {key: value for key, value in msgspec.to_builtins(row).items() if key in CORE_COLUMNS}
            for row in feeds.cached_view(run, overview).cores
        ],
        "runs": lambda _run: [runs.row(recording) for recording in feeds.listed_recordings()],
        "cache": lambda _run: [entry_rows.row(one) for one in caches.table().rows],
    }


def openapi(table: tuple[Endpoint, ...], prefix: str) -> dict[str, Any]:
    """The description of the API."""
    types = [row.response for row in table] + [row.body for row in table if row.body is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    response_schemas = dict(enumerate(schemas))
    body_schemas = iter(schemas[len(table) :])
    paths: dict[str, Any] = {}
    for number, row in enumerate(table):
        operation: dict[str, Any] = {
            "summary": row.summary,
            "operationId": f"{row.method.lower()}_{re.sub(r'[^a-z]+', '_', row.path).strip('_')}",
            "parameters": [_parameter(name, row.path) for name in row.parameters],
            "responses": {
                "200": {
                    "description": "the view",
                    "content": {"application/json": {"schema": response_schemas[number]}},
                },
                "default": {"description": "an error", "content": {"application/json": {"schema": _ERROR}}},
            },
        }
        if row.body is not None:
            operation["requestBody"] = {
                "required": True,
                "content": {"application/json": {"schema": next(body_schemas)}},
            }
        paths.setdefault(f"/{row.path.replace(':path', '')}", {})[row.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "neurontop", "version": __version__, "description": (__doc__ or "").strip()},
        "servers": [{"url": f"{prefix}api"}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}


def _parameter(name: str, path: str) -> dict[str, Any]:
    inside = f"{{{name}" in path
    kind = "integer" if name == "count" else "string"
    return {
        "name": name,
        "in": "path" if inside else "query",
        "required": inside,
        "description": PARAMETERS[name],
        "schema": {"type": kind},
    }


def _kinds(run: Run, now: float, key: str) -> MemoryKinds | None:
    return memory_kinds(run, now, key) if key in run.cores.cores else None


def _run(request: Request) -> str:
    return request.query_params.get("run", LIVE)


def _problem(status: int, text: str) -> Response:
    return Response(msgspec.json.encode({"error": text}), status_code=status, media_type="application/json")
