"""What the sub-commands share: which root is meant, the snapshot of it, entries as JSON."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from neuron_top.cli.names import named
from neuron_top.cli.output import log_stderr
from neuron_top.errors import NothingToShow, UsageError
from neuron_top.escapes import name_text, visible
from neuron_top.services.cache_reader import (
    NOTHING_RECORDED,
    CacheReader,
    Entry,
    EntryTally,
    EntryTotals,
    Failure,
    Filesystem,
    Lock,
    Snapshot,
    State,
    UsageHistory,
    is_ahead,
    states_named,
)
from neuron_top.units import UNKNOWN, bytes_text, counted, duration_text

_CACHES_NAMED = 3


def add_root(parser: argparse.ArgumentParser) -> None:
    """The arguments every sub-command has."""
    parser.add_argument(
        "root", nargs="?", type=named, metavar="ROOT", help="the cache's folder (default: the one in force)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    text = "without ROOT: TorchNeuron's cache, TORCH_NEURONX_NEFF_CACHE_DIR or /tmp/neff_cache"
    parser.add_argument("--torch-neuron", action="store_true", help=text)


def folder_and_key(arguments: argparse.Namespace) -> tuple[str | None, str]:
    """The folder among the two words of `add_entry`, if one is, and the key. Raises UsageError without one key."""
    words = [word for word in (arguments.root, arguments.module) if word is not None]
    folders = [word for word in words if Path(word).is_dir()]
    keys = [word for word in words if word not in folders]
    if len(keys) != 1:
        raise UsageError("specify an entry: a module key, or a part of one")
    return folders[0] if folders else None, keys[0]


def add_entry(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """A module beside the root: with one word given, it is the module, and the root is the one in force."""
    parser.add_argument("module", nargs="?", metavar="MODULE", help="a module key, or a part that names one entry")
    word = "[ROOT] MODULE" if required else "[ROOT] [MODULE]"
    parser.usage = f"%(prog)s [options] {word}"


def root_and_entry(arguments: argparse.Namespace, service: CacheReader, *, required: bool) -> tuple[str, str | None]:
    """(root, text naming an entry) from one or two words in either order; an entry's own folder names both."""
    words = [word for word in (arguments.root, arguments.module) if word is not None]
    entry_folder = next((Path(word) for word in words if _is_entry_folder(Path(word))), None)
    if entry_folder is not None and len(words) == 1:
        folder = entry_folder.absolute()
        return service.resolve(str(folder.parent.parent)), f"{folder.parent.name}/{folder.name}"
    roots_named = [word for word in words if "MODULE_" not in word and ("/" in word or Path(word).is_dir())]
    texts = [word for word in words if word not in roots_named]
    if len(roots_named) > 1 or len(texts) > 1:
        raise UsageError("specify one ROOT and one MODULE")
    if required and not texts:
        raise UsageError("specify one entry: a module key, or a part of one")
    return service.resolve(roots_named[0] if roots_named else None), texts[0] if texts else None


def _is_entry_folder(path: Path) -> bool:
    return path.name.startswith("MODULE_") and path.is_dir()


def take_snapshot(service: CacheReader, root: str, *, rescan: bool = False) -> Snapshot:
    """The current snapshot of `root`; what could not be read is reported on stderr."""
    snapshot = service.snapshot(root, rescan=rescan)
    report_problems(snapshot)
    return snapshot


def report_problems(snapshot: Snapshot) -> None:
    """Report what could not be read, and a folder that may be no cache."""
    question_root(snapshot)
    for problem in snapshot.problems[:10]:
        log_stderr(f"neurontop: {problem}")
    if len(snapshot.problems) > 10:
        log_stderr(f"neurontop: and {len(snapshot.problems) - 10} more that could not be read")
    if snapshot.atime_fallbacks:
        log_stderr(
            f"neurontop: {counted(snapshot.atime_fallbacks, 'file')} of other users had to be opened in a way that may "
            "have changed access times"
        )


def question_root(snapshot: Snapshot) -> None:
    """Ask whether a folder was meant that holds only other things. An empty one is fine: it may become a cache."""
    if snapshot.others and not snapshot.entries:
        from neuron_top.services.cache_places import caches_below  # looks into every kind of cache

        root = visible(name_text(snapshot.root))
        below = [visible(name_text(path)) for path in caches_below(snapshot.root, _CACHES_NAMED + 1)]
        question = "is it the folder that was meant?"
        if below:
            more = " and others" if len(below) > _CACHES_NAMED else ""
            question = f"caches lie below it, name one: {', '.join(below[:_CACHES_NAMED])}{more}"
        log_stderr(f"neurontop: {root} holds files, but no entry of a compile cache: {question}")


