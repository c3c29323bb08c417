"""What an entry of a compile cache is, and which state follows from its files. Pure.

The states follow the published table (19 facts of the SDK's behavior, read from top to bottom), for the SDK's entries
(`model.neff`) and locally compiled ones (`model.inductor`) alike. Three rules go beyond it: an artifact of at most 64
bytes without a failure log was cut short while it was stored (a full disk leaves 0 bytes), so the entry is *partial*;
under a lock, such a stub counts as "no artifact yet"; and a finished entry whose lock's holder is alive is being
compiled again. What matches no row is *unknown*: shown, but never changed.
"""

from __future__ import annotations

import functools
import re
from enum import IntEnum

import msgspec

from neuron_top.cache.model import filenames
from neuron_top.cache.model.failures import Failure
from neuron_top.cache.model.states import Holder, State
from neuron_top.escapes import visible

MARKER_BYTES = 64
"""An invalid `model.neff` of up to this size beside a log is the failure marker of older clients (seen: 5 bytes)."""
LEGACY_COMPILER = (2, 14)
"""The last compiler generation whose clients took an artifact without `model.done` for a hit."""

MODULE = re.compile(r"MODULE_([0-9]{1,20}|[0-9a-f]{8,64})\+([0-9a-f]{8})\Z")
TORCH_NEURON = "torch-neuronx"
"""Stands for the compiler of entries of TorchNeuron's cache, where no name has a version."""
NEFF_FILE = re.compile(r"([0-9a-f]{2})/([0-9a-f]{2})/(\1\2[0-9a-f]{28})\.neff\Z")
"""Path of an entry of TorchNeuron's cache, which is a single file."""
TRACED = re.compile(r"MODULE_[0-9A-Za-z]+\Z")
"""A whole exported model of optimum-neuron: no flags part, no marks; only its size is known."""
_NEURON = re.compile(rf"(?:^|/)(?:{'|'.join(filenames.SDK_COMPILERS)})|^\d")
_VERSION = re.compile(r"\d+(?:\.\d+)+")


class Artifact(IntEnum):
    """The result of the cheap test of `model.neff` or `model.inductor`."""

    NONE = 0
    VALID = 1
    STUB = 2
    """Not valid and at most MARKER_BYTES long."""
    BROKEN = 3
    UNREADABLE = 4
    """It exists, but cannot be tested, because of its permissions or a link that leads outside."""


class Part:
    """Bits for the files an entry holds."""

    (
        GRAPH,
        NEFF,
        INDUCTOR,
        KERNELS,
        FLAGS_JSON,
        FLAGS_TXT,
        DONE,
        LOG,
        LOCK,
        OWNER,
        STATS,
        DESCRIPTION,
        WRAPPED,
        OTHER,
    ) = (1 << bit for bit in range(14))
    ARTIFACT = NEFF | INDUCTOR
    OUTPUT = DONE | ARTIFACT | KERNELS | WRAPPED | LOG
    """What a slim eviction takes: all that a compile made. What else lies in an entry stays, known or not."""


PARTS: dict[str, int] = {
    **dict.fromkeys(filenames.GRAPH_NAMES, Part.GRAPH),
    filenames.NEFF: Part.NEFF,
    filenames.INDUCTOR_ARTIFACT: Part.INDUCTOR,
    filenames.INDUCTOR_KERNELS: Part.KERNELS,
    **dict.fromkeys(filenames.LOCK_NAMES, Part.LOCK),
    **dict.fromkeys(filenames.OWNER_NAMES, Part.OWNER),
    filenames.FLAGS_NAMES[0]: Part.FLAGS_JSON,
    filenames.FLAGS_NAMES[1]: Part.FLAGS_TXT,
    filenames.DONE: Part.DONE,
    filenames.FAILURE_LOG: Part.LOG,
    filenames.STATS: Part.STATS,
    filenames.DESCRIPTION: Part.DESCRIPTION,
    filenames.WRAPPED_NEFF: Part.WRAPPED,
}


