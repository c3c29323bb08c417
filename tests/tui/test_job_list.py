"""The list of jobs: a job that begins is offered, but not the one that is on the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import msgspec
import pytest

from neuron_top import events as ev
from neuron_top.run.model import Run
from neuron_top.store.errors import StoreCorrupt
from neuron_top.tui import job_list
from neuron_top.tui.job_list import JobList
from neuron_top.tui.replay_controller import ReplayController
from neuron_top.tui.services import Services
from neuron_top.views.runs import RunRow

from . import feeds

View = TypeVar("View")
OTHERS, NEW = (
    feeds.recordings()[0],
    msgspec.structs.replace(feeds.recordings()[0], id="20260921-101700-new", name="new"),
)
OWN = msgspec.structs.replace(OTHERS, id=cast("ev.RunStarted", feeds.job()[0]).run, name="own")


class Program:
    """What the list asks of the application; reads at once, and collects what it is told to say."""

    def __init__(self, rows: tuple[RunRow, ...]) -> None:
        self.playback = ReplayController(feeds.StillFeed(feeds.job()), lambda: None)
        self.running, self.notices = rows, list[str]()
        self.begun_seconds = 1.0

    @property
    def services(self) -> Services:
        return cast("Services", feeds.StillServices(self.running))

    @property
    def front(self) -> Program:
        return self

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def run_worker(self, work: Callable[[], None], *, thread: bool, exit_on_error: bool) -> None:
        work()

    def action_jobs(self) -> None:
        raise AssertionError("nothing to choose from")


@pytest.mark.parametrize("before", [(), (OTHERS,)], ids=["alone", "beside another job"])
def test_a_job_that_begins_is_offered_but_not_the_one_on_the_screen(
    before: tuple[RunRow, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_list, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr(job_list, "_READ_SECONDS", 0.0)
    program = Program(before)
    jobs = JobList(program)
    jobs.tick()
    program.begun_seconds = 10.0
    jobs.tick()
    program.running = (OWN, *before)
    jobs.tick()
    assert program.notices == []
    program.running = (NEW, OWN, *before)
    jobs.tick()
    assert program.notices == ["a new job runs: new; J lists the jobs"]


def test_a_recording_that_cannot_be_read_keeps_no_job_from_being_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_list, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr(job_list, "_READ_SECONDS", 0.0)
    program = Program(())
    program.playback.play(Unreadable(feeds.job()))
    program.begun_seconds = 10.0
    jobs = JobList(program)
    jobs.tick()
    program.running = (NEW,)
    jobs.tick()
    assert program.notices == ["a new job runs: new; J lists the jobs"]


@pytest.mark.parametrize("begun", [1.0, 10.0])
def test_a_job_that_was_there_before_is_not_offered_however_late_the_recordings_are_read(
    begun: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, reads = Program((OTHERS,)), list[Callable[[], None]]()
    program.begun_seconds = begun
    monkeypatch.setattr(program, "run_worker", lambda work, **options: reads.append(work))
    jobs = JobList(program)
    jobs.tick()
    reads.pop()()
    jobs.tick()  # with the cards of the first time
    monkeypatch.setattr(job_list, "_FRESH_SECONDS", 0.0)
    jobs.tick()
    assert program.notices == []


class Unreadable(feeds.StillFeed):
    """A recording with a damaged batch."""

    def read(self, view: Callable[[Run, float], View]) -> View:
        raise StoreCorrupt("the store is damaged")
