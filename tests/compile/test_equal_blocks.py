"""A compiled graph reports how many equal blocks of the model it serves, and nothing where nobody listens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from neuron_top.compile import side_channel
from neuron_top.compile.torch.equal_blocks import CALLS, counting
from neuron_top.compile.torch.worker_memory import Watch
from neuron_top.events import GraphReused, decode

MODULE = "MODULE_0a1b+00000000"
FORWARD = Watch("forward", (0, 1), None)


def run(arguments: list[Any]) -> list[Any]:
    """A graph; it empties its list of arguments, as compiled ones do."""
    taken = list(arguments)
    arguments.clear()
    return taken


def reported(folder: Path) -> list[int]:
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_bytes().splitlines()]
    events = [event for event in map(decode, lines) if isinstance(event, GraphReused)]
    assert all(event.module == MODULE and event.pid is not None for event in events)
    return [event.blocks for event in events]


def block() -> list[torch.Tensor]:
    """The parameters of a block."""
    return [torch.zeros(3), torch.zeros(2)]


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(side_channel.EVENTS_VARIABLE, str(tmp_path))
    return tmp_path


def test_each_set_of_parameters_is_a_block_and_is_reported_once(listening: Path) -> None:
    counted = counting(run, MODULE, FORWARD)
    blocks = [block() for _ in range(3)]
    for _step in range(4):
        for parameters in blocks:
            counted([*parameters, torch.zeros(8)])  # the activation is another tensor at each call
    assert reported(listening) == [1, 2, 3]


def test_results_are_those_of_the_graph(listening: Path) -> None:
    given = [*block(), torch.ones(1)]
    assert counting(run, MODULE, FORWARD)(list(given)) == given


def test_only_the_first_calls_are_looked_at(listening: Path) -> None:
    counted, first, late = counting(run, MODULE, FORWARD), block(), block()
    for _call in range(CALLS):
        counted([*first])
    counted([*late])
    assert reported(listening) == [1]


def test_what_has_no_memory_of_its_own_is_not_looked_at_again(listening: Path) -> None:
    counted = counting(run, MODULE, FORWARD)
    counted([3, torch.zeros(1)])
    counted(block())
    assert reported(listening) == []


@pytest.mark.parametrize("watch", [None, Watch("backward", (0,), None), Watch("forward", (), None)])
def test_a_graph_without_parameters_and_a_backward_graph_stay_as_they_are(listening: Path, watch: Watch | None) -> None:
    assert counting(run, MODULE, watch) is run


def test_without_a_recording_nothing_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(side_channel.EVENTS_VARIABLE, raising=False)
    assert counting(run, MODULE, FORWARD) is run
