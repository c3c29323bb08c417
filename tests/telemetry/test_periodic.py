"""Sources that poll."""

from __future__ import annotations

from neuron_top.events import AnyEvent, HostSampled, SourceAvailable, SourceUnavailable
from neuron_top.telemetry.source import Periodic


def test_a_poll_that_the_system_refuses_is_reported_once_and_others_follow() -> None:
    refusal = OSError(24, "Too many open files")
    polls = iter((refusal, refusal, [HostSampled(cpu=0.5)], []))
    reported: list[AnyEvent] = []

    def look() -> list[AnyEvent]:
        poll = next(polls)
        if isinstance(poll, OSError):
            raise poll
        if not poll:
            source.stop()
        return list[AnyEvent](poll)

    source = Periodic("workers", 0.01, look)
    source.start(reported.append)
    assert [type(event) for event in reported] == [SourceUnavailable, SourceAvailable, HostSampled]
