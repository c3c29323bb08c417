"""Changes of nodes from the web: who may ask, one plan, one confirmation, undone on one node or all."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any

import plotly
import pytest

from neuron_top.dashboard import fleet_change_panel
from neuron_top.dashboard.access import Permission
from neuron_top.dashboard.guard import current_permission
from neuron_top.errors import NothingToShow
from neuron_top.services.fleet_actions import FLEET_ACTIONS, FleetActions, FleetRequest
from neuron_top.settings import Settings
from tests.actions.caches import module
from tests.dashboard.browser import PATIENCE
from tests.dashboard.served import ACT, READ, Served, serving
from tests.dashboard.test_browser import open_page
from tests.fleet.workers import answering, modules
from tests.servers.postgresql import PostgresServer
from tests.tui.feeds import StillFeed

CHANGES = "/api/fleet/changes"
WHOLE = {module(number) for number in (1, 2, 3)}
EVICT = {"request": {"action": "evict", "modules": [module(1), module(2)]}, "nodes": ["n*"]}


def answered(served: Served, batch: str, *states: str) -> dict[str, Any]:
    """The change as soon as its nodes are in these states."""
    end = time.monotonic() + PATIENCE
    while True:
        change: dict[str, Any] = served.ask(f"{CHANGES}/{batch}", token=READ).json
        if [node["state"] for node in change["nodes"]] == list(states):
            return change
        assert time.monotonic() < end, change
        time.sleep(0.05)


def test_the_api_asks_confirms_what_was_seen_and_undoes(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        answering(postgres_url, tmp_path, monkeypatch) as caches,
        serving(StillFeed(), tmp_path, store=postgres_url, read=READ) as served,
    ):
        # The act token is needed for all but looking.
        assert served.post(CHANGES, EVICT, token=READ).status == 403
        assert served.ask(CHANGES, token=READ).json == []
        assert served.post(CHANGES, EVICT | {"nodes": ["x*"]}).status == 404
        assert served.post(CHANGES, EVICT | {"nodes": []}).status == 400
        asked = served.post(CHANGES, EVICT)
        assert asked.status == 200, asked.body
        batch = asked.json["batch"]
        change = answered(served, batch, "planned", "planned", "refused")
        assert (change["steps"], [len(node["plan"]["skipped"]) for node in change["nodes"][:2]]) == (3, [0, 1])
        seen = [node["intent"] for node in change["nodes"][:2]]
        for act, body in (("confirm", {"intents": seen}), ("undo", {}), ("cancel", {})):
            assert served.post(f"{CHANGES}/{batch}/{act}", body, token=READ).status == 403
        wrong = served.post(f"{CHANGES}/{batch}/confirm", {"intents": seen[:1], "typed": change["word"]})
        assert (wrong.status, "another node has answered" in wrong.json["error"]) == (409, True)
        assert all(modules(cache) == WHOLE for cache in caches.values())
        done = served.post(f"{CHANGES}/{batch}/confirm", {"intents": seen, "typed": change["word"]})
        assert done.status == 200, done.body
        answered(served, batch, "done", "done", "refused")
        assert [modules(caches[name]) for name in ("n1", "n2")] == [{module(3)}, {module(2), module(3)}]
        assert served.post(f"{CHANGES}/{batch}/undo", {"nodes": ["n1"]}).status == 200
        answered(served, batch, "undone", "done", "refused")
        assert served.post(f"{CHANGES}/{batch}/undo", {}).status == 200
        answered(served, batch, "undone", "undone", "refused")
        assert all(modules(cache) == WHOLE for cache in caches.values())
        end = time.monotonic() + PATIENCE
        while [change["batch"] for change in served.ask(CHANGES, token=READ).json] != [batch]:  # a second old at most
            assert time.monotonic() < end
            time.sleep(0.05)


def test_the_act_token_does_not_help_where_the_servers_login_is_no_operator(
    postgres_url: str, postgres_server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"n-{uuid.uuid4().hex[:10]}"
    postgres_server.execute(f'CREATE ROLE "{name}" LOGIN IN ROLE neurontop_viewer')
    viewer = postgres_server.url(postgres_url.rpartition("/")[2], user=name)
    with (
        answering(postgres_url, tmp_path, monkeypatch),
        serving(StillFeed(), tmp_path, store=viewer, read=READ) as served,
    ):
        refused = served.post(CHANGES, EVICT)
        assert (refused.status, served.ask(CHANGES, token=READ).json) == (403, []), refused.body


def test_every_action_of_the_registry_is_offered_and_buttons_are_for_who_may_act(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = written(fleet_change_panel.change_panel())
    assert all(row.fleet_help in form for row in FLEET_ACTIONS.values())
    assert "marked" not in form, "nothing is marked here"
    assert '"disabled": true' in form, "a click would be refused without a word"
    assert "Sign in with the act token to change nodes" in form
    with answering(postgres_url, tmp_path, monkeypatch), FleetActions(Settings(store=postgres_url)) as actions:
        plan = actions.ask(FleetRequest(action="evict", modules=(module(3),)), ["n1", "n3"])
        plan = actions.answered(plan.batch, PATIENCE)
        assert '"change-confirm"' in written(fleet_change_panel.render(plan, ()))
        reader = written(fleet_change_panel.render(plan, (plan,)))
        token = current_permission.set(Permission.ACT)
        operator = written(fleet_change_panel.render(plan, (plan,)))
        form = written(fleet_change_panel.change_panel())
        current_permission.reset(token)
    assert "Sign in" not in form
    assert '"disabled": true' not in form
    assert "Sign in with the act token" in reader
    assert "Sign in with the act token" not in operator
    assert (reader.count('"disabled": true'), operator.count('"disabled": true')) == (2, 0)
    assert "its owner has not set fleet_actions" in reader


def test_an_address_that_names_no_change_says_so_above_the_newest_ones() -> None:
    class Fleet:
        exists, actions = True, property(lambda self: self)

        def changes(self) -> tuple[()]:
            return ()

        def of(self, batch: str) -> None:
            raise NothingToShow(f"no change {batch!r} was asked for")

    fleet: Any = Fleet()
    shown = fleet_change_panel.answer_of(fleet, {"change": "b7"})
    assert "no change 'b7' was asked for" in written(shown["fleet-change"])
    assert "Nobody asked for a change yet" in written(shown["fleet-changes"])


def written(component: Any) -> str:
    return json.dumps(component, cls=plotly.utils.PlotlyJSONEncoder, ensure_ascii=False)


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_nodes_are_chosen_and_a_change_is_confirmed_and_undone_in_a_browser(
    browser: Any, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        answering(postgres_url, tmp_path, monkeypatch) as caches,
        serving(StillFeed(), tmp_path, store=postgres_url) as served,
    ):
        seen = open_page(browser, served.address)
        seen.page.click("text=Sign in to act")
        seen.page.fill("#token", ACT)
        seen.page.click("button[type=submit]")
        seen.page.wait_for_selector("#connection.up")
        seen.page.goto(f"{served.address}fleet")
        seen.until("#fleet-changes", "Nobody asked for a change yet")
        seen.page.fill("#fleet-ask-nodes", "n1, n2")
        seen.page.fill("#fleet-ask-modules", module(1))
        seen.page.press("#fleet-ask-modules", "Tab")
        seen.page.click("#fleet-ask")
        seen.until("#fleet-change", "2 steps on 2 of 2 nodes")
        if seen.page.locator("#fleet-change input").count():
            seen.page.fill("#fleet-change input", "evict")
            seen.page.press("#fleet-change input", "Tab")
        seen.page.click("#fleet-change button.danger")
        seen.until("#fleet-change", "2 steps done")
        assert modules(caches["n1"]) == modules(caches["n2"]) == WHOLE - {module(1)}
        seen.page.get_by_role("button", name="Undo on n2", exact=True).click()
        seen.until("#fleet-change", "n2: undone")
        assert (modules(caches["n1"]), modules(caches["n2"])) == (WHOLE - {module(1)}, WHOLE)
        seen.page.get_by_role("button", name="Close", exact=True).click()
        seen.until("#fleet-changes", "1 done, 1 undone")
        seen.page.fill("#fleet-find", "n1")
        seen.page.wait_for_function("() => location.search === '?q=n1'")
        seen.page.click("#fleet-changes a")
        seen.until("#fleet-change", "n2: undone")
        assert "?q=n1&change=" in seen.page.url, "what the page shows stays"
        assert seen.complaints == []
