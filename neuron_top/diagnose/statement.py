"""`Statement`: one message that one process printed, without the headers in front of it."""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from neuron_top.events.levels import LogLevel


class Speaker(StrEnum):
    """Who printed it, as far as its header shows."""

    UNKNOWN = ""
    WRAPPER = "wrapper"
    COMPILER = "compiler"
    RUNTIME = "runtime"
    COLLECTIVES = "collectives"
    NATIVE = "native"
    """TorchNeuron's C++ back end."""
    FRAMEWORK = "framework"
    """C++ of PyTorch/XLA and TensorFlow."""
    TOOL = "tool"
    """Go programs and the vendor's tools: device plugin, neuron-profile."""
    KERNEL = "kernel"


Process = tuple[int | None, int | None, str]
"""Rank or task, process id, and the prefix of its lines."""


class Statement(msgspec.Struct):
    """One message of one process."""

    text: str
    line: int
    offset: int
    level: LogLevel = LogLevel.NOTSET
    speaker: Speaker = Speaker.UNKNOWN
    rank: int | None = None
    pid: int | None = None
    task: int | None = None
    """The task of srun that printed it: a rank, or the launcher of several."""
    repeats: int = 1
    """How often it was printed, if a log that leaves out copies reports that."""
    indent: int = 0
    indented: bool = False
    """It is indented more than the log as a whole: web pages and test runners indent all of it."""
    function: str = ""
    """For the runtime, component and function; for NCCL, its name."""

    at: float | None = None
    """The time of a wrapper's header."""
    printer: str = ""
    """Who printed it, if that stands before every line of the log."""
    host: str = ""
    """What a launcher puts in front of the lines of one machine or task."""

    @property
    def worker(self) -> int | None:
        """Its rank; where that is not known, its task."""
        return self.rank if self.rank is not None else self.task

    @property
    def process(self) -> Process:
        """What lines of the same process have in common."""
        return self.worker, self.pid, self.printer + self.host

    def take_off(self, header: re.Pattern[str]) -> re.Match[str] | None:
        """Take a header of this form off the front of the text; its match, None if the text begins otherwise."""
        found = header.match(self.text)
        if found is not None:
            self.text = self.text[found.end() :]
        return found
