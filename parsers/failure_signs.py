"""How the compiler and its callers mark a failed compile in their texts."""

from __future__ import annotations

from neuron_top.late_pattern import late_pattern

FAILURE = "Failed compilation with"
"""How the log of a failed compile begins; the argument list and the message follow."""
ERROR_CODE = late_pattern(r"\[(NCC_[A-Z0-9_]+|[A-Z]{3}\d{3}|F1\d\d)\]")
"""Compiler error codes: the old style `[TEN404]`, the new `[NCC_EXTP003]`, and `F` with 128 plus the number of the
signal that ended the compiler: `[F137]` killed, `[F139]` a segmentation fault."""
