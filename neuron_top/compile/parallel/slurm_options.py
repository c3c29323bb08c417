"""The options for Slurm, in a file of their own because places and the executor both need them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class SlurmOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options that a person chooses for Slurm."""

    partition: str = ""
    account: str = ""
    sbatch: Mapping[str, str] = {}
    """Any other options of sbatch, without their dashes; an empty value stands for an option without a value."""
