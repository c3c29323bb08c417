"""The JSON API: the same views as the pages, as one table of endpoints, and their description (OpenAPI 3.1).

    GET /api/overview?run=…      what the front page shows; `run` names a recording, without it: what happens now
    GET /api/openapi.json        every endpoint with the schema of its answer, made from the views' own types

Numbers are plain: bytes, seconds, seconds since the epoch, shares 0…1; null is unknown. An error is
`{"error": "…"}` with 400, 401, 403, 404, 409, 413, 429 or 503.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from neuron_top import __version__
from neuron_top.dashboard import documents, entry_rows
from neuron_top.dashboard.cache_plans import CachePlans
from neuron_top.dashboard.exports import as_csv, as_parquet
from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.guard import maker_now
from neuron_top.dashboard.pages import compile as compile_page
from neuron_top.dashboard.pages import runs
from neuron_top.dashboard.plans import PlanExecution
from neuron_top.errors import LimitReached, NeuronTopError, NothingToShow, RefusedForSafety, UsageError
from neuron_top.services.feeds import LogLine, Run
from neuron_top.views.cache_lookups import CacheLookup, answers
from neuron_top.views.compare import Comparison
from neuron_top.views.cores import CorePage, CoreTable, core_page, core_table
from neuron_top.views.entries import EntryTable
from neuron_top.views.graphs import GraphPage, GraphTable, graph_page, graph_table
from neuron_top.views.memory import MemoryKinds, MemoryTable, memory_kinds, memory_table
from neuron_top.views.overview import Overview, overview
from neuron_top.views.report import Report
from neuron_top.views.runs import RunRow
from neuron_top.views.summary import Summary, summary
from neuron_top.views.timeline import Timeline, timeline
from neuron_top.views.trends import Trends, trends

STATUS = {UsageError: 400, NothingToShow: 404, RefusedForSafety: 409, LimitReached: 429}
"""Whatever else is wrong lies with us or the store: 503."""
LINES = 200
MOST_LINES = 5000


class PlanRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What to do with which entries: keys as `/api/cache` gives them."""

    verb: str
    keys: list[str]


class Confirmation(msgspec.Struct, forbid_unknown_fields=True):
    """`typed`: the word that a large plan asks for."""

    typed: str = ""


_wish = msgspec.json.Decoder(PlanRequest)  # made once, in one thread: see `cache/scan/index.py`
_confirmation = msgspec.json.Decoder(Confirmation)


class Endpoint(NamedTuple):
    """One row of the API."""

    path: str
    summary: str
    answer: Any
    """The type of the answer."""
    find: Callable[[Request], Awaitable[Any]]
    parameters: tuple[str, ...] = ("run",)
    method: str = "GET"
    body: Any = None


WORDS = {
    "run": "id of a recording; without it: what happens now",
    "a": "id of a recording; without it: what happens now",
    "b": "what it is compared with",
    "count": f"how many lines, at most {MOST_LINES}",
    "source": "only this source",
    "key": "the key of the graph or core",
    "identity": "the identity of the plan",
}


def endpoints(feeds: FeedRegistry, desk: CachePlans) -> tuple[Endpoint, ...]:
    """The table."""
    return (*_looking(feeds, desk), *_acting(desk))


