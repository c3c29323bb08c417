"""Why a graph missed, for a screen: the query that a run gives, and the answer as rows. Pure.

Answering it reads a cache: a screen gets the query by `feed.read(partial(question, key=key))`, hands it to
`services.misses.MissService.why` in a thread, and draws the `MissExplanation` that comes back.
"""

from __future__ import annotations

import msgspec

from neuron_top.cache.model.filenames import DEFAULT_ROOT
from neuron_top.cache.roots import named_by
from neuron_top.escapes import visible
from neuron_top.explain.kinds import CauseKind
from neuron_top.explain.miss_causes import Explanation
from neuron_top.run.model import Run
from neuron_top.units import counted
from neuron_top.views.metric import value_text
from neuron_top.views.miss_sentences import cause_text

SHOWN = 5
"""Causes a screen shows; the command `neurontop explain` prints them all."""


class MissQuery(msgspec.Struct, frozen=True, kw_only=True):
    """One miss to be explained."""

    module: str
    roots: tuple[str, ...] = ()
    """Caches that the run named, the likeliest first; none: the one in force."""
    compiler: str | None = None
    """The folder it was wanted in, where a line said so."""
    compiled_here: bool = False
    """The run compiled it itself, so that its present entry is what came of the miss, not its reason."""
    began: float | None = None
    """When the run did, seconds since the epoch: what it put into the cache itself was not there before."""
    ended: float | None = None
    """When a recorded run did: what was removed from the cache later did not make it miss."""


class MissReason(msgspec.Struct, frozen=True, kw_only=True):
    """One cause."""

    kind: str
    """As `explain.kinds.CauseKind`: `batch size`, `flags: added`, `evicted`, …"""
    text: str
    entry: str
    """The entry it was compared with, `compiler/module`; "" where none was."""


class MissExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. There is always a headline, and unless no cache could be looked at, a reason."""

    module: str
    headline: str
    """One sentence: the likeliest cause."""
    reasons: tuple[MissReason, ...]
    """The likeliest first."""
    footnote: str
    """What the answer rests on."""


class CauseDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that explains a miss, in `neurontop explain --json`."""

    kind: CauseKind
    text: str
    likely: float
    """Orders causes, 0…1; it is no probability."""
    entry: str | None
    """The entry it was compared with, `compiler/module`."""
    root: str | None
    """The cache that the cause names; None: the one that was looked in."""


class MissDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was found about one graph, in `neurontop explain --json`."""

    module: str
    root: str
    state: str | None
    """Of its own entry; None when there is none."""
    causes: tuple[CauseDocument, ...]
    """The likeliest first; there is always one."""
    compared: int
    """Graphs that were read and compared."""

    @property
    def is_known(self) -> bool:
        """False where the cache knows nothing of such a graph: no entry of that name, and none like it."""
        return self.state is not None or self.causes[0].kind is not CauseKind.NOTHING_NEAR


class Misses(msgspec.Struct, frozen=True, kw_only=True):
    """The misses of a run, the longest compiles first."""

    met: int
    """How many there are; `explained` may hold fewer."""
    explained: tuple[MissExplanation, ...]


def question(run: Run, _now: float, key: str) -> MissQuery | None:
    """The query about a graph of this run; None if it did not miss, or was never named."""
    graph = run.compiles.graphs.get(key)
    if graph is None or graph.module is None:
        return None
    digest = run.compiles.totals.summary(graph)
    if not (digest.misses or digest.failures_met):
        return None
    changed = run.caches.entry(graph.module)
    paths = [graph.root, changed.root if changed is not None else None, *roots(run)]
    return MissQuery(
        module=graph.module,
        roots=tuple(dict.fromkeys(path for path in paths if path)),
        compiler=graph.compiler,
        compiled_here=digest.misses > 0 and digest.failures_met == 0,
        began=run.started,
        ended=run.job.finished,
    )


def questions(run: Run, now: float) -> tuple[MissQuery, ...]:
    """All misses of a run that have a name, the longest compiles first."""
    graphs = sorted(run.compiles.graphs.values(), key=lambda graph: -(graph.duration.seconds or 0.0))
    found = (question(run, now, graph.key) for graph in graphs)
    return tuple(one for one in found if one is not None)


def roots(run: Run) -> tuple[str, ...]:
    """The caches a run announced, the newest first, then the one that the environment of a recorded job names."""
    paths = list(reversed(run.compiles.counts.cache_paths))
    if run.job.run:
        path = (named_by(run.job.environment)[0] or DEFAULT_ROOT).removeprefix("file://")
        paths.append(path if path.startswith("/") or "://" in path else f"{run.job.directory}/{path}")
    return tuple(dict.fromkeys(paths))


def known_roots(run: Run) -> tuple[str, ...]:
    """The same, and every cache that was seen on this machine while the run was watched."""
    return tuple(dict.fromkeys((*roots(run), *run.caches.roots)))


def why(explanation: Explanation, seconds: float | None = None) -> MissExplanation:
    """An explanation as rows. `seconds`: how long it took to find."""
    first = explanation.causes[0]
    compared = f"compared with {counted(explanation.compared, 'graph')} of {explanation.root}"
    took = f" in {value_text(seconds, 'seconds')}" if seconds is not None else ""
    return MissExplanation(
        module=explanation.module,
        headline=visible(cause_text(first.code, first.values)),
        reasons=tuple(
            MissReason(kind=cause.kind, text=visible(cause_text(cause.code, cause.values)), entry=cause.entry or "")
            for cause in explanation.causes[:SHOWN]
        ),
        footnote=f"{compared}{took}" if explanation.compared else f"looked up in {explanation.root}{took}",
    )


def document(explanation: Explanation) -> MissDocument:
    """An explanation as the document that programs read."""
    return MissDocument(
        module=explanation.module,
        root=explanation.root,
        state=explanation.state,
        causes=tuple(
            CauseDocument(
                kind=cause.kind,
                text=cause_text(cause.code, cause.values),
                likely=cause.score,
                entry=cause.entry,
                root=cause.root,
            )
            for cause in explanation.causes
        ),
        compared=explanation.compared,
    )


def not_known(asked: MissQuery, reason: str) -> MissExplanation:
    """The answer where no cache can be looked at."""
    return MissExplanation(module=asked.module, headline=f"cannot be known: {reason}", reasons=(), footnote="")
