"""One run of maintenance: what it did is reported although a part of it could not be done."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_top.actions.journal.plan_history import HistoryState
from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.cache.model.states import State
from neuron_top.errors import RefusedForSafety, UsageError
from neuron_top.services.cache_policy import PolicyService
from neuron_top.services.caches import CacheService
from neuron_top.settings import Settings
from tests.actions import caches, states


@pytest.fixture
def root(tmp_path: Path) -> str:
    place = tmp_path / "cache"
    caches.entry(place, 1, age_days=40)
    caches.entry(place, 2, age_days=30)
    states.entry_in(place, State.FAILED, number=8)
    return str(place)


def settings(tmp_path: Path, **policy: str) -> Settings:
    return Settings(state_dir=str(tmp_path / "state"), **policy)


class RefusesTheSecondPlan(CacheService):
    """Another maintainer has the cache's lock once the first plan is done."""

    done = 0

    def execute(
        self, plan: Plan, watch: Callable[[Progress], bool] = lambda progress: True, *, streams: int = 1
    ) -> Outcome:
        if self.done:
            raise RefusedForSafety("another neurontop is changing the cache")
        self.done += 1
        return super().execute(plan, watch, streams=streams)


def test_what_the_first_plan_did_is_reported_although_the_second_was_refused(root: str, tmp_path: Path) -> None:
    policy = settings(tmp_path, cache_states="failed", cache_older_than="25d")
    service = RefusesTheSecondPlan(policy, in_use=lambda root: None)
    run = PolicyService(policy).maintain(service, root)
    assert [outcome.done for outcome in run.outcomes] == [1]
    assert isinstance(run.problem, RefusedForSafety)


def test_a_wrong_policy_purges_nothing(root: str, tmp_path: Path) -> None:
    policy = settings(tmp_path, cache_states="failed", trash_grace="1s")
    service = CacheService(policy, in_use=lambda root: None)
    PolicyService(policy).maintain(service, root)
    wrong = settings(tmp_path, cache_states="no state", trash_grace="0.000001s")
    with pytest.raises(UsageError, match="no state is called"):
        PolicyService(wrong).maintain(service, root)
    assert [each.state for each in service.trash.histories(root)] == [HistoryState.DONE]


def test_what_a_clock_ahead_has_dated_is_purged_once_it_is_old_by_the_right_clock(root: str, tmp_path: Path) -> None:
    policy = settings(tmp_path, cache_older_than="25d", trash_grace="7d")
    service = CacheService(policy, in_use=lambda root: None)
    PolicyService(policy).maintain(service, root)
    journal = service.backend(root).journal().journal
    now = service.trash.histories(root)[0].begun.at
    journal.write_text(re.sub(r'"at":(\d+)', lambda found: f'"at":{int(found[1]) + 10**9}', journal.read_text()))
    assert service.trash.histories(root)[0].begun.at > now + 1e8
    assert PolicyService(policy).maintain(service, root).purge.records == ()
    [history] = service.trash.histories(root)
    assert (history.state, len(history.in_trash)) == (HistoryState.DONE, 2)
    assert history.ended is not None
    assert abs(history.ended.at - time.time()) < 60
