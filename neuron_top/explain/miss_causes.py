"""Why a lookup missed: what the cache, its neighbors and its journal say, the likeliest cause first.

Causes that a name proves (another compiler, other flags, an eviction) come before those that a comparison of graphs
suggests. Graphs are compared with the entries nearest in size and in time; reading stops at a bound, so that fifty
thousand entries take no longer than fifty.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from heapq import nlargest, nsmallest

import msgspec

from neuron_top.actions.journal.plan_history import PlanHistory
from neuron_top.cache.model.compiler_names import is_same_compiler
from neuron_top.cache.model.entry import Entry, Part
from neuron_top.cache.model.keys import GRAPH_DIGITS, parse_key
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.cache.model.states import FAILURES, HITS, State
from neuron_top.explain.flag_changes import differences
from neuron_top.explain.graph_changes import changes
from neuron_top.explain.kinds import CauseCode, CauseKind, CauseValue, CauseValues
from neuron_top.explain.miss_evidence import MissEvidence
from neuron_top.explain.signature import GraphSignature, is_continuation, same_program, similarity

NEAR = 0.45
"""Similarity from which on two graphs are taken for versions of one."""
BY_SIZE, BY_TIME = 32, 16
"""How many entries are read because they are nearest in size, and in time."""
BY_FLAGS = 32
"""How many entries of the same graph are compared by their flags."""
COPIED_SECONDS = 2.0
"""A cache that was copied has lost its times: entries made within so short a time may stand in any order."""
READ_BYTES = 4 * 1024**2
"""Graphs read for one explanation, bytes; at least four times the graph in question."""


class MissCause(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that explains a miss."""

    kind: CauseKind
    code: CauseCode
    values: CauseValues = {}
    score: float
    """Orders causes, 0…1; it is no probability."""
    entry: str | None = None
    """The entry it was compared with, `compiler/module`."""
    root: str | None = None


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Everything found about one graph, the likeliest cause first; there is always one."""

    module: str
    root: str
    state: str | None
    """Of its own entry; None when there is none."""
    causes: tuple[MissCause, ...]
    compared: int
    """Graphs that were read and compared."""


def explain(
    module: str,
    snapshot: Snapshot,
    *,
    others: Sequence[Snapshot] = (),
    compiler: str | None = None,
    compiled_here: bool = False,
    began: float | None = None,
    ended: float | None = None,
    evidence: MissEvidence | None = None,
) -> Explanation:
    """Why `module` (a key, or a part that names one) missed in this cache.

    `compiler`: the folder it was wanted in, or the version that its name ends with. `compiled_here`: the run that
    missed compiled it itself, so that the state of its entry now (failed, say) is what came of the miss. `began`: when
    that run did, seconds since the epoch: what it made itself was not there before. `ended`: likewise; what was removed
    later did not make it miss. `evidence`: shared by explanations from the same snapshots.
    """
    evidence = evidence or MissEvidence()
    matches = [entry for entry in snapshot.find(module) if compiler is None or _is_of(entry, compiler)]
    subject = max(matches, key=lambda entry: entry.changed_at) if matches else None
    key, wanted = (subject.module, subject.compiler) if subject is not None else (module, compiler)
    causes = [
        *(() if compiled_here else _own_state(subject)),
        *_evicted(key, wanted, snapshot.root, evidence, ended),
        *_other_compilers(key, wanted, snapshot.entries),
        *_other_flags(key, subject, wanted, snapshot.entries),
        *_other_roots(key, wanted, others),
    ]
    compared = 0
    if subject is not None:
        graphs = _Nearest(snapshot, subject, evidence, began)
        causes += graphs.causes()
        compared = graphs.compared
    # Another cause says what differs: then it is nothing finer than the structure.
    causes = [cause for cause in causes if cause.code is not CauseCode.SAME_STRUCTURE] or causes
    if not causes:
        causes.append(_nothing(subject, compared))
    return Explanation(
        module=key,
        root=snapshot.root,
        state=str(subject.state) if subject is not None else None,
        causes=tuple(sorted(causes, key=lambda cause: -cause.score)),
        compared=compared,
    )


def _nothing(subject: Entry | None, compared: int) -> MissCause:
    nothing_alike = CauseCode.NONE_ALIKE if compared else CauseCode.NOTHING_BEFORE
    code = nothing_alike if subject is not None else CauseCode.NO_ENTRY
    return MissCause(kind=CauseKind.NOTHING_NEAR, code=code, values={"compared": compared}, score=0.1)


def _extra(beside: Entry) -> MissCause:
    """It uses the inputs or outputs of another graph of the job, so something was put between them."""
    return MissCause(kind=CauseKind.EXTRA_GRAPH, code=CauseCode.EXTRA_GRAPH, score=0.6, entry=beside.path)


def _own_state(subject: Entry | None) -> Iterator[MissCause]:
    if subject is None or subject.state in (State.HIT, State.HIT_LEFTOVER_LOCK, State.COMPILING):
        return  # what is being compiled now has missed for a reason that lies elsewhere
    if subject.state in FAILURES:
        yield _failed(subject)
    elif subject.state is State.HIT_LEGACY:
        yield MissCause(kind=CauseKind.INVISIBLE, code=CauseCode.INVISIBLE, score=0.99, entry=subject.path)
    else:
        yield MissCause(
            kind=CauseKind.NOT_USABLE,
            code=CauseCode.NOT_USABLE,
            values={"state": subject.state},
            score=0.98,
            entry=subject.path,
        )


def _failed(subject: Entry) -> MissCause:
    failure = subject.failure
    code, values = CauseCode.FAILED, dict[str, CauseValue]()
    if failure is not None:
        code = CauseCode.FAILED_WITH_MESSAGE if failure.message else CauseCode.FAILED_WITHOUT_MESSAGE
        values = {"message": failure.message, "failure": failure.cause}
    return MissCause(kind=CauseKind.FAILED, code=code, values=values, score=0.99, entry=subject.path)


def _evicted(
    key: str, compiler: str | None, root: str, evidence: MissEvidence, ended: float | None
) -> Iterator[MissCause]:
    """Who removed it. An entry of another compiler would have been no hit: it matters only if none is known."""
    for history, move in evidence.removals(root).get(key, ()):
        if ended is not None and history.since > ended:
            continue
        if compiler is None or is_same_compiler(move.entry.rpartition("/")[0], compiler):
            yield MissCause(
                kind=CauseKind.EVICTED,
                code=CauseCode.EVICTED_FOR_GOOD if history.purged else CauseCode.EVICTED,
                values=_eviction(history),
                score=0.985,
                entry=move.path,
                root=root,
            )
            return


def _eviction(history: PlanHistory) -> CauseValues:
    begun = history.begun
    return {
        "user": begun.user,
        "host": begun.host,
        "at": datetime.fromtimestamp(begun.at, UTC),
        "verb": begun.verb,
        "policy": begun.policy,
        "plan": begun.plan,
    }


def _other_compilers(key: str, compiler: str | None, entries: Iterable[Entry]) -> Iterator[MissCause]:
    if compiler is None:
        return
    there = [entry for entry in entries if entry.module == key and not _is_of(entry, compiler) and entry.state in HITS]
    if not there:
        return
    nearest = max(there, key=lambda entry: entry.changed_at)
    yield _compiler_cause(CauseCode.OTHER_COMPILER, nearest, compiler, 0.97)


def _compiler_cause(code: CauseCode, entry: Entry, wanted: str, score: float, root: str | None = None) -> MissCause:
    return MissCause(
        kind=CauseKind.COMPILER_VERSION,
        code=code,
        values={"cached": entry.compiler, "wanted": wanted},
        score=score,
        entry=entry.path,
        root=root,
    )


def _other_flags(
    key: str, subject: Entry | None, compiler: str | None, entries: Iterable[Entry]
) -> Iterator[MissCause]:
    name = parse_key(key)
    if name is None:
        return
    graph = f"MODULE_{name.graph}+"
    same = [entry for entry in entries if entry.module.startswith(graph) and entry.module != key]
    before = _before(same, subject)
    if not before:
        return
    now = subject.flag_list() if subject is not None else None
    nearest = _nearest_flags(before, compiler, now)
    flags = nearest.flag_list()
    if flags is None or now is None:
        code = CauseCode.OTHER_FLAGS_HERE if flags else CauseCode.OTHER_FLAGS_UNKNOWN
        values: CauseValues = {"flags": " ".join(flags or ())}
        yield MissCause(kind=CauseKind.FLAGS, code=code, values=values, score=0.96, entry=nearest.path)
    elif flags == now:
        code = CauseCode.FLAGS_FILE_FORM
        yield MissCause(kind=CauseKind.CLIENT_FORM, code=code, score=0.965, entry=nearest.path)
    else:
        yield _flags_cause(CauseCode.OTHER_FLAGS, flags, now, 0.97, nearest)
    if compiler is not None and not _is_of(nearest, compiler):
        yield _compiler_cause(CauseCode.OTHER_COMPILER_TOO, nearest, compiler, 0.958)


def _nearest_flags(entries: Sequence[Entry], compiler: str | None, flags: Sequence[str] | None) -> Entry:
    """The entry whose flags differ least, of the newest that could have been hits: other jobs may have others yet."""

    def rank(entry: Entry) -> tuple[bool, bool]:
        return entry.state in HITS, compiler is None or _is_of(entry, compiler)

    best = max(map(rank, entries))
    newest = nlargest(BY_FLAGS, (entry for entry in entries if rank(entry) == best), key=lambda each: each.changed_at)
    if flags is None:
        return newest[0]

    def distance(entry: Entry) -> float:
        theirs = entry.flag_list()
        return math.inf if theirs is None else differences(theirs, flags).count

    return min(newest, key=distance)


def _flags_cause(code: CauseCode, before: Sequence[str], now: Sequence[str], score: float, entry: Entry) -> MissCause:
    difference = differences(before, now)
    kind = CauseKind.of_flags(difference.kind)
    return MissCause(kind=kind, code=code, values={"flags": difference}, score=score, entry=entry.path)


def _other_roots(key: str, compiler: str | None, others: Iterable[Snapshot]) -> Iterator[MissCause]:
    """What is cached elsewhere: of the compiler that was wanted the root is why it missed, of another that is."""
    for other in others:
        there = [entry for entry in other.entries if entry.module == key and entry.state in HITS]
        usable = [entry for entry in there if compiler is None or _is_of(entry, compiler)]
        if usable:
            yield MissCause(
                kind=CauseKind.OTHER_ROOT,
                code=CauseCode.OTHER_ROOT,
                values={"root": other.root},
                score=0.96,
                entry=usable[0].path,
                root=other.root,
            )
        elif there and compiler is not None:
            yield _compiler_cause(CauseCode.OTHER_COMPILER, there[0], compiler, 0.5, other.root)


def _before(entries: Sequence[Entry], subject: Entry | None) -> list[Entry]:
    """Entries that were there when the subject was looked up; of one that all were copied together with, all."""
    if subject is None:
        return list(entries)
    own = _made(subject)
    earlier = [entry for entry in entries if _made(entry) < own]
    return earlier or [entry for entry in entries if _made(entry) - own < COPIED_SECONDS]


def _is_of(entry: Entry, compiler: str) -> bool:
    """Whether an entry is of this compiler."""
    return is_same_compiler(entry.compiler, compiler)


def _made(entry: Entry) -> float:
    return entry.compiled_at if entry.compiled_at is not None else entry.changed_at


def _is_hexadecimal(module: str) -> bool:
    name = parse_key(module)
    return name is not None and len(name.graph) == GRAPH_DIGITS and not name.graph.isdecimal()


class _Nearest:
    """The graphs nearest to one: chosen by size and time, then read and compared."""

    def __init__(self, snapshot: Snapshot, subject: Entry, evidence: MissEvidence, began: float | None) -> None:
        self._root, self._subject, self._evidence = snapshot.root, subject, evidence
        self._began = began if began is not None else math.inf
        self._entries = [entry for entry in snapshot.entries if entry.parts & Part.GRAPH and entry.path != subject.path]
        self.compared = 0

    def causes(self) -> list[MissCause]:
        """What differs from the graph that is most alike."""
        own, torch = self._evidence.signature(self._root, self._subject)
        if own is None:
            return []
        best: tuple[float, Entry, GraphSignature, str] | None = None
        beside: Entry | None = None
        left = max(READ_BYTES, 4 * (self._subject.graph_bytes or 0))
        for entry in self._candidates():
            left -= entry.graph_bytes or 0
            if left < 0:
                break
            signature, version = self._evidence.signature(self._root, entry)
            if signature is None:
                continue
            self.compared += 1
            near = similarity(signature, own) + (0.001 if entry.compiler == self._subject.compiler else 0.0)
            if (best is None or near > best[0]) and self._may_be_a_version(entry, signature, own):
                best = (near, entry, signature, version)
            if beside is None and _made(entry) < self._began and is_continuation(own, signature):
                beside = entry
        if best is None or best[0] < NEAR:
            return [_extra(beside)] if beside is not None else []
        return list(self._causes_of(best[1], best[2], own, best[3], torch))

    def _may_be_a_version(self, entry: Entry, signature: GraphSignature, own: GraphSignature) -> bool:
        """A job has many graphs that look a little alike: what it made itself is the same program, or another graph."""
        return _made(entry) < self._began or same_program(signature, own)

    def _causes_of(
        self, entry: Entry, before: GraphSignature, now: GraphSignature, version: str, own_version: str
    ) -> Iterator[MissCause]:
        is_other_torch = bool(version and own_version and version != own_version)
        if is_other_torch:
            values: CauseValues = {"before": version, "now": own_version}
            code = CauseCode.OTHER_TORCH
            yield MissCause(kind=CauseKind.TORCH_VERSION, code=code, values=values, score=0.955, entry=entry.path)
        differing = changes(before, now)
        for change in differing:
            yield MissCause(
                kind=change.kind, code=change.code, values=change.values, score=change.score, entry=entry.path
            )
        if differing or is_other_torch:
            yield from self._also(entry, is_other_torch=is_other_torch)
            return
        hexadecimal = [_is_hexadecimal(each.module) for each in (entry, self._subject)]
        if hexadecimal[0] != hexadecimal[1] and now.kind == "hlo":
            yield MissCause(kind=CauseKind.CLIENT_FORM, code=CauseCode.KEY_FORM, score=0.95, entry=entry.path)
        else:
            code = CauseCode.SAME_STRUCTURE
            yield MissCause(kind=CauseKind.SAME_STRUCTURE, code=code, score=0.4, entry=entry.path)

    def _also(self, entry: Entry, *, is_other_torch: bool) -> Iterator[MissCause]:
        """What differs from an entry besides the graph: the same graph would have missed, too."""
        if entry.compiler != self._subject.compiler and not is_other_torch:  # a folder of Inductor's has its version
            yield _compiler_cause(CauseCode.OTHER_COMPILER_TOO, entry, self._subject.compiler, 0.45)
        before, now = entry.flag_list(), self._subject.flag_list()
        if before is not None and now is not None and before != now:
            yield _flags_cause(CauseCode.OTHER_FLAGS_TOO, before, now, 0.44, entry)

    def _candidates(self) -> list[Entry]:
        before = _before(self._entries, self._subject)
        size = math.log(max(1, self._subject.graph_bytes or 1))
        own = _made(self._subject)
        sized = nsmallest(BY_SIZE, before, key=lambda entry: abs(math.log(max(1, entry.graph_bytes or 1)) - size))
        timed = nsmallest(BY_TIME, before, key=lambda entry: abs(_made(entry) - own))
        return list({entry.path: entry for entry in (*sized, *timed)}.values())
