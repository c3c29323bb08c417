"""Runs neuron-monitor as a child process: starts it with our configuration, reads its output, restarts it when it dies,
and ends it with this program.

One thread does it all (ingest's, see `telemetry/source.py`): it waits for output, errors and the request to stop at the
same time. What the tool prints on stderr becomes the reason when it dies, so that the screen can say why there is no
telemetry.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import msgspec

from neuron_top.escapes import visible
from neuron_top.events import AnyEvent, SourceAvailable, SourceUnavailable
from neuron_top.processes import die_with_parent
from neuron_top.processes.stop_request import StopRequest
from neuron_top.telemetry import tools
from neuron_top.telemetry.monitor_events import NAME, MonitorReader
from neuron_top.telemetry.source import Emit

_CHUNK = 1 << 16
_KEPT_OF_STDERR = 4096
_GRACE = 2.0
"""Seconds between asking the child to end and ending it."""
_PATIENCE = 10.0
"""Seconds without a record, and at least five periods, after which no more are counted on."""

RUNTIME_GROUPS = ("neuroncore_counters", "memory_used", "neuron_runtime_vcpu_usage", "execution_stats")
SYSTEM_GROUPS = ("vcpu_usage", "memory_info", "neuron_hw_counters")


def configuration(period: float) -> bytes:
    """A configuration that asks for every group; whole seconds, since `"1.0s"` is silently ignored by the tool."""
    every = f"{max(1, round(period))}s"
    return msgspec.json.encode(
        {
            "period": every,
            "neuron_runtimes": [{"tag_filter": ".*", "metrics": [{"type": name} for name in RUNTIME_GROUPS]}],
            "system_metrics": [{"type": name} for name in SYSTEM_GROUPS],
        }
    )


class Backoff:
    """The pause before the next start: doubled each time, and reset after the tool has run for long enough."""

    def __init__(self, first: float = 1.0, longest: float = 60.0) -> None:
        self._first, self._longest, self._next = first, longest, first

    def after(self, lived: float) -> float:
        """Seconds to wait after the tool ran for this many seconds."""
        if lived >= self._longest:
            self._next = self._first
        wait, self._next = self._next, min(self._next * 2, self._longest)
        return wait


class MonitorSource:
    """The telemetry of neuron-monitor. `command` None = find the tool; `refine` is applied to each event on its way.

    `delivering` says whether records come at present, for sources that stand in for it.
    """

    name = NAME

    def __init__(
        self,
        period: float = 1.0,
        *,
        command: str | None = None,
        refine: Callable[[AnyEvent], AnyEvent] | None = None,
        announce_devices: bool = True,
        backoff: Backoff | None = None,
        patience: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._period, self._refine, self._clock = max(1.0, float(round(period))), refine, clock
        self._command = command
        self._announce = announce_devices
        self._backoff = backoff or Backoff()
        self._patience = max(_PATIENCE, 5 * self._period) if patience is None else patience
        self._stop = StopRequest()
        self.delivering = False
        self._is_late = False
        """Whether it was reported that the child prints nothing."""

    def start(self, emit: Emit) -> None:
        """Run the tool, again and again, until stopped; returns at once if it is not installed."""
        command = self._command or tools.find("neuron-monitor")
        if command is None:
            emit(
                SourceUnavailable(
                    source="monitor",
                    name=self.name,
                    reason=f"neuron-monitor is neither on the PATH nor in {tools.SDK_BIN}; on a Neuron instance "
                    "install the package aws-neuronx-tools",
                )
            )
            return
        with tempfile.NamedTemporaryFile(prefix="neurontop-monitor-", suffix=".json") as config:
            config.write(configuration(self._period))
            config.flush()
            while not self._stop.is_made():
                began = time.monotonic()
                reason = self._one_life(command, config.name, emit)
                if self._stop.is_made():
                    return
                wait = self._backoff.after(time.monotonic() - began)
                emit(
                    SourceUnavailable(
                        source="monitor",
                        name=self.name,
                        reason=f"{command} {reason}; started again in {wait:g} s",
                    )
                )
                self._stop.wait(wait)

    def stop(self) -> None:
        """End the child and return from `start`."""
        self._stop.make()

    def _one_life(self, command: str, config: str, emit: Emit) -> str:
        """Run the child until it ends; returns the reason in words."""
        try:
            child = self._spawn(command, config)
        except OSError as problem:
            return f"cannot be started ({problem.strerror or problem})"
        try:
            complaint = self._drain(child, command, emit)
        finally:
            self.delivering = self._is_late = False
            _end(child, 0 if self._stop.is_made() else _GRACE)
        ending = (
            f"was ended by signal {-child.returncode}" if child.returncode < 0 else f"ended with {child.returncode}"
        )
        return f"{ending}: {complaint}" if complaint else ending

    def _spawn(self, command: str, config: str) -> subprocess.Popen[bytes]:
        launcher = [sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid())]
        return subprocess.Popen(
            [*launcher, command, "-c", config],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=tools.with_sdk_path(),
            start_new_session=True,  # Ctrl-C in the terminal is for us; we end the child ourselves, helpers included
        )

    def _drain(self, child: subprocess.Popen[bytes], command: str, emit: Emit) -> str:
        """Pass records on until the child or its output ends, or we are stopped; returns the last line of stderr."""
        reader = MonitorReader(requested=self._period, clock=self._clock, announce_devices=self._announce)
        complaints, heard = b"", time.monotonic()
        with selectors.DefaultSelector() as selector:
            for stream in (child.stdout, child.stderr, self._stop):
                if stream is not None:
                    selector.register(stream, selectors.EVENT_READ)
            while child.stdout in {key.fileobj for key in selector.get_map().values()} and not self._stop.is_made():
                for key, _ in selector.select(self._patience):
                    if key.fileobj is self._stop:
                        continue
                    data = os.read(key.fd, _CHUNK)
                    if not data:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is child.stdout and self._pass_on(reader, data, emit):
                        heard = time.monotonic()
                    elif key.fileobj is child.stderr:
                        complaints = (complaints + data)[-_KEPT_OF_STDERR:]
                if time.monotonic() - heard >= self._patience:
                    if child.poll() is not None:  # a helper that it left behind keeps its output open
                        break
                    self._report_silence(command, emit)
        complaints += _rest(child)
        lines = [line for line in complaints.decode("utf-8", "replace").splitlines() if line.strip()]
        return visible(lines[-1].strip()) if lines else ""

    def _pass_on(self, reader: MonitorReader, data: bytes, emit: Emit) -> bool:
        """Pass on the events of these bytes; returns whether they completed a record."""
        before = reader.records
        for event in reader.feed(data):
            emit(self._refine(event) if self._refine else event)
        has_record = reader.records > before
        if has_record and not self.delivering:
            self.delivering, self._is_late = True, False
            emit(SourceAvailable(source="monitor", name=self.name, detail=f"every {self._period:g} s"))
        return has_record

    def _report_silence(self, command: str, emit: Emit) -> None:
        """Report once that the child runs, and prints no record: it hangs, or was stopped."""
        self.delivering = False
        if not self._is_late:
            self._is_late = True
            reason = f"{command} runs, and has printed no record for {self._patience:g} s"
            emit(SourceUnavailable(source="monitor", name=self.name, reason=reason))


def _rest(child: subprocess.Popen[bytes]) -> bytes:
    """The rest of stderr, without waiting for its end, since a grandchild may keep it open for ever."""
    if child.stderr is None:
        return b""
    os.set_blocking(child.stderr.fileno(), False)
    with contextlib.suppress(BlockingIOError):
        return os.read(child.stderr.fileno(), _CHUNK)
    return b""


def _end(child: subprocess.Popen[bytes], grace: float) -> None:
    """End the child and its helpers. It gets `grace` seconds to end by itself, so that its own exit status is known."""
    for word, seconds in ((None, grace), (signal.SIGTERM, _GRACE), (signal.SIGKILL, _GRACE)):
        if word is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, word)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(seconds)
            break
    with contextlib.suppress(ProcessLookupError):  # helpers that outlived it
        os.killpg(child.pid, signal.SIGKILL)
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()
