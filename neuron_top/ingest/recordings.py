"""Where recordings are kept, which of them are in progress, and how to find one by what a person types.

Quick to import, since `neurontop status` uses it.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from pathlib import Path

from neuron_top.errors import NeuronTopError, NothingToShow
from neuron_top.events import RecordingCutOff, RunFinished
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.location import StoreLocation
from neuron_top.store.protocol import Store
from neuron_top.store.records import RunRecord
from neuron_top.store.run_labels import LabelFile
from neuron_top.store.sqlite import FILE_NAME, SqliteStore

LAST, BEFORE_LAST = "last", "last~"
"""What a person may give in place of a recording's id or name: the newest recording, and the one before it."""
RUNS_NAME = "runs"
OUTPUT_NAME = "output.log"
EVENTS_NAME = "events"
TRACE_NAME = "torch_trace"
LOCK_NAME = "recording.lock"
"""Held (flock) by the recording process: how others tell a recording in progress from one whose recorder died."""

_FIRST = "; `neurontop run -- <command>` makes the first recording"
_NAMED = 5
_NEWEST = 20
"""Folders of runs, from the newest on, in which a recording in progress is looked for."""
SILENT_SECONDS = 300.0
"""After this long without an event, the recorder of a recording from another machine is assumed to be gone."""


def runs_folder(settings: Settings) -> Path:
    """The folder of all recordings."""
    return settings.state_path / RUNS_NAME


def run_folder(settings: Settings, run: str) -> Path:
    """Where a run's files are kept: `output.log` and the folder `events` of the side channel."""
    return runs_folder(settings) / run


def is_folder_name(run: str) -> bool:
    """Whether an untrusted text can be the name of a run's folder, and leads nowhere else."""
    return run not in ("", ".", "..") and "/" not in run and run.isprintable() and len(run.encode()) <= 255


def store_path(settings: Settings) -> Path:
    """The store that all recordings of this user share."""
    return settings.state_path / FILE_NAME


def new_run_id() -> str:
    """A unique id that sorts by time and shows it (UTC): `20260214-093011-7f3a`."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(2).hex()}"


def is_recording(folder: Path) -> bool:
    """Whether a process records into this run folder now."""
    try:
        number = os.open(folder / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(number)
    return False


def recordings_in_progress(settings: Settings) -> list[str]:
    """Ids of the runs that are being recorded now, newest first; only the newest folders are looked at."""
    try:
        names = sorted((entry.name for entry in os.scandir(runs_folder(settings))), reverse=True)
    except OSError:
        return []
    return [name for name in names[:_NEWEST] if is_recording(run_folder(settings, name))]


def find_recording(store: Store, wanted: str) -> RunRecord:
    """A recording by id, by the unique beginning of one, by name (the newest), `last` or `last~`, the one before it.

    Raises NothingToShow.
    """
    if wanted in (LAST, BEFORE_LAST):
        newest = store.runs(limit=2)
        if not newest:
            raise NothingToShow(f"nothing was recorded yet{_FIRST}")
        if wanted == BEFORE_LAST and len(newest) < 2:
            raise NothingToShow("there is no recording before the last; `neurontop runs` lists them")
        return newest[0] if wanted == LAST else newest[1]
    record = store.run(wanted)
    if record is None:
        raise NothingToShow(f"{_why_none(store, wanted)}; `neurontop runs` lists the recordings")
    return record


def _why_none(store: Store, wanted: str) -> str:
    """Why the text names no recording, or more than one."""
    if _is_folder(wanted):
        return f"{wanted!r} is a folder, and no recording is called so; name the log files in it"
    several = [record.id for record in store.runs() if wanted and record.id.startswith(wanted)]
    if several:
        named = ", ".join(several[:_NAMED]) + (", …" if len(several) > _NAMED else "")
        return f"{len(several)} recordings begin with {wanted!r}: {named}"
    if _mode(wanted) is not None:
        return f"{wanted!r} is a file, and no recording is called so"
    return f"no recording {wanted!r}" + (", and no such file" if "/" in wanted or "." in wanted else "")


def _is_folder(name: str) -> bool:
    return stat.S_ISDIR(_mode(name) or 0)


def _mode(name: str) -> int | None:
    """The mode of the file or folder with this name; None if there is none, or no file can have this name."""
    try:
        return os.stat(name).st_mode  # noqa: PTH116 (of an empty name, a Path would be this folder)
    except (OSError, ValueError):
        return None


def nothing_recorded(kept: StoreLocation, name: str = LAST) -> NeuronTopError:
    """That there are no recordings, and why a name that is no log is none either; it may be of any length."""
    if name in (LAST, BEFORE_LAST):
        return kept.nothing_recorded("", _FIRST)
    what = "a folder (name the log files in it)" if _is_folder(name) else "not a file"
    return kept.nothing_recorded(f"{name!r} is {what}, and ")


def find_labeled(store: Store, wanted: str, state: Path) -> RunRecord:
    """As `find_recording`; a name that a person gave later takes precedence over those given when recording.

    Raises NothingToShow.
    """
    named = {run for run, labels in LabelFile(state).known().items() if wanted and labels.name == wanted}
    if named:
        newest = next((record for record in store.runs() if record.id in named), None)
        if newest is not None:
            return newest
    return find_recording(store, wanted)


def load_run(store: Store, run: str, history_seconds: float = 8 * 3600.0, into: Run | None = None) -> Run:
    """The run at the end of its recording, or up to now. `into`: a new run that takes the events."""
    loaded = Run(history_seconds) if into is None else into
    for event in store.replay(run):
        loaded.apply(event)
    record = store.run(run)
    if loaded.job.finished is None and record is not None and (end := missing_end(record, store)) is not None:
        loaded.apply(end)
    return loaded


def load_labeled(store: Store, wanted: str, settings: Settings, into: Run | None = None) -> Run:
    """The run of the recording that a person asks for, with the name that it was given. Raises NothingToShow."""
    record = find_labeled(store, wanted, settings.state_path)
    run = load_run(store, record.id, settings.history_seconds, into)
    labels = LabelFile(settings.state_path).known().get(record.id)
    given = labels.name if labels is not None else ""
    # No event of a fleet's job says what it is called.
    run.job.name = given or run.job.name or record.name or ("" if run.job.run else record.id)
    return run


def missing_end(record: RunRecord, store: Store) -> RunFinished | RecordingCutOff | None:
    """The end of a recording whose last events could not be stored, as its row has it; None if it goes on, or if nobody
    saw how it ended. It is cut off if its recorder is gone, or has been silent for long."""
    if record.open:
        is_over = not goes_on(record, store)
        return RecordingCutOff(run=record.id, at=record.touched, node=record.node) if is_over else None
    if record.exit_code is None:
        return None
    return RunFinished(run=record.id, exit_code=record.exit_code, at=record.finished, node=record.node)


def goes_on(record: RunRecord, store: Store) -> bool:
    """Whether it is being recorded: by a process of this machine, or one of another that sent an event recently."""
    if isinstance(store, SqliteStore):
        return is_recording(store.path.parent / RUNS_NAME / record.id)
    return record.open and silent_seconds(record, store) < SILENT_SECONDS


def silent_seconds(record: RunRecord, store: Store) -> float:
    """For how long nothing was heard of a recording in a database; 0 on this machine, where a lock tells whether it
    goes on."""
    return 0.0 if isinstance(store, SqliteStore) else max(0.0, store.clock() - record.touched)
