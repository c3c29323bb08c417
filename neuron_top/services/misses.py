"""Why graphs missed the compile cache, as the caches of this machine tell now."""

from __future__ import annotations

import time
from collections.abc import Sequence

from neuron_top.errors import NeuronTopError
from neuron_top.explain.miss_causes import Explanation
from neuron_top.ingest import run_loader
from neuron_top.ingest.miss_explainer import MissExplainer
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.views.miss_explanation import Misses, MissExplanation, MissQuery, not_known, questions, why

__all__ = ["Explanation", "MISSES_EXPLAINED", "MissService"]

MISSES_EXPLAINED = 25
"""Of a run on a screen: those that took longest."""


class MissService:
    """Explains misses. `root`: the cache to look in, whatever a question names."""

    def __init__(self, settings: Settings, root: str | None = None) -> None:
        self._settings, self._root = settings, root

    def why(self, query: MissQuery) -> MissExplanation:
        """Why a graph missed; where no cache can be looked at, the answer says so."""
        return _answer(MissExplainer(self._settings, self._root), query)

    def misses(self, queries: Sequence[MissQuery]) -> Misses:
        """Why these missed, the first of them; all caches are looked at once."""
        explainer = MissExplainer(self._settings, self._root)
        answers = tuple(_answer(explainer, query) for query in queries[:MISSES_EXPLAINED])
        return Misses(met=len(queries), told=answers)

    def misses_of(self, run: str) -> Misses:
        """Why graphs of a recording missed. Raises NothingToShow, StoreUnusable."""
        return self.misses(questions(run_loader.load([run], self._settings), 0.0))

    def explain_module(self, module: str) -> Explanation:
        """Everything that was found about one graph, for a program. Raises NothingToShow."""
        return MissExplainer(self._settings, self._root).explain(MissQuery(module=module))

    def explain_run(self, run: Run, limit: int) -> tuple[list[Explanation], int]:
        """The misses of a run that took longest, `limit` of them explained; and how many there are."""
        return MissExplainer(self._settings, self._root).of_run(run, limit)


def _answer(explainer: MissExplainer, query: MissQuery) -> MissExplanation:
    began = time.monotonic()
    try:
        explanation = explainer.explain(query)
    except NeuronTopError as problem:
        return not_known(query, str(problem))
    return why(explanation, time.monotonic() - began)
