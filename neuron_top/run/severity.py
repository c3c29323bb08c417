"""How much an alert matters: apart from the alerts, which take the whole run to find."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """How much an alert matters, worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


SEVERITIES = tuple(Severity)