def _looking(feeds: FeedRegistry, desk: CachePlans) -> tuple[Endpoint, ...]:

    def of(view: Callable[[Run, float], Any]) -> Callable[[Request], Awaitable[Any]]:
        async def find(request: Request) -> Any:
            return feeds.cached_view(_run(request), view)

        return find

    def one(view: Callable[[Run, float, str], Any]) -> Callable[[Request], Awaitable[Any]]:
        async def find(request: Request) -> Any:
            key = request.path_params["key"]
            page = feeds.read(_run(request), lambda run, now: view(run, now, key))
            if page is None:
                raise NothingToShow(f"this run has no {key}")
            return page

        return find

    async def lines(request: Request) -> list[LogLine]:
        count = _count(request.query_params.get("count", str(LINES)))
        return feeds.feed(_run(request)).log_tail(count, request.query_params.get("source"))

    async def reported(request: Request) -> Report:
        return await asyncio.to_thread(documents.report_of, feeds, _run(request))

    async def compared(request: Request) -> Comparison:
        a, b = (request.query_params.get(name, LIVE) for name in ("a", "b"))
        return await asyncio.to_thread(documents.comparison_of, feeds, a, b)

    async def recordings(_request: Request) -> tuple[RunRow, ...]:
        return feeds.recordings()

    async def entries(_request: Request) -> EntryTable:
        return await asyncio.to_thread(desk.table)

    return (
        Endpoint("overview", "everything that matters", Overview, of(overview)),
        Endpoint("graphs", "every graph", GraphTable, of(graph_table)),
        Endpoint("graphs/{key}", "one graph in full", GraphPage, one(graph_page), ("run", "key")),
        Endpoint("timeline", "who compiled what when", Timeline, of(timeline)),
        Endpoint("answers", "what the cache answered, and when", tuple[CacheLookup, ...], of(answers)),
        Endpoint("cores", "every core now", CoreTable, of(core_table)),
        Endpoint("cores/{key:path}", "one core with its history", CorePage, one(core_page), ("run", "key")),
        Endpoint("memory", "memory of the cores over time", MemoryTable, of(memory_table)),
        Endpoint("trends", "loss, throughput and host over time", Trends, of(trends)),
        Endpoint("summary", "what the run came to so far", Summary, of(summary)),
        Endpoint("memory/{key:path}", "what filled one core over time", MemoryKinds, one(_kinds), ("run", "key")),
        Endpoint("report", "the full report of a run", Report, reported),
        Endpoint("comparison", "two runs side by side", Comparison, compared, ("a", "b")),
        Endpoint("logs", "the last lines", list[LogLine], lines, ("run", "count", "source")),
        Endpoint("runs", "the recordings", tuple[RunRow, ...], recordings, ()),
        Endpoint("cache", "every cache entry", EntryTable, entries, ()),
    )


def _acting(desk: CachePlans) -> tuple[Endpoint, ...]:
    async def plan(request: Request) -> list[PlanExecution]:
        wish = _wish.decode(await request.body())
        return await asyncio.to_thread(desk.plan, wish.verb, wish.keys, maker_now())

    async def work(request: Request) -> PlanExecution:
        return desk.work(request.path_params["identity"])

    async def carry_out(request: Request) -> PlanExecution:
        confirmation = _confirmation.decode(await request.body())
        return desk.carry_out(request.path_params["identity"], confirmation.typed)

    async def stop(request: Request) -> PlanExecution:
        return desk.stop(request.path_params["identity"])

    async def undo(request: Request) -> PlanExecution:
        return await asyncio.to_thread(desk.undo, request.path_params["identity"])

    plans = "cache/plans"
    return (
        Endpoint(plans, "plan an action; changes nothing", list[PlanExecution], plan, (), "POST", PlanRequest),
        Endpoint(plans + "/{identity}", "a plan and what became of it", PlanExecution, work, ("identity",)),
        Endpoint(
            plans + "/{identity}/execute",
            "carry a plan out",
            PlanExecution,
            carry_out,
            ("identity",),
            "POST",
            Confirmation,
        ),
        Endpoint(
            plans + "/{identity}/stop",
            "begin no further step",
            PlanExecution,
            stop,
            ("identity",),
            "POST",
            Confirmation,
        ),
        Endpoint(
            plans + "/{identity}/undo",
            "bring back what it took",
            PlanExecution,
            undo,
            ("identity",),
            "POST",
            Confirmation,
        ),
    )


