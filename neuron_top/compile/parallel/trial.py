"""Does the trial run: the command runs only for its graphs, and its lines say which graphs it met.

In this mode the backend stores each graph it sees as a cache entry without an artifact and computes nothing, so every
loss, metric and checkpoint of the run is invalid. A graph whose artifact the cache has already is a hit and is not
listed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from neuron_top.compile.parallel.child_command import run_child
from neuron_top.compile.wrapper.flags import EXTRACT_VARIABLE, FLAGS_VARIABLE
from neuron_top.events import AnyEvent, CachedFailureHit, CacheHit, GraphExtracted
from neuron_top.events.levels import LogLevel
from neuron_top.parsers.reader import LogReader

IGNORE_ERROR_VARIABLE = "NEURON_IGNORE_TRAINING_SCRIPT_ERROR_AND_COMPILE"


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a trial run. Paths are graph files as the lines named them, one per rank and graph."""

    exit_code: int
    extracted: tuple[str, ...] = ()
    hits: frozenset[str] = frozenset()
    """Keys of graphs that need no compile."""
    failures: frozenset[str] = frozenset()
    """Keys of graphs for which the trial run found a stored failure."""


def run_trial(
    command: Sequence[str], echo: Callable[[int, bytes], None], environ: Mapping[str, str] = os.environ
) -> Trial:
    """Run `command` in graph-extraction mode, passing its output to `echo`. Raises UsageError, KeyboardInterrupt."""
    readers = {number: LogReader("trial") for number in (1, 2)}
    events: list[AnyEvent] = []

    def output(number: int, data: bytes) -> None:
        events.extend(_relevant(readers[number].feed(data)))
        echo(number, data)

    with tempfile.TemporaryDirectory(prefix="neurontop-trial-") as work:
        code = run_child(command, trial_environment(environ, Path(work)), output)
    for reader in readers.values():
        events.extend(_relevant(reader.flush()))
    return _trial_of(code, events)


def trial_environment(environ: Mapping[str, str], work: Path) -> dict[str, str]:
    """The variables that the SDK's tool sets for its trial run, on top of `environ`.

    The lines about graphs have level INFO, so that level is appended: the last `--log_level` of the flags counts.
    """
    return {
        **environ,
        FLAGS_VARIABLE: f"{environ.get(FLAGS_VARIABLE, '')} --log_level={LogLevel.INFO}".strip(),
        EXTRACT_VARIABLE: "1",
        "NEURON_PARALLEL_COMPILE": "1",
        "NEURON_FALL_BACK_TO_NULL_NEFF": "1",
        "NEURON_PARALLEL_COMPILE_CACHE_PATH_LOG": str(work / f"cache_path_pid{os.getpid()}_log.txt"),
    }


def _relevant(events: Iterable[AnyEvent]) -> list[AnyEvent]:
    return [event for event in events if isinstance(event, (GraphExtracted, CacheHit, CachedFailureHit))]


def _trial_of(code: int, events: Sequence[AnyEvent]) -> Trial:
    return Trial(
        exit_code=code,
        extracted=tuple(event.path for event in events if isinstance(event, GraphExtracted) and event.path),
        hits=frozenset(event.module for event in events if isinstance(event, CacheHit) and event.module),
        failures=frozenset(event.module for event in events if isinstance(event, CachedFailureHit) and event.module),
    )
