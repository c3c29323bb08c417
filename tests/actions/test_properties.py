"""Whatever lies in a cache and is asked for: the outcome is exact, what is excluded stays, undo is complete."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.cache.model.states import State
from tests.actions import caches, states

SETTLED = [state for state in State if state not in (State.TRACED,)]
entries = st.lists(st.tuples(st.sampled_from(SETTLED), st.floats(0.1, 60.0), st.booleans()), min_size=1, max_size=8)
policies = st.builds(
    EvictCriteria,
    max_bytes=st.none() | st.integers(0, 60_000),
    free_bytes=st.none() | st.just(1 << 60),
    older_than=st.sampled_from([0.0, 86400.0, 20 * 86400.0]),
    states=st.just(frozenset()) | st.frozensets(st.sampled_from(list(State)), min_size=1, max_size=3),
    keep_graph=st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(entries, policies)
def test_what_goes_is_what_was_said_and_undo_gives_it_back(
    wanted: list[tuple[State, float, bool]], policy: EvictCriteria
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "cache"
        root.mkdir()
        pinned = []
        for number, (state, age, pin) in enumerate(wanted):
            place = states.entry_in(root, state, number=number, age_days=age)
            (place / "compile_flags.json").chmod(0o640)
            caches.grow_old(place, age) if state not in (State.LOCKED_UNKNOWN, State.HIT_LEFTOVER_LOCK) else None
            pinned += [place.name] if pin else []
        snapshot = caches.looked_at(root)
        plan = plan_eviction(snapshot.entries, str(root), policy, caches.context(snapshot, pins=tuple(pinned)))
        before, size = caches.everything(root), disk_use(root)
        trash = Trash(root)
        outcome = caches.carried_out(plan, trash)
        assert outcome.refused == ()
        assert size - disk_use(root) == outcome.moved_bytes == plan.frees
        for left in plan.exclusions:
            assert files_of(caches.everything(root), left.path) == files_of(before, left.path)
        for step in plan.steps:
            assert not any(step.path.endswith(name) for name in pinned)
        if plan.steps:
            restored = restore(plan.identity, trash)
            assert restored.kept == ()
        assert caches.everything(root) == before


def disk_use(root: Path) -> int:
    """Blocks of all files; folders are no part of what an outcome counts."""
    return sum(path.stat().st_blocks * 512 for path in root.rglob("*") if path.is_file())


def files_of(found: dict[str, tuple[bytes, int, int]], path: str) -> dict[str, tuple[bytes, int, int]]:
    return {name: facts for name, facts in found.items() if name.startswith(f"{path}/")}
