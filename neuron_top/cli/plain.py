"""A live view as text lines: for pipes, CI logs, screen readers and `TERM=dumb`.

A line is printed when a compile began or ended, at the first training step, and else at most every ten seconds; unknown
values are omitted. An alert has a line when it fires and one when it resolves.
"""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterable

from neuron_top import units
from neuron_top.cli.output import log_stderr, print_text, terminal_width
from neuron_top.escapes import visible
from neuron_top.views.core_rows import CoreRow
from neuron_top.views.counts import graph_parts, hit_rate_text
from neuron_top.views.diagnosis import headline
from neuron_top.views.overview import Overview
from neuron_top.views.progress import CacheSpace, fetch_words
from neuron_top.views.states import JobState
from neuron_top.views.summary import Summary
from neuron_top.views.torch_trace import TorchSummary, added_up_words, cache_name, cache_words
from neuron_top.views.verdict import unread_text, verdict, verdict_lines

QUIET_SECONDS = 10.0
LOOK_SECONDS = 0.5


class PlainProgress:
    """Decides when a line is due. `print_line` returns False if it cannot print now; the next call tries again."""

    def __init__(self, print_line: Callable[[str], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self._print, self._clock = print_line, clock
        self._last_key: tuple[object, ...] | None = None
        self._last_line = ""
        self._due = 0.0
        self._alerts: dict[str, str] = {}
        """Key → title of the alerts that were reported."""
        self._missing: dict[str, str] = {}
        """Log → the reported reason why nothing is read from it."""

    def show(self, view: Overview) -> None:
        """Print the lines that are due."""
        self._tell_alerts(view)
        self._tell_missing(view)
        card = view.compile
        key = (
            len(card.running) + len(card.waiting) > 0,
            card.done,
            card.failed,
            card.cached_failures,
            card.hit > 0,
            view.training.step is not None,
            len(view.cores),
            view.header.active,
        )
        line = progress_line(view)
        now = self._clock()
        if key == self._last_key and (now < self._due or line == self._last_line):
            return
        if self._print(line):
            self._last_key, self._last_line, self._due = key, line, now + QUIET_SECONDS

    def wait(self, view: Overview) -> None:
        """Print what follows if nothing more comes: that the job failed, or that there is no job."""
        if self._last_key is None or self._last_key[-1] != view.header.active:
            self.show(view)
        else:
            self._tell_alerts(view)
            self._tell_missing(view)

    def close(self, view: Overview) -> None:
        """Print how the run ended, unless the last line said so."""
        self._tell_alerts(view)
        line = progress_line(view)
        if line != self._last_line and self._print(line):
            self._last_line = line

    def _tell_missing(self, view: Overview) -> None:
        now = {source.name: source.text for source in view.sources if not source.available and source.is_file}
        for name, text in now.items():
            if self._missing.get(name) != text and self._print(visible(text)):
                self._missing[name] = text
        self._missing = {name: text for name, text in self._missing.items() if name in now}

    def _tell_alerts(self, view: Overview) -> None:
        now = {alert.key: alert for alert in view.alerts}
        for key, alert in now.items():
            if key not in self._alerts and self._print(f"{alert.severity}: {alert.title}: {visible(alert.evidence)}"):
                self._alerts[key] = alert.title
        for key in [key for key in self._alerts if key not in now]:
            if self._print(f"resolved: {self._alerts[key]}"):
                del self._alerts[key]


def progress_line(view: Overview) -> str:
    """The state of a run on one line."""
    head, unread = view.header, unread_text(view.header.unread)
    if unread and head.state is JobState.IDLE:
        return unread
    parts = [f"{units.clock_text(head.elapsed)} {head.state_text}" if head.elapsed is not None else head.state_text]
    parts += [unread] if unread else []
    if head.silent is not None:
        parts.append(f"no new line for {units.duration_text(head.silent)}")
    if words := _graph_words(view):
        parts.append(f"graphs: {words}")
    parts += _fetch_parts(view)
    parts += _training_parts(view)
    memory = [core.memory for core in view.cores if core.memory is not None]
    if memory:
        parts.append(f"{units.counted(len(memory), 'core')}, {units.bytes_text(max(memory))} at most")
    return " · ".join(parts)


def _graph_words(view: Overview) -> str:
    fallbacks = [f"{view.compile.fallbacks} without a compiler"] if view.compile.fallbacks else []
    return ", ".join([*(part.text for part in graph_parts(view.compile)), *fallbacks])


def _fetch_parts(view: Overview) -> list[str]:
    fetches = view.cache.fetches
    return [words] if fetches is not None and (words := fetch_words(fetches)) else []


def _training_parts(view: Overview) -> list[str]:
    training = view.training
    parts = []
    if training.step is not None:
        total = f"/{training.total_steps}" if training.total_steps is not None else ""
        parts.append(f"step {training.step}{total}")
    if training.loss is not None:
        parts.append(f"loss {units.number_text(training.loss)}")
    if training.throughput is not None:
        parts.append(f"{units.number_text(training.throughput, 3)} {training.throughput_unit}".rstrip())
    return [", ".join(parts)] if parts else []


def overview_text(view: Overview) -> str:
    """The overview once, for a person: what `neurontop status` prints."""
    head = view.header
    title = " · ".join(part for part in (head.name or "this machine", head.state_text, head.run) if part)
    first, *more = verdict_lines(verdict(view))
    if (cause := headline(view.diagnosis, over=head.over)) is not None and not head.over:
        more.insert(0, cause.text)  # what the next step is about; a job that is over has it in its first line
    rows = _job_rows(view) if head.state is not JobState.IDLE else []
    rows += [("cache", _cache_words(place)) for place in view.cache.places]
    rows += _torch_rows(view.torch)
    rows += [(f"core {core.core}", _core_words(core)) for core in view.cores]
    rows += [(alert.severity, f"{alert.title} · {alert.next_step}") for alert in view.alerts]
    return "\n".join([*map(visible, (first, *more, title)), *(f"  {label:<13}{value}" for label, value in rows)])


def print_overview(view: Overview, *, instead_of_a_screen: bool = False) -> None:
    """Print the overview once; on a terminal its long lines are broken between words, below their values.

    `instead_of_a_screen`: one was asked for; if the terminal cannot show it, that is said.
    """
    lines = overview_text(view).splitlines()
    if sys.stdout.isatty():
        if instead_of_a_screen and os.environ.get("TERM") == "dumb":
            log_stderr("neurontop: TERM=dumb names a terminal without screens: the state is printed once")
        lines = fitted(lines)
    print_text("\n".join(lines))


def _job_rows(view: Overview) -> list[tuple[str, str]]:
    head = view.header
    return [
        ("elapsed", units.duration_text(head.elapsed)),
        *([("last line", f"{units.duration_text(head.silent)} ago")] if head.silent is not None else []),
        ("graphs", ", ".join(filter(None, (_graph_words(view), *_fetch_parts(view)))) or units.UNKNOWN),
        ("compile time", _compile_time(view.compile.seconds, view.compile.share)),
        ("hit rate", hit_rate_text(view.cache)),
        ("training", ", ".join(_training_parts(view)) or units.UNKNOWN),
    ]


def _compile_time(seconds: float | None, share: float | None) -> str:
    if seconds:
        return units.duration_text(seconds) + (f" ({units.percent_text(share)})" if share is not None else "")
    return units.UNKNOWN if seconds is None else "none"


def _cache_words(place: CacheSpace) -> str:
    holds = f"{units.counted(place.entries, 'entry', 'entries')}, {units.bytes_text(place.size)}"
    return f"{visible(place.root)}: {holds}; {units.bytes_text(place.free)} free on its disk"


def _core_words(core: CoreRow) -> str:
    words = [f"{units.percent_text(core.utilization)} busy", units.bytes_text(core.memory)]
    if core.capacity is not None:
        words[-1] += f" of {units.bytes_text(core.capacity)}"
    if core.gpu:
        words[-1] += f" on {core.gpu}"
    if core.peak is not None:
        words.append(f"peak {units.bytes_text(core.peak)}")
    if core.rank is not None:
        words.append(f"rank {core.rank}")
    return ", ".join(words) + (" (old)" if core.stale else "")


VALUE_COLUMN = 15
"""Where the values of a summary begin; `parsers.own_lines` knows its rows by that."""


def fitted(lines: Iterable[str]) -> list[str]:
    """Lines of the summary as long as the terminal is wide."""
    width = terminal_width()
    return [part for line in lines for part in broken(line, width)]


def broken(line: str, width: int) -> list[str]:
    """A line of the summary for a terminal: broken between words, below its value; of commands each one stays whole."""
    if len(line) <= width:
        return [line]
    below = " " * VALUE_COLUMN if line.startswith(" ") else "  "
    if line.startswith("  next "):
        first, *more = line.split(" · ")
        return [first, *(f"{below}{command}" for command in more)]
    return textwrap.wrap(line, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False)


def summary_text(closing: Summary, kept: str, reason: str = "", *, is_replayable: bool = False) -> str:
    """The summary at the end of a run, one value per line; `kept`, where its recording lies; `reason` it failed for.

    `is_replayable`: other commands can read the recording, and those that go on from here are named.
    """
    compile_line = _compile_time(closing.compile_seconds, closing.compile_share)
    waits = f"{closing.lock_waits}"
    if closing.lock_waits:
        waits += f" ({units.duration_text(closing.lock_wait_seconds)})"
    rows = [
        ("wall time", units.duration_text(closing.wall_seconds)),
        ("compile time", compile_line),
        ("cache", f"{_hits_and_misses(closing)}, {_failures(closing)}{_of_graphs(closing)}"),
        ("lock waits", waits),
    ]
    if closing.torch is not None and not closing.graphs:  # a plain PyTorch job has no Neuron cache to speak of
        del rows[2:]
    rows += _torch_rows(closing.torch)
    if closing.steps is not None:
        rows.append(("last step", _last_step(closing)))
    if closing.cores:
        peaks = ", ".join(f"{core.core}: {units.bytes_text(core.peak)}" for core in closing.cores)
        of_gpus = "of the GPU, " if all(core.gpu for core in closing.cores) else ""
        rows.append(("peak memory", f"{of_gpus}core {peaks}"))
    if closing.fallbacks:
        rows.append(("fell back", f"{units.counted(closing.fallbacks, 'graph')} ran without the compiler"))
    rows.append(("recorded", kept))
    if is_replayable:
        rows.append(("next", f"neurontop report {closing.run} · neurontop replay {closing.run}"))
    title = visible(f"{closing.called}: {closing.state_text}")
    return "\n".join(
        [*([reason] if reason else []), title, *(f"  {label:<{VALUE_COLUMN - 2}}{value}" for label, value in rows)]
    )


def _hits_and_misses(closing: Summary) -> str:
    return f"{units.counted(closing.hits, 'hit')}, {units.counted(closing.misses, 'miss', 'misses')}"


def _torch_rows(summary: TorchSummary | None) -> list[tuple[str, str]]:
    """torch.compile of plain PyTorch processes; nothing where none wrote a trace."""
    if summary is None:
        return []
    caches = " · ".join(f"{cache_name(row.cache)}: {cache_words(row)}" for row in summary.caches)
    return [("PyTorch", added_up_words(summary)), *([("its caches", caches)] if caches else [])]


def _of_graphs(closing: Summary) -> str:
    """How many graphs the cache held: a rank that finds what another one has just compiled counts a hit, too."""
    if not closing.hits:
        return ""
    if not (closing.misses or closing.failures or closing.cached_failures or closing.fallbacks):
        return "; every graph came from the cache"
    asked = closing.graphs_asked
    return f"; {closing.graphs_hit} of {units.counted(asked, 'graph')} in the cache before" if asked else ""


def _failures(closing: Summary) -> str:
    met = f" (+{closing.cached_failures} cached)" if closing.cached_failures else ""
    return f"{units.counted(closing.failures, 'failure')}{met}"


def _last_step(closing: Summary) -> str:
    loss = f", loss {units.number_text(closing.loss)}" if closing.loss is not None else ""
    speed = f", {units.number_text(closing.throughput, 3)} {closing.throughput_unit}" if closing.throughput else ""
    return f"{closing.steps}{loss}{speed}".rstrip()
