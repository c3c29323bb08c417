"""Says which data an overview lacks and how to get it, in one line; panels without data are left out."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from enum import StrEnum

from neuron_top.escapes import visible
from neuron_top.units import counted
from neuron_top.views.overview import Overview, TrainingCard
from neuron_top.views.progress import CacheCard, CompileCard

_LONGEST_REASON = 150


class Subject(StrEnum):
    """What panels of an overview are about."""

    DEVICES = "device telemetry"
    TRAINING = "training"
    COMPILES = "compiles"


def has_training(card: TrainingCard) -> bool:
    """Whether a program printed its progress."""
    return card.step is not None or card.loss is not None or card.throughput is not None


def has_compiles(card: CompileCard, cache: CacheCard) -> bool:
    """Whether there is anything to say about graphs or what a cache answered."""
    answered = cache.failures_met or cache.graphs_hit or cache.graphs_missed or cache.fetches is not None
    return bool(card.total or answered or card.trial_run or card.queue_total is not None)


def missing(view: Overview) -> Mapping[Subject, str]:
    """The subjects without data, and the reasons."""
    over = view.header.over
    absent = {}
    if not view.cores:
        absent[Subject.DEVICES] = _why(view)
    if view.training.simulated_reports and view.training.step is None and view.training.loss is None:
        left_out = counted(view.training.simulated_reports, "report")
        absent[Subject.TRAINING] = f"{left_out} of a trial run left out: their numbers mean nothing"
    elif not has_training(view.training):
        absent[Subject.TRAINING] = "no step was printed" if over else "no step printed yet"
    if not has_compiles(view.compile, view.cache):
        absent[Subject.COMPILES] = "no graph was named" if over else "no graph yet"
    return absent


def missing_text(view: Overview) -> str:
    """`Not available: device telemetry (…), training (no step printed yet)`; "" where all is there."""
    absent = [f"{subject} ({reason})" for subject, reason in missing(view).items()]
    return f"Not available: {', '.join(absent)}" if absent else ""


def _why(view: Overview) -> str:
    """What the sources of telemetry said, cut to one line; else which tool would report it."""
    silent = [source for source in view.sources if not source.available and not source.is_log]
    said = "; ".join(f"{source.name}: {source.text}" for source in silent)
    return (
        textwrap.shorten(visible(said), _LONGEST_REASON, placeholder=" … (`neurontop doctor` says all)")
        or "`neurontop doctor` helps"
    )
