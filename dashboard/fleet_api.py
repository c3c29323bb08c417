"""The endpoints of the fleet: what `neurontop fleet` prints, and the targets of a site's Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import Request

from neuron_top.dashboard.endpoint import Endpoint, counted_parameter
from neuron_top.dashboard.fleet import DashboardFleet
from neuron_top.decoders import MALFORMED
from neuron_top.errors import UsageError
from neuron_top.identity import machine_id
from neuron_top.services.fleet import LogDirection, LogPage, LogRequest
from neuron_top.services.fleet_actions import FleetRequest
from neuron_top.views.blame.records import Blame
from neuron_top.views.fleet import METRICS, FleetPage, JobRow, NodeRow, TopRow, metric_named, sorted_nodes, top
from neuron_top.views.fleet_differences import Differences, differences, slow_selection
from neuron_top.views.fleet_node import FleetCorePage, NodePage
from neuron_top.views.fleet_plan import FleetPlan
from neuron_top.views.fleet_targets import TargetGroup, scrape_targets
from neuron_top.views.phases import PhaseTimeline
from neuron_top.views.rank_steps import StepMap


class ChangeRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A change, and the nodes that are asked for it: names, or patterns such as `trn-01*`."""

    request: FleetRequest
    nodes: list[str]


class ChangeConfirmation(msgspec.Struct, forbid_unknown_fields=True):
    """`typed`: the word that the plan asks for; `intents`: the planned ones that were looked at, none other is done."""

    intents: list[int]
    typed: str = ""


class ChangeUndo(msgspec.Struct, forbid_unknown_fields=True):
    """The nodes that undo it; none: all that did something."""

    nodes: list[str] = []


_change_request = msgspec.json.Decoder(ChangeRequest)
_change_confirmation = msgspec.json.Decoder(ChangeConfirmation)
_change_undo = msgspec.json.Decoder(ChangeUndo)

MOST_ROWS = 5000
STEPS = 256
LINES, MOST_LINES = 200, 1000
_MOST_PLACES = 1000


def fleet_endpoints(fleet: DashboardFleet) -> tuple[Endpoint, ...]:
    """Every endpoint of the fleet."""
    return (*_reading(fleet), *_changing(fleet))


def _reading(fleet: DashboardFleet) -> tuple[Endpoint, ...]:

    def of_page(view: Callable[[FleetPage, Request], Any]) -> Callable[[Request], Awaitable[Any]]:
        async def handler(request: Request) -> Any:
            page = await asyncio.to_thread(fleet.page, request.query_params.get("job"))
            return view(page, request)

        return handler

    async def blame(request: Request) -> Blame:
        job = request.query_params.get("job", "")
        if not job:
            raise UsageError("name a job: ?job=ID")
        return await asyncio.to_thread(fleet.blame, job)

    async def steps(request: Request) -> StepMap:
        count = counted_parameter(request, STEPS, MOST_ROWS)
        return await asyncio.to_thread(fleet.service.steps, request.query_params.get("job"), columns=count)

    async def phases(request: Request) -> PhaseTimeline:
        return await asyncio.to_thread(fleet.service.phases, request.query_params.get("job"))

    async def node(request: Request) -> NodePage:
        return await asyncio.to_thread(fleet.node, request.path_params["node"], request.query_params.get("job"))

    async def core(request: Request) -> FleetCorePage:
        number = request.path_params["core"]
        if not (number.isascii() and number.isdigit() and len(number) < 7):
            raise UsageError("a core is a number from 0 on")
        job = request.query_params.get("job")
        return await asyncio.to_thread(fleet.core, request.path_params["node"], int(number), job)

    async def logs(request: Request) -> LogPage:
        asked = LogRequest(
            way=LogDirection.OLDER if "before" in request.query_params else LogDirection.TAIL,
            at=_places(request.query_params.get("before", "")),
            count=counted_parameter(request, LINES, MOST_LINES),
            query=request.query_params.get("q", ""),
            only=request.query_params.get("source"),
        )
        if asked.query and asked.way is LogDirection.TAIL:
            asked = msgspec.structs.replace(asked, way=LogDirection.OLDER)
        job = request.query_params.get("job")
        return await asyncio.to_thread(fleet.service.log_page, request.path_params["node"], asked, job)

    return (
        Endpoint("fleet/steps", "step times, ranks × steps", StepMap, steps, ("job", "count")),
        Endpoint("fleet/phases", "what each node did when", PhaseTimeline, phases, ("job",)),
        Endpoint("fleet/nodes/{node}", "one node with its cores", NodePage, node, ("node", "job")),
        Endpoint(
            "fleet/nodes/{node}/cores/{core}",
            "one core with its last hour",
            FleetCorePage,
            core,
            ("node", "core", "job"),
        ),
        Endpoint(
            "fleet/nodes/{node}/logs",
            "log lines of a node, fetched from its agent",
            LogPage,
            logs,
            ("node", "count", "before", "q", "source", "job"),
        ),
        Endpoint("fleet/jobs", "the jobs of the fleet", tuple[JobRow, ...], of_page(lambda page, _: page.jobs), ()),
        Endpoint("fleet/nodes", "its nodes", tuple[NodeRow, ...], of_page(_nodes), ("job", "sort")),
        Endpoint("fleet/top", "nodes by a metric", tuple[TopRow, ...], of_page(_top), ("job", "metric", "count")),
        Endpoint("fleet/different", "what is different", Differences, of_page(_different), ("job", "nodes")),
        Endpoint("fleet/blame", "who compiled, who waited, what it cost", Blame, blame, ("job",)),
        Endpoint(
            "targets",
            "agents, for http_sd_configs of Prometheus",
            tuple[TargetGroup, ...],
            of_page(lambda page, _: scrape_targets(page, machine_id())),
            ("job",),
        ),
    )


