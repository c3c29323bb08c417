"""The overview once, for scripts: the job that is recorded now, else worker processes that run here, else the last
recording.

    neurontop status
    neurontop status last                the last recording, whatever else runs here (or its id, or its name)
    neurontop status --json | jq .compile.running
    until [ "$(neurontop status --json | jq .training.step)" -ge 100 ]; do sleep 5; done

JSON: bytes, seconds, shares 0…1, times in seconds since the epoch; what is unknown is null.

exit status: 0 fine · 1 the job failed or was cut off, or a compile of it failed · 3 nothing to show
"""

from __future__ import annotations

import argparse
import time

from neuron_top import settings as configuration
from neuron_top.cli.output import print_json, print_text
from neuron_top.cli.plain import overview_text
from neuron_top.errors import NothingToShow
from neuron_top.ingest.recordings import find_recording, load_run, recordings_in_progress, store_path
from neuron_top.ingest.run_loader import estimator
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.sqlite import Store
from neuron_top.views.overview import Overview, overview


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `status`."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="a recording: id, beginning of one, name, or `last`")
    parser.add_argument("--json", action="store_true", help="as one JSON document")


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    settings, _ = configuration.load()
    if arguments.run is not None:
        view = _recording(settings, arguments.run)
    else:
        view = _recorded_now(settings) or _workers_here() or _recording(settings, "last")
    if view is None:
        raise NothingToShow(
            f"nothing to show: no recording in {store_path(settings)}, and no process of yours with LOCAL_RANK or "
            "NEURON_RT_VISIBLE_CORES; start a job with `neurontop run -- <command>`"
        )
    print_json(view) if arguments.json else print_text(overview_text(view))
    ended_well = view.header.active or view.header.exit_code == 0 or not view.header.run
    failed = not ended_well or view.compile.failed > 0
    return 1 if failed else 0


def _recorded_now(settings: Settings) -> Overview | None:
    running = recordings_in_progress(settings)
    if not running or not store_path(settings).exists():
        return None
    with Store(store_path(settings), read_only=True) as store:
        return overview(load_run(store, running[0], settings.history_seconds), time.time(), estimator(settings))


def _workers_here() -> Overview | None:
    from neuron_top.ingest.finder import WorkerFinder
    from neuron_top.telemetry.workers import WorkerSampler

    pids = WorkerFinder().look()
    if not pids:
        return None
    run = Run()
    for event in WorkerSampler(lambda: pids, told_only=True).look():
        run.apply(event)
    return overview(run, time.time())


def _recording(settings: Settings, wanted: str) -> Overview | None:
    if not store_path(settings).exists():
        return None
    with Store(store_path(settings), read_only=True) as store:
        if wanted == "last" and not store.runs(limit=1):
            return None
        record = find_recording(store, wanted)
        return overview(load_run(store, record.id, settings.history_seconds), time.time(), estimator(settings))
