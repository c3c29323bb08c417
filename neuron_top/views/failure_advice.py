"""What to do about a failed compile, by its class. Change any sentence: nothing but screens and texts changes."""

from __future__ import annotations

from neuron_top.cache.model.failures import FailureClass

ADVICE = {
    FailureClass.DISK: "free disk space, then retry",
    FailureClass.MEMORY: "the compiler was probably killed for host memory: retry with fewer compiles at a time",
    FailureClass.LIMITS: "there were too many processes, threads or open files: raise the limit (ulimit -u, -n), or "
    "retry with fewer compiles at a time",
    FailureClass.FILES: "a file could not be read or written: mend what the message names, then retry",
    FailureClass.INTERRUPTED: "it was interrupted: retry",
    FailureClass.INSTALLATION: "the compiler's installation lacks a part: install what the message names, then retry",
    FailureClass.TOO_LARGE: "a retry is useless: use a smaller batch, more parallelism or other flags",
    FailureClass.REJECTED: "fails again until compiler or flags change: report it, or try another version or other "
    "flags",
    FailureClass.UNKNOWN: "read the log: it names no known cause",
}
