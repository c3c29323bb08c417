"""Who may do what: every address and every callback declares a right, and what a reader does harms nobody's plans."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dash
import msgspec
import pytest
from starlette.routing import Mount, Route, WebSocketRoute

from neuron_top.actions import registry
from neuron_top.dashboard import permissions
from neuron_top.dashboard.access import Permission, rules
from neuron_top.dashboard.app import create_app
from neuron_top.dashboard.caches import DashboardCaches
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.plan_registry import (
    PLANS_OF_ONE,
    PLANS_OF_READERS,
    WAITING_SECONDS,
    NotPermitted,
    PlanRegistry,
    Requester,
)
from neuron_top.errors import LimitReached, NothingToShow
from neuron_top.services.caches import ACTIONS, Verb
from neuron_top.services.plan_execution import PlanExecution, PlanState
from neuron_top.settings import Settings
from tests.actions import caches
from tests.adversary import web
from tests.dashboard.served import ACT, READ, Served, serving
from tests.tui.feeds import StillFeed, job

TWO_TOKENS = {"read": READ, "act": ACT}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dash.Dash]:
    """The server behind the guard, and Dash."""
    settings = Settings(state_dir=str(tmp_path_factory.mktemp("state")))
    guard = create_app(
        FeedRegistry(settings, StillFeed()), DashboardCaches(settings), rules("", ACT, frozenset()), prefix="/top/"
    )
    return guard._app, dash.get_app()  # type: ignore[attr-defined]


def test_every_route_declares_its_right_and_none_is_declared_that_is_not_there(application: Any) -> None:
    server, _app = application
    found = set()
    for route in server.routes:
        path = route.path.removeprefix("/top/")
        if isinstance(route, Mount):
            found.add(("GET", f"{path}/{{path:path}}"))
        elif isinstance(route, WebSocketRoute):
            found.add((permissions.SOCKET, path))
        else:
            assert isinstance(route, Route)
            found |= {(method, path) for method in route.methods or () if method != "HEAD"}
    unserved = {(method, path) for method, path in found if path in permissions.NOT_SERVED}
    guards_own = {(method, path) for method in ("GET", "POST") for path in ("sign-in", "sign-out")}
    guards_own |= {("GET", path) for path in permissions.MOVED}
    pages = {
        ("GET", name) for name in ("compile", "cache", "cores", "runs", "logs", "fleet")
    }  # served as the front page
    assert found - unserved == set(permissions.ROUTES) - guards_own - pages
    assert not [
        path
        for _method, path in unserved
        if permissions.permission_for("GET", path) or permissions.permission_for("SOCKET", path)
    ]


def test_every_callback_declares_its_right_and_none_is_declared_that_is_not_there(application: Any) -> None:
    _server, app = application
    answered = {permissions.first_output(name) for name, one in app.callback_map.items() if "callback" in one}
    assert answered == set(permissions.CALLBACKS)
    assert permissions.CALLBACKS["cache-action.children"] is Permission.ACT


def test_what_changes_something_asks_for_the_act_token() -> None:
    """By their names: an address that ends in a deed, so that a new one is thought about."""
    acting = {path for (method, path), right in permissions.ROUTES.items() if right is Permission.ACT}
    posts = {path for method, path in permissions.ROUTES if method == "POST"}
    deeds = {path for path in posts if re.search(r"/(execute|stop|undo|confirm|cancel)$", path)}
    assert acting == deeds | {"api/fleet/changes"}  # which writes into the fleet's database
    assert posts - acting == {"sign-in", "sign-out", permissions.CALLBACKS_PATH, "api/cache/plans", "dropped"}


@pytest.fixture
def cached(tmp_path: Path) -> Iterator[tuple[Served, list[str]]]:
    """A server that asks for tokens, and the keys of two entries of its cache."""
    root = tmp_path / "cache"
    caches.entry(root, 1)
    caches.entry(root, 2)
    with serving(StillFeed(job()), tmp_path / "state", roots=(str(root),), **TWO_TOKENS) as served:
        rows = served.ask("/api/cache", token=READ).json["rows"]
        yield served, [row["key"] for row in rows if row["root"] == str(root)]


def planned(served: Served, keys: list[str], token: str) -> str:
    """The identity of a new plan."""
    (work,) = served.post("/api/cache/plans", {"verb": "evict", "keys": keys}, token=token).json
    return str(work["plan"]["identity"])


def test_a_reader_can_neither_carry_out_nor_stop_nor_undo(cached: tuple[Served, list[str]]) -> None:
    served, keys = cached
    identity = planned(served, keys, ACT)
    for deed in ("execute", "stop", "undo"):
        for number in (identity, "0123456789", "x", "..%2fx"):
            assert served.post(f"/api/cache/plans/{number}/{deed}", {}, token=READ).status in (400, 403), deed
            assert served.post(f"/api/cache/plans/{number}/{deed}", {"typed": "evict"}, token="").status in (400, 401)
    assert served.ask(f"/api/cache/plans/{identity}", token=READ).json["state"] == "planned"
    assert served.ask(f"/api/cache/plans/{identity}").status == 401


def test_a_reader_cannot_act_through_a_callback(cached: tuple[Served, list[str]]) -> None:
    served, keys = cached
    identity = planned(served, keys, ACT)
    known = web.dependencies(served.ask("/_dash-dependencies", token=READ).json)
    acting = known["cache-action.children"]
    origin = f"http://127.0.0.1:{served.port}"
    for button in ("plan-confirm", "plan-stop", "plan-undo"):
        asked = json.loads(web.callback(acting))
        pressed = {"id": {"type": button, "plan": identity}, "property": "n_clicks", "value": 1}
        asked["inputs"] = [[pressed] if button in str(one["id"]) else [] for one in acting["inputs"]]
        asked["state"] = [[], []]
        asked["changedPropIds"] = [json.dumps(pressed["id"], sort_keys=True, separators=(",", ":")) + ".n_clicks"]
        for output in (acting["output"], f"..{acting['output']}..", "cache-action.children@x"):
            answer = served.post("/_dash-update-component", asked | {"output": output}, token=READ, Origin=origin)
            assert answer.status in (400, 403), (button, output)
    assert served.ask(f"/api/cache/plans/{identity}", token=READ).json["state"] == "planned"


def test_sixty_plans_of_a_reader_push_out_nobody_elses(cached: tuple[Served, list[str]]) -> None:
    served, keys = cached
    mine = planned(served, keys, ACT)
    done = planned(served, keys[:1], ACT)
    assert served.post(f"/api/cache/plans/{done}/execute", {}).status == 200
    statuses = {
        served.post("/api/cache/plans", {"verb": "evict", "keys": keys[1:]}, token=READ).status for _number in range(60)
    }
    assert statuses <= {200, 429}
    for identity in (mine, done):
        assert served.ask(f"/api/cache/plans/{identity}", token=READ).status == 200
    assert served.post(f"/api/cache/plans/{mine}/execute", {"typed": "evict"}).status == 200


class _Plan:
    """As much of a plan as is looked at here."""

    def __init__(self, identity: str) -> None:
        self.identity = identity


def works(first: int, count: int) -> list[PlanExecution]:
    return [PlanExecution(plan=_Plan(f"{number:010x}")) for number in range(first, first + count)]  # type: ignore[arg-type]


def test_only_waiting_plans_of_the_same_maker_give_way() -> None:
    plans = PlanRegistry(clock=lambda: 0.0)
    reader, actor = Requester("reader", Permission.READ), Requester("actor", Permission.ACT)
    others = works(0, 3)
    plans.add(others, actor)
    own = works(100, PLANS_OF_ONE)
    plans.add(own, reader)
    own[0].state, own[1].state = PlanState.RUNNING, PlanState.DONE
    plans.add(works(200, PLANS_OF_ONE), reader)
    for work in (*others, own[0], own[1]):
        assert plans.get(work.plan.identity) is work
    with pytest.raises(NothingToShow):
        plans.get(own[2].plan.identity)
    with pytest.raises(LimitReached):
        plans.add(works(1000, PLANS_OF_ONE + 1), actor)


def test_readers_together_have_a_limit_that_time_lifts_and_that_binds_nobody_who_acts() -> None:
    now = [0.0]
    plans = PlanRegistry(clock=lambda: now[0])
    for number in range(PLANS_OF_READERS):
        plans.add(works(number, 1), Requester(f"reader {number}", Permission.READ))
    late = Requester("one more", Permission.READ)
    with pytest.raises(LimitReached):
        plans.add(works(5000, 1), late)
    plans.add(works(6000, 1), Requester("actor", Permission.ACT))
    now[0] = WAITING_SECONDS + 1
    plans.add(works(7000, 1), late)
    assert plans.get(f"{6000:010x}")
    with pytest.raises(NothingToShow):
        plans.get(f"{1:010x}")


def test_planning_again_and_again_is_slowed_down() -> None:
    plans = PlanRegistry(clock=lambda: 0.0)
    reader = Requester("reader", Permission.READ)
    for _number in range(10):
        plans.begin(reader)
    with pytest.raises(LimitReached):
        deque(map(plans.begin, [reader] * 100), maxlen=0)
    plans.begin(Requester("another", Permission.READ))


def test_the_permission_of_an_action_comes_from_its_row_in_the_registry() -> None:
    reader = Requester("reader", Permission.READ)
    for action in ACTIONS:
        assert permissions.action_permission(action.verb) == Permission[action.permission.name]
        with pytest.raises(NotPermitted, match=f"sign in with the act token to {action.title}"):
            reader.check_permission(action.verb)
        Requester("actor", Permission.ACT).check_permission(action.verb)


def test_a_row_that_asks_for_less_lets_a_reader_execute(monkeypatch: pytest.MonkeyPatch) -> None:
    easy = msgspec.structs.replace(registry.action_of(Verb.UNLOCK), permission=registry.ActionPermission.READ)
    monkeypatch.setattr(registry, "_ROWS", {Verb.UNLOCK: easy})
    reader = Requester("reader", Permission.READ)
    reader.check_permission(Verb.UNLOCK)
    with pytest.raises(NotPermitted):
        reader.check_permission(Verb.EVICT)
