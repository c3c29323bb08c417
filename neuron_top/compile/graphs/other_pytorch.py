"""Recognizes that our code does not fit the installed PyTorch: a name is gone, or takes other arguments.

Much of what a cached compile needs is no public interface, and each release changes some of it. Such an error is no
fault of the graph: Inductor compiles it in the job, and the reason names what was not found.
"""

from __future__ import annotations

import traceback

_KINDS = (AttributeError, ImportError, LookupError, TypeError)
_OURS = f"{__name__.partition('.')[0]}."


def mismatch(problem: BaseException) -> str:
    """What was not found, in words; empty for an error of another kind, or one that PyTorch's own code raised."""
    if not isinstance(problem, _KINDS):
        return ""
    frames = [frame for frame, _ in traceback.walk_tb(problem.__traceback__)]
    if not frames or not str(frames[-1].f_globals.get("__name__", "")).startswith(_OURS):
        return ""
    return f"neuron-top does not know this version of PyTorch: {type(problem).__name__}: {problem}"
