"""The wrapper's lines on stderr, in the SDK's own shapes, so that one parser reads the SDK's jobs and ours.

Timestamps carry milliseconds padded with zeros to six digits, as the SDK prints them.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from neuron_top.errors import UsageError
from neuron_top.events import LogGeneration
from neuron_top.events.levels import LogLevel

FORMAT_VARIABLE = "NEURONTOP_LOG_FORMAT"
FORMATS = {"g2": LogGeneration.G2, "g3": LogGeneration.G3}
SAY_EVERY_SECONDS = 60.0
"""Seconds between two log lines about one wait, for a lock or a claim."""
_CACHE, _WRAPPER = "NEURON_CACHE", "NEURON_CC_WRAPPER"


def timestamp(seconds: float) -> str:
    """Local time as the SDK writes it: `2026-01-31 08:05:09.000123` is 123 ms past the second."""
    whole, milliseconds = divmod(int(seconds * 1000), 1000)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(whole))}.{milliseconds:06d}"


def log_format() -> LogGeneration:
    """The format that `NEURONTOP_LOG_FORMAT` names, `g3` by default. Raises UsageError for another word."""
    text = os.environ.get(FORMAT_VARIABLE, "").lower() or "g3"
    found = FORMATS.get(text)
    if found is None:
        raise UsageError(f"{FORMAT_VARIABLE} must be one of {', '.join(FORMATS)}, is {text!r}")
    return found


class WrapperLog:
    """Prints the lines of one process. Each line leaves in one write, so ranks never tear each other's."""

    def __init__(
        self, *, form: LogGeneration = LogGeneration.G3, level: LogLevel = LogLevel.INFO, stream: TextIO | None = None
    ) -> None:
        self._form, self._levels, self._stream = form, level.and_worse(), stream
        self._lock = threading.Lock()
        self._once: set[str] = set()

    def cache_path(self, url: str) -> None:
        """Log that a lookup begins (the newer format has no such line)."""
        if self._form is LogGeneration.G2:
            self._say(LogLevel.INFO, _CACHE, f"Compile cache path: {url}")

    def hit(self, artifact: Path) -> None:
        """Log that the artifact of an entry is used."""
        self._say(LogLevel.INFO, _CACHE, f"Using a cached neff at {artifact}")

    def cached_failure(self, artifact: Path, message: str, *, retrying: bool) -> None:
        """Log that the entry holds a failure; `message` is its stored log."""
        if retrying:
            self._say(
                LogLevel.INFO,
                _CACHE,
                f"Got a cached failed neff at {artifact}. With eror log: [{message}]. Retrying...",
            )
        else:
            self._say(
                LogLevel.ERROR,
                _CACHE,
                f"Got a cached failed neff at {artifact}. Will skip compilation, please set "
                f"--retry_failed_compilation for recompilation: \n {message}",
            )

    def compile_started(self, command: Sequence[str]) -> None:
        """Log that the compiler is called.

        The SDK's newer format has no such line. Ours has it there as well: without it, nobody who reads only the log
        sees a compile before its end, nor how long it took.
        """
        self._say(LogLevel.INFO, _WRAPPER, f"Call compiler with cmd: {' '.join(command)}")

    def compile_passed(self, module: str, graph_name: str) -> None:
        """Log that the compiler is done and the artifact is stored."""
        self._write("\nCompiler status PASS\n")
        if self._form is LogGeneration.G3:
            name = graph_name.removeprefix("model.")
            self._say(LogLevel.INFO, _WRAPPER, f"Compilation Successfully Completed for model.{module}.{name}")

    def compile_failed(self, text: str) -> None:
        """Log that the compile failed; `text` starts with `Failed compilation with [`, as the entry's log does."""
        self._say(LogLevel.ERROR, _WRAPPER, text)

    def lock_wait(self, graph: Path, minutes: float) -> None:
        """Log that another process is compiling this graph."""
        self._say(
            LogLevel.INFO, _CACHE, f"Another process must be compiling {graph}, been waiting for: {minutes:.1f} minutes"
        )

    def extracted(self, graph: Path) -> None:
        """Log that the graph was stored for a later compile."""
        self._say(
            LogLevel.INFO,
            _WRAPPER,
            f"Extracting graphs ({graph}) for ahead-of-time parallel compilation. No compilation was done.",
        )

    def remark(self, text: str, *, level: LogLevel = LogLevel.WARNING) -> None:
        """Log a remark of our own, with the same header."""
        self._say(level, _WRAPPER, text)

    def remark_once(self, text: str, *, level: LogLevel = LogLevel.WARNING) -> None:
        """Log a remark once per process."""
        with self._lock:
            if text in self._once:
                return
            self._once.add(text)
        self.remark(text, level=level)

    def _say(self, level: LogLevel, tag: str, text: str) -> None:
        if level not in self._levels:
            return
        body = f"{level} ||{tag}||: {text}" if self._form is LogGeneration.G2 else f"[{level}]: {text}"
        self._write(f"{timestamp(time.time())}:  {os.getpid()}  {body}\n")

    def _write(self, text: str) -> None:
        stream = self._stream or sys.stderr
        if stream is None:
            return  # stderr is None if Python was started with standard error closed
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            return  # a closed stderr must not end a training job
