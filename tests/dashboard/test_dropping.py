"""Logs that are dropped into a page: who sees them, what is refused, and that nothing of them stays."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.guard import browser_now
from neuron_top.errors import LimitReached, NothingToShow, UsageError
from neuron_top.services import dropped_logs
from neuron_top.services.dropped_logs import MOST_BYTES, DroppedLogs, plain_name
from neuron_top.settings import Settings
from neuron_top.views.overview import overview
from tests.dashboard.browser import Watched
from tests.dashboard.served import READ, Response, Served, serving
from tests.telemetry.records import counters, line, record, runtime
from tests.tui.feeds import StillFeed

FAILED = b"""2026-03-01 10:00:00 INFO step 1 loss 2.5
2026-03-01 10:00:05 INFO step 2 loss 2.4
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    raise ValueError("the batch is empty")
ValueError: the batch is empty
"""
USED = {"neuroncore_utilization": 40.0, "flops": 0}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(StillFeed(), tmp_path) as one:
        yield one


def drop(
    served: Served,
    data: bytes,
    name: str = "train.log",
    cookie: str = "",
    modified: str = "1772359300000",
    **headers: str,
) -> Response:
    given = {"Origin": served.address.rstrip("/"), "Content_Type": "application/octet-stream"}
    given |= {"Cookie": cookie} if cookie else {}
    terms = urlencode({"name": name, "modified": modified})
    return served.ask(f"{served.prefix}dropped?{terms}", method="POST", body=data, **(given | headers))


def cookie_of(answer: Response) -> str:
    given = answer.headers["set-cookie"]
    assert "HttpOnly" in given
    assert "samesite=strict" in given.lower()
    assert "max-age" not in given.lower()  # it ends with the browser
    return given.partition(";")[0]


def overview_of(served: Served, run: str, cookie: str = "") -> Response:
    return served.ask(f"{served.prefix}api/overview?run={run}", **({"Cookie": cookie} if cookie else {}))


def files_of(state: Path) -> list[Path]:
    return [path for path in (state / "dropped").rglob("*") if path.is_file() and path.name != "in-use"]


def until(holds: Any, seconds: float = 150.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_dropped_log_is_read_and_shown_to_its_browser_alone(served: Served, tmp_path: Path) -> None:
    answer = drop(served, FAILED)
    assert answer.status == 200
    run, cookie = answer.json["run"], cookie_of(answer)
    until(lambda: overview_of(served, run, cookie).json["training"]["step"] == 2)
    (file,) = files_of(tmp_path)
    assert file.stat().st_mode & 0o077 == 0
    assert overview_of(served, run).status == 404
    other = drop(served, b"another log\n")
    assert overview_of(served, run, cookie_of(other)).status == 404
    assert served.ask(f"{served.prefix}alive?run={run}", Cookie=cookie).json["title"]  # what is shared, its own alone
    for path in (f"report?run={run}", f"alive?run={run}", f"api/logs?run={run}", f"api/summary?run={run}"):
        assert b"batch is empty" not in served.ask(served.prefix + path).body
        assert b"train.log" not in served.ask(served.prefix + path).body
    assert b"train.log" not in served.ask(f"{served.prefix}api/runs", Cookie=cookie).body
    assert not list(tmp_path.rglob("*.db"))


def test_a_second_log_of_a_browser_keeps_the_name_of_the_browser(served: Served) -> None:
    first = drop(served, FAILED)
    cookie = cookie_of(first)
    second = drop(served, FAILED, cookie=cookie)
    assert "set-cookie" not in second.headers
    assert overview_of(served, first.json["run"], cookie).status == 200
    assert overview_of(served, second.json["run"], cookie).status == 200


def test_a_capture_is_recognized_by_what_is_in_it(served: Served) -> None:
    capture = b"\n".join(
        line(record(runtime(7, neuroncore_counters=counters({0: USED, 1: USED})))).strip() for _ in range(3)
    )
    answer = drop(served, capture, name="export.txt")
    run, cookie = answer.json["run"], cookie_of(answer)
    until(lambda: len(overview_of(served, run, cookie).json["cores"]) == 2)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\x7fELF\0\0\0\0" * 50, "is not text"),
        (b"\x1f\x8b\x08\0 packed", "is compressed"),
        (b"PK\x03\x04 packed", "is compressed"),
    ],
)
def test_what_is_no_log_is_refused_and_not_kept(served: Served, tmp_path: Path, data: bytes, words: str) -> None:
    answer = drop(served, data)
    assert answer.status == 400
    assert words in answer.json["error"]
    assert "set-cookie" not in answer.headers
    assert files_of(tmp_path) == []


@pytest.mark.parametrize(
    "modified", ["9" * 5000, "9" * 400, "0" * 5000, "\u0663", "-1", "1e400", ""], ids=lambda text: text[:6]
)
def test_a_log_of_an_impossible_time_is_read(served: Served, modified: str) -> None:
    assert drop(served, FAILED, modified=modified).status == 200


def test_a_file_that_is_too_large_is_refused_before_it_is_read(served: Served, tmp_path: Path) -> None:
    answer = drop(served, b"", Content_Length=str(MOST_BYTES + 1))
    assert answer.status == 413
    assert str(MOST_BYTES) in answer.json["error"]
    assert files_of(tmp_path) == []


def test_only_this_address_takes_a_large_body(served: Served) -> None:
    whole = drop(served, b"a line of a log\n" * (2 << 16))  # 2 MiB
    assert whole.status == 200
    assert served.post(f"{served.prefix}api/cache/plans", {"keys": ["k" * (2 << 20)]}).status == 413


def test_without_the_token_and_from_other_sites_nothing_is_taken(tmp_path: Path) -> None:
    with serving(StillFeed(), tmp_path, read=READ) as served:
        assert drop(served, FAILED).status == 401
        assert files_of(tmp_path) == []
        assert drop(served, FAILED, Authorization=f"Bearer {READ}").status == 200
        assert drop(served, FAILED, Authorization=f"Bearer {READ}", Origin="http://evil.example").status == 403
        assert drop(served, FAILED, Authorization=f"Bearer {READ}", Content_Type="text/plain").status == 400


def test_signing_out_closes_the_logs_of_the_browser(served: Served, tmp_path: Path) -> None:
    answer = drop(served, FAILED)
    cookie = cookie_of(answer)
    out = served.ask(f"{served.prefix}sign-out", method="POST", Cookie=cookie, Origin=served.address.rstrip("/"))
    assert out.status == 303
    assert overview_of(served, answer.json["run"], cookie).status == 404
    assert files_of(tmp_path) == []


def test_the_end_of_the_server_leaves_nothing(tmp_path: Path) -> None:
    with serving(StillFeed(), tmp_path) as served:
        drop(served, FAILED)
        assert files_of(tmp_path)
    assert list((tmp_path / "dropped").iterdir()) == []


def test_what_a_killed_server_left_goes_and_what_a_running_one_holds_stays(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path))
    running = DroppedLogs(settings)
    running.receive("browser one", "a.log", 4)
    left = tmp_path / "dropped" / "server-killed"
    (left / "log-1").mkdir(parents=True)
    (left / "in-use").touch(mode=0o600)
    (left / "log-1" / "secret.log").write_text("secret")
    DroppedLogs(settings).remove_left()
    assert not left.exists()
    assert [path.name for path in files_of(tmp_path)] == ["a.log"]
    running.stop()
    assert files_of(tmp_path) == []


def test_one_browser_has_a_few_and_all_together_a_bounded_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = DroppedLogs(Settings(state_dir=str(tmp_path)))
    try:
        for count in range(dropped_logs.OF_ONE + 2):
            logs.receive("one", f"{count}.log", 4)
        assert sorted(path.name for path in files_of(tmp_path)) == ["2.log", "3.log", "4.log"]
        for count in range(dropped_logs.MOST - dropped_logs.OF_ONE):
            logs.receive(f"browser {count}", "b.log", 4)
        with pytest.raises(LimitReached, match="dropped logs are open"):
            logs.receive("one too many", "c.log", 4)
        assert len(files_of(tmp_path)) == dropped_logs.MOST
        monkeypatch.setattr(dropped_logs, "LEFT_SECONDS", -1.0)  # the pages of the others are closed
        logs.receive("one too many", "c.log", 4)
        assert len(files_of(tmp_path)) == dropped_logs.MOST
    finally:
        logs.stop()


def test_a_file_that_cannot_be_made_replaces_no_other(tmp_path: Path) -> None:
    closed: list[str] = []
    logs = DroppedLogs(Settings(state_dir=str(tmp_path)), closed=closed.append)
    earlier = [logs.receive("one", f"{number}.log", 10) for number in range(dropped_logs.OF_ONE)]
    free = os.dup(0)
    os.close(free)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            logs.receive("one", "more.log", 10)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert closed == []
    assert sorted(files_of(tmp_path)) == sorted(log.path for log in earlier)
    logs.stop()
    assert sorted(closed) == sorted(log.identity for log in earlier)


def test_a_log_that_nobody_looks_at_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    logs = DroppedLogs(Settings(state_dir=str(tmp_path)), closed=closed.append)
    log = logs.receive("one", "a.log", 4)
    log.write(b"abcd")
    logs.begin(log)
    logs.close_idle()
    assert logs.feed(log.identity, "one") is log.feed
    with pytest.raises(NothingToShow, match="another browser"):
        logs.feed(log.identity, "")
    monkeypatch.setattr(dropped_logs, "IDLE_SECONDS", -1.0)
    logs.close_idle()
    assert closed == [log.identity]
    assert files_of(tmp_path) == []
    with pytest.raises(NothingToShow, match="drop the file once more"):
        logs.feed(log.identity, "one")
    logs.stop()


def test_a_log_that_others_replaced_while_it_arrived_is_refused_and_not_read(tmp_path: Path) -> None:
    logs = DroppedLogs(Settings(state_dir=str(tmp_path)))
    early, late = (logs.receive("browser", f"{name}.log", 4) for name in ("early", "late"))
    early.write(b"abc\n")
    for number in range(dropped_logs.OF_ONE):
        logs.receive("browser", f"{number}.log", 4)
    with pytest.raises(LimitReached, match="drop it again"):
        late.write(b"abc\n")
    with pytest.raises(LimitReached, match="drop it again"):
        logs.begin(early)
    assert early.feed is None
    logs.stop()


def test_more_and_fewer_bytes_than_announced_are_refused(tmp_path: Path) -> None:
    logs = DroppedLogs(Settings(state_dir=str(tmp_path)))
    with pytest.raises(UsageError, match="longer"):
        logs.receive("one", "a.log", 3).write(b"abcd")
    short = logs.receive("one", "b.log", 9)
    short.write(b"abcd")
    with pytest.raises(UsageError, match="whole"):
        logs.begin(short)
    logs.stop()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("train.log", "train.log"),
        ("../../etc/passwd", "passwd"),
        ("C:\\logs\\train.log", "train.log"),
        ("", "dropped"),
        ("-", "dropped"),
        (".hidden", "hidden"),
        ("a\0b\n.log", "ab.log"),
        ("train.log.gz", "train.log.gz.log"),  # text, whatever it is called: what is packed was refused
    ],
)
def test_names_lead_nowhere(given: str, kept: str) -> None:
    assert plain_name(given) == kept
    assert len(os.fsencode(plain_name("ü" * 300))) <= 124


def test_what_a_dropped_log_says_of_caches_is_not_followed(tmp_path: Path) -> None:
    feeds = FeedRegistry(Settings(state_dir=str(tmp_path)), StillFeed())
    text = b"2026-03-01 10:00:00.000001: 1 [INFO]: Using a cached neff at /some/neuronxcc-2.21/MODULE_1+2/model.neff\n"
    log = feeds.dropped.receive("one", "a.log", len(text))
    log.write(text)
    feeds.dropped.begin(log)
    token = browser_now.set("one")
    try:
        until(lambda: feeds.read(log.identity, overview).cache.hits == 1)
        assert feeds.cache_roots(log.identity) == ()
        with pytest.raises(UsageError, match="nothing about it is stored"):
            feeds.act_on_alert(log.identity, "acknowledge", "key")  # type: ignore[arg-type]
    finally:
        browser_now.reset(token)
        feeds.dropped.stop()


DROP = """([name, text]) => {
    const data = new DataTransfer(), zone = document.getElementById("drop-zone");
    data.items.add(new File([text], name, {lastModified: Date.now() - 3600000}));
    for (const kind of ["dragenter", "dragover", "drop"]) {
        zone.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
    }
}"""


def test_a_file_dropped_on_the_idle_page_gets_a_verdict(browser: Any, served: Served) -> None:
    watched = Watched(browser)
    page = watched.page
    page.goto(served.address)
    page.wait_for_selector("#drop-zone", state="visible")
    page.evaluate(DROP, ["broken.bin", "a\0b"])
    assert "is not text" in watched.until("#drop-words", "Not opened")
    watched.complaints.clear()  # Chromium reports each refused request
    page.evaluate(DROP, ["night.log", FAILED.decode()])
    page.wait_for_url("**run=dropped-*")
    said = watched.until("#live-reason", "FAILED")
    assert "the batch is empty" in said
    page.wait_for_function("document.getElementById('run').innerText.includes('night.log')")
    other = Watched(browser)  # a context of its own: another browser
    other.page.goto(page.url)
    assert "drop the file once more" in other.until("#problem", "closed")
    assert "batch is empty" not in other.page.content()
    assert not watched.complaints
    other.page.close()
    page.close()
