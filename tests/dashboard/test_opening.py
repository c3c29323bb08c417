"""A run that takes long to be read: its own pages wait for it, and nothing else does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from neuron_top.ingest.feed import View
from neuron_top.ingest.log_line import LogLine
from neuron_top.run.model import Run
from tests.dashboard.browser import Watched
from tests.dashboard.served import Served, serving
from tests.tui.feeds import StillFeed, compiles, job, module, samples

PAGES = ("live", "cores", "compile", "cache", "runs")


class SlowFeed(StillFeed):
    """Waits with every answer until its recording has been read, as a large one does."""

    def __init__(self) -> None:
        super().__init__([*job(), *samples(4, 3), *compiles()])
        self.is_read = threading.Event()
        self.waiting = 0

    def _wait(self) -> None:
        self.waiting += 1
        assert self.is_read.wait(120)

    def read(self, view: Callable[[Run, float], View]) -> View:
        self._wait()
        return super().read(view)

    def log_tail(self, count: int, source: str | None = None) -> list[LogLine]:
        self._wait()
        return super().log_tail(count, source)


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[tuple[Served, SlowFeed]]:
    feed = SlowFeed()
    with serving(feed, tmp_path) as served:
        yield served, feed
        feed.is_read.set()


def questions(served: Served) -> dict[str, dict[str, Any]]:
    """What browsers ask when they open each page with a graph's drawer: a body per callback, by its first output."""
    given: dict[str, Any] = {"search": f"?graph={module(1)}", "pathname": "/"}
    asked = {}
    for callback in served.ask("/_dash-dependencies").json:
        if callback["clientside_function"]:
            continue
        names = [name.partition("@")[0] for name in callback["output"].strip(".").split("...")]
        outputs = [{"id": name.rpartition(".")[0], "property": name.rpartition(".")[2]} for name in names]
        sent = {
            kind: [{**one, "value": given.get(one["property"])} for one in callback[kind]]
            for kind in ("inputs", "state")
        }
        page = next((name.removesuffix("-marks.data") for name in names if name.endswith("-marks.data")), names[0])
        asked[page] = {
            "output": callback["output"],
            "outputs": outputs if callback["output"].startswith("..") else outputs[0],
            **sent,
            "changedPropIds": [f"{one['id']}.{one['property']}" for one in sent["inputs"][:1]],
        }
    return asked


def ask(served: Served, body: dict[str, Any]) -> int:
    return served.post("/_dash-update-component", body, Origin=f"http://127.0.0.1:{served.port}").status


@pytest.mark.parametrize("page", [*PAGES, "logs-new.data", "pinned", "drawer", "drawer-depth.children"])
def test_other_pages_are_answered_while_a_page_waits_for_its_run(slow: tuple[Served, SlowFeed], page: str) -> None:
    served, feed = slow
    body = questions(served)[page]
    with ThreadPoolExecutor(1) as browser:
        answer = browser.submit(ask, served, body)
        wait_for(lambda: feed.waiting > 0)
        began = time.monotonic()
        assert served.ask("/alive").status == 204
        assert served.ask("/api/runs").status == 200, "the threads of the server are not all taken"
        assert time.monotonic() - began < 20
        assert not answer.done()
        feed.is_read.set()
        assert answer.result(60) == 200


class SlowViews(StillFeed):
    """Is read at once, and takes long for the views of a page, as a job of thousands of graphs does."""

    def __init__(self) -> None:
        super().__init__([*job(), *samples(4, 3), *compiles()])
        self.is_slow, self.go_on, self.waiting = False, threading.Event(), 0

    def read(self, view: Callable[[Run, float], View]) -> View:
        if self.is_slow and view.__name__ != "_nothing":  # by which the server waits until it is read
            self.waiting += 1
            assert self.go_on.wait(120)
        return super().read(view)


@pytest.mark.parametrize("page", PAGES)
def test_other_pages_are_answered_while_a_page_is_drawn(tmp_path: Path, page: str) -> None:
    feed = SlowViews()
    with serving(feed, tmp_path) as served:
        body = questions(served)[page]
        feed.is_slow = True
        late = threading.Timer(30, feed.go_on.set)  # else a server that draws in its loop would never end
        late.start()
        with ThreadPoolExecutor(1) as browser:
            answer = browser.submit(ask, served, body)
            wait_for(lambda: feed.waiting > 0)
            assert served.ask("/alive").status == 204
            assert not feed.go_on.is_set(), "answered only after the page"
            feed.go_on.set()
            assert answer.result(60) == 200
        late.cancel()


def test_whoever_asks_whether_the_server_is_there_is_told_that_the_run_is_being_read(
    slow: tuple[Served, SlowFeed],
) -> None:
    served, feed = slow
    began = time.monotonic()
    assert served.ask("/alive?run=").status == 202
    assert time.monotonic() - began < 30
    feed.is_read.set()
    wait_for(lambda: served.ask("/alive?run=").status == 200)


@pytest.mark.e2e
@pytest.mark.timeout(600)
def test_a_page_says_that_its_run_is_being_read_and_does_not_begin_anew(
    slow: tuple[Served, SlowFeed], browser: Any
) -> None:
    served, feed = slow
    seen = Watched(browser)
    seen.page.goto(f"{served.address}compile")
    seen.until("#connection", "reading …")
    seen.page.evaluate("() => { window.wasHere = true; }")
    time.sleep(17)  # longer than a page waits that gets no answer
    assert "reading …" in seen.text("#connection")
    feed.is_read.set()
    seen.until("#compile-summary", "graphs")
    assert seen.page.evaluate("() => window.wasHere") is True, "it was not loaded anew"
    assert seen.complaints == []


def test_many_that_wait_for_a_run_take_one_thread(slow: tuple[Served, SlowFeed]) -> None:
    served, feed = slow
    paths = ("/metrics", "/api/overview", "/api/graphs", "/api/logs", "/api/graphs/none")
    with ThreadPoolExecutor(40) as browsers:
        answers = [browsers.submit(served.ask, path) for path in paths * 8]
        wait_for(lambda: feed.waiting > 0)
        time.sleep(0.5)  # so that all have come
        assert served.ask("/api/runs").status == 200
        assert feed.waiting == 1
        feed.is_read.set()
        assert {answer.result(60).status for answer in answers} == {200, 404}, "there is no graph of that name"


def wait_for(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)
