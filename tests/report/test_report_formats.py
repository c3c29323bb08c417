"""The HTML, Markdown and JSON forms: whole, safe with hostile text, equal for a live run and its replay."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from neuron_top import events as ev
from neuron_top.cli import documents
from neuron_top.cli.main import main
from neuron_top.ingest.recording import Recording
from neuron_top.ingest.recordings import load_run, store_path
from neuron_top.ingest.run_loader import end_of
from neuron_top.report.html import html
from neuron_top.report.markdown import cell, markdown, paragraph
from neuron_top.services.reports import ReportService
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.report import report
from tests.dashboard.browser import chromium_program
from tests.parsers.logs import M1, g3
from tests.report.samples import T0, A, made, sample
from tests.torch_trace.traces import WHOLE, context, record

CHROMIUM = chromium_program()
HOSTILE = '</title><script>alert(1)</script>|`x`\x1b[31m"><img src=http://evil.example/a.png>'
JOB = """
import time
for step in range(1, 6):
    print(f"{{'loss': {1 / step}, 'learning_rate': 0.1, 'epoch': {step}}}", flush=True)
print("2025-03-01 10:00:00.000123:  4242  [INFO]: Using a cached neff at "
      "/c/neuronxcc-2.21.33363.0+82129205/MODULE_12345678901234567890+e30acd3a/model.neff", flush=True)
"""


def test_a_trace_of_pytorch_that_nobody_recorded_is_known_by_its_first_line_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traces = [tmp_path / f"dedicated_log_torch_trace_rank_{rank}_x.log" for rank in (0, 1)]
    for rank, trace in enumerate(traces):
        trace.write_text(WHOLE.replace(" 71 torch", f" {71 + rank} torch"), encoding="utf-8")
    assert main(["report", *map(str, traces), "--format", "json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    frames = reported["torch"]["frames"]
    assert {(one["rank"], one["pid"], one["function"]) for one in frames if one["graphs"]} == {
        (0, 71, "forward"),
        (1, 72, "forward"),
    }
    assert "PyTorch compiled 2 graphs itself" in " ".join(reported["headline"])


DATED = (
    record({"dynamo_start": {"stack": [{"line": 9, "name": "step", "filename": 4}]}, **context(1)})
    + record({"dynamo_output_graph": {"sizes": {}}, **context(1)}, "def forward(self): pass")
    + record({"compilation_metrics": {"compile_id": "1/0", "co_name": "step", "entire_frame_compile_time_s": 5.0},
              **context(1)}, second=25)
)  # fmt: skip
"""A frame that took five seconds."""
TRACED = f"""
import os, pathlib
folder = pathlib.Path(os.environ["TORCH_TRACE"])
folder.mkdir(parents=True, exist_ok=True)
(folder / "dedicated_log_torch_trace_x.log").write_text({WHOLE + DATED!r})
"""
"""PyTorch's traces, written as PyTorch would: after the job's lines, so that both come in."""


def hostile() -> str:
    failed = ev.CompileFailed(module=A, pid=1, at=T0 + 5, message=HOSTILE)
    fact = ev.TrainingFactReported(name=HOSTILE, value=HOSTILE, at=T0 + 6)
    return html(report(made([failed, fact]), 0.0))


def test_what_comes_from_logs_stays_text() -> None:
    page = hostile()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\x1b" not in page


def test_markdown_cells_cannot_be_left() -> None:
    failed = ev.CompileFailed(module=A, pid=1, at=T0 + 5, message=HOSTILE)
    text = markdown(report(made([failed]), 0.0))
    rows = [line for line in text.splitlines() if line.startswith(("| graph | class", f"| {A} | unknown"))]
    head, row = (len(re.findall(r"(?<!\\)\|", line)) for line in rows)
    assert row == head
    assert "<script" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see [the fix](http://evil.example) now", r"see [the fix]\(http://evil.example) now"),
        ("![](http://evil.example/seen.png)", r"![]\(http://evil.example/seen.png)"),
        ("~~~ everything below", r"\~~~ everything below"),
        ("# All is well", r"\# All is well"),
        ("[rank0]: http://evil.example", r"\[rank0]: http://evil.example"),
        ("> said", r"\> said"),
        ("- done", r"\- done"),
        ("---", r"\---"),
        ("#5 [rank0]: -1 of 3 in a[i] (x)", "#5 [rank0]: -1 of 3 in a[i] (x)"),
    ],
)
def test_text_of_logs_is_no_link_and_begins_no_block(text: str, shown: str) -> None:
    assert paragraph(text) == shown
    assert cell(text) == shown.removeprefix("\\")


def test_the_page_asks_for_nothing_outside_itself() -> None:
    page = html(report(sample(), 0.0))
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?!data:,)\w""", page)
    assert not re.search(r"url\((?!#hatched-)", page), "only patterns of its own pictures"
    assert "@import" not in page
    assert "Content-Security-Policy\" content=\"default-src 'none';" in page