class Lock(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A lock file and what is known about who holds it. Times are seconds since the epoch."""

    since: float
    verdict: Holder = Holder.UNKNOWN
    proof: str | None = None
    """The evidence in words; None if there is none either way."""
    owner: str | None = None
    """`pid 4711 on host` if a lock of ours names it, or the live process that was found."""


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file of an entry that has more than one name: totals count it once, and it becomes free with its last name."""

    inode: int
    allocated: int
    names: int
    """How many names it has on the whole file system."""
    here: int
    """How many of these are in this entry."""
    kept: bool
    """Whether a slim eviction keeps it."""


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One entry as last seen. Bytes are of files only; times are seconds since the epoch; None is unknown.

    Written to the index as a bare array: 50,000 of them are read back in a tenth of a second.
    """

    compiler: str
    """Name of the compiler's folder below the root; empty if entries lie in the root itself."""
    module: str
    state: State
    parts: int
    """Bits of `Part`."""
    allocated: int
    """Disk blocks of its files, each inode once."""
    apparent: int
    """Sum of file lengths."""
    kept: int
    """The part of `allocated` that a slim eviction keeps: graph, flags, and whatever is no output of the compiler."""
    artifact_bytes: int | None
    graph_bytes: int | None
    artifact: Artifact
    artifact_inode: int
    artifact_mtime_ns: int
    flags: str | None
    """Exact text of the flags file; None if there is none."""
    flags_hash_ok: bool | None
    compiled_at: float | None
    changed_at: float
    """Newest mtime among its files and its folder."""
    read_at: float | None
    """Access time of the artifact, if the mount keeps access times and it is later than the write."""
    compile_seconds: float | None
    lock: Lock | None
    failure: Failure | None
    folder_inode: int
    folder_mtime_ns: int
    links: tuple[Link, ...] = ()
    others: tuple[str, ...] = ()
    """Names that belong to no known part, with control characters made visible."""
    problems: tuple[str, ...] = ()
    """What could not be read or is wrong, in words."""
    graph_at: float | None = None
    """When the graph's file was written; None if there is none."""
    artifact_problems: tuple[str, ...] = ()
    """Those of `problems` that are about files of the artifact."""
    kernels_bytes: int | None = None
    """Length of the kernels beside a local artifact; None if there are none."""
    has_links: bool = False
    """Whether some of its files are symbolic links: what they lead to may change without a change in its folder."""

    @property
    def path(self) -> str:
        """Path below the root."""
        if self.compiler == TORCH_NEURON:  # as `is_file`, but faster: a plan asks 50,000 times
            return f"{self.module[:2]}/{self.module[2:4]}/{self.module}.neff"
        return f"{self.compiler}/{self.module}" if self.compiler else self.module

    @property
    def is_file(self) -> bool:
        """Whether it is a single file, as TorchNeuron's are, and no folder."""
        return self.compiler == TORCH_NEURON

    @property
    def unreadable(self) -> tuple[str, ...]:
        """The problems that leave the entry's state in doubt. What is wrong with an artifact that could be read is not
        among them: the state says it."""
        if self.artifact not in (Artifact.STUB, Artifact.BROKEN):
            return self.problems
        return tuple(problem for problem in self.problems if problem not in self.artifact_problems)

    def flag_list(self) -> list[str] | None:
        """The compiler flags, safe to show: the JSON list, or the words of the older text form.

        None if there is no flags file, or it cannot be read.
        """
        if self.flags is None:
            return None
        if self.parts & Part.FLAGS_JSON:
            try:
                return [visible(flag) for flag in msgspec.json.decode(self.flags, type=list[str])]
            except (msgspec.MsgspecError, UnicodeError):
                return None
        return [visible(flag) for flag in self.flags.split()]

    @property
    def neff_bytes(self) -> int | None:
        """Length of `model.neff`; None if there is none (a local artifact is no NEFF)."""
        return self.artifact_bytes if self.parts & Part.NEFF else None

    @property
    def output_bytes(self) -> int | None:
        """Bytes of the compiler's output, as compiles report it: the artifact and, for Inductor, its kernels."""
        return self.artifact_bytes if self.artifact_bytes is None else self.artifact_bytes + (self.kernels_bytes or 0)

    @property
    def local(self) -> bool:
        """True for a folder of the local compiler, False for the SDK's."""
        if not self.compiler:
            return bool(self.parts & Part.INDUCTOR)
        return _NEURON.search(self.compiler) is None


def is_module_name(name: str) -> bool:
    """Whether a folder of this name is an entry, of whatever layout."""
    return MODULE.match(name) is not None or TRACED.match(name) is not None


def is_entry_path(path: str) -> bool:
    """Whether a path below a root has the form that entries have."""
    folder, slash, name = path.rpartition("/")
    return bool(MODULE.match(name) and (folder or not slash)) or NEFF_FILE.match(path) is not None


def is_neff_path(path: str) -> bool:
    """Whether an entry's path below a root is that of a single file, as TorchNeuron's are."""
    return path.endswith(".neff")


def key_of_neff(path: str) -> str:
    """The key of TorchNeuron's entry at a path below the root. Raises ValueError for another path."""
    found = NEFF_FILE.match(path)
    if found is None:
        raise ValueError(f"{path!r} is not an entry of TorchNeuron's cache")
    return found[3]


def written_at(entry: Entry) -> float:
    """When its artifact was made; without one, when its files or its folder last changed."""
    return entry.compiled_at or entry.changed_at


def compiler_version(folder: str) -> tuple[int, ...]:
    """`neuronxcc-2.20.9961.0+0acef03a` → (2, 20, 9961, 0); () if the name has no version."""
    found = _VERSION.search(folder)
    return tuple(int(part[:9]) for part in found[0].split(".")) if found else ()


@functools.cache
def is_legacy(compiler: str) -> bool:
    """True if the compiler is from the time when an artifact without `model.done` was a hit."""
    version = compiler_version(compiler)
    return bool(_NEURON.search(compiler)) and bool(version) and version[:2] <= LEGACY_COMPILER


@functools.cache
def classify(artifact: Artifact, parts: int, legacy: bool, failure_log: bool, holder: Holder = Holder.UNKNOWN) -> State:
    """The state that follows from an entry's parts; every combination has one.

    `legacy`: the compiler is at most 2.14; `failure_log`: `model.log` starts as a failure does.
    """
    done, log, lock, graph = (bool(parts & bit) for bit in (Part.DONE, Part.LOG, Part.LOCK, Part.GRAPH))
    if done:
        return _marked(artifact, lock=lock, holder=holder)
    if artifact is Artifact.VALID:
        return _unmarked(log=log, lock=lock, graph=graph, legacy=legacy or bool(parts & Part.FLAGS_TXT))
    if artifact is Artifact.UNREADABLE:
        return State.UNKNOWN
    if artifact is Artifact.BROKEN or (artifact is Artifact.STUB and not log and not lock):
        return State.PARTIAL
    if lock:
        return _locked(log=log, holder=holder) if graph else State.UNKNOWN
    if log:
        if not graph or (artifact is Artifact.NONE and not failure_log):
            return State.UNKNOWN
        return State.FAILED if artifact is Artifact.NONE else State.FAILED_LEGACY
    return State.EXTRACTED if graph else State.EMPTY


def _marked(artifact: Artifact, *, lock: bool, holder: Holder) -> State:
    if artifact is Artifact.NONE:
        return State.INCONSISTENT
    if artifact is Artifact.VALID:
        if not lock:
            return State.HIT
        return State.COMPILING if holder is Holder.ALIVE else State.HIT_LEFTOVER_LOCK
    return State.UNKNOWN if lock or artifact is Artifact.UNREADABLE else State.CORRUPT


def _unmarked(*, log: bool, lock: bool, graph: bool, legacy: bool) -> State:
    if log or not graph or (legacy and lock):
        return State.UNKNOWN
    return State.HIT_LEGACY if legacy else State.PUBLISHED_UNMARKED


def _locked(*, log: bool, holder: Holder) -> State:
    if holder is Holder.ALIVE:
        return State.RETRYING if log else State.COMPILING
    return State.STALE_LOCK if holder is Holder.DEAD else State.LOCKED_UNKNOWN
