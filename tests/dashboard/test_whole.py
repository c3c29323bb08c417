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

from tests.actions.caches import entry
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

    def with_cache(self, cache: Path) -> World:
        """The same, but programs started from here have another cache."""
        return self._replace(environment=self.environment | {"NEURON_COMPILE_CACHE_URL": str(cache)})

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
            self.process.wait(PATIENCE)
            self.process.stderr.close()
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
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "NEURON_COMPILE_CACHE_URL": str(folder / "cache"),
        "NEURONTOP_ACT_TOKEN": ACT,
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "OMP_NUM_THREADS": "1",
    }
    made = World(folder, environment)
    (folder / "job.py").write_text(JOB)
    job = made.program(
        "run",
        "--name",
        "small",
        "--",
        sys.executable,
        "job.py",
        str(folder / "stop"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
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
    seen.page.wait_for_selector("#connection.up", timeout=PATIENCE * 1000)
    return seen


def stepped(seen: Watched, beyond: int) -> int:
    """Wait until the page shows a later step than `beyond`; the step it shows."""
    deadline = time.monotonic() + PATIENCE
    while int(re.sub(r"\D", "", seen.text("#live-step")) or 0) <= beyond:
        assert time.monotonic() < deadline, (beyond, seen.text("body"), seen.complaints)
        seen.page.wait_for_timeout(100)
    return int(re.sub(r"\D", "", seen.text("#live-step")))


def points(seen: Watched) -> list[float]:
    """The steps of the points of the loss chart."""
    seen.page.locator("#live-losses").scroll_into_view_if_needed()  # a chart out of sight is not drawn again
    found = seen.page.evaluate("document.querySelector('#live-losses .js-plotly-plot')?.data?.[0]?.x ?? []")
    return [float(step) for step in found]


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
        one.page.wait_for_selector("#connection.up", timeout=PATIENCE * 1000)
        one.page.wait_for_function(
            "least => (document.querySelector('#live-losses .js-plotly-plot')?.data?.[0]?.x ?? []).length > least",
            arg=len(before),
            timeout=PATIENCE * 1000,
        )
        fresh = opened(browser, again.address)
        stepped(fresh, last)
        fresh.page.wait_for_function(
            "() => document.querySelector('#live-losses .js-plotly-plot')?.data?.length === 1", timeout=PATIENCE * 1000
        )
        kept, whole = points(one), points(fresh)
        assert kept == sorted(set(kept)), "no point twice, none out of order"
        assert set(whole) <= set(kept) | {step for step in whole if step > kept[-1]}, "what was missed came afterwards"
    finally:
        again.kill()


def test_a_graph_is_opened_and_its_entry_is_evicted_and_brought_back_while_the_job_runs(
    browser: Any, world: World, server: Server
) -> None:
    seen = opened(browser, server.address)
    seen.until("#live-graphs-sub", "1 compiled", PATIENCE)
    seen.page.click("#to-compile")
    seen.until("#compile-grid", "compiled", PATIENCE)
    seen.page.click("#compile-grid .ag-center-cols-container .ag-row >> nth=0")
    seen.until("#drawer-depth", "operators of", PATIENCE)
    seen.until("#drawer-depth", "Why it missed", PATIENCE)
    (used,) = world.entries
    seen.page.click("text=Sign in to act")
    seen.page.fill("#token", "not the token, though long enough")
    seen.page.click("button[type=submit]")
    assert "not valid" in seen.text("[role=alert]")
    seen.page.fill("#token", ACT)
    seen.page.click("button[type=submit]")
    seen.page.wait_for_selector("#connection.up", timeout=PATIENCE * 1000)
    seen.until("#drawer-depth", "Why it missed", PATIENCE)  # where one was before signing in
    seen.page.click("#to-live")
    before = stepped(seen, 0)
    seen.page.goto(f"{server.address}cache?q=root:{world.folder}")
    seen.until("#cache-shown", "1 entry", PATIENCE)
    seen.page.check("#cache-everything input")
    seen.page.click("#cache-evict")
    seen.until("#cache-plans", "in use: ", PATIENCE)
    assert seen.page.locator("#cache-plans button.danger").count() == 0, "nothing is taken from a job that runs"
    spare = world.folder / "spare"
    gone = entry(spare, 1, blocks=8)
    beside = Server(world.with_cache(spare))
    try:
        seen.page.goto(f"{beside.address}cache?q=root:{spare}")
        seen.until("#cache-shown", "1 entry", PATIENCE)
        seen.until("#cache-grid", gone.name.removeprefix("MODULE_"), PATIENCE)
        seen.page.click(f"#cache-grid .ag-cell >> text={gone.name.removeprefix('MODULE_')}")
        seen.until("#drawer-depth", f"Why {gone.name} missed", PATIENCE)
        seen.page.check("#cache-everything input")
        seen.page.click("#cache-evict")
        seen.until("#cache-plans", "before → after", PATIENCE)
        assert gone.exists(), "a plan changes nothing"
        seen.page.fill("#cache-plans input", "evict")
        seen.page.press("#cache-plans input", "Tab")
        seen.page.click("#cache-plans button.danger")
        seen.until("#cache-plans", "done: 1 step", PATIENCE)
        assert (gone.exists(), used.exists()) == (False, True)
        seen.page.get_by_role("button", name="Undo", exact=True).click()
        seen.until("#cache-plans", "1 brought back", PATIENCE)
        assert gone.exists()
        seen.page.click("#to-live")
        assert stepped(seen, before) > before, "the job runs on"
        assert seen.alerts == []
    finally:
        beside.kill()


def test_the_page_of_runs_leads_to_the_full_report(browser: Any, world: World, server: Server) -> None:
    seen = opened(browser, f"{server.address}runs")
    seen.until("#runs-grid", "small", PATIENCE)
    seen.page.click("#runs-grid .ag-center-cols-container .ag-row >> nth=0")
    seen.page.wait_for_function("() => location.search.includes('run=')", timeout=PATIENCE * 1000)
    seen.page.wait_for_function(
        "() => document.querySelector('#runs-report a')?.href.includes('run=2')", timeout=PATIENCE * 1000
    )
    with seen.page.expect_popup() as popup:
        seen.page.click("#runs-report a")
    popup.value.wait_for_selector("h1", timeout=PATIENCE * 1000)
    assert "small" in popup.value.inner_text("h1")
    assert popup.value.locator("svg").count() > 0
    assert seen.complaints == []


def test_two_runs_are_chosen_on_the_page_of_runs_and_compared(browser: Any, world: World, server: Server) -> None:
    script = "for n in range(1, 4): print(f'step {n}/3 loss {3 / n} throughput 2.5 seq/s')"
    other = world.program(
        "run",
        "--name",
        "brief",
        "--",
        sys.executable,
        "-c",
        script,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert other.wait(PATIENCE) == 0
    seen = opened(browser, f"{server.address}runs")
    seen.until("#runs-grid", "brief", PATIENCE)
    seen.page.locator("#runs-grid .ag-center-cols-container .ag-row", has_text="brief").click()
    seen.page.wait_for_function("() => location.search.includes('run=')", timeout=PATIENCE * 1000)
    seen.until("#runs-summary", "3 of 3", PATIENCE)
    seen.page.click("#runs-with")
    seen.page.locator(".dash-options-list-option", has_text="small").first.click()
    seen.page.wait_for_function("() => location.search.includes('with=')", timeout=PATIENCE * 1000)
    with seen.page.expect_popup() as popup:
        seen.page.click("text=Compare with it")
    popup.value.wait_for_selector("h1", timeout=PATIENCE * 1000)
    words = popup.value.inner_text("body")
    assert "brief" in words
    assert "small" in words
    assert seen.complaints == []