def _changing(fleet: DashboardFleet) -> tuple[Endpoint, ...]:
    async def changes(_request: Request) -> tuple[FleetPlan, ...]:
        return await asyncio.to_thread(fleet.changes)

    async def change(request: Request) -> FleetPlan:
        return await asyncio.to_thread(fleet.actions.of, request.path_params["batch"])

    async def ask(request: Request) -> FleetPlan:
        asked = _change_request.decode(await request.body())
        return await asyncio.to_thread(
            lambda: fleet.actions.ask(asked.request, fleet.actions.nodes_named(" ".join(asked.nodes)))
        )

    async def confirm(request: Request) -> FleetPlan:
        body = _change_confirmation.decode(await request.body())
        return await asyncio.to_thread(
            fleet.actions.confirm_seen, request.path_params["batch"], body.intents, body.typed
        )

    async def cancel(request: Request) -> FleetPlan:
        return await asyncio.to_thread(fleet.actions.take_back, request.path_params["batch"])

    async def undo(request: Request) -> FleetPlan:
        body = _change_undo.decode(await request.body())
        return await asyncio.to_thread(fleet.actions.undo, request.path_params["batch"], body.nodes)

    path, key = "fleet/changes", ("batch",)
    one = f"{path}/{{batch}}"
    return (
        Endpoint(path, "changes that were asked of nodes", tuple[FleetPlan, ...], changes, ()),
        Endpoint(one, "a change: what each node plans or did", FleetPlan, change, key),
        Endpoint(path, "ask nodes to plan a change; changes nothing", FleetPlan, ask, (), "POST", ChangeRequest),
        Endpoint(f"{one}/confirm", "let the nodes do it", FleetPlan, confirm, key, "POST", ChangeConfirmation),
        Endpoint(f"{one}/cancel", "take back what no node has begun", FleetPlan, cancel, key, "POST"),
        Endpoint(f"{one}/undo", "undo it on nodes", FleetPlan, undo, key, "POST", ChangeUndo),
    )


def _places(text: str) -> dict[str, int]:
    """Offsets by log, as an answer gave them in `at`. Raises UsageError."""
    try:
        found = msgspec.json.decode(text or "{}", type=dict[str, int])
    except MALFORMED:
        raise UsageError("before must be the value of `at` of the previous page, as JSON") from None
    if len(found) > _MOST_PLACES:
        raise UsageError(f"before may name {_MOST_PLACES} logs")
    return found


def _nodes(page: FleetPage, request: Request) -> tuple[NodeRow, ...]:
    name = request.query_params.get("sort")
    return sorted_nodes(page.nodes, metric_named(name) if name else None)


def _top(page: FleetPage, request: Request) -> tuple[TopRow, ...]:
    metric = metric_named(request.query_params.get("metric", METRICS[0].name))
    return top(page, metric, counted_parameter(request, 10, MOST_ROWS))


def _different(page: FleetPage, request: Request) -> Differences:
    named = [name for name in request.query_params.get("nodes", "").split(",") if name]
    return differences(page, named or slow_selection(page))
