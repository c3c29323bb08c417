"""Sends alerts to a command, which shows them on a desktop or pages somebody, and to a webhook.

Each severity has its own command and its own webhook in the settings. Both get the alert as one JSON object, with the
fields of `Alert` (`kind`, `severity`, `title`, `evidence`, `next_step`, …) and the job's `run`, `node` and `name`.
Alerts that a person muted for the job are not sent.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from neuron_top.escapes import json_bytes
from neuron_top.settings import Settings

if TYPE_CHECKING:  # few people need these, and everybody waits for the first frame
    from neuron_top.ingest.feed import Feed
    from neuron_top.run.model import Run
    from neuron_top.views.alerts import Alert

LOOK_SECONDS = 1.0
"""Seconds between two checks of the alerts."""
GONE_SECONDS = 60.0
"""An alert that returns after this many seconds is reported again; one that flickers is not."""
PATIENCE_SECONDS = 10.0
"""How long a command or a webhook may take."""
MOST_A_MINUTE = 20
"""The most notifications of a job: one that fails in every way must not flood a pager."""


@contextmanager
def notifying(
    feed: Callable[[], Feed], settings: Settings, warn: Callable[[str], None], *, on_screen: bool = False
) -> Iterator[None]:
    """Within the block, send the alerts of a job, if the settings name a command or a webhook.

    `feed` is called at each check, as a recording has another feed once its command runs. `warn` gets each failing
    command or webhook once; after the block, if a screen would be overwritten. A notification that fails is not tried
    again.
    """
    if not any((*_commands(settings).values(), *_webhooks(settings).values())):
        yield
        return
    later: list[str] = []
    notifier = _Notifier(feed, settings, later.append if on_screen else warn)
    thread = threading.Thread(target=notifier.run, name="notifications", daemon=True)
    thread.start()
    try:
        yield
    finally:
        notifier.ended.set()
        thread.join(PATIENCE_SECONDS)
        notifier.try_to_look(until=time.monotonic() + PATIENCE_SECONDS)  # alerts raised by the end of the job
        for text in later:
            warn(text)


def _commands(settings: Settings) -> dict[str, str]:
    return {"error": settings.notify_error, "warning": settings.notify_warning, "info": settings.notify_info}


def _webhooks(settings: Settings) -> dict[str, str]:
    return {"error": settings.webhook_error, "warning": settings.webhook_warning, "info": settings.webhook_info}


class _Notifier:
    def __init__(self, feed: Callable[[], Feed], settings: Settings, warn: Callable[[str], None]) -> None:
        self.ended = threading.Event()
        self._feed, self._settings, self._warn = feed, settings, warn
        self._commands, self._webhooks = _commands(settings), _webhooks(settings)
        self._seen: dict[str, float] = {}
        """When each alert was last seen, monotonic seconds."""
        self._sent: list[float] = []
        self._warned: set[str] = set()

    def run(self) -> None:
        while not self.ended.wait(LOOK_SECONDS):
            self.try_to_look()

    def try_to_look(self, until: float = math.inf) -> None:
        """Send new alerts, as many as possible `until` then (monotonic seconds); warn of failures."""
        try:
            self._look(until)
        except Exception as problem:  # noqa: BLE001 (the job goes on, and the next look may work)
            self._warn_once("look", f"alerts are not sent: {type(problem).__name__}: {problem}")

    def _look(self, until: float) -> None:
        from neuron_top.services.alerts import AlertService

        now = time.monotonic()
        job, found = self._feed().read(self._documents)
        muted = AlertService(self._settings).history(job).muted if found else {}
        for alert, document in found:
            last = self._seen.get(alert.key)
            self._seen[alert.key] = now
            if alert.key in muted or (last is not None and now - last <= GONE_SECONDS):
                continue
            if time.monotonic() >= until:
                self._warn_once("late", "the last alerts are not sent: sending the others took too long")
                return
            self._send(alert.severity.value, document, now)

    def _documents(self, run: Run, now: float) -> tuple[str, list[tuple[Alert, bytes]]]:
        """(key of the job's alert history, each alert with the document that is sent for it)."""
        from neuron_top.views.alerts import Limits, alerts
        from neuron_top.views.handled_alerts import job_key

        about = {"run": run.job.run, "name": run.job.name, "node": run.job.node}
        limits = Limits(memory_headroom=self._settings.memory_headroom)
        return job_key(run), [
            (alert, json_bytes({**msgspec.to_builtins(alert), **about})) for alert in alerts(run, now, limits)
        ]

    def _send(self, severity: str, document: bytes, now: float) -> None:
        command, webhook = self._commands[severity], self._webhooks[severity]
        if not (command or webhook):
            return
        self._sent = [at for at in self._sent if now - at < 60.0]
        if len(self._sent) >= MOST_A_MINUTE:
            self._warn_once("too many", f"more than {MOST_A_MINUTE} alerts in a minute: the others are not reported")
            return
        self._sent.append(now)
        if command:
            self._run(command, document)
        if webhook:
            self._post(webhook, document)

    def _run(self, command: str, document: bytes) -> None:
        import shlex
        import subprocess

        try:
            subprocess.run(
                shlex.split(command),
                input=document,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=PATIENCE_SECONDS,
                check=True,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as problem:
            self._warn_once(command, f"the command of notify_… did not work: {problem}")

    def _post(self, address: str, document: bytes) -> None:
        import urllib.request
        from http.client import HTTPException

        from neuron_top.http_refusals import NoRedirects  # urllib would send a GET without the alert to the new address

        request = urllib.request.Request(address, document, {"content-type": "application/json"})  # noqa: S310 (checked)
        try:
            with urllib.request.build_opener(NoRedirects).open(request, timeout=PATIENCE_SECONDS) as answer:
                answer.read(1)
        except (OSError, ValueError, HTTPException) as problem:
            # For many services the address is a secret, so it is never shown.
            self._warn_once(address, f"the address of webhook_… did not take an alert: {problem}")

    def _warn_once(self, about: str, text: str) -> None:
        if about not in self._warned:
            self._warned.add(about)
            self._warn(f"neurontop: warning: {text}")
