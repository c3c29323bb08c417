"""A bucket or database that does not answer costs a job at most a tenth of its time, however many graphs it has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from neuron_top.cache.model.keys import module_key
from neuron_top.compile.claims.claim import Claimed, ClaimsUnreachable
from neuron_top.compile.claims.turns import ClaimedTurns
from neuron_top.compile.fetch.fetcher import Fetcher
from neuron_top.compile.fetch.source import SourceFile
from neuron_top.compile.wrapper.log_lines import WrapperLog
from neuron_top.errors import NothingToShow
from tests.compile import fakes

SLOW = 40.0


class Silent:
    """A source and a place of claims that take long to fail, by a clock of their own."""

    place = "nowhere:"

    def __init__(self) -> None:
        self.now, self.asked = 0.0, 0

    def clock(self) -> float:
        return self.now

    def fail(self, problem: Exception) -> NoReturn:
        self.asked += 1
        self.now += SLOW
        raise problem

    def files(self, entry: str) -> Mapping[str, SourceFile]:
        self.fail(NothingToShow("no answer"))

    def claim(self, key: str, lease: float) -> Claimed:
        self.fail(ClaimsUnreachable("no answer"))

    def renew(self, key: str, lease: float) -> bool:
        raise AssertionError("nothing was claimed")

    def release(self, key: str) -> None:
        raise AssertionError("nothing was claimed")

    def rest(self) -> None:
        """Nothing is open."""


def test_a_source_is_not_asked_with_every_graph(tmp_path: Path) -> None:
    silent, wrapper = Silent(), fakes.wrapper(tmp_path)
    fetcher = Fetcher(silent, WrapperLog(), node=tmp_path.name, clock=silent.clock)
    entries = [wrapper.entry(module_key(digit * 20, [])) for digit in "1234"]
    for entry in entries[:3]:
        assert not fetcher.fetch(entry, "", lambda: False).look_again
    assert silent.asked == 1
    silent.now += 10 * SLOW
    fetcher.fetch(entries[3], "", lambda: False)
    assert silent.asked == 2


def test_a_place_of_claims_is_not_asked_with_every_graph(tmp_path: Path) -> None:
    silent = Silent()
    turns = ClaimedTurns(silent, WrapperLog(), lease=60.0, longest_wait=600.0, node=tmp_path.name, clock=silent.clock)

    def is_ours(name: str) -> bool:
        with turns.turn(tmp_path / name, settled=lambda: False, interrupted=lambda: False) as turn:
            return turn.mine

    assert [is_ours(name) for name in "abc"] == [True, True, True]
    assert silent.asked == 1
    silent.now += 10 * SLOW
    assert is_ours("d")
    assert silent.asked == 2
