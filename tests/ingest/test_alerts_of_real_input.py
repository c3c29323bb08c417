"""Every alert out of what a user has: a log's text, a cache's folder, neuron-monitor's records, a recorded command."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache.locks import lock_owner
from neuron_top.ingest.assembly import paths_feed
from neuron_top.ingest.recordings import find_recording, load_run
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.alerts import Alert, Limits, alerts
from tests.builders import COMPILER, HLO_NAME, neff, small_hlo, write_entry
from tests.telemetry import records

PATIENCE = 240.0
GRAPHS = [f"MODULE_{digit * 20}+0a1b2c3d" for digit in "12345"]
KILLED = "[F137] neuronx-cc was forcibly killed - This most commonly occurs due to insufficient system memory."


class Input:
    """A log, a cache and a telemetry file, as a training job leaves them."""

    def __init__(self, folder: Path) -> None:
        self.root, self.log, self.monitor = folder / "cache", folder / "train.log", folder / "monitor.jsonl"
        self._state = folder / "state"
        done = {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}
        write_entry(self.root, done, graph="9" * 20)
        self.log.touch()
        self.monitor.touch()

    def says(self, text: str, level: str = "INFO", after: float = 0.0, pid: int = 4242) -> None:
        """A line of the compile wrapper, so many seconds from now."""
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() + after))
        self.prints(f"{stamp}.000123:  {pid}  {level} ||NEURON_CC_WRAPPER||: {text}")

    def prints(self, *lines: str) -> None:
        """Lines of the job."""
        with self.log.open("a") as out:
            out.write("".join(f"{line}\n" for line in lines))

    def place(self, module: str) -> str:
        """The folder of a graph in the cache."""
        return f"{self.root}/{COMPILER}/{module}"

    def alert(self, title: str, evidence: str, limits: Limits | None = None, later: float = 0.0) -> Alert:
        """The alert of this title, once it has this evidence; seen `later` seconds from now."""
        changed = threading.Event()
        feed = paths_feed(Settings(state_dir=str(self._state)), [str(self.log), str(self.root), str(self.monitor)])
        feed.start(changed.set)
        deadline = time.monotonic() + PATIENCE
        try:
            while True:
                found = {alert.title: alert for alert in feed.read(lambda run, now: alerts(run, now + later, limits))}
                if title in found and evidence in found[title].evidence:
                    return found[title]
                assert time.monotonic() < deadline, f"{title!r} did not come with {evidence!r}; there is {found}"
                changed.wait(1.0)
                changed.clear()
        finally:
            feed.stop()


Raised = tuple[Alert, str]
"""An alert, and what its next step must say."""


def stale_lock(given: Input) -> Raised:
    folder = write_entry(given.root, {HLO_NAME: small_hlo()})
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = msgspec.structs.replace(lock_owner.current(), pid=ended.pid, started=lock_owner.process_start(ended.pid))
    ended.communicate(b"\n")
    (folder / f"{HLO_NAME}.lock").write_bytes(msgspec.json.encode(owner))
    given.says(f"Another process must be compiling {folder}/{HLO_NAME}, been waiting for: 61.0 minutes")
    return given.alert("stale lock", f"process {ended.pid}, has ended"), f"neurontop cache show {folder.name}"


def growing_wait(given: Input) -> Raised:
    given.says(
        f"Call compiler with cmd: neuronx-cc compile --target=trn1 /w/model.{GRAPHS[0]}.hlo_module.pb "
        f"--output {given.place(GRAPHS[0])}/model.neff"
    )
    for minutes in (1, 2, 3):
        given.says(
            f"Another process must be compiling {given.place(GRAPHS[0])}/{HLO_NAME}, been waiting for: "
            f"{minutes}.0 minutes",
            after=60.0 * (minutes - 3),
            pid=4243,
        )
    return given.alert("waiting for a lock", "1 worker waits for"), "Wait for the compile"


def replayed_failure(given: Input) -> Raised:
    given.says(
        f"Got a cached failed neff at {given.place(GRAPHS[0])}/model.neff. Will skip compilation, please set "
        "--retry_failed_compilation for recompilation: ",
        "ERROR",
    )
    # A message ends where the next record begins.
    given.prints("2026-03-04T10:00:00Z [NCC_EXTP003] Instructions exceed", "INFO: the job goes on")
    return given.alert("cached failure replayed", "[NCC_EXTP003] Instructions exceed"), "--retry_failed_compilation"


def killed_compile(given: Input) -> Raised:
    given.says(
        f"Failed compilation with ['neuronx-cc', 'compile', '/w/model.{GRAPHS[0]}.hlo_module.pb', '--output', "
        f"'{given.place(GRAPHS[0])}/model.neff']: {KILLED}",
        "ERROR",
    )
    given.prints("INFO: the job goes on")
    return given.alert("compile killed", "forcibly killed"), "fewer graphs at a time"


def little_memory(given: Input) -> Raised:
    _sampled(given, {0: 0.5, 1: 0.5}, {0: 15 * records.GIB + records.GIB // 2, 1: records.GIB})
    return given.alert(
        "device memory nearly full", "core 0: 15.5 GiB of 16.0 GiB", Limits(stale_seconds=PATIENCE)
    ), "batch size"


def late_graphs(given: Input) -> Raised:
    given.prints(*(f"step {step}/100 loss 1.5" for step in range(1, 9)))
    for after, module in ((3600.0, GRAPHS[0]), (3700.0, GRAPHS[1])):
        given.says(f"Compilation Successfully Completed for model.{module}.hlo_module.pb", after=after)
    return given.alert("graphs compiled during training", "2 new graphs", later=7200.0), "pad them"


def idle_core(given: Input) -> Raised:
    _sampled(given, {0: 0.9, 1: 0.0}, {0: records.GIB, 1: records.GIB})
    return given.alert(
        "core idle while its peers work", "core 1 at 0 %", Limits(idle_seconds=0.0, stale_seconds=PATIENCE)
    ), "last lines"


def full_disk(given: Input) -> Raised:
    limits = Limits(disk_free_bytes=1 << 62)  # whatever this machine's disk has is too little
    return given.alert("cache disk nearly full", f"free at {given.root}", limits), "neurontop cache stats"


def lost_telemetry(given: Input) -> Raised:
    _sampled(given, {0: 0.9, 1: 0.9}, {0: records.GIB, 1: records.GIB})
    return given.alert("telemetry lost", "no sample for 1 h", later=3600.0), "neurontop doctor"


def _sampled(given: Input, busy: dict[int, float], used: dict[int, int]) -> None:
    cores = records.counters({core: {"neuroncore_utilization": 100 * share} for core, share in busy.items()})
    memory = records.memory({core: {"tensors": size} for core, size in used.items()})
    record = records.record(records.runtime(4242, neuroncore_counters=cores, memory_used=memory))
    given.monitor.write_bytes(records.line(record) * 3)


CASES: tuple[Callable[[Input], Raised], ...] = (
    stale_lock, growing_wait, replayed_failure, killed_compile, little_memory, late_graphs, idle_core, full_disk,
    lost_telemetry,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_the_alert_comes_with_its_evidence_and_a_next_step(tmp_path: Path, case: Callable[[Input], Raised]) -> None:
    alert, next_step = case(Input(tmp_path))
    assert next_step in alert.next_step
    assert alert.since is not None


def test_a_recorded_job_whose_cache_is_switched_off_is_reported(tmp_path: Path) -> None:
    line = f"2026-03-04 10:00:00.000123:  4242  [INFO]: Compilation Successfully Completed for model.{GRAPHS[0]}.hlo.pb"
    environ = os.environ | {"NEURON_CC_FLAGS": "--no_cache -O1", "NEURONTOP_STATE_DIR": str(tmp_path)}
    job = [sys.executable, "-m", "neuron_top", "run", "--plain", "--", sys.executable, "-c", f"print({line!r})"]
    done = subprocess.run(job, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    with SqliteStore(tmp_path / "neurontop.db", read_only=True) as store:
        run = load_run(store, find_recording(store, "last").id, 3600.0)
    (alert,) = [alert for alert in alerts(run, time.time()) if alert.title == "the compile cache is not in use"]
    assert alert.evidence == "--no_cache in NEURON_CC_FLAGS; 1 graph was compiled"
    assert "Remove --no_cache" in alert.next_step
