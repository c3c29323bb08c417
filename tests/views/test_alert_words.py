"""Alerts are values; their words are made in the views, and no decision hangs on them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from neuron_top.events import CachedFailureHit, CompileFailed, LockWaited, RunStarted, TrialRunStarted
from neuron_top.run.alerts.alert import AlertKind
from neuron_top.run.alerts.raised import raised
from neuron_top.run.model import Run
from neuron_top.views import alerts as words

MODULE = "MODULE_1111+aaaa"


def troubled() -> Run:
    run = Run()
    for event in (
        RunStarted(run="r", at=0.0),
        TrialRunStarted(at=1.0),
        CachedFailureHit(module=MODULE, pid=1, at=2.0, message="E1 {not a field}"),
        CompileFailed(module="MODULE_2+a", pid=1, at=3.0, message="no room"),
        LockWaited(module="MODULE_{3}+a", pid=2, at=200.0, minutes=3.0),
    ):
        run.apply(event)
    return run


def test_every_kind_has_words() -> None:
    assert set(words._WORDS) == set(AlertKind)


def test_what_happened_was_so_long_ago_and_what_holds_does_for_so_long() -> None:
    assert words.since_words(AlertKind.WORKER_DIED, 100.0, 120.4) == "20 s ago"
    assert words.since_words(AlertKind.STALE_LOCK, 100.0, 400.0) == "for 5 m 00 s"
    assert words.since_words(AlertKind.WORKER_DIED, 100.0, 4_000.0, until=120.4) == "1 h 05 m ago"
    assert words.since_words(AlertKind.STALE_LOCK, 100.0, 4_000.0, until=400.0) == "for 5 m 00 s", "then its log ended"
    assert words.since_words(AlertKind.STALE_LOCK, None, 400.0) == ""


def test_an_alert_in_words_is_the_alert_that_was_raised() -> None:
    values, texts = raised(troubled(), 300.0), words.alerts(troubled(), 300.0)
    assert [(alert.kind, alert.key, alert.severity, alert.graph) for alert in values] == [
        (alert.kind, alert.key, alert.severity, alert.graph) for alert in texts
    ]
    assert {alert.kind for alert in values} == {
        AlertKind.CACHED_FAILURE,
        AlertKind.COMPILE_FAILED,
        AlertKind.STALE_LOCK,
        AlertKind.TRIAL_RUN,
    }
    stale = next(alert for alert in texts if alert.kind is AlertKind.STALE_LOCK)
    assert "MODULE_{3}+a" in stale.evidence
    assert "cache show MODULE_{3}+a" in stale.next_step


def test_no_sentence_decides_which_alerts_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [alert.kind for alert in words.alerts(troubled(), 300.0)]
    silent: Callable[[object], str] = lambda _alert: "x"  # noqa: E731
    monkeypatch.setattr(words, "_WORDS", {kind: words._Words("x", silent, "x") for kind in AlertKind})
    after = words.alerts(troubled(), 300.0)
    assert [alert.kind for alert in after] == before
    assert {(alert.title, alert.evidence, alert.next_step) for alert in after} == {("x", "x", "x")}
