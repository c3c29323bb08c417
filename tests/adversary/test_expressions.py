"""Filters that were written to take for ever, in the web, in the terminal and in commands: nothing waits for them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest

from neuron_top.dashboard.pages import logs
from neuron_top.errors import UsageError
from neuron_top.events.levels import LineLevel
from neuron_top.filters import MOST_CHARACTERS, MOST_EXPRESSIONS, MOST_TERMS, expression, newest_kept, words_filter
from neuron_top.ingest import log_files
from neuron_top.ingest.log_line import LogLine
from neuron_top.ingest.log_query import LogQuery
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.widgets import log_window
from neuron_top.tui.widgets.log_view import LogView
from neuron_top.views.entries import entry_filter
from tests.adversary import web
from tests.tui.feeds import StillFeed, StillServices, job

EXPLODING = "/(a+)+$/"
HOSTILE_LINES = [
    "a" * 40 + "!",
    "a" * 4000 + "!",
    "x" * 4000,
    "ab" * 2000 + "c",
    "é" * 2000,
    " " * 4000 + "x",
    "1" * 4000,
]
HOSTILE = (
    r"(a+)+$", r"(a|aa)+$", r"(a|a?)+$", r"(.*a){20}", r"([a-z]+)*\d", r"(x+x+)+y", r"(\w+\s?)*$", r"(a*)*b",
    r"(.*)*(.*)*(.*)*z", r"a?" * 100 + "a" * 100, r"(?:.{0,30}){0,2}z", r"[a-q][^u-z]{90}x",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
)  # fmt: skip
"""The collection of every talk on the subject, and what makes RE2 leave its fast way."""

UNSUPPORTED = {
    r"a(?=b)": "look-ahead", r"a(?!b)": "negative look-ahead", r"(?<=a)b": "look-behind",
    r"(?<!a)b": "negative look-behind",
    r"(a)\1": r"a back reference \1", r"(?P<x>a)(?P=x)": "a back reference", r"(?>a+)b": "an atomic group",
    r"(a)(?(1)b|c)": "a conditional group", r"a++": "a possessive repetition", r"a\Z": r"\Z",
}  # fmt: skip


IMPOSSIBLE = ("(", "[", "a**", "\\", "[z-a]", "(" * 600, r"\pL{300}", "(.{1000}){2}", "a{1001}", "\x00(", "\ud800([")


def lines_of(texts: list[str]) -> list[LogLine]:
    return [LogLine(source="log:a", offset=at, text=text, end=at + 1) for at, text in enumerate(texts)]


@pytest.mark.e2e
def test_a_filter_of_the_logs_that_never_ends_freezes_no_server(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("\n".join([*HOSTILE_LINES, *("a" * 40 + "!" for _ in range(500)), ""]))
    with web.program(tmp_path, str(log)) as program:
        known = json.loads(
            web.exchange(program.port, web.head(program.port, "/_dash-dependencies", "Connection: close")).partition(
                b"\r\n\r\n"
            )[2]
        )
        body = web.callback(web.dependencies(known)["logs-new.data"], url=f"?q={quote(EXPLODING)}")
        origin = f"Origin: http://127.0.0.1:{program.port}"
        kind = ("Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close")
        question = web.head(program.port, "/_dash-update-component", origin, *kind, method="POST") + body
        assert web.status_of(web.exchange(program.port, question)) == 200
        assert web.ask(program.port) == 204
        program.process.send_signal(signal.SIGINT)
        program.process.wait(web.PATIENCE)


FILTERED = """
import sys
from neuron_top.ingest.log_line import LogLine
from neuron_top.ingest.log_query import LogQuery
from tests.adversary.test_expressions import HOSTILE, HOSTILE_LINES
for pattern in HOSTILE:
    query = LogQuery(f"/{pattern}/")
    assert not query.problem, query.problem
    for text in HOSTILE_LINES:
        query.keep(LogLine(source="log:a", offset=0, text=text))
"""


def test_no_expression_takes_long_on_any_line() -> None:
    """In a process of its own: what an engine that goes back and forth makes of these can only be killed."""
    subprocess.run([sys.executable, "-c", FILTERED], check=True, timeout=web.PATIENCE, cwd=Path(__file__).parents[2])


GLOBBED = """
import fnmatch
name = "MODULE_" + "a" * 4000
for pattern in ("*a" * 200 + "b", "?*" * 200 + "b", "*" * 200 + "b", "[!b]*" * 200 + "b"):
    assert not fnmatch.fnmatchcase(name, pattern)
