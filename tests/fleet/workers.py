"""Nodes of a fleet that answer operators, in threads of the test: each with a cache of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from neuron_top.actions.pins import Pins
from neuron_top.agent import intents
from neuron_top.agent.intents import IntentWorker
from neuron_top.services.node_actions import NodeActions
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import NodeRecord
from neuron_top.store.postgres.fleet import FleetStore
from tests.actions.caches import entry, module

NODES = ("n1", "n2", "n3")


class OneCache(NodeActions):
    """A node whose cache in force is this one."""

    def __init__(self, settings: Settings, cache: Path) -> None:
        super().__init__(settings)
        self._cache = str(cache)

    def plan(self, asked: dict[str, object]) -> tuple[dict[str, object], bytes]:
        return super().plan({"root": self._cache, **asked})

    def execute(self, asked: dict[str, object], prepared: bytes) -> dict[str, object]:
        return super().execute({"root": self._cache, **asked}, prepared)

    def undo(self, asked: dict[str, object], done: dict[str, object]) -> dict[str, object]:
        return super().undo({"root": self._cache, **asked}, done)


def modules(cache: Path) -> set[str]:
    """Names of the modules that a cache holds whole."""
    return {path.parent.name for path in cache.glob("neuronxcc-*/*/model.done")}


@contextmanager
def answering(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Path]]:
    """The caches of three nodes with three entries each; n2 has a pin, and n3's owner takes no changes."""
    monkeypatch.setattr(intents, "IDLE_SECONDS", 0.1)
    monkeypatch.setattr(intents, "BUSY_SECONDS", 0.1)
    caches = {name: folder / name / "cache" for name in NODES}
    with ExitStack() as stack:
        for name, cache in caches.items():
            for number in (1, 2, 3):
                entry(cache, number)
            state = folder / name / "state"
            settings = Settings(store=url, state_dir=str(state), fleet_actions=name != "n3")
            if name == "n2":
                Pins(settings.state_path).add([module(2)], "a test")
            store = stack.enter_context(FleetStore(url))
            store.register(NodeRecord(node=name, machine_id=name))
            worker = IntentWorker(store, name, state, OneCache(settings, cache), print)
            worker.start()
            stack.callback(worker.stop, 10.0)
        yield caches
