"""A number that says how it is known: a metric of a report."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from neuron_top.units import UNKNOWN, bytes_text, count_text, duration_text, number_text, percent_text, si_text


class Provenance(StrEnum):
    """How a number is known; the words are printed beside it."""

    MEASURED = "measured"
    COUNTED = "counted"
    AT_MOST = "at most"
    AT_LEAST = "at least"
    COMPUTED = "computed"
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"


class Unit(StrEnum):
    """The units that have a format of their own; any other text is printed behind the number."""

    SECONDS = "seconds"
    BYTES = "bytes"
    SHARE = "share"
    """0…1."""
    COUNT = "count"
    MONEY = "money"
    FLOPS = "FLOP/s"


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One number. `unit`: one of `Unit`, or text to print."""

    name: str
    label: str
    value: float | None
    unit: str
    provenance: Provenance
    note: str = ""
    """What it means, or what it rests on, in one sentence."""

    @property
    def text(self) -> str:
        """The value for people, without its provenance."""
        return value_text(self.value, self.unit)


def metric(name: str, label: str, value: float | None, unit: str, provenance: Provenance, note: str = "") -> Metric:
    """A metric; without a value its provenance is unknown, whatever was hoped for."""
    return Metric(
        name=name,
        label=label,
        value=value,
        unit=unit,
        provenance=provenance if value is not None else Provenance.UNKNOWN,
        note=note,
    )


def value_text(value: float | None, unit: str) -> str:
    """A number of this unit for people."""
    if value is None:
        return UNKNOWN
    match unit:
        case Unit.SECONDS:
            return duration_text(value)
        case Unit.BYTES:
            return bytes_text(value)
        case Unit.SHARE:
            return percent_text(value)
        case Unit.COUNT:
            return count_text(int(value))
        case Unit.FLOPS:
            return si_text(value, unit)
        case Unit.MONEY:
            return f"{value:,.2f}"
    return f"{number_text(value)} {unit}".rstrip()
