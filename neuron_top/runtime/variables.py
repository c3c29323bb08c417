"""Environment variables by which a job knows that it is recorded, and by which its processes are found again."""

from __future__ import annotations

RUN_VARIABLE = "NEURONTOP_RUN"
EVENTS_VARIABLE = "NEURONTOP_EVENTS_DIR"
