"""Useful console lines that are no errors: advice of the runtime, and why PyTorch compiles a function again."""

from __future__ import annotations

from enum import StrEnum

from neuron_top.events.base import LogEvent


class AdviceKind(StrEnum):
    """What the runtime gives advice about."""

    SCRATCHPAD_PAGE = "scratchpad-page"
    SCRATCHPAD_OVERFLOW = "scratchpad-overflow"
    DEVICE_RESET = "device-reset"
    OTHER = "other"


class RuntimeAdvised(LogEvent, frozen=True, kw_only=True):
    """The runtime recommended something, or reported a device that it could not reset."""

    kind: AdviceKind
    text: str
    device: int | None = None


class FunctionRecompiled(LogEvent, frozen=True, kw_only=True):
    """A line of `[__recompiles]`: a function is compiled again, or (`reason`) a guard of it that failed."""

    function: str
    place: str = ""
    """`<file>:<line>` of the function."""
    compile_id: str = ""
    reason: str = ""
    """"" in the line that reports the recompile itself."""