def name_others(root: str) -> None:
    """Tell a person which other Neuron caches exist here."""
    if not sys.stderr.isatty():
        return
    from neuron_top.services.cache_places import other_neuron_caches  # looks into every kind of cache

    for other in other_neuron_caches(root):
        log_stderr(f"neurontop: another cache is in {other.path} ({other.origin})")


def state_names(text: str) -> frozenset[State]:
    """`failed,extracted` → states. Raises UsageError for an unknown name, or for no name."""
    try:
        states = states_named(text)
    except ValueError as problem:
        raise UsageError(f"--state: {problem}") from None
    if not states:
        raise UsageError(f"--state: no state was given; the states are {', '.join(State)}")
    return states


def one_entry(snapshot: Snapshot, text: str) -> Entry:
    """The entry that `text` names. Raises NothingToShow for none, UsageError for several."""
    found = snapshot.find(text)
    if not found:
        raise NothingToShow(f"no entry of {snapshot.root} matches {text!r}")
    if len(found) > 1:
        names = ", ".join(entry.path for entry in found[:5])
        raise UsageError(f"{len(found)} entries match {text!r}: {names}{' …' if len(found) > 5 else ''}")
    return found[0]


def instant(seconds: float | None) -> str | None:
    """RFC 3339 in UTC, whole seconds; None stays None."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return None


def since_text(at: float | None, now: float) -> str:
    """How long ago a time was; unknown, too, if it lies ahead of the clock."""
    return UNKNOWN if at is None or is_ahead(at, now) else duration_text(max(0.0, now - at))


def entry_json(entry: Entry, now: float, past: UsageHistory = NOTHING_RECORDED) -> dict[str, object]:
    """One entry as `--json` gives it: raw bytes and seconds, instants in UTC, unknown as null."""
    return {
        "compiler": entry.compiler,
        "module": entry.module,
        "state": entry.state,
        "bytes": entry.allocated,
        "apparent_bytes": entry.apparent,
        "neff_bytes": entry.neff_bytes,
        "artifact_bytes": entry.output_bytes,
        "graph_bytes": entry.graph_bytes,
        "flags": entry.flag_list(),
        "flags_hash_ok": entry.flags_hash_ok,
        "compiled_at": instant(entry.compiled_at),
        "compile_seconds": past.compile_seconds(entry),
        "last_used": instant(past.last_used(entry)),
        "last_used_known_by": past.known_by(entry),
        "changed_at": instant(entry.changed_at),
        "lock": lock_json(entry.lock, now),
        "failure": failure_json(entry.failure),
        "unknown_files": list(entry.others),
        "problems": list(entry.problems),
    }


def lock_json(lock: Lock | None, now: float) -> dict[str, object] | None:
    """A lock with its age in seconds and what proves its holder alive or dead."""
    if lock is None:
        return None
    return {
        "age_seconds": round(max(0.0, now - lock.since), 3),
        "since": instant(lock.since),
        "verdict": lock.verdict,
        "proof": lock.proof,
        "owner": lock.owner,
    }


def failure_json(failure: Failure | None) -> dict[str, object] | None:
    """A failure's class, code, message, time and advice."""
    if failure is None:
        return None
    from neuron_top.views.failure_advice import ADVICE  # sums of a cache need no words

    return {
        "class": failure.kind,
        "code": failure.code,
        "message": failure.message,
        "at": instant(failure.at),
        "advice": ADVICE[failure.cause],
    }


def totals_json(totals: EntryTotals, disk: Filesystem) -> dict[str, object]:
    """The sums, by state and by compiler, and the disk's free space."""
    return {
        **_tally_json(totals.all),
        "states": {name: _tally_json(tally) for name, tally in totals.states.items()},
        "compilers": {name: _tally_json(tally) for name, tally in totals.compilers.items()},
        "free_bytes": disk.free,
        "disk_bytes": disk.total,
        "free_inodes": disk.free_inodes,
        "filesystem": disk.kind,
        "shared": disk.shared,
    }


def _tally_json(tally: EntryTally) -> dict[str, object]:
    return {
        "entries": tally.entries,
        "bytes": tally.bytes,
        "apparent_bytes": tally.apparent_bytes,
        "compile_seconds": tally.compile_seconds,
    }


def disk_text(disk: Filesystem) -> str:
    """`12.3 GiB free of 100 GiB on ext4`, with a warning where one is due; of a bucket, which has no size, its kind."""
    if disk.total is None and disk.kind:
        return disk.kind
    text = f"{bytes_text(disk.free)} free of {bytes_text(disk.total)} on {disk.kind or 'an unknown file system'}"
    return f"{text} (shared: {disk.why_shared})" if disk.shared else text


def now() -> float:
    """The wall clock."""
    return time.time()
