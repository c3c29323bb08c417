"""Alerts told to a command and to a webhook: each once, as JSON, by severity; what does not work is said once."""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from neuron_top import events as ev
from neuron_top.cli.main import main
from neuron_top.errors import UsageError
from neuron_top.run.model import Run
from neuron_top.services import notifications
from neuron_top.services.alerts import AlertAct, AlertService
from neuron_top.services.notifications import notifying
from neuron_top.settings import Settings, load, shown
from tests.report.samples import T0, A, B, compiled, made

View = TypeVar("View")


class StillFeed:
    """A run that stands still."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def read(self, view: Callable[[Run, float], View]) -> View:
        return view(self.run, T0 + 200)


@pytest.fixture
def posted() -> Iterator[tuple[str, list[Any]]]:
    """The address of a server, and what it was sent."""
    documents: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def do_POST(self) -> None:
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("location", "/hook/secret")
                self.end_headers()
                return
            documents.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hook/secret", documents
    server.shutdown()
    server.server_close()


def failed() -> Run:
    return made(compiled(A, 10, 1.0, 5.0, ok=False))


def test_a_command_and_a_webhook_get_the_alert(tmp_path: Path, posted: tuple[str, list[Any]]) -> None:
    address, documents = posted
    out = tmp_path / "alerts.json"
    warned: list[str] = []
    settings = Settings(notify_error=f"tee -a {out}", webhook_error=address, webhook_warning=address)
    feed: Any = StillFeed(failed())
    with notifying(lambda: feed, settings, warned.append):
        pass
    document = json.loads(out.read_text())
    assert document in documents
    assert {"kind", "severity", "title", "evidence", "next_step", "run", "name", "node"} <= set(document)
    assert (document["severity"], document["run"], document["name"]) == ("error", "r1", "sample")
    assert warned == []


def test_a_job_whose_name_is_no_utf_8_is_reported_with_escapes(tmp_path: Path) -> None:
    out, run, warned = tmp_path / "alerts.json", failed(), list[str]()
    run.apply(ev.RunStarted(run="r1", name="tr\udcffin.py", at=T0))
    feed: Any = StillFeed(run)
    with notifying(lambda: feed, Settings(notify_error=f"tee -a {out}"), warned.append):
        pass
    assert warned == []
    assert json.loads(out.read_text())["name"] == "tr\\xffin.py"


def test_each_alert_is_reported_once_and_a_new_one_too(tmp_path: Path) -> None:
    out = tmp_path / "alerts.json"
    run = failed()
    feed: Any = StillFeed(run)
    notifier = notifications._Notifier(lambda: feed, Settings(notify_error=f"tee -a {out}"), print)
    notifier.try_to_look()
    notifier.try_to_look()
    before = out.read_text().count('"severity"')
    run.apply(ev.CompileBegan(module=B, pid=10, at=T0 + 150))
    run.apply(ev.CompileEnded(module=B, pid=10, at=T0 + 160, seconds=10.0, ok=False))
    notifier.try_to_look()
    assert before >= 1
    assert out.read_text().count('"severity"') == before + 1


def test_what_was_muted_is_not_sent(tmp_path: Path) -> None:
    out, run = tmp_path / "alerts.json", failed()
    settings = Settings(notify_error=f"tee -a {out}", state_dir=str(tmp_path / "state"))
    service = AlertService(settings)
    listed = service.listed(run, T0 + 200)
    service.act(listed.job, AlertAct.MUTE, [alert.key for alert in listed.active])
    feed: Any = StillFeed(run)
    notifier = notifications._Notifier(lambda: feed, settings, print)
    notifier.try_to_look()
    assert not out.exists()
    run.apply(ev.CompileBegan(module=B, pid=10, at=T0 + 150))
    run.apply(ev.CompileEnded(module=B, pid=10, at=T0 + 160, seconds=10.0, ok=False))
    notifier.try_to_look()
    assert out.read_text().count('"severity"') == 1


def test_a_feed_that_a_recording_makes_once_its_command_runs_is_followed(tmp_path: Path) -> None:
    out = tmp_path / "alerts.json"
    feeds: list[Any] = [StillFeed(Run())]
    with notifying(lambda: feeds[-1], Settings(notify_error=f"tee -a {out}"), print):
        feeds.append(StillFeed(failed()))
    assert '"severity"' in out.read_text()


def test_a_webhook_that_answers_no_http_is_reported_and_the_next_alert_is_sent(tmp_path: Path) -> None:
    warned: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer_nonsense, args=(server,), daemon=True).start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/hook"
        feed: Any = StillFeed(failed())
        with notifying(lambda: feed, Settings(webhook_error=address), warned.append):
            pass
    assert len(warned) == 1
    assert "webhook_" in warned[0]


def test_a_webhook_that_sends_elsewhere_has_not_taken_the_alert(posted: tuple[str, list[Any]]) -> None:
    address, documents = posted
    warned: list[str] = []
    feed: Any = StillFeed(failed())
    with notifying(lambda: feed, Settings(webhook_error=address.replace("/hook/secret", "/moved")), warned.append):
        pass
    assert documents == []
    assert len(warned) == 1
    assert "302" in warned[0]


def answer_nonsense(server: socket.socket) -> None:
    """To whoever asks."""
    with contextlib.suppress(OSError):
        while True:
            asked, _ = server.accept()
            with asked:
                asked.recv(1 << 16)
                asked.sendall(b"no such protocol\r\n\r\n")


def test_the_last_look_ends_in_time_and_says_what_it_did_not_send(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(notifications._Notifier, "_run", lambda self, command, document: sent.append(command))
    warned: list[str] = []
    feed: Any = StillFeed(failed())
    notifier = notifications._Notifier(lambda: feed, Settings(notify_error="true"), warned.append)
    notifier.try_to_look(until=time.monotonic() - 1.0)
    assert sent == []
    assert warned == ["neurontop: warning: the last alerts are not sent: sending the others took too long"]


def test_what_does_not_work_is_reported_once_without_the_address(tmp_path: Path) -> None:
    warned: list[str] = []
    settings = Settings(notify_error="/no/such/program", webhook_error="http://127.0.0.1:9/hook/secret")
    feed: Any = StillFeed(made(compiled(A, 10, 1.0, 5.0, ok=False), compiled(B, 10, 6.0, 8.0, ok=False)))
    with notifying(lambda: feed, settings, warned.append):
        pass
    assert len(warned) == 2
    assert not [text for text in warned if "secret" in text]


def test_a_flood_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "MOST_A_MINUTE", 3)
    ran: list[str] = []
    monkeypatch.setattr(notifications._Notifier, "_run", lambda self, command, document: ran.append(command))
    warned: list[str] = []
    modules = [f"MODULE_{number:016x}+aaaaaaaa" for number in range(9)]
    feed: Any = StillFeed(made(*(compiled(module, 10, 1.0, 5.0, ok=False) for module in modules)))
    with notifying(lambda: feed, Settings(notify_error="true"), warned.append):
        pass
    assert len(ran) == 3
    assert len(warned) == 1


def test_the_address_of_a_webhook_is_checked_and_never_shown(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('webhook_error = "file:///etc/passwd"\n')
    with pytest.raises(UsageError, match="webhook_error must begin with https"):
        load(environ={}, path=file)
    assert shown("webhook_error", "https://hooks.example/T0/secret") == "https://hooks.example/…"


def test_watching_a_log_reports_its_alerts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, out = tmp_path / "train.log", tmp_path / "alerts.json"
    log.write_text(
        "2026-02-04 19:31:29.000382:  250618  ERROR ||NEURON_CC_WRAPPER||: Compilation failed for "
        "/tmp/MODULE_04390708a5c55ca3e2e3+3d4a12eb.hlo_module.pb after 0 retries.\n"
    )
    monkeypatch.setenv("NEURONTOP_NOTIFY_ERROR", f"tee -a {out}")
    assert main(["watch", str(log)]) == 0
    assert '"severity":"error"' in out.read_text()
