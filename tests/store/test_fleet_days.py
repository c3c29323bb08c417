"""Which days a policy drops: the oldest first, never today's, and none that lies between what stays."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("psycopg")

from neuron_top.store.postgres.days import Day, surplus

TODAY = datetime.date(2026, 3, 10)
sizes = st.lists(st.integers(0, 1000), max_size=12)


def days_before(found: list[int]) -> list[Day]:
    """Days of these sizes; the last but one is today, the last is to come."""
    first = TODAY - datetime.timedelta(days=len(found) - 2)
    return [
        Day(day=(first + datetime.timedelta(days=number)).isoformat(), bytes=size, batches=0)
        for number, size in enumerate(found)
    ]


@given(found=sizes, keep=st.none() | st.integers(0, 15), most=st.none() | st.integers(0, 5000))
def test_the_oldest_days_go_until_the_policy_holds(found: list[int], keep: int | None, most: int | None) -> None:
    days = days_before(found)
    going = surplus(days, TODAY.isoformat(), keep * 86400.0 if keep is not None else None, most)
    assert going == days[: len(going)]
    assert all(day.day < TODAY.isoformat() for day in going)
    staying = [day for day in days[len(going) :] if day.day < TODAY.isoformat()]
    if staying:
        age = (TODAY - datetime.date.fromisoformat(staying[0].day)).days
        assert keep is None or age <= keep
        assert most is None or sum(day.bytes for day in days[len(going) :]) <= most
    if going:  # one less would have broken the policy
        age = (TODAY - datetime.date.fromisoformat(going[-1].day)).days
        too_old = keep is not None and age > keep
        assert too_old or (most is not None and sum(day.bytes for day in days[len(going) - 1 :]) > most)


def test_without_a_policy_nothing_goes() -> None:
    assert surplus(days_before([1, 2, 3, 4]), TODAY.isoformat(), None, None) == []


def test_a_day_is_kept_until_all_of_it_is_too_old() -> None:
    days = days_before([1, 1, 1, 1, 1])
    assert [day.day for day in surplus(days, TODAY.isoformat(), 2 * 86400.0, None)] == ["2026-03-07"]
