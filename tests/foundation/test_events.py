"""Events: one union, and JSON that comes back as it went."""

import math
import typing
from enum import Enum

import msgspec
import pytest

from neuron_top import events
from neuron_top.events.base import Event

CONCRETE: tuple[type[Event], ...] = typing.get_args(events.AnyEvent)
SAMPLES: dict[type, object] = {str: "x", int: 1, float: 2.5, bool: True}


def made(kind: type[Event]) -> Event:
    """An event with every required field filled by something of its type."""
    values = {}
    for field in msgspec.structs.fields(kind):
        if field.required:
            values[field.encode_name] = sample(field.type)
    if "state" in values or kind is events.EntryChanged:
        values["state"] = "hit"
    return kind(**values)


def sample(kind: type) -> object:
    if kind in SAMPLES:
        return SAMPLES[kind]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind()
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if kind is events.Foldable:
        return events.CacheHit()
    return {} if "dict" in str(kind) else ()


@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.__name__)
def test_every_event_survives_the_store(kind: type[Event]) -> None:
    event = made(kind)
    assert events.decode(events.encode(event)) == event


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_that_diverged_survives_the_store_though_json_has_no_number_for_it(loss: float) -> None:
    stored = events.decode(events.encode(events.StepReported(step=4, loss=loss)))
    assert isinstance(stored, events.StepReported)
    assert repr(stored.loss) == repr(loss)
    assert msgspec.structs.replace(stored, loss=2.5).non_finite_loss == ""


def leaves(kind: type[Event]) -> set[type[Event]]:
    below = kind.__subclasses__()
    return set().union(*(leaves(child) for child in below)) if below else {kind}


def test_the_union_forgets_no_event() -> None:
    assert leaves(Event) == set(CONCRETE)


def test_unknown_fields_cost_nothing_in_the_store() -> None:
    assert events.encode(events.CompilerPassed()) == b'{"type":"CompilerPassed"}'


def test_the_best_time_is_the_events_own() -> None:
    assert events.CompilerPassed(at=1.0, seen=2.0).time == 1.0
    assert events.CompilerPassed(seen=2.0).time == 2.0
    assert events.CompilerPassed().time is None


def test_junk_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        events.decode(b'{"type":"NeverHeardOf"}')


def test_a_name_that_only_another_version_knows_is_kept():
    line = b'{"type":"CacheHit","at":1.0,"module":"MODULE_1","generation":"G9"}'
    event = events.decode(line)
    assert isinstance(event, events.CacheHit)
    assert (event.generation, event.generation in tuple(events.LogGeneration)) == ("G9", False)
    assert msgspec.json.decode(events.encode(event)) == msgspec.json.decode(line)
