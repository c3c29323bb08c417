"""Acknowledges and mutes alerts, and keeps their history per job in the state folder."""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from neuron_top.errors import NothingToShow, RefusedForSafety
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.state_file import StateFile
from neuron_top.views.alerts import Alert, Limits, alerts
from neuron_top.views.handled_alerts import NO_HISTORY, AlertHistory, AlertList, alert_list, job_key, noted

FOLDER = "alerts"
MOST_JOBS = 200
"""How many files are kept, the newest ones."""
_SAFE = re.compile(r"[A-Za-z0-9][\w.-]{0,120}", re.ASCII)
_history = msgspec.json.Decoder(AlertHistory)  # made once, in one thread: see `cache/scan/index.py`


class AlertAct(StrEnum):
    """What a person can do about an alert."""

    ACKNOWLEDGE = "ack"
    MUTE = "mute"
    UNDO = "undo"
    """Undo both: neither acknowledged nor muted."""


class AlertService:
    """The histories of alerts of one state folder."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def _state(self) -> Path:
        return self._settings.state_path

    def history(self, job: str) -> AlertHistory:
        """The stored history of a job; empty if it cannot be read."""
        return _file_of(self._state, job).known()

    def listed(self, run: Run, now: float) -> AlertList:
        """The alerts of a run at `now`."""
        found = alerts(run, now, Limits(memory_headroom=self._settings.memory_headroom))
        return alert_list(job_key(run), found, self.history(job_key(run)))

    def act(self, job: str, act: AlertAct, keys: Sequence[str]) -> AlertHistory:
        """Acknowledge or mute alerts by their keys, or undo that. Raises FileMalformed, RefusedForSafety."""
        return self._change(job, lambda history: done(history, job, act, keys))

    def note(self, job: str, found: Sequence[Alert], now: float) -> AlertHistory:
        """Store which alerts hold now, for the history; quick if nothing changed. Raises as `act` does."""
        known = self.history(job)
        if noted(known, job, found, now) is known:
            return known
        _prune(self._state)
        return self._change(job, lambda history: noted(history, job, found, now))

    def forget(self, job: str) -> None:
        """Delete the history of a recording that was deleted. Raises RefusedForSafety."""
        file = _file_of(self._state, job)
        if file.path.exists():
            file.delete()

    def _change(self, job: str, change: Callable[[AlertHistory], AlertHistory]) -> AlertHistory:
        return _file_of(self._state, job).change(change)


def _file_of(state: Path, job: str) -> StateFile[AlertHistory]:
    """The file of a job: named by the id of a recording, else by the name of its first log."""
    name = job if _SAFE.fullmatch(job) else "log-" + hashlib.sha256(job.encode("utf-8", "replace")).hexdigest()[:24]
    return _history_file(state / FOLDER / f"{name}.json")


def _history_file(path: Path) -> StateFile[AlertHistory]:
    return StateFile(path, _history, NO_HISTORY, "alerts of a job")


def _prune(state: Path) -> None:
    """Drop the histories of the oldest jobs."""
    with contextlib.suppress(OSError, RefusedForSafety):
        histories = sorted((state / FOLDER).glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for history in histories[MOST_JOBS:]:
            _history_file(history).delete()


def done(history: AlertHistory, job: str, act: AlertAct, keys: Sequence[str]) -> AlertHistory:
    """The history after an action."""
    now = time.time()
    acknowledged = {key: at for key, at in history.acknowledged.items() if key not in keys}
    muted = {key: at for key, at in history.muted.items() if key not in keys}
    if act is AlertAct.ACKNOWLEDGE:
        acknowledged |= dict.fromkeys(keys, now)
    elif act is AlertAct.MUTE:
        muted |= dict.fromkeys(keys, now)
    return msgspec.structs.replace(history, job=job, acknowledged=acknowledged, muted=muted)


def chosen_keys(view: AlertList, names: Sequence[str]) -> list[str]:
    """The keys of alerts named by key or kind. Raises NothingToShow for a name that matches none."""
    keys: list[str] = []
    for name in names:
        fitting = [
            alert.key for alert in view.holding if name in (alert.key, " ".join(alert.key.split()), alert.kind.value)
        ]
        if not fitting:
            raise NothingToShow(f"no alert {name!r} holds now; `neurontop alerts` lists them with their names")
        keys += fitting
    return list(dict.fromkeys(keys))