def register(server: FastAPI, feeds: FeedRegistry, desk: CachePlans, prefix: str) -> None:
    """Add all of it below `<prefix>api/`."""
    table = endpoints(feeds, desk)
    description = msgspec.json.encode(openapi(table, prefix))

    async def described(_request: Request) -> Response:
        return Response(description, media_type="application/json")

    server.add_route(f"{prefix}api/openapi.json", described, methods=["GET"])
    for name, make in _tables(feeds, desk).items():
        for kind in ("csv", "parquet"):
            server.add_route(f"{prefix}api/{name}.{kind}", _exported(name, kind, make), methods=["GET"])
    for row in table:
        server.add_route(f"{prefix}api/{row.path}", _served(row), methods=[row.method])


def _served(row: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        try:
            answer = await row.find(request)
        except NeuronTopError as problem:
            return _problem(STATUS.get(type(problem), 503), str(problem))
        except msgspec.DecodeError as problem:
            return _problem(400, str(problem))
        return Response(msgspec.json.encode(answer), media_type="application/json")

    return serve


def _exported(
    name: str, kind: str, make: Callable[[str], list[dict[str, Any]]]
) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        try:
            rows = await asyncio.to_thread(make, _run(request))
        except NeuronTopError as problem:
            return _problem(STATUS.get(type(problem), 503), str(problem))
        data = await asyncio.to_thread(as_csv if kind == "csv" else as_parquet, rows)
        media = "text/csv; charset=utf-8" if kind == "csv" else "application/vnd.apache.parquet"
        headers = {"content-disposition": f'attachment; filename="neurontop-{name}.{kind}"'}
        return Response(data, media_type=media, headers=headers)

    return serve


def _tables(feeds: FeedRegistry, desk: CachePlans) -> dict[str, Callable[[str], list[dict[str, Any]]]]:
    """The tables of the pages, as they are exported."""
    return {
        "graphs": lambda run: [compile_page.row(one) for one in feeds.cached_view(run, graph_table).rows],
        "cores": lambda run: [
            {key: value for key, value in msgspec.to_builtins(row).items() if key not in ("trend", "kinds", "models")}
            for row in feeds.cached_view(run, overview).cores
        ],
        "runs": lambda _run: [runs.row(one) for one in feeds.recordings()],
        "cache": lambda _run: [entry_rows.row(one) for one in desk.table().rows],
    }


def openapi(table: tuple[Endpoint, ...], prefix: str) -> dict[str, Any]:
    """The description of the API."""
    types = [row.answer for row in table] + [row.body for row in table if row.body is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    answer_of = dict(enumerate(schemas))
    body_of = iter(schemas[len(table) :])
    paths: dict[str, Any] = {}
    for number, row in enumerate(table):
        operation: dict[str, Any] = {
            "summary": row.summary,
            "operationId": f"{row.method.lower()}_{re.sub(r'[^a-z]+', '_', row.path).strip('_')}",
            "parameters": [_parameter(name, row.path) for name in row.parameters],
            "responses": {
                "200": {"description": "the view", "content": {"application/json": {"schema": answer_of[number]}}},
                "default": {"description": "a refusal", "content": {"application/json": {"schema": _ERROR}}},
            },
        }
        if row.body is not None:
            operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": next(body_of)}}}
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
    return {"name": name, "in": "path" if inside else "query", "required": inside, "description": WORDS[name],
            "schema": {"type": kind}}  # fmt: skip


def _kinds(run: Run, now: float, key: str) -> MemoryKinds | None:
    return memory_kinds(run, now, key) if key in run.cores.cores else None


def _run(request: Request) -> str:
    return request.query_params.get("run", LIVE)


def _count(text: str) -> int:
    if len(text) > 9 or not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_LINES:
        raise UsageError(f"count must lie between 1 and {MOST_LINES}")
    return int(text)


def _problem(status: int, text: str) -> Response:
    return Response(msgspec.json.encode({"error": text}), status_code=status, media_type="application/json")
