"""Alerts report all they have to tell wherever there is room, and never take more lines than they were given."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top import events as ev
from neuron_top.run.model import Run
from neuron_top.tui.panels.alerts import SHOWN, AlertPageView, alert_page, alerts_panel, size_request
from neuron_top.tui.panels.welcome import welcome_panel
from neuron_top.tui.screens.alerts import _read
from neuron_top.tui.theme import DARK, UNICODE, Theme
from neuron_top.views.alerts import Alert, AlertKind, Severity
from neuron_top.views.handled_alerts import AlertHistory, alert_list
from neuron_top.views.model import Limits
from neuron_top.views.overview import overview
from neuron_top.views.welcome import NEXT

from . import feeds

LOOK = Theme(DARK, UNICODE)
WORDS = st.lists(st.text("abcdefgh", min_size=1, max_size=12), max_size=30).map(" ".join)
ALERTS = st.lists(
    st.builds(Alert, key=WORDS, severity=st.sampled_from(("error", "warning", "info")), since=st.none(),
              title=st.just("stale lock"), evidence=WORDS, next_step=WORDS),
    max_size=6,
)  # fmt: skip


@given(ALERTS, st.integers(40, 200))
def test_with_the_room_they_wish_for_every_word_is_shown(found: list[Alert], width: int) -> None:
    full = size_request(found, width).full
    lines = [strip.text.rstrip() for strip in alerts_panel(LOOK, found, 0.0, width, full)]
    assert len(lines) == full
    words = [word for line in lines[1:] for word in line.split()]
    if len(found) > SHOWN:
        assert lines[-1] == f"  +{len(found) - SHOWN} more: a shows all"
    for alert in found[:SHOWN]:
        for word in (*alert.evidence.split(), *alert.next_step.split()):
            assert word in words, lines


@given(ALERTS, st.integers(40, 200), st.integers(1, 60))
def test_no_more_lines_than_given_are_drawn(found: list[Alert], width: int, height: int) -> None:
    assert len(alerts_panel(LOOK, found, 0.0, width, height)) <= height


def test_where_nothing_runs_the_last_jobs_are_listed_as_far_as_there_is_room() -> None:
    rows = feeds.recordings()
    shown = [strip.text.rstrip() for strip in welcome_panel(LOOK, overview(Run(), feeds.START), 120, 30, rows)]
    first = next(number for number, line in enumerate(shown) if line.startswith("Recent jobs"))
    assert [line.split()[:2] for line in shown[first + 1 : first + 4]] == [
        ["▶", "bert-tp"],
        ["✓", "bert-tp"],
        ["✗", "llama"],
    ]
    assert "failed (exit status 1)" in shown[first + 3]
    assert "running" in shown[first + 1]
    assert "ago" not in shown[first + 1]
    assert "1 d 00 h ago" in shown[first + 2], "since its end: it ran for a quarter of an hour"
    assert "ago" in shown[first + 3]
    assert "took" not in shown[first + 1], "it still runs"
    assert "took 16 m 40 s" in shown[first + 2]
    tight = welcome_panel(LOOK, overview(Run(), feeds.START), 80, 9, rows)
    assert not any("Recent jobs" in strip.text for strip in tight)


def test_a_last_job_is_called_as_on_the_screen_of_recordings_and_its_reason_takes_the_rest_of_the_line() -> None:
    nameless = msgspec.structs.replace(
        feeds.recordings()[2], name="", reason="the program raised an error: " + "x" * 40
    )
    shown = [strip.text for strip in welcome_panel(LOOK, overview(Run(), feeds.START), 130, 30, (nameless,))]
    (line,) = (line for line in shown if "ago" in line)
    assert f"✗ {nameless.called} " in line
    assert nameless.id not in line
    assert nameless.reason in line


def test_what_happened_in_an_old_log_is_as_long_ago_as_the_log_ended() -> None:
    begun, now = 1_700_000_000.0, 1_700_000_000.0 + 40.5 * 86_400
    run = Run()
    run.apply(ev.StepReported(step=7, loss=2.0, at=begun, seen=now, source="log:/old.log"))
    run.apply(ev.DeviceMemoryExhausted(at=begun + 30, seen=now, source="log:/old.log"))
    run.apply(ev.OutputGrew(path="/old.log", end=99, lines=3, written=begun + 60, at=begun + 60, seen=now))
    view = overview(run, now)
    drawn = alerts_panel(LOOK, view.alerts, view.now, 100, 9, until=view.header.until)
    assert "device memory exhausted 40 d ago" in "".join(strip.text for strip in drawn)
    job, found, at, until = _read(run, now, limits=Limits())
    page = alert_page(LOOK, AlertPageView(alert_list(job, found, AlertHistory()), at, "", until), 100)
    assert "device memory exhausted 40 d ago" in "".join(strip.text for strip in page)


@pytest.mark.parametrize("width", [80, 120])
def test_a_disk_that_fills_up_is_reported_before_any_job_runs(width: int) -> None:
    run = Run()
    run.apply(ev.CacheScanned(root="/cache", states={"hit": 3}, size=10 * 2**20, free=9 * 2**20, at=1.0))
    shown = "\n".join(strip.text for strip in welcome_panel(LOOK, overview(run, 2.0), width, 30))
    assert "cache disk nearly full" in shown
    assert "9.0 MiB free at /cache" in shown
    assert "Nothing runs here yet" in shown


def test_alerts_besides_the_failure_are_counted_as_such() -> None:
    found = [Alert(key="k", kind=AlertKind.WORKER_DIED, severity=Severity.ERROR, since=1.0, title="worker died",
                   evidence="rank 1", next_step="")]  # fmt: skip
    assert "1 error besides the failure" in alerts_panel(LOOK, found, 2.0, 100, 5, shown_above=1)[0].text
    assert "besides" not in alerts_panel(LOOK, found, 2.0, 100, 5)[0].text


def test_where_only_a_cache_is_watched_nothing_else_is_reported_as_looked_for() -> None:
    run = Run()
    run.apply(ev.SourceAvailable(name="cache:/cache"))
    run.apply(ev.CacheScanned(root="/cache", states={"hit": 3}, size=2**20, free=2**40, at=1.0))
    shown = "\n".join(strip.text for strip in welcome_panel(LOOK, overview(run, 2.0), 120, 30))
    assert "only what was named is watched" in shown
    assert "looking for" not in shown


def test_before_the_first_source_answers_it_is_not_said_what_is_watched() -> None:
    shown = "\n".join(strip.text for strip in welcome_panel(LOOK, overview(Run(), 2.0), 120, 30))
    assert "looking for what is to be watched" in shown
    assert "a job that starts is shown" not in shown
    assert "only what was named" not in shown


def test_the_last_jobs_are_listed_before_the_texts_of_what_was_not_found_are_shown_whole() -> None:
    run = Run()
    for name in ("jobs", "neuron-monitor", "sysfs"):
        run.apply(ev.SourceUnavailable(name=name, reason=f"{name} is not here; " + "what to do " * 15))
    for height, jobs in ((21, 3), (40, 3)):
        lines = welcome_panel(LOOK, overview(run, feeds.START), 80, height, feeds.recordings())
        assert len(lines) <= height
        assert sum("llama" in strip.text or "bert-tp" in strip.text for strip in lines) == jobs


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_what_to_do_and_when_a_job_ran_are_not_cut(width: int) -> None:
    view = overview(Run(), feeds.START + 7300.0)
    lines = [strip.text.rstrip() for strip in welcome_panel(LOOK, view, width, 40, feeds.recordings())]
    assert not any(line.endswith("…") for line in lines if "neurontop " in line or (" ago" in line and width >= 80)), (
        lines
    )
    assert all(any(text in line for line in lines) for _command, text in NEXT)
    assert sum(" ago" in line or " for 2 h" in line for line in lines) == len(feeds.recordings())
