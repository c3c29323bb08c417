"""List the alerts of a job, what people did about them, and past ones; acknowledge or mute them.

    neurontop alerts                      of the job that is being recorded, else of the last recording
    neurontop alerts --run RUN --json     of a recording (id, unique prefix, name, or last)
    neurontop alerts ack disk-low         it is known: it stays in the list and no longer counts
    neurontop alerts mute idle-core       it stays away for this job until `neurontop alerts undo idle-core`

An alert is named by its key, or by its kind: all of that kind. An acknowledged alert that ends and comes back counts
again. The history holds what was noticed while the terminal or the web looked at the job.

exit status: 0 fine · 1 an error that nobody has acknowledged or muted · 2 usage · 3 not found ·
4 refused for safety
"""

from __future__ import annotations

import argparse
import time

from neuron_top import settings as configuration
from neuron_top.cli.output import broken_text, print_json, print_text
from neuron_top.errors import UsageError
from neuron_top.services.alerts import AlertAct, AlertService, chosen_keys
from neuron_top.services.runs import LAST, RunService
from neuron_top.units import duration_text
from neuron_top.views.alerts import Alert, Severity
from neuron_top.views.handled_alerts import AlertList, PastAlert

_COLUMN = 6
"""Where evidence and next step of an alert begin."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `alerts`."""
    acts = [act.value for act in AlertAct]
    parser.add_argument(
        "action", nargs="?", choices=acts, metavar="|".join(acts), help="acknowledge or mute alerts, or undo that"
    )
    parser.add_argument("names", nargs="*", metavar="ALERT", help="keys or kinds of alerts, as the list shows them")
    parser.add_argument("--run", metavar="RUN", help="recording: id, unique prefix of one, name, or last")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """Do it, and list them."""
    if bool(arguments.action) != bool(arguments.names):
        raise UsageError("alerts ack|mute|undo: name the alerts by key or kind; `neurontop alerts` lists them")
    settings = configuration.load()[0]
    runs, service = RunService(settings), AlertService(settings)
    running = runs.in_progress() if arguments.run is None else None
    run = (
        runs.load_running(running)
        if running is not None
        else runs.load(LAST if arguments.run is None else arguments.run)
    )
    view = service.listed(run, time.time())
    if arguments.action:
        service.act(view.job, AlertAct(arguments.action), chosen_keys(view, arguments.names))
        view = service.listed(run, time.time())
    if arguments.json:
        print_json({"schema": 1, "alerts": view})
    else:
        print_text("\n".join(_lines(view)))
    return int(not arguments.action and any(alert.severity is Severity.ERROR for alert in view.active))


def _lines(view: AlertList) -> list[str]:
    lines = [f"alerts of {view.job}" + ("" if view.active or view.acknowledged or view.muted else ": none")]
    for word, found in (("", view.active), ("acknowledged", view.acknowledged), ("muted", view.muted)):
        for alert in found:
            lines += _alert_lines(alert, word)
    if view.past:
        lines.append("past:")
        lines += [f"  {_past_text(past)}" for past in view.past]
    return lines


def _alert_lines(alert: Alert, word: str) -> list[str]:
    key = " ".join(alert.key.split())
    said = f" ({word})" if word else ""
    below = [f"{'':<{_COLUMN}}{broken_text(text, _COLUMN)}" for text in (alert.evidence, alert.next_step)]
    return [f"  {alert.severity}: {alert.title}{said}  [{key}]", *below]


def _past_text(past: PastAlert) -> str:
    begun = past.since if past.since is not None else past.seen
    held = duration_text(past.ended - begun) if past.ended is not None and past.ended > begun else "a moment"
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(begun))}  {past.severity}: {past.title}, for {held}"