@pytest.mark.e2e
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_opens_it_without_a_request_and_without_an_error(tmp_path: Path) -> None:
    place, log = tmp_path / "report.html", tmp_path / "net.json"
    click = (
        "<script>const t=[...document.querySelectorAll('section')].find(s=>s.firstChild.textContent==='Graphs')"
        ".querySelector('table');t.tHead.rows[0].cells[2].firstChild.click();"
        "t.tHead.rows[0].cells[2].firstChild.click();document.title=t.tBodies[0].rows[0].cells[2].textContent;"
        "document.body.style.width='390px';for(const e of document.querySelectorAll('main *'))"
        "if(!e.parentElement.closest('.scroll')&&e.getBoundingClientRect().right>390)document.title+=' too wide: '"
        "+e.tagName+e.className;"
        "for(const e of document.querySelectorAll('[src],link:not([href^=\"data:\"]),iframe,object,image,use'))"
        "document.title+=' needs: '+e.outerHTML</script>"
    )
    place.write_text(html(report(sample(), 0.0)).replace("</body>", click + "</body>"))
    other = tmp_path / "hostile.html"
    other.write_text(hostile())
    for path in (place, other):
        done = subprocess.run(
            [
                str(CHROMIUM),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
                "--dump-dom",
                f"--user-data-dir={tmp_path / 'profile'}",
                f"--log-net-log={log}",
                path.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        assert "CONSOLE" not in done.stderr
        asked = re.findall(r'"url":"([^"]+)"', log.read_text())
        assert not [url for url in asked if "example" in url]
        own = [url for url in asked if url.startswith("file:")]  # the rest is the browser's own: dictionaries, updates
        assert set(own) <= {path.as_uri()}
        if path == place:
            assert "<title>8.0 s</title>" in done.stdout  # sorted by the compile's seconds, rising; fits a phone


def settings_in(folder: Path) -> Settings:
    return Settings(state_dir=str(folder), sample_seconds=0.2)


def test_the_report_of_a_live_run_equals_the_report_of_its_replay(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    recording = Recording([sys.executable, "-c", JOB + TRACED], settings, name="sample", shown=False)
    recording.start()
    recording.finish()
    live = recording.feed.read(lambda run, now: report(run, end_of(run)))
    with SqliteStore(store_path(settings), read_only=True) as store:
        run = load_run(store, recording.run, settings.history_seconds)
    assert report(run, time.time()) == live
    assert live.summary.steps or live.summary.loss is not None
    assert live.summary.hits == 1
    assert live.torch is not None
    assert [one.function for one in live.torch.frames][:1] == ["forward"]
    assert [one.graph for one in live.critical_path] == ["step 1/0"]


def test_the_command_writes_each_form_and_follows_the_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    log = tmp_path / "train.log"
    log.write_bytes(
        b"2025-03-01 10:00:00.000123:  4242  [INFO]: Using a cached neff at "
        b"/c/neuronxcc-2.21.33363.0+82129205/MODULE_12345678901234567890+e30acd3a/model.neff\n"
    )
    assert main(["report", str(log), "-o", str(tmp_path / "r.html")]) == 0
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    capsys.readouterr()
    assert main(["report", str(log), "--json"]) == 0
    view = json.loads(capsys.readouterr().out)
    assert view["metrics"][0].keys() >= {"name", "value", "unit", "provenance", "note"}
    assert main(["report", str(log)]) == 0
    assert "1 of 1 graph came from the compile cache" in capsys.readouterr().out
    assert not list(tmp_path.glob(".*.partial"))


FAILED = g3(f"Failed compilation with ['neuronx-cc', 'model.{M1}.hlo_module.pb']:", level="ERROR") + (
    "2026-03-04T10:00:00Z [ERROR] [NCC_EVRF031] the <b>sort</b> is not supported\n[libneuronxla 9.9.1+ab]\n"
)


def test_a_report_begins_with_why_the_job_failed_in_each_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    log = tmp_path / "train.log"
    log.write_text(FAILED)
    assert main(["report", str(log), "--format", "html"]) == 0
    page = capsys.readouterr().out
    first = page[page.index("<section>") : page.index("</section>")]
    assert page.index("<section>") < page.index('class="headline"')
    assert '<p class="verdict failure">failed: the compiler rejected a graph</p>' in first
    assert "[NCC_EVRF031] the &lt;b&gt;sort&lt;/b&gt; is not supported" in first
    assert first.count("<tr") >= 3
    assert "<b>Next:</b>" in first
    assert main(["report", str(log)]) == 0
    section = capsys.readouterr().out.split("\n## ", 2)[1]
    assert section.startswith("Diagnosis\n\n**failed: the compiler rejected a graph**\n\n[NCC_EVRF031] the &lt;b>sort")
    assert "| **cause** | 2 |" in section
    assert "**Next:** " in section
    assert main(["report", str(log), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert main(["diagnose", str(log), "--json"]) == 1
    assert document["diagnosis"] == json.loads(capsys.readouterr().out)


def test_the_report_of_a_recording_knows_its_exit_code(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    recording = Recording([sys.executable, "-c", "print('loading'); raise SystemExit(3)"], settings, shown=False)
    recording.start()
    recording.finish()
    diagnosis = ReportService(settings).of_recording(recording.run).diagnosis
    assert diagnosis is not None
    assert (diagnosis.failed, diagnosis.job_ended) == (True, "failed")
    assert "exit code 3" in diagnosis.causes[0].advice


def test_a_report_that_cannot_be_written_whole_leaves_the_one_before(tmp_path: Path) -> None:
    log, place = tmp_path / "train.log", tmp_path / "r.html"
    log.write_text("nothing\n")
    place.write_text("the report before")
    environ = {**os.environ, "NEURONTOP_STATE_DIR": str(tmp_path / "state"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = f"ulimit -f 2; exec {sys.executable} -m neuron_top report {log} -o {place}"  # files of 2 KiB at most
    done = subprocess.run(["bash", "-c", command], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "cannot write" in done.stderr
    assert place.read_text() == "the report before"
    assert not list(tmp_path.glob(".*.partial"))


def test_the_report_of_a_recording_that_was_killed_says_that_it_has_no_end(tmp_path: Path) -> None:
    with SqliteStore(store_path(settings_in(tmp_path))) as store:
        started = ev.RunStarted(run="r1", name="sample", command=("python", "train.py"), at=T0)
        store.begin(started)
        store.append("r1", [started, ev.CompileBegan(module=A, pid=1, at=T0 + 5)])
    with SqliteStore(store_path(settings_in(tmp_path)), read_only=True) as store:
        run = load_run(store, "r1")
    page = markdown(report(run, end_of(run)))
    assert "recorder died" in page
    assert "The run was cut off" in page
    assert A in page


def test_what_is_neither_a_log_nor_a_recording_is_reported_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path))
    assert main(["report", "nothing-of-that-name"]) == 3
    assert main(["report", str(Path(__file__)), "last"]) == 2
    assert main(["report", str(Path(__file__)), "-o", str(tmp_path / "no" / "r.html")]) == 2
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["", ".", "/", ".."])
def test_a_place_without_a_file_name_is_a_message(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path))
    assert main(["report", str(Path(__file__)), "-o", place]) == 2
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "compare"])
def test_a_file_of_another_kind_is_refused_with_what_is_possible(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    log, place = tmp_path / "train.log", tmp_path / "x.pdf"
    log.write_text("step 5: loss 0.1\n")
    names = [str(log)] * (2 if command == "compare" else 1)
    assert main([command, *names, "-o", str(place)]) == 2
    assert "the ending .html, .md or .json, or say which of them it is with --format" in capsys.readouterr().err
    assert not place.exists()
    assert main([command, *names, "--format", "md", "-o", str(place)]) == 0
    assert place.read_text().startswith("#")


def test_a_device_is_written_to_and_stays_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may put a file in its place, which every program of the machine would then write to."""
    assert Path("/dev") in documents._DEVICES
    devices, terminal, log = tmp_path / "dev", tmp_path / "terminal", tmp_path / "train.log"
    devices.mkdir()
    (devices / "stdout").symlink_to(terminal)
    monkeypatch.setattr(documents, "_DEVICES", (devices,))
    log.write_text("step 5: loss 0.1\n")
    assert main(["report", str(log), "--format", "md", "-o", str(devices / "stdout")]) == 0
    assert (devices / "stdout").is_symlink()
    assert terminal.read_text().startswith("#")


def test_a_wait_beyond_all_numbers_is_unknown_in_every_form() -> None:
    """A recording may hold any number; in seconds, this one is infinite."""
    view = report(made([ev.LockWaited(module=A, pid=11, at=T0 + 21, minutes=1.7e308) for _ in range(2)]), T0 + 30)
    assert all("compile (—)" in document for document in (html(view), markdown(view)))
