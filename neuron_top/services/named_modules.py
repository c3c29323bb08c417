"""The modules that a person means with a file that names them, or with a recorded run."""

from __future__ import annotations

import re
from pathlib import Path

from neuron_top.errors import NothingToShow, UsageError
from neuron_top.settings import Settings

_MODULE_NAME = re.compile(r"MODULE_[0-9a-f]{1,64}(?:(?:\+|%2B)[0-9a-f]{8})?(?![\w+%])", re.ASCII)
"""A module as logs, paths and URLs name it; no graph of an old client (`MODULE_0_SyncTensorsGraph.315_…`)."""


def modules_needed(settings: Settings, text: str) -> tuple[str, ...]:
    """The modules that a file names in any form (a list, a job's log), or that a recorded run used.

    Never empty. Raises NothingToShow for neither, and for a run that used none; UsageError for a file that names
    none or cannot be read.
    """
    path = Path(text)
    if not path.is_file():
        return modules_of_run(settings, text)
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            names = (name for line in lines for name in _MODULE_NAME.findall(line))
            found = dict.fromkeys(name.replace("%2B", "+") for name in names)
    except OSError as problem:
        raise UsageError(f"{text}: {problem.strerror}") from None
    if not found:
        raise UsageError(f"{text}: the file names no module (MODULE_…)")
    return tuple(found)


def modules_of_run(settings: Settings, run: str) -> tuple[str, ...]:
    """All modules that a recorded run (see `_recording`) used, compiled or extracted; never empty.

    Raises NothingToShow for no such run, and for one that used none: no module named would stand for all.
    """
    from neuron_top.actions import recorded_uses

    found = recorded_uses.modules_of(settings.state_path, _recording(settings, run))
    if not found:
        raise NothingToShow(f"recording {run} used no graph")
    return found


def _recording(settings: Settings, text: str) -> str:
    """The id of a recording that is given by id, prefix of an id, name, `last` or `last~`."""
    from neuron_top.ingest.recordings import find_labeled, nothing_recorded, store_path
    from neuron_top.store.location import StoreLocation
    from neuron_top.store.sqlite import SqliteStore

    if not store_path(settings).exists():
        raise nothing_recorded(StoreLocation(store_path(settings)), text)
    with SqliteStore(store_path(settings), read_only=True) as store:
        return find_labeled(store, text, settings.state_path).id