"""


def test_a_pattern_of_names_with_many_stars_ends() -> None:
    """What `--match`, pins and `cache ls` take: fnmatch makes expressions of them that never go back."""
    subprocess.run([sys.executable, "-c", GLOBBED], check=True, timeout=web.PATIENCE)


@pytest.mark.parametrize(("pattern", "name"), UNSUPPORTED.items())
def test_what_the_engine_does_not_know_is_named(pattern: str, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError) as caught:
        expression(pattern)
    assert str(caught.value).startswith(f"/{pattern}/: {name}")
    assert "not supported" in str(caught.value)
    query = LogQuery(f"/{pattern}/ level:error")
    assert name in query.problem
    assert not query.keep(LogLine(source="log:a", offset=0, text="ab", level=LineLevel.ERROR))
    assert not query.reads("log:a")
    assert capfd.readouterr().err == "", "the engine writes nothing of its own into a screen"


@pytest.mark.parametrize("pattern", IMPOSSIBLE)
def test_what_cannot_be_an_expression_is_reported_in_one_line(pattern: str) -> None:
    with pytest.raises(UsageError) as caught:
        expression(pattern)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 250


def test_an_expression_reads_texts_of_all_kinds_and_any_case() -> None:
    assert expression("ÉTAPE \\d+$")("étape 12")
    assert expression("^a.b$")("a\ud800b"), "a line may hold what is no character"
    assert not expression("step \\d+7$")("step 12")


def test_a_filter_is_bounded_in_length_terms_and_expressions() -> None:
    many = " ".join(["a"] * (MOST_TERMS + 1))
    for make in (LogQuery, entry_filter, words_filter):
        for text in ("x" * (MOST_CHARACTERS + 1), many):
            assert _problem(make, text), make
        assert not _problem(make, " ".join(["a"] * MOST_TERMS))
    assert "regular expressions" in LogQuery("/a/ " * (MOST_EXPRESSIONS + 1)).problem
    assert not LogQuery("x" * MOST_CHARACTERS).at_least(LineLevel.ERROR).problem, "our own terms do not count"


def _problem(make: Callable[[str], object], text: str) -> str:
    try:
        return getattr(make(text), "problem", "")
    except UsageError as problem:
        return str(problem)


def test_when_time_is_up_the_newest_lines_were_looked_at() -> None:
    moments = count()
    kept = newest_kept(range(100), lambda number: number % 2 == 0, 9.5, clock=lambda: float(next(moments)))
    assert kept.rows == [90, 92, 94, 96, 98]
    assert kept.unseen == 90
    assert newest_kept(range(10), bool, 99.0) == (list(range(1, 10)), 0)


def test_the_page_of_the_logs_says_how_far_a_slow_filter_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "FILTER_SECONDS", -1.0)
    every, query = lines_of([f"step {number}" for number in range(50)]), logs.query_of("/step/", "")
    kept = logs.render(every, query)
    assert [line.text for line in kept.rows] == ["step 49"]
    assert "1 of the last 1 lines; the filter is too slow" in logs.status_text(kept.rows, every, kept.unseen, query)
    assert "look-ahead" in logs.status_text([], every, 0, logs.query_of("/(?=a)/", ""))


def test_a_search_through_a_file_stops_in_the_middle_of_a_block(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"line {number}\n" for number in range(300)))
    ends, at, pages, moments = {f"log:{log}": log.stat().st_size}, {}, 0, count()
    query = LogQuery("/line 1$/")
    for step in (log_files.older, log_files.newer):
        found: list[LogLine] = []
        at, pages, ended = ({} if step is log_files.newer else ends), 0, False
        while not ended:
            page = step(ends, at, 10, query, lambda: next(moments) / 1000)
            found, at, ended, pages = [*found, *page.lines], page.at, page.ended, pages + 1
        assert [line.text for line in found] == ["line 1"]
        assert pages > 5, "one block, and yet keys are answered in between"


def test_the_terminal_looks_at_what_there_is_time_for_and_goes_on_in_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "a.log"
    texts = [f"needle {number}" for number in range(40)]
    log.write_text("\n".join([*texts, ""]))
    source, offset, lines = f"log:{log}", 0, []
    for text in texts:
        lines.append(LogLine(source=source, offset=offset, text=text, end=offset + len(text) + 1))
        offset += len(text) + 1

    class Filed(StillFeed):
        def log_older(self, before, count, query=None):  # type: ignore[no-untyped-def]
            return log_files.older({source: offset}, before, count, query)

    monkeypatch.setattr(log_window, "FILTER_SECONDS", -1.0)
    window = log_window.LogWindow(Filed(lines=lines))
    window.query = LogQuery("/needle/")
    window.take_tail(10)
    assert (len(window.lines), window.unseen) == (1, 39)
    while not window.at_start:
        window.lengthen_up()
    assert [line.text for line in window.lines] == texts


async def test_an_expression_is_typed_in_the_terminal_and_what_is_wrong_with_it_is_reported() -> None:
    feed = StillFeed(job(), lines=lines_of([*HOSTILE_LINES, "a step"]))
    app = TopApp(feed, Settings(), services=StillServices(()))
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.press("5", "slash", *"/(a+)+$/", "enter")
        view = app.screen.query_one(LogView)
        await pilot.pause()
        assert view._window.query.text == "/(a+)+$/"
        assert view.lines == []
        await pilot.press("escape", "slash", *"/a(?=b)/", "enter")
        await pilot.pause()
        assert "look-ahead" in view._summary()
        await pilot.press("escape", "slash", *"/^a ST/", "enter")
        await pilot.pause()
        assert [line.text for line in view.lines] == ["a step"]


def test_a_program_that_filters_nothing_does_not_load_the_engine() -> None:
    code = (
        "import sys, neuron_top.tui.app, neuron_top.tui.screens.logs, neuron_top.dashboard.pages.logs\n"
        "from neuron_top.ingest.log_query import LogQuery\nLogQuery('level:error words')\n"
        "assert 're2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=web.PATIENCE)
