"""Sources of lines, as `Event.source` names them: `log:<path>`, `log:-` for a pipe, in a fleet `log:<node>:<path>`; and
captures of telemetry: `telemetry:<path>`; and folders whose logs are read: `folder:<path>`."""

from __future__ import annotations

from pathlib import Path

_PREFIX = "log:"
_CAPTURE = "telemetry:"
_FOLDER = "folder:"
PIPE_SOURCE = f"{_PREFIX}-"


def log_source(path: str | Path, node: str | None = None) -> str:
    """The source of the lines of a log; `node`: whose log it is, where several nodes have logs."""
    return f"{_PREFIX}{node}:{path}" if node is not None else f"{_PREFIX}{path}"


def capture_source(path: str | Path) -> str:
    """The source of what a capture of telemetry holds."""
    return f"{_CAPTURE}{path}"


def is_capture(source: str) -> bool:
    """Whether this source is a capture of telemetry."""
    return source.startswith(_CAPTURE)


def folder_source(path: str | Path) -> str:
    """The name of a folder as a source of logs: it reports that there are none."""
    return f"{_FOLDER}{path}"


def is_folder(source: str) -> bool:
    """Whether this source is a folder whose logs are read."""
    return source.startswith(_FOLDER)


def is_log(source: str) -> bool:
    """Whether this source brings lines; others are caches, devices and workers."""
    return source.startswith(_PREFIX)


def path_of(source: str, node: str | None = None) -> str:
    """The path of a log by its source, of this node where one is named; `-` of a pipe."""
    return source.removeprefix(_PREFIX).removeprefix(f"{node}:" if node is not None else "")
