"""What the runtime advises, and why PyTorch compiles once more, as the console reports it: no errors, but of use."""

from __future__ import annotations

from enum import StrEnum

from neuron_top.events.base import LogEvent


class AdviceKind(StrEnum):
    """What the runtime has a word about."""

    SCRATCHPAD_PAGE = "scratchpad-page"
    SCRATCHPAD_OVERFLOW = "scratchpad-overflow"
    DEVICE_RESET = "device-reset"
    OTHER = "other"


class RuntimeAdvised(LogEvent, frozen=True, kw_only=True):
    """The runtime recommends something, or reports a device that is no longer sound."""

    kind: AdviceKind
    text: str
    device: int | None = None


class FunctionRecompiled(LogEvent, frozen=True, kw_only=True):
    """A line of `[__recompiles]`: a function is compiled once more, or (`reason`) a guard that failed."""

    function: str
    place: str = ""
    """`<file>:<line>` of the function."""
    compile_id: str = ""
    reason: str = ""
    """"" in the line that reports the recompile itself."""
