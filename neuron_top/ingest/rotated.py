"""Finds the rotated files of a log: `train.log.1`, `train.log.2`, `train.log-20260301`.

They are found by name beside the log. Whether a file holds what was read of the log is decided by its bytes, never by
its name: a rotation may rename or copy, and the older files move on by one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from neuron_top.events.log_sources import log_source, path_of
from neuron_top.plain_files import is_file

_ENDING = re.compile(r"\.\d{1,4}|[.-]\d{8}(?:[.-]\d+)?|[.-]\d{4}-\d{2}-\d{2}(?:[T_.-][\d.-]+)?")

_COMPRESSED = re.compile(rf"(?:{_ENDING.pattern})?\.(?:gz|bz2|xz|zst|lz4|Z)")
COMPRESSED = (".gz", ".zst", ".xz", ".bz2")
"""Endings of the compressors that we read."""
_PACKED = r"\.(?:gz|zst|xz|bz2)"
_READ_WHOLE = re.compile(rf"(?P<log>.+?)(?:(?:{_ENDING.pattern})(?:{_PACKED})?|{_PACKED})")
"""The log's own name, followed by what a rotation, and a compressor that we read, append to it."""


def log_of(name: str) -> str:
    """The name (or path) of the log that a file was before it was rotated or compressed; "" where it was neither."""
    match = _READ_WHOLE.fullmatch(name)
    return match["log"] if match else ""


def earlier_files(ends: Mapping[str, int], kept: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """By source, the rotated files of each log that exists (as sources, the newest first) with their sizes.

    One that is followed itself is left out. `kept`: by source, the source under which the lines of its last rotated
    file are kept. A log without a file of its own name gets none: what was read of it is in a rotated file then.
    """
    found: dict[str, dict[str, int]] = {}
    for source in ends:
        path = path_of(source)
        if is_file(path):
            files = {log_source(name): size for name, size in earlier(path)}
            found[source] = {name: size for name, size in files.items() if name not in ends or name == kept.get(source)}
    return found


def earlier(path: str) -> list[tuple[str, int]]:
    """The rotated files of a log with their sizes, the newest first; none when the folder cannot be read."""
    folder, name = os.path.split(path)
    files = list[tuple[os.stat_result, str]]()
    try:
        with os.scandir(folder or ".") as entries:
            for entry in entries:
                with suppress(OSError):  # it vanished meanwhile, as the oldest does at each rotation
                    if _is_earlier(entry, name):
                        files.append((entry.stat(), entry.name))
    except OSError:
        return []
    files.sort(key=lambda file: (-file[0].st_mtime_ns, len(file[1]), file[1]))
    return [(f"{path}{found.removeprefix(name)}", status.st_size) for status, found in files]


def unread(path: str) -> tuple[str, ...]:
    """Names of the rotated files of a log that are compressed, and not read."""
    folder, name = os.path.split(path)
    try:
        names = sorted(entry.name for entry in Path(folder or ".").iterdir())
    except OSError:
        return ()
    return tuple(found for found in names if found.startswith(name) and _COMPRESSED.fullmatch(found, len(name)))


def moved_to(path: str, offset: int, text: bytes) -> str | None:
    """The source under which the file that held this line of the log can be read now; None when it is gone."""
    return next((log_source(found) for found, _size in earlier(path) if _holds(found, offset, text)), None)


def _is_earlier(entry: os.DirEntry[str], name: str) -> bool:
    ending = entry.name.removeprefix(name)
    return ending != entry.name and _ENDING.fullmatch(ending) is not None and entry.is_file()


def _holds(path: str, offset: int, data: bytes) -> bool:
    try:
        with Path(path).open("rb") as file:
            return os.pread(file.fileno(), len(data), offset) == data
    except OSError:
        return False
