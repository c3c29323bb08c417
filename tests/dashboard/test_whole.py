"""The whole as a user has it: `neurontop serve`, a real job beside it, and a browser on both."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.dashboard.browser import Watched

pytestmark = [pytest.mark.e2e, pytest.mark.torch, pytest.mark.timeout(600)]
PATIENCE = 180
ACT = "act-token-of-the-whole-test"
JOB = """
import pathlib, sys, time
import torch
step = torch.compile(lambda x: torch.softmax(x @ x.T, -1).sum(), backend="neurontop")
x = torch.randn(16, 16)
number, stop = 0, pathlib.Path(sys.argv[1])
while not stop.exists():
    number += 1
    print(f"step {number}/100000 loss {step(x).item() / number:.4f} throughput 12.5 seq/s", flush=True)
    time.sleep(0.2)
"""


class World(NamedTuple):
    """A folder with a state, a cache and a job, and the environment that names them."""

    folder: Path
    environment: dict[str, str]

    @property
    def entries(self) -> list[Path]:
        return sorted((self.folder / "cache").glob("*/MODULE_*/model.done"))

    def program(self, *arguments: str, **more: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "neuron_top", *arguments]
        return subprocess.Popen(command, env=self.environment, cwd=self.folder, text=True, **more)


class Server:
    """`neurontop serve` as a process; its address is what it says on standard error."""

    def __init__(self, world: World, port: int = 0) -> None:
        self.process = world.program("serve", "--port", str(port), stderr=subprocess.PIPE)
        self.said: list[str] = []
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            if found:
                self.address, self.port = found[0], int(found[1])
                break
        else:
            raise AssertionError(f"the server did not start: {self.said}")
        self._rest = threading.Thread(target=self.said.extend, args=(self.process.stderr,), daemon=True)
        self._rest.start()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        self._rest.join(PATIENCE)
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A job that runs until the last test has gone."""
    folder = tmp_path_factory.mktemp("whole")
    environment = os.environ | {
        "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config"),
        "NEURON_COMPILE_CACHE_URL": str(folder / "cache"), "NEURONTOP_ACT_TOKEN": ACT,
        "PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    made = World(folder, environment)
    (folder / "job.py").write_text(JOB)
    job = made.program("run", "--name", "small", "--", sys.executable, "job.py", str(folder / "stop"),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        yield made
    finally:
        (folder / "stop").touch()
        with contextlib.suppress(subprocess.TimeoutExpired):
            job.wait(60)
        if job.poll() is None:
            job.send_signal(signal.SIGKILL)
            job.wait()


@pytest.fixture
def server(world: World) -> Iterator[Server]:
    started = Server(world)
    try:
        yield started
    finally:
        started.kill()


def opened(browser: Any, address: str) -> Watched:
    seen = Watched(browser)
    seen.page.goto(address)
    seen.page.wait_for_selector("#connection.live", timeout=PATIENCE * 1000)
    return seen


def stepped(seen: Watched, beyond: int) -> int:
    """Wait until the page shows a later step than `beyond`; the step it shows."""
    deadline = time.monotonic() + PATIENCE
    while int(re.sub(r"\D", "", seen.text("#live-step")) or 0) <= beyond:
        assert time.monotonic() < deadline, (beyond, seen.text("body"), seen.complaints)
        seen.page.wait_for_timeout(100)
    return int(re.sub(r"\D", "", seen.text("#live-step")))


def points(seen: Watched) -> list[str]:
    """The times of the points of the loss chart."""
    found = seen.page.evaluate("document.querySelector('#live-losses .js-plotly-plot')?.data?.[0]?.x ?? []")
    return [str(time) for time in found]


def test_a_real_jobs_values_move_in_two_browsers_and_a_killed_server_loses_nothing(
    browser: Any, world: World, server: Server
) -> None:
    one, two = opened(browser, server.address), opened(browser, server.address)
    first = stepped(one, 2)
    stepped(two, first)
    one.until("#live-graphs-sub", "1 compiled", PATIENCE)
    stepped(one, first)
    before = points(one)
    server.kill()
    one.page.wait_for_selector("#connection.lost", timeout=PATIENCE * 1000)
    again = Server(world, server.port)
    try:
        last = stepped(one, first + 5)
        stepped(two, last)
        one.page.wait_for_selector("#connection.live", timeout=PATIENCE * 1000)
        one.page.wait_for_function(
            "least => (document.querySelector('#live-losses .js-plotly-plot')?.data?.[0]?.x ?? []).length > least",
            arg=len(before), timeout=PATIENCE * 1000,
        )  # fmt: skip
        fresh = opened(browser, again.address)
        stepped(fresh, last)
        fresh.page.wait_for_function("() => document.querySelector('#live-losses .js-plotly-plot')?.data?.length === 1",
                                     timeout=PATIENCE * 1000)  # fmt: skip
        kept, whole = points(one), points(fresh)
        assert kept == sorted(set(kept)), "no point twice, none out of order"
        assert set(whole) <= set(kept) | {time for time in whole if time > kept[-1]}, "what was missed came afterwards"
    finally:
        again.kill()


def test_a_graph_is_opened_with_its_operators_and_a_plan_for_its_entry_changes_nothing_until_it_is_confirmed(
    browser: Any, world: World, server: Server
) -> None:
    seen = opened(browser, f"{server.address}compile")
    seen.until("#compile-grid", "MODULE_", PATIENCE)
    seen.page.click("#compile-grid .ag-center-cols-container .ag-row >> nth=0")
    seen.until("#compile-depth", "operators of", PATIENCE)
    seen.until("#compile-depth", "Why it missed", PATIENCE)
    (done,) = world.entries
    seen.page.click("text=Sign in to act")
    seen.page.fill("#token", "not the token, though long enough")
    seen.page.click("button[type=submit]")
    assert "not valid" in seen.text("[role=alert]")
    seen.page.fill("#token", ACT)
    seen.page.click("button[type=submit]")
    seen.page.wait_for_selector("#connection.live", timeout=PATIENCE * 1000)
    seen.page.goto(f"{server.address}cache")
    seen.until("#cache-shown", "1 entries", PATIENCE)
    seen.page.click("#cache-slim")
    seen.until("#cache-work", "Cancel", PATIENCE)
    assert done.exists(), "a plan changes nothing"
    seen.page.get_by_role("button", name="Cancel").click()
    seen.page.wait_for_function(
        "() => !document.querySelector('#cache-work').innerText.includes('Cancel')", timeout=PATIENCE * 1000
    )
    assert seen.alerts == []


def test_the_page_of_runs_leads_to_the_full_report(browser: Any, world: World, server: Server) -> None:
    seen = opened(browser, f"{server.address}runs")
    seen.until("#runs-grid", "small", PATIENCE)
    seen.page.click("#runs-grid .ag-center-cols-container .ag-row >> nth=0")
    seen.page.wait_for_function("() => location.search.includes('run=')", timeout=PATIENCE * 1000)
    seen.page.wait_for_function(
        "() => document.querySelector('#runs-documents a')?.href.includes('run=2')", timeout=PATIENCE * 1000
    )
    with seen.page.expect_popup() as popup:
        seen.page.click("#runs-documents a")
    popup.value.wait_for_selector("h1", timeout=PATIENCE * 1000)
    assert "small" in popup.value.inner_text("h1")
    assert popup.value.locator("svg").count() > 0
    assert seen.complaints == []
