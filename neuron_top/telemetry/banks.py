"""Computes how full the memory banks are, the units in which memory runs out. Pure.

Where several cores share a bank (Inf1: all four; Trainium2 at LNC=1: two) one may starve the other, so what is left
is a property of the bank, not of the core.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from neuron_top.events import CoreSample


class BankLevel(msgspec.Struct, frozen=True, kw_only=True):
    """One bank; bytes. `used` is None when no core of it reported, `headroom` when used or capacity is not known."""

    device: int | None
    bank: int
    cores: tuple[int, ...]
    used: int | None
    capacity: int | None

    @property
    def headroom(self) -> int | None:
        """Bytes left; negative would mean that the table is wrong, and is shown as it is."""
        return None if self.used is None or self.capacity is None else self.capacity - self.used


def bank_levels(cores: Iterable[CoreSample]) -> list[BankLevel]:
    """The banks of the sampled cores in order; cores whose bank is unknown are left out."""
    grouped: dict[tuple[int, int], list[CoreSample]] = {}
    for core in cores:
        if core.bank is not None:
            grouped.setdefault((-1 if core.device is None else core.device, core.bank), []).append(core)
    return [_level(bank, members) for (_, bank), members in sorted(grouped.items())]


def _level(bank: int, members: list[CoreSample]) -> BankLevel:
    memories = [core.memory for core in members if core.memory is not None]
    return BankLevel(
        device=members[0].device,
        bank=bank,
        cores=tuple(core.core for core in members),
        used=sum(memories) if memories else None,
        capacity=members[0].capacity,
    )
