"""Makes reports and comparisons: a run with all that is known about it, and the documents made from that."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from neuron_top.diagnose import Diagnosis
from neuron_top.errors import NothingToShow
from neuron_top.ingest import run_loader
from neuron_top.run.model import Run
from neuron_top.services.diagnosis import diagnosis_of
from neuron_top.services.runs import RunService, first_local_root
from neuron_top.settings import Settings
from neuron_top.views.gate import GateVerdict, empty_logs, end, job, judge, judge_size
from neuron_top.views.report import Report, report
from neuron_top.views.report_graphs import Memory
from neuron_top.views.report_metrics import Prices

if TYPE_CHECKING:  # a check of one run needs no comparison
    from neuron_top.views.blame.records import Blame
    from neuron_top.views.compare import CacheComparison, Comparison
    from neuron_top.views.multi_compare import MultiComparison


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A report and the verdicts of its thresholds."""

    report: Report
    diagnosis: Diagnosis | None
    """None for a recording without kept output, and for traces."""
    verdicts: tuple[GateVerdict, ...]

    @property
    def passed(self) -> bool:
        """Whether all thresholds are met."""
        return all(verdict.passed for verdict in self.verdicts)


Compared: TypeAlias = "Comparison | CacheComparison | MultiComparison"


class ReportService:
    """Reports of runs and comparisons of them. `notify` takes remarks for the person (a log that is cut off, …)."""

    def __init__(self, settings: Settings, notify: Callable[[str], None] = lambda remark: None) -> None:
        self._settings, self._notify = settings, notify
        self._runs = RunService(settings)

    def load(self, names: Sequence[str], standard_input: IO[bytes] | None = None) -> Run:
        """Load the run that is named: log files of one run, `-`, or one recording.

        Raises NothingToShow, UsageError, StoreUnusable.
        """
        return run_loader.load(names, self._settings, standard_input, self._notify)

    def load_diagnosed(
        self, names: Sequence[str], standard_input: IO[bytes] | None = None
    ) -> tuple[Run, Diagnosis | None]:
        """As `load`, with the diagnosis of the run, from the same bytes or from a recording's kept output."""
        run = run_loader.load(names, self._settings, standard_input, self._notify, diagnosed=True)
        return run, diagnosis_of(run, self._settings)

    def full(
        self,
        run: Run,
        now: float | None = None,
        cache: str | None = None,
        prices: Prices | None = None,
        diagnosis: Diagnosis | None = None,
        blame: Blame | None = None,
    ) -> Report:
        """A report with what a cache and earlier recordings know about its graphs, and the cause of each miss.

        `now`: the moment to look from; by default the end of the run. `cache`: a root; by default the one that a
        recorded run used, where that is a folder of this machine. `diagnosis`: what went wrong in the run.
        `blame`: of a fleet's job.
        """
        is_own = cache is None and bool(run.job.run)
        memory, misses = self._known_by_own_cache(run) if is_own else self._known(run, cache)
        now = run_loader.end_of(run) if now is None else now
        return report(run, now, memory=memory, prices=prices, misses=misses, diagnosis=diagnosis, blame=blame)

    def _known_by_own_cache(self, run: Run) -> tuple[Memory, list[tuple[str, str]]]:
        """As `_known`, of the cache that a recorded run used, if it is here and may be read."""
        from neuron_top.views.miss_explanation import roots

        try:
            return self._known(run, first_local_root(roots(run)))
        except NothingToShow as problem:
            self._notify(f"{problem}; what it knows of the graphs is missing in the report")
            return self._known(run, None)

    def _known(self, run: Run, cache: str | None) -> tuple[Memory, list[tuple[str, str]]]:
        """What a cache and earlier recordings know of a run's graphs, and why they missed. Raises NothingToShow."""
        memory = run_loader.memory(run, self._settings, cache)
        return memory, self._misses(run, cache) if cache is not None else []

    def blame(self, names: Sequence[str]) -> Blame | None:
        """Who compiled, who waited, what it cost; None if this is not a job of a fleet. Raises StoreUnusable."""
        if not self._settings.store or len(names) != 1 or run_loader.is_log(names[0]):
            return None
        from neuron_top.services.fleet import FleetService

        with FleetService(self._settings) as fleet, suppress(NothingToShow):
            return fleet.blame(self._runs.find(names[0]).id)
        return None

    def _misses(self, run: Run, cache: str) -> list[tuple[str, str]]:
        """Module and likeliest cause of the misses that took longest."""
        from neuron_top.services.misses import MISSES_EXPLAINED, MissService

        explained, _ = MissService(self._settings, cache).explain_run(run, MISSES_EXPLAINED)
        return [(each.module, f"{each.causes[0].kind}: {each.causes[0].text}") for each in explained]

    def with_cache(self, run: Run, cache: str | None) -> Report:
        """A report with what a named cache and earlier recordings know about its graphs; misses are not explained."""
        return report(run, run_loader.end_of(run), memory=run_loader.memory(run, self._settings, cache))

    def check(
        self,
        names: Sequence[str],
        limits: Mapping[str, float],
        standard_input: IO[bytes] | None = None,
        *,
        cache: str | None = None,
        max_bytes: int | None = None,
        allow_unknown: bool = False,
    ) -> Checked:
        """Check a run, and the size of `cache`, by its diagnosis and by thresholds; without both, by failed compiles.

        Raises NothingToShow, UsageError, StoreUnusable.
        """
        run, diagnosis = self.load_diagnosed(names, standard_input)
        view = self.with_cache(run, cache)
        if diagnosis is None and not limits and max_bytes is None:
            limits = {"max-failed": 0.0}
        verdicts = (*end(view), *judge(view, limits, allow_unknown=allow_unknown))
        if not (allow_unknown or run.job.run or run.job.printed):
            verdicts = (empty_logs(), *verdicts)
        if diagnosis is not None:
            verdicts = (job(diagnosis), *verdicts)
        if cache is not None and max_bytes is not None:
            from neuron_top.cache.scan.catalog import sums

            taken = sums(os.path.realpath(cache), self._settings.state_path).totals.all.bytes
            verdicts += (judge_size(taken, max_bytes),)
        return Checked(report=view, diagnosis=diagnosis, verdicts=verdicts)

    def of_recording(self, run: str) -> Report:
        """The full report of a recording, by its id. Raises NothingToShow, StoreUnusable."""
        recorded = self._runs.load(self._runs.of_id(run).id)
        return self.full(recorded, diagnosis=diagnosis_of(recorded, self._settings), blame=self.blame([run]))

    def plain(self, name: str) -> Report:
        """The report of a recording or a log file, without what caches know. Raises NothingToShow, StoreUnusable."""
        run, diagnosis = self.load_diagnosed([name])
        return report(run, run_loader.end_of(run), diagnosis=diagnosis)

    def compare(self, a: str, b: str) -> Comparison:
        """Two recordings or log files side by side. Raises NothingToShow, StoreUnusable."""
        from neuron_top.views.compare import compare

        return compare(self.plain(a), self.plain(b))

    def compare_many(self, names: Sequence[str]) -> MultiComparison:
        """Several recordings or log files, each compared with the first. Raises NothingToShow, StoreUnusable."""
        from neuron_top.views.multi_compare import multi_compare

        return multi_compare([self.plain(name) for name in names])

    def compare_caches(self, a: str, b: str) -> CacheComparison:
        """Two caches side by side. Raises NothingToShow, also where neither holds an entry."""
        from neuron_top.cache.scan.catalog import open_root
        from neuron_top.views.compare import compare_caches

        first, second = (open_root(root, self._settings.state_path) for root in (a, b))
        if not (first.entries or second.entries):
            raise NothingToShow(
                f"neither {first.root} nor {second.root} holds an entry of a compile cache; name the roots of two "
                "caches, or two runs (of a folder of logs, the log files)"
            )
        return compare_caches(first, second)


def html(view: Report | Compared) -> str:
    """The document as one HTML file that opens offline."""
    return _drawing(view).html(view)


def markdown(view: Report | Compared) -> str:
    """The document as Markdown."""
    return _drawing(view).markdown(view)


class _Drawing(NamedTuple):
    html: Callable[[Any], str]
    markdown: Callable[[Any], str]


def _drawing(view: Report | Compared) -> _Drawing:
    """How a kind of document is drawn. Only what this kind needs is imported."""
    if isinstance(view, Report):
        from neuron_top.report import html as report_html
        from neuron_top.report import markdown as report_markdown

        return _Drawing(report_html.html, report_markdown.markdown)
    from neuron_top.report import comparison, multi_compare
    from neuron_top.views.multi_compare import MultiComparison

    drawn = multi_compare if isinstance(view, MultiComparison) else comparison
    return _Drawing(drawn.html, drawn.markdown)


def html_page(title: str, body: str) -> str:
    """A page of our own in the style of the reports."""
    from neuron_top.report.html import page

    return page(title, body)


def check_markdown(checked: Checked) -> str:
    """The verdicts in Markdown, as a summary for job pages."""
    from neuron_top.report.markdown import gate

    return gate(checked.report, checked.verdicts)
