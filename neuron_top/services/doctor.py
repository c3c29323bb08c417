"""What was found on this machine, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from neuron_top.errors import UsageError
from neuron_top.settings import Settings
from neuron_top.telemetry.doctor_checks import DoctorFinding, examine
from neuron_top.telemetry.doctor_facts import MachineFacts, gather
from neuron_top.telemetry.observer import address_of

__all__ = ["Examination", "DoctorFinding", "examine_machine"]


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """The findings, and the facts that they rest on."""

    findings: tuple[DoctorFinding, ...]
    facts: MachineFacts

    @property
    def problems(self) -> int:
        """How many findings are problems."""
        return sum(finding.level == "problem" for finding in self.findings)


def examine_machine(settings: Settings, sysfs_root: str = "/sys") -> Examination:
    """Look at devices, driver, tools, packages, caches, variables and the terminal; changes nothing.

    Raises UsageError for an address of Neuron Observer that is none.
    """
    observer = address_of(settings.observer_url)
    facts = gather(flag_warnings, settings.state_path, sysfs_root=sysfs_root, observer=observer)
    return Examination(findings=tuple(examine(facts)), facts=facts)


def flag_warnings(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Warnings about compile flags and look-alike variables; flags that cannot be read are one, not an end."""
    from neuron_top.compile.wrapper.flags import parse_environment

    try:
        return parse_environment(environ).warnings
    except UsageError as problem:
        return (str(problem),)
