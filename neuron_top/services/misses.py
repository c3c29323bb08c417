"""Explains why graphs missed the compile cache: finds the cache that a query means, and the others of this machine.

Reads disks: a screen asks in a thread. The caches are looked at once for all misses of a run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from neuron_top.cache import roots
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.scan import catalog
from neuron_top.errors import NeuronTopError, NothingToShow, UsageError
from neuron_top.explain.miss_causes import Explanation, explain
from neuron_top.explain.miss_evidence import MissEvidence
from neuron_top.ingest import run_loader
from neuron_top.run.model import Run
from neuron_top.services.runs import first_local_root
from neuron_top.settings import Settings
from neuron_top.views.miss_explanation import (
    MissDocument,
    Misses,
    MissExplanation,
    MissQuery,
    document,
    not_known,
    questions,
    why,
)

__all__ = ["MISSES_EXPLAINED", "MissDocument", "MissService"]

MISSES_EXPLAINED = 25
"""The most misses of a run that are explained on a screen or in a report: those that took longest."""
_MOST_NAMED = 5
OTHER_ROOTS = 3
"""The most other caches of this machine that are searched for the same graph."""


class MissService:
    """Explains misses. `root`: look in this cache, whatever a query names. `named`: caches that were named for this
    program, the first of which is looked in where a query names none of this machine."""

    def __init__(self, settings: Settings, root: str | None = None, named: Sequence[str] = ()) -> None:
        self._settings, self._root, self._named = settings, root, named

    def why(self, query: MissQuery) -> MissExplanation:
        """Why a graph missed; if no cache can be read, the answer says so."""
        return _answer(self._explainer(), query)

    def misses(self, queries: Sequence[MissQuery]) -> Misses:
        """Why these graphs missed, up to a limit; each cache is read once for all of them."""
        explainer = self._explainer()
        answers = tuple(_answer(explainer, query) for query in queries[:MISSES_EXPLAINED])
        return Misses(met=len(queries), explained=answers)

    def misses_of(self, run: str) -> Misses:
        """Why graphs of a recording missed. Raises NothingToShow, StoreUnusable."""
        return self.misses(questions(run_loader.load([run], self._settings), 0.0))

    def explain_module(self, module: str) -> MissDocument:
        """Everything that is known about the graph that a key, or a part of one, names; for a program.

        Raises NothingToShow, and UsageError if it is a part of the keys of several graphs.
        """
        explainer = self._explainer()
        query = MissQuery(module=module)
        keys = sorted({entry.module for entry in explainer.entries(query)})
        if len({key.partition("+")[0] for key in keys}) > 1:
            names = ", ".join(keys[:_MOST_NAMED])
            more = " …" if len(keys) > _MOST_NAMED else ""
            raise UsageError(f"{len(keys)} keys match {module!r}; give a longer part of one: {names}{more}")
        return document(explainer.explain(query))

    def explain_run(self, run: Run, limit: int) -> tuple[list[MissDocument], int]:
        """The misses of a run that took longest, `limit` of them explained; and how many there are."""
        queries = questions(run, 0.0)
        explainer = self._explainer()
        return [document(explainer.explain(query)) for query in queries[:limit]], len(queries)

    def _explainer(self) -> _Explainer:
        return _Explainer(self._settings, self._root, self._named)


def _answer(explainer: _Explainer, query: MissQuery) -> MissExplanation:
    began = time.monotonic()
    try:
        explanation = explainer.explain(query)
    except NeuronTopError as problem:
        return not_known(query, str(problem))
    return why(explanation, time.monotonic() - began)


class _Explainer:
    """Explains misses from the caches of this machine as they are now; each cache is read once."""

    def __init__(self, settings: Settings, root: str | None, named: Sequence[str]) -> None:
        self._settings, self._root, self._named = settings, root, named
        self._snapshots: dict[str, Snapshot] = {}
        self._evidence = MissEvidence()

    def entries(self, query: MissQuery) -> list[Entry]:
        """The entries that a query's key, or part of one, matches. Raises NothingToShow if no cache can be read."""
        return self._snapshot(self._root or self._root_of(query)).find(query.module)

    def explain(self, query: MissQuery) -> Explanation:
        """Why a graph missed. Raises NothingToShow if no cache can be read."""
        root = self._root or self._root_of(query)
        snapshot = self._snapshot(root)
        return explain(
            query.module,
            snapshot,
            others=self._others(snapshot.root),
            compiler=query.compiler,
            compiled_here=query.compiled_here,
            began=query.began,
            ended=query.ended,
            evidence=self._evidence,
        )

    def _root_of(self, query: MissQuery) -> str:
        """The first root of the query that is a folder here, else the first named one; the root in force where neither
        names any."""
        if (here := first_local_root((*query.roots, *self._named))) is not None:
            return here
        if query.roots:
            raise NothingToShow(f"the cache {query.roots[0]} is not a folder of this machine")
        return roots.root_in_force().path

    def _snapshot(self, root: str) -> Snapshot:
        real = os.path.realpath(root)
        if real not in self._snapshots:
            self._snapshots[real] = catalog.open_root(real, self._settings.state_path)
        return self._snapshots[real]

    def _others(self, root: str) -> list[Snapshot]:
        found: list[Snapshot] = []
        for other in roots.find():
            if other.kind is not roots.CacheKind.NEURON or not other.exists or os.path.realpath(other.path) == root:
                continue
            try:
                found.append(self._snapshot(other.path))
            except NeuronTopError:  # the cache belongs to somebody else, or is gone
                continue
            if len(found) == OTHER_ROOTS:
                break
        return found
