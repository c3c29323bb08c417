"""The standing policy of the settings, as wishes for the planner of evictions, in the order in which they apply."""

from __future__ import annotations

from neuron_top.actions.planners.evict import BY_NAME_ONLY, EvictCriteria
from neuron_top.amounts import parse_bytes, parse_seconds
from neuron_top.cache.model.entry import State
from neuron_top.errors import UsageError
from neuron_top.settings import Settings

NEVER = frozenset(BY_NAME_ONLY)
"""States that may be somebody's work: a person can evict them by name, a timer never does."""


def policy_of(settings: Settings) -> list[EvictCriteria]:
    """Classes, then age, then size and free space; empty when nothing is set. UsageError: unknown state."""
    found = []
    try:
        states = frozenset(State(word.strip()) for word in settings.cache_states.split(",") if word.strip()) - NEVER
    except ValueError as problem:
        raise UsageError(f"cache_states: {problem}; states: {', '.join(State)}") from None
    if states:
        found.append(EvictCriteria(states=states))
    if settings.cache_older_than:
        found.append(EvictCriteria(older_than=parse_seconds(settings.cache_older_than)))
    if settings.cache_max_size or settings.cache_min_free:
        found.append(
            EvictCriteria(
                max_bytes=parse_bytes(settings.cache_max_size) if settings.cache_max_size else None,
                free_bytes=parse_bytes(settings.cache_min_free) if settings.cache_min_free else None,
            )
        )
    return found
