"""What a front end shows besides the run: the recordings and the catalog of caches. Looked at when asked, and slow.

Every call reads disks: a screen makes it in a thread and shows the frozen rows when they come.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from neuron_top.cache import roots
from neuron_top.cache.scan import catalog
from neuron_top.cache.scan.contents import Contents
from neuron_top.errors import NeuronTopError, NothingToShow, RefusedForSafety
from neuron_top.ingest import run_loader
from neuron_top.ingest.miss_explainer import MissExplainer, first_here
from neuron_top.ingest.other_caches import OtherCaches
from neuron_top.ingest.recordings import is_recording, run_folder, store_path
from neuron_top.ingest.replay import ReplayFeed
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.sqlite import Store
from neuron_top.views import miss_explanation as views
from neuron_top.views.compare import Comparison, compare
from neuron_top.views.entries import EntryRow, EntryTable, entry_row
from neuron_top.views.miss_explanation import MissExplanation, MissQuery, not_known, questions, why
from neuron_top.views.miss_explanation import roots as roots_of
from neuron_top.views.operators import Operators, operators
from neuron_top.views.report import Report, report
from neuron_top.views.runs import RunRow, run_row

NEWEST_RUNS = 500
MISSES_EXPLAINED = 25
"""In a report, and of a run on a screen: those that took longest."""


class Repository:
    """Recordings and caches of this user on this machine."""

    def __init__(self, settings: Settings, named: Sequence[str] = ()) -> None:
        """`named`: caches that the user named for this program, listed before those that are configured."""
        self._settings = settings
        self._named = tuple(named)
        self._others = OtherCaches()

    @property
    def place(self) -> str:
        """Where the recordings are kept."""
        return str(self._settings.state_path)

    def runs(self) -> tuple[RunRow, ...]:
        """Recordings, newest first; none when nothing was recorded yet. Raises StoreUnusable."""
        path = store_path(self._settings)
        if not path.exists():
            return ()
        with Store(path, read_only=True) as store:
            records = store.runs(limit=NEWEST_RUNS)
        now = time.time()
        folders = ((record, run_folder(self._settings, record.id)) for record in records)
        return tuple(run_row(record, now, recorder_alive=is_recording(folder)) for record, folder in folders)

    def delete(self, run: str) -> int:
        """Delete a recording, rows and folder; the bytes freed. Raises RefusedForSafety while it is written."""
        from neuron_top.store.retention import delete

        if is_recording(run_folder(self._settings, run)):
            raise RefusedForSafety(f"recording {run} is still being written")
        with Store(store_path(self._settings)) as store:
            return delete(store, self._settings.state_path, run).freed_bytes

    def replay(self, run: str) -> ReplayFeed:
        """A recording as a feed. Raises NothingToShow, StoreUnusable."""
        if not store_path(self._settings).is_file():
            raise NothingToShow(f"there is no recording {run}: nothing was recorded yet")
        return ReplayFeed(store_path(self._settings), run, history_seconds=self._settings.history_seconds)

    def compare(self, a: str, b: str) -> Comparison:
        """Two recordings side by side. Raises NothingToShow, StoreUnusable."""
        first, second = (run_loader.load([one], self._settings) for one in (a, b))
        return compare(report(first, run_loader.end_of(first)), report(second, run_loader.end_of(second)))

    def report(self, run: str) -> Report:
        """The full report of a recording, by its id, with what its cache still tells. Raises NothingToShow."""
        if all(row.id != run for row in self.runs()):
            raise NothingToShow(f"there is no recording {run}")
        loaded = run_loader.load([run], self._settings)
        return self.told(loaded, run_loader.end_of(loaded))

    def told(self, run: Run, now: float) -> Report:
        """The full report of a run as it is at `now`."""
        cache = first_here(roots_of(run))
        memory = run_loader.memory(run, self._settings, cache)
        told = MissExplainer(self._settings, cache).of_run(run, MISSES_EXPLAINED)[0] if cache is not None else ()
        misses = [(one.module, f"{one.causes[0].kind}: {one.causes[0].text}") for one in told]
        return report(run, now, memory=memory, misses=misses)

    def operators(self, module: str, named: Iterable[str] = ()) -> Operators | None:
        """The operators of a graph, from its entry in the named caches or any of this machine; None without one."""
        places = dict.fromkeys((*named, *(root.path for root in self._roots())))
        for root in places:
            try:
                snapshot = catalog.open_root(root, self._settings.state_path)
            except NeuronTopError:
                continue
            for entry in snapshot.find(module):
                if (graph := Contents(snapshot.root, entry).nodes()) is not None:
                    return operators(graph, f"{snapshot.root}/{entry.path}")
        return None

    def entries(self) -> EntryTable:
        """The entries of every Neuron cache that exists, as the catalog knows them, brought up to date."""
        found = self._roots()
        rows: list[EntryRow] = []
        for root in found:
            if root.exists:
                rows += self._entries_of(root.path)
        return EntryTable(
            roots=tuple((root.path, root.origin, root.exists) for root in found),
            rows=tuple(rows),
            others=self._others.look(),
        )

    def _roots(self) -> list[roots.Root]:
        """Neuron caches: those that were named, then those of this machine; each path once."""
        return [root for root in roots.find(named=self._named) if root.kind == roots.NEURON]

    def why(self, asked: MissQuery) -> MissExplanation:
        """Why a graph missed, as the caches of this machine tell now."""
        return _answer(MissExplainer(self._settings), asked)

    def misses(self, asked: Sequence[MissQuery]) -> views.Misses:
        """Why these missed, the first of them; all caches are looked at once."""
        look = MissExplainer(self._settings)
        return views.Misses(met=len(asked), told=tuple(_answer(look, one) for one in asked[:MISSES_EXPLAINED]))

    def misses_of(self, run: str) -> views.Misses:
        """Why graphs of a recording missed. Raises NothingToShow, StoreUnusable."""
        return self.misses(questions(run_loader.load([run], self._settings), 0.0))

    def _entries_of(self, root: str) -> list[EntryRow]:
        try:
            snapshot = catalog.open_root(root, self._settings.state_path)
        except NeuronTopError:
            return []
        return [entry_row(root, entry, snapshot.taken_at) for entry in snapshot.entries]


def _answer(look: MissExplainer, asked: MissQuery) -> MissExplanation:
    began = time.monotonic()
    try:
        explanation = look.explain(asked)
    except NeuronTopError as problem:
        return not_known(asked, str(problem))
    return why(explanation, time.monotonic() - began)
