"""How severe an alert is. A module of its own: comparing severities does not import the alert rules."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """How much an alert matters, worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


SEVERITIES = tuple(Severity)
