"""Environment variables by which a job knows that it is recorded, and by which its processes are found again."""

from __future__ import annotations

RUN_VARIABLE = "NEURONTOP_RUN"
EVENTS_VARIABLE = "NEURONTOP_EVENTS_DIR"
TRACE_VARIABLE = "TORCH_TRACE"
"""PyTorch's own: the folder that each process of a job writes its structured trace of torch.compile to."""
