"""What a person asks of Slurm; its own file, because places and the executor both need it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class SlurmOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks of Slurm."""

    partition: str = ""
    account: str = ""
    sbatch: Mapping[str, str] = {}
    """Any other option of sbatch, without its dashes; an empty value is an option without one."""
