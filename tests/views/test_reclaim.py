"""What a cache could give back, and the sum of an act."""

from __future__ import annotations

import pytest

from neuron_top.cache.model.states import FAILURES, KEPT, State
from neuron_top.tui.panels.entry_rows import marks_text
from neuron_top.views.entries import EntryRow, entry_filter
from neuron_top.views.reclaim import Reclaim, reclaimable

DAY = 86400.0


def row(
    number: int,
    *,
    state: str = "hit",
    compiler: str = "neuronxcc-2.15.1.0+aa",
    days: float = 1,
    took: float | None = 60.0,
    root: str = "/cache",
) -> EntryRow:
    return EntryRow(
        key=f"{root}/{compiler}/{number}",
        root=root,
        compiler=compiler,
        module=f"MODULE_{number}",
        state=state,
        bytes=1000 + number,
        artifact_bytes=900,
        used=0.0,
        age=days * DAY,
        compile_seconds=took,
        flags="",
        lock="",
        failure="",
        advice="",
        problems=(),
    )


def test_parts_by_state_age_and_version_with_what_they_cost_to_compile_again() -> None:
    rows = [
        row(1),
        row(2, state="failed", took=None),
        row(3, days=40),
        row(4, days=100, took=None),
        row(5, compiler="neuronxcc-2.9.4.0+bb"),
        row(6, compiler="inductor-2.1.0"),
    ]
    parts = {part.title: part for part in reclaimable(rows)}
    assert list(parts) == [
        "failed compiles", "no use known for 90 days", "no use known for 30 days", "no use known for 7 days",
        "older compiler neuronxcc-2.9.4.0+bb",
    ]  # fmt: skip
    assert (parts["failed compiles"].rebuild_seconds, parts["failed compiles"].rebuild_unknown) == (0.0, 0)
    month = parts["no use known for 30 days"]
    assert (month.entries, month.bytes, month.rebuild_seconds, month.rebuild_unknown) == (2, 2007, 60.0, 1)
    assert parts["older compiler neuronxcc-2.9.4.0+bb"].entries == 1


def test_the_filter_of_a_part_shows_exactly_its_entries() -> None:
    rows = [
        row(n, state="hit" if n % 3 else "failed", days=n * 20, compiler=f"neuronxcc-2.{n % 2 * 6 + 9}.0.0+a")
        for n in range(9)
    ]
    for part in reclaimable(rows):
        kept = list(filter(entry_filter(part.query), rows))
        assert (len(kept), sum(one.bytes for one in kept)) == (part.entries, part.bytes), part.title


def test_what_no_eviction_takes_is_in_no_part_and_no_part_costs_more_than_its_artifacts() -> None:
    rows = [row(n, state=state, days=100, took=None) for n, state in enumerate(State)]
    parts = {part.title: part for part in reclaimable(rows)}
    for part in parts.values():
        assert list(filter(entry_filter(part.query), rows)) == [one for one in rows if one.state in taken(part)], part
    assert taken(parts["failed compiles"]) == FAILURES
    assert taken(parts["no use known for 90 days"]) == set(State) - KEPT
    assert parts["no use known for 90 days"].rebuild_unknown == 3, "hit, hit-legacy and published-unmarked"


def taken(part: Reclaim) -> set[State]:
    """States of the entries that the bytes of a part add up to; each row has bytes of its own."""
    return next(
        states for states in (set(FAILURES), {State.PARTIAL}, set(State) - KEPT)
        if sum(1000 + n for n, state in enumerate(State) if state in states) == part.bytes
    )  # fmt: skip


def test_layouts_that_evictions_only_read_are_in_no_part() -> None:
    places = ("snapshots/0a1b/neuronxcc-2.15.1.0+aa", "neuron-compile-cache/USER_neuroncc-1.0.4+bb")
    rows = [row(n, days=40, compiler=place) for n, place in enumerate((*places, "neuronxcc-2.15.1.0+aa"))]
    parts = reclaimable(rows)
    assert [(part.title, part.entries) for part in parts] == [
        ("no use known for 30 days", 1),
        ("no use known for 7 days", 1),
    ]
    for part in parts:
        assert list(filter(entry_filter(part.query), rows)) == rows[2:], part.query


def test_marked_entries_without_an_artifact_are_not_of_unknown_compile_time() -> None:
    rows = [row(n, state=state, took=None) for n, state in enumerate(("hit", "failed-legacy", "partial", "stale-lock"))]
    assert marks_text(rows).endswith(" · 1 of unknown compile time")


def test_builds_of_one_version_are_not_older_than_one_another() -> None:
    names = "inductor-2.13.0.cpu+33df915f", "inductor-2.13.0.cpu+ec242867", "inductor-2.9.1.cpu+ffffffff"
    parts = [part.title for part in reclaimable([row(n, compiler=name) for n, name in enumerate(names)])]
    assert parts == ["older compiler inductor-2.9.1.cpu+ffffffff"]


def older(*places: tuple[str, str]) -> list[str]:
    """Titles for entries of these (root, compiler), each of them checked against its own filter."""
    rows = [row(n, root=root, compiler=name) for n, (root, name) in enumerate(places)]
    parts = reclaimable(rows)
    for part in parts:
        kept = list(filter(entry_filter(part.query), rows))
        assert (len(kept), sum(one.bytes for one in kept)) == (part.entries, part.bytes), part.query
    return [part.title for part in parts]


def test_a_newer_compiler_of_another_root_makes_none_older() -> None:
    old, new = "inductor-2.13.0.cpu+33df915f", "inductor-2.14.1.cpu+ec242867"
    assert older(("/a", old), ("/b", new)) == []
    assert older(("/a", old), ("/a", new), ("/b", old)) == [f"older compiler {old} in /a"]
    assert older(("/a", old), ("/a", new), ("/ab", old), ("/a/B", new)) == [f"older compiler {old} in /a"]
    assert older(("/a", old), ("/a", new), ("/b", old), ("/b", new)) == [f"older compiler {old}"]
    assert older(("/a b", old), ("/a b", new), ("/b", old)) == [], "no filter could show it"


@pytest.mark.parametrize(
    ("first", "second", "is_older"),
    [
        ("inductor-2.13.0.cpu+33df915f", "inductor-2.14.1.cu130+ec242867", False),
        ("inductor-2.13.0.cu126+33df915f", "inductor-2.14.1.cu130+ec242867", True),
        ("inductor-2.13.0.rocm6.4+33df915f", "inductor-2.14.1.cu130+ec242867", False),
        ("inductor-2.13.0+33df915f", "inductor-2.14.1.cpu+ec242867", False),
        ("inductor-2.13.0.dev20260101.cpu+33df915f", "inductor-2.14.1.cpu+ec242867", True),
        ("neuronxcc-2.20.9961.0+0acef03a", "neuronxcc-2.21.18209.0+cu1dfeed", True),
        ("x-2.1", "x-2.10", True),
    ],
)
def test_only_a_newer_version_for_the_same_device_makes_it_older(first: str, second: str, is_older: bool) -> None:
    assert older(("/a", first), ("/a", second)) == ([f"older compiler {first}"] if is_older else [])
