"""Reading `model.log`: why a compile failed, when, and whether a retry can help.

Form: `Failed compilation with [<argument list>]:` and a message, sometimes followed by the client's version.
The classes are those of the published table: what the compiler rejects fails again (deterministic); what the
machine did to it need not (environment). An empty message points at a compiler that was killed.
"""

from __future__ import annotations

import enum
import re
from datetime import UTC, datetime

from neuron_top.cache.model.entry import FAILURE_START, Failure
from neuron_top.escapes import visible

DETERMINISTIC, ENVIRONMENT, UNKNOWN = "deterministic", "environment", "unknown"
READ_BYTES = 256 * 1024
"""How much of a log is read; longer ones carry a traceback whose head says it all."""

_HBM = "a retry is useless: use a smaller batch, more parallelism or other flags"
_COMPILER = "fails again until compiler or flags change: report it, or try another version or other flags"
MEMORY_ADVICE = "the compiler was probably killed for host memory: retry with fewer compiles at a time"


class Trouble(enum.Enum):
    """What a machine does to a compile: nothing that the graph could help."""

    DISK = "disk"
    MEMORY = "memory"
    INTERRUPTED = "interrupted"
    INSTALLATION = "installation"


_RULES: tuple[tuple[re.Pattern[str], Trouble | None, str], ...] = (
    (
        re.compile(r"No space left on device|Disk quota exceeded|\berrno (?:28|122)\b", re.IGNORECASE),
        Trouble.DISK,
        "free disk space, then retry",
    ),
    (re.compile(r"\bNCC_EOOM\d*|\bXCG815\b|exceeds (?:HBM limit|16GB)"), None, _HBM),
    (re.compile(r"\bLUR015\b|too many instructions"), None, _HBM),
    (
        re.compile(
            r"\[F137\]|\bforcibly killed\b|\bSIGKILL\b|\bKilled\b|signal 9\b|oom-kill"
            r"|\bexit(?:ed)?(?: with)?(?: code| status)? -?(?:9|137)\b"
        ),
        Trouble.MEMORY,
        MEMORY_ADVICE,
    ),
    (re.compile(r"MemoryError|[Cc]annot allocate memory|std::bad_alloc"), Trouble.MEMORY, MEMORY_ADVICE),
    (
        re.compile(
            r"\[F1(?:29|30|43)\]|KeyboardInterrupt|\bSIG(?:INT|TERM|HUP)\b|\bInterrupted\b|\bHangup\b"
            r"|\bended by signal (?:1|2|3|15)\b|\bcompile server ended\b"
        ),
        Trouble.INTERRUPTED,
        "it was interrupted: retry",
    ),
    (
        re.compile(r"error while loading shared libraries|cannot open shared object|ModuleNotFoundError|ImportError"),
        Trouble.INSTALLATION,
        "the compiler's installation lacks a part: install what the message names, then retry",
    ),
    (re.compile(r"\[(?:NCC_)?[A-Z]{3,5}\d{3}\]|\[NCC_[A-Z0-9_]+\]|\[F1\d\d\]"), None, _COMPILER),
    (re.compile(r"\bInternal\b.{0,40}\berror\b", re.IGNORECASE), None, _COMPILER),
)
_CODE = re.compile(r"\[(NCC_[A-Z0-9_]+|[A-Z]{3}\d{3}|F1\d\d)\]")
"""F and 128 plus the number of the signal that ended the compiler: F137 killed, F139 a segmentation fault."""
_TIME = re.compile(r"\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z")
_CLIENT = re.compile(r"\[libneuronxla [^\]]*\]\]?\s*\Z")
_BACKEND = re.compile(r"Non-signal exit\. Backend exited with code -?\d+ and stderr:\s*")


def read_failure(text: str) -> Failure | None:
    """The failure a log tells of; None when the text does not start as one."""
    if not text.startswith(FAILURE_START):
        return None
    return judge(_message(text))


def judge(message: str) -> Failure:
    """The failure that a compiler's message tells of, wherever the message was read."""
    found = _TIME.search(message)
    kind, advice = _judge(message)
    code = _CODE.search(message)
    return Failure(
        kind=kind,
        code=code[1] if code else None,
        message=_shortened(message),
        at=_epoch(found[1]) if found else None,
        advice=advice,
    )


def trouble_of(message: str) -> Trouble | None:
    """What the machine did to a compile that ended with this message; None where the message does not tell."""
    return next((trouble for pattern, trouble, _ in _RULES if pattern.search(message)), None)


def _message(text: str) -> str:
    """What follows the argument list: the list may hold brackets of its own inside quoted flags."""
    _, mark, rest = text.partition("']:")
    if not mark:
        _, mark, rest = text.partition("]:")
    return _CLIENT.sub("", rest).strip() if mark else text[len(FAILURE_START) :].strip()


def _judge(message: str) -> tuple[str, str]:
    if not message:
        return ENVIRONMENT, MEMORY_ADVICE
    for pattern, trouble, advice in _RULES:
        if pattern.search(message):
            return (DETERMINISTIC if trouble is None else ENVIRONMENT), advice
    return UNKNOWN, "read the log: it names no known cause"


def _shortened(message: str) -> str:
    """The first telling line, without its time stamp, safe to show; at most 500 characters."""
    lines = [_BACKEND.sub("", _TIME.sub("", line)).strip() for line in message.splitlines()]
    coded = next((line for line in lines if _CODE.search(line)), None)
    return visible((coded or next((line for line in lines if line), ""))[:500])


def _epoch(stamp: str) -> float | None:
    try:
        return datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
