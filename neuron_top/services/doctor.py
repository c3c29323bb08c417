"""Examines this machine: the doctor's findings, and what to do about them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping

import msgspec

from neuron_top.errors import NeuronTopError, UsageError
from neuron_top.settings import Settings
from neuron_top.telemetry.doctor_checks import examine
from neuron_top.telemetry.doctor_facts import MachineFacts, gather
from neuron_top.telemetry.doctor_findings import CheckLevel, CodedFinding, FindingCode
from neuron_top.telemetry.observer import address_of
from neuron_top.views.doctor_sentences import DoctorFinding, worded

__all__ = ["CheckLevel", "Examination", "DoctorFinding", "examine_machine"]

_MOST_OFFSET = 1.0
"""Seconds of difference between clocks from which on times of several nodes are misleading."""
_DATABASE = "database"
"""Name of the check."""


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """The findings, and the facts that they are based on."""

    findings: tuple[DoctorFinding, ...]
    facts: MachineFacts

    @property
    def problems(self) -> int:
        """How many findings are problems."""
        return sum(finding.level is CheckLevel.PROBLEM for finding in self.findings)


def examine_machine(settings: Settings, sysfs_root: str = "/sys") -> Examination:
    """Look at devices, driver, tools, packages, caches, variables and the terminal; changes nothing.

    Raises UsageError for an invalid address of Neuron Observer.
    """
    observer = address_of(settings.observer_url)
    facts = gather(flag_warnings, settings.state_path, sysfs_root=sysfs_root, observer=observer)
    found = (*examine(facts, warned_variables(os.environ)), *_database(settings))
    return Examination(findings=tuple(map(worded, found)), facts=facts)


def _database(settings: Settings) -> Iterator[CodedFinding]:
    """Findings about whether the database of the settings answers; none if no database is named."""
    if not settings.store:
        return
    try:
        from neuron_top.store.postgres.fleet import FleetStore

        with FleetStore(settings.store, insecure=settings.store_insecure) as store:
            before = time.time()
            clock = store.clock()
            offset = (before + time.time()) / 2 - clock
    except NeuronTopError as problem:
        values = {"problem": str(problem)}
        yield CodedFinding(_DATABASE, CheckLevel.PROBLEM, FindingCode.DATABASE_UNUSABLE, values)
        return
    level = CheckLevel.NOTE if abs(offset) > _MOST_OFFSET else CheckLevel.OK
    yield CodedFinding(_DATABASE, level, FindingCode.DATABASE, {"place": store.place, "offset": offset})


def flag_warnings(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Warnings about compile flags and look-alike variables; flags that cannot be parsed give a warning, too."""
    from neuron_top.compile.wrapper.flags import parse_environment

    try:
        return parse_environment(environ).warnings
    except UsageError as problem:
        return (str(problem),)


def warned_variables(environ: Mapping[str, str]) -> frozenset[str]:
    """Variables that the warnings are about."""
    from neuron_top.compile.wrapper.flags import look_alikes, parse_environment

    try:
        parse_environment(environ)
    except UsageError:
        return frozenset()  # the only warnings are about the flags
    return frozenset(look_alikes(environ))
