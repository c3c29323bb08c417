"""What somebody with bad intent sends: every request is refused, or does nothing. All of it is counted."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top import events as ev
from neuron_top.events.levels import LogLevel
from tests.actions.caches import entry, module
from tests.dashboard.served import ACT, READ, Served, serving
from tests.tui.feeds import START, StillFeed, compiles, job, samples

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
CALLBACK = {"output": "..page.children...problem.children...page.data-path..", "outputs": [
    {"id": "page", "property": "children"}, {"id": "problem", "property": "children"},
    {"id": "page", "property": "data-path"}], "inputs": [
    {"id": "url", "property": "pathname", "value": "/"}], "state": [{"id": "url", "property": "search", "value": ""}],
    "changedPropIds": ["url.pathname"]}  # fmt: skip


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that asks for a token."""
    feed = StillFeed([*job(), *samples(4, 3), *compiles()])
    with serving(feed, tmp_path_factory.mktemp("state"), read=READ) as served:
        yield served


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server as it starts by default: on loopback, whoever reaches it may look."""
    feed = StillFeed(
        [*job(), ev.LineMarked(level=LogLevel.ERROR, text=SCRIPT, at=START, source="log:<b>x</b>", offset=0)]
    )
    with serving(feed, tmp_path_factory.mktemp("state")) as served:
        yield served


# fmt: off
DATA = ("/", "/compile", "/cache", "/api/", "/api/overview", "/api/openapi.json", "/api/cache", "/metrics", "/alive",
        "/_dash-layout", "/_dash-dependencies", "/api/graphs.csv", "/api/logs",
        "/report", "/comparison", "/report?run=20260921-101500-bert",
        "/_dash-component-suites/dash/deps/react@18.3.1.min.js")
# fmt: on


def test_without_a_token_no_path_but_the_sign_in_page_answers(closed: Served) -> None:
    assert [closed.ask(path).status for path in DATA] == [401] * len(DATA)
    assert [closed.ask(path, token="wrong").status for path in DATA] == [401] * len(DATA)
    assert closed.ask("/sign-in").status == 200
    assert closed.ask("/", Accept="text/html").headers["location"] == "/sign-in?to=/"
    assert closed.ask("/api/overview", token=READ).json["header"]["name"] == "bert-tp"


def test_the_earlier_path_of_a_page_leads_to_it_with_what_was_asked(closed: Served) -> None:
    answer = closed.ask("/memory?run=20260101-000000-aaaa&core=n/neuron/3%20x", Accept="text/html")
    assert (answer.status, answer.headers["location"]) == (308, "/cores?run=20260101-000000-aaaa&core=n/neuron/3%20x")
    assert closed.ask("/memory").headers["location"] == "/cores"
    assert closed.ask("/memory", host="evil.example").status == 421, "no redirect for another site's name"


def test_a_token_in_the_address_counts_for_nothing(closed: Served) -> None:
    assert closed.ask(f"/api/overview?token={READ}").status == 401
    assert closed.ask(f"/api/overview?access_token={ACT}").status == 401


def test_signing_in_gives_a_cookie_that_scripts_cannot_read_and_other_sites_cannot_send(closed: Served) -> None:
    origin = f"http://127.0.0.1:{closed.port}"
    form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": origin}
    answer = closed.ask("/sign-in", method="POST", body=f"token={READ}".encode(), **form)
    cookie = answer.headers["set-cookie"]
    assert answer.status == 303
    assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert READ not in cookie
    session = cookie.partition(";")[0]
    assert closed.ask("/api/overview", Cookie=session).status == 200
    assert closed.ask("/api/overview", Cookie=session[:-1] + "0").status in (401, 200 if session[-1] == "0" else 401)
    assert closed.ask("/sign-in", method="POST", body=b"token=wrong", **form).status == 403
    foreign = form | {"Origin": "http://evil.example"}
    assert closed.ask("/sign-in", method="POST", body=f"token={READ}".encode(), **foreign).status == 403


def test_a_cookie_of_another_server_of_the_host_does_not_end_a_session(closed: Served) -> None:
    form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{closed.port}"}
    answer = closed.ask("/sign-in", method="POST", body=f"token={READ}".encode(), **form)
    session = answer.headers["set-cookie"].partition(";")[0]
    for other in ('tool={"tab": "a b"}', "two words=1", "x[1]=2", "flag", "=", ""):
        assert closed.ask("/api/overview", Cookie=f"{other}; {session}").status == 200, other
        assert closed.ask("/api/overview", Cookie=f"{session}; {other}").status == 200, other
    assert closed.ask("/api/overview", Cookie=f"x{session}").status == 401, "another name that ends with ours"


def test_two_servers_of_a_host_do_not_end_each_others_sessions(closed: Served, tmp_path: Path) -> None:
    def signed_in(served: Served, token: str) -> str:
        form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{served.port}"}
        answer = served.ask("/sign-in", method="POST", body=f"token={token}".encode(), **form)
        return answer.headers["set-cookie"].partition(";")[0]

    another = "another-token-of-the-test"
    with serving(StillFeed(job()), tmp_path, read=another) as other:
        jar = dict(cookie.split("=", 1) for cookie in (signed_in(closed, READ), signed_in(other, another)))
        sent = "; ".join(f"{name}={value}" for name, value in jar.items())
        assert [served.ask("/api/overview", Cookie=sent).status for served in (closed, other)] == [200, 200]


def test_a_sign_in_page_with_many_fields_in_its_address_is_refused(closed: Served) -> None:
    fields = "&".join(f"field{number}=1" for number in range(30))
    answers = [
        closed.ask(f"/sign-in?{fields}"),
        closed.ask(
            "/sign-in",
            method="POST",
            body=fields.encode(),
            Content_Type="application/x-www-form-urlencoded",
            Origin=f"http://127.0.0.1:{closed.port}",
        ),
    ]
    assert [(answer.status, "too many fields" in answer.body.decode()) for answer in answers] == [(400, True)] * 2


def test_reading_does_not_allow_acting(closed: Served) -> None:
    for path in ("/api/cache/plans/0123456789/execute", "/api/cache/plans/0123456789/undo"):
        assert closed.post(path, {}, token=READ).status == 403
        assert closed.post(path, {}, token=ACT).status == 404


def test_a_name_that_is_not_ours_is_not_answered(local: Served) -> None:
    for host in ("evil.example", "evil.example:80", "", "127.0.0.1.evil.example", "169.254.169.254", "a" * 300):
        assert local.ask("/", host=host).status in (400, 421), host


def test_a_page_of_another_site_can_change_nothing(local: Served) -> None:
    body = json.dumps(CALLBACK).encode()
    sent = {"method": "POST", "body": body, "Content_Type": "application/json"}
    refused = 0
    for origin in ("http://evil.example", "null", "http://localhost:1", "https://127.0.0.1"):
        for path in ("/_dash-update-component", "/api/cache/plans", "/sign-out"):
            refused += local.ask(path, **sent, Origin=origin).status == 403
    assert refused == 12
    assert local.ask("/_dash-update-component", **sent).status == 403, "no Origin and no token"
    same = f"http://127.0.0.1:{local.port}"
    assert local.ask("/_dash-update-component", **sent, Origin=same, Sec_Fetch_Site="cross-site").status == 403
    assert local.ask("/_dash-update-component", **sent, Origin=same).status == 200


def test_a_socket_from_another_site_is_not_opened(local: Served) -> None:
    def first_line(origin: str) -> bytes:
        with socket.create_connection(("127.0.0.1", local.port), timeout=120) as line:
            line.sendall(
                f"GET /push HTTP/1.1\r\nHost: 127.0.0.1:{local.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{origin}\r\n".encode()
            )
            return line.recv(200).partition(b"\r\n")[0]

    assert b"403" in first_line("Origin: http://evil.example\r\n")
    assert b"403" in first_line("")
    assert b"101" in first_line(f"Origin: http://127.0.0.1:{local.port}\r\n")


# fmt: off
TRICKS = ("/../etc/passwd", "/assets/../../pyproject.toml", "/assets/%2e%2e/%2e%2e/pyproject.toml",
          "/assets/..%2f..%2fx",
          "//evil.example/", "/assets//etc/passwd", "/assets/%5c..%5cx", "/assets/%00", "/./api/overview",
          "/_dash-component-suites/dash/../../../x",
          "/_dash-component-suites/os/x.js", "/assets/nothing.css", "/etc/passwd",
          "/_dash-component-suites/neuron_top/cli/main.py", "/.git/config", "/pyproject.toml", "/docs",
          "/redoc",
          "/openapi.json", "/_dash-ws-callback", "/_reload-hash", "/api/cores/..%2f..", "/" + "a" * 5000)  # fmt: skip


def test_no_trick_with_the_path_gives_a_file_or_breaks_the_server(local: Served) -> None:
    statuses = {path: local.ask(path).status for path in TRICKS}
    assert not {path: status for path, status in statuses.items() if status not in (400, 403, 404, 405, 414)}
    assert local.ask("/api/overview").status == 200


# What a command line would take for a file, a folder or a recording is no name of a run here.
NAMES = ("/etc/passwd", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%00", "file:///etc/passwd", "pyproject.toml",
         "neurontop.db", "0%20OR%201=1", "-1", "%3Cscript%3Ealert(1)%3C/script%3E", "a" * 5000)  # fmt: skip


def test_a_document_is_of_a_recording_and_of_nothing_else_that_can_be_named(local: Served) -> None:
    paths = [f"/report?run={name}" for name in NAMES]
    paths += [path for name in NAMES for path in (f"/comparison?a={name}", f"/comparison?b={name}")]
    answers = {path: local.ask(path) for path in paths}
    refused = [path for path, answer in answers.items() if answer.status in (400, 404)]
    assert len(refused) == 3 * len(NAMES), {path: answer.status for path, answer in answers.items()}
    assert not [path for path, answer in answers.items() if b"root:" in answer.body or b"<script>alert" in answer.body]
    for path in ("/report", "/comparison"):
        answer = local.ask(path)
        assert answer.status == 200
        assert b"<h1" in answer.body
        assert SCRIPT.encode() not in answer.body


def test_bodies_are_bounded_and_must_be_json(local: Served) -> None:
    origin = f"http://127.0.0.1:{local.port}"
    path = "/_dash-update-component"

    def status(body: bytes, kind: str = "application/json", **headers: str) -> int:
        return local.ask(path, method="POST", body=body, Content_Type=kind, Origin=origin, **headers).status

    assert status(b"{" * 100) == 400
    assert status(b"[" * 100_000) == 400
    assert status(b"[]") == 400
    assert status(b"\xff\xfe") == 400
    assert status(b"") == 400
    assert status(b"{}", "text/plain") == 415
    assert status(b"x" * (1 << 20) + b"x") == 413
    assert status(b"", Content_Length="99999999999") == 413
    assert status(b"", Content_Length="-1") in (400, 413)


MALFORMED = ({}, {"output": "page.children"}, {"output": "nothing.here", "inputs": []}, {"output": 5}, {"output": None},
             CALLBACK | {"inputs": "x"}, CALLBACK | {"inputs": [{}]}, CALLBACK | {"state": None},
             CALLBACK | {"changedPropIds": 7}, CALLBACK | {"outputs": []})  # fmt: skip


def test_malformed_questions_are_refused_and_the_server_goes_on(local: Served) -> None:
    origin = f"http://127.0.0.1:{local.port}"
    for value in MALFORMED:
        answer = local.ask(
            "/_dash-update-component",
            method="POST",
            body=json.dumps(value).encode(),
            Content_Type="application/json",
            Origin=origin,
        )
        assert answer.status in (200, 204, 400), value
        assert b"Traceback" not in answer.body
    assert local.ask("/api/overview").status == 200


def test_other_methods_are_not_served(local: Served) -> None:
    origin = f"http://127.0.0.1:{local.port}"
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"):
        assert local.ask("/api/cache", method=method, Origin=origin).status == 405


def test_every_answer_forbids_framing_sniffing_and_foreign_scripts(local: Served) -> None:
    for path in ("/", "/api/overview", "/metrics", "/assets/neurontop.css", "/nothing", "/sign-in"):
        headers = local.ask(path).headers
        policy = headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in policy
        scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
        assert not [word for word in ("unsafe", "http", "*") if word in scripts]
        assert "server" not in headers


@pytest.mark.parametrize("prefix", ["/", "/node/", "/assets/"])
def test_browsers_keep_the_programs_files_and_no_data(tmp_path: Path, prefix: str) -> None:
    counted = ev.CoresSampled(node="assets", kind=ev.CoreKind.NEURON, cores=(ev.CoreSample(core=0),), at=START)
    data = ("api/overview", "api/cores/assets/neuron/0", "api/cores/none/assets/0", "assets/none.js", "")
    with serving(StillFeed([*job(), counted]), tmp_path, prefix=prefix) as served:
        for asked in (f"{prefix}{path}" for path in data):
            assert served.ask(asked).headers["cache-control"] == "no-store", asked
        assert served.ask(f"{prefix}api/cores/assets/neuron/0").status == 200
        assert served.ask("/api/cores/none/assets/0").headers["cache-control"] == "no-store", "behind a proxy"
        file = served.ask(f"{prefix}assets/neurontop.css")
        assert file.status == 200
        assert "cache-control" not in file.headers


def test_script_in_lines_names_and_runs_is_data_and_never_markup(local: Served) -> None:
    page = local.ask("/").body.decode()
    assert SCRIPT not in page
    answer = local.ask("/api/overview")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["lines"][-1]["text"] == SCRIPT


def test_a_spreadsheet_takes_no_exported_text_for_a_formula(tmp_path: Path) -> None:
    from neuron_top.dashboard.exports import as_csv

    assert b"'=HYPERLINK" in as_csv([{"name": "=HYPERLINK(1)", "n": -5}])
    assert b",-5" in as_csv([{"name": "x", "n": -5}])


def test_guessing_tokens_is_slowed_down(tmp_path: Path) -> None:
    with serving(StillFeed(), tmp_path, read=READ) as served:
        form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{served.port}"}
        began = time.monotonic()
        statuses = [served.ask("/sign-in", method="POST", body=b"token=guess", **form).status for _ in range(30)]
        refilled = 1 + (time.monotonic() - began) / 10
    assert statuses[:10] == [403] * 10
    assert statuses.count(403) <= 10 + refilled, statuses
    assert set(statuses) <= {403, 429}


def test_behind_a_proxy_that_keeps_or_takes_the_prefix_everything_is_there(tmp_path: Path) -> None:
    with serving(StillFeed(job()), tmp_path, prefix="/ops/top/", hosts=frozenset({"ops.example.org"})) as served:
        for path in ("/ops/top/", "/ops/top/compile", "/ops/top/api/overview", "/api/overview", "/", "/metrics"):
            assert served.ask(path, host="ops.example.org").status == 200, path
        assert b'href="/ops/top/compile"' in served.ask("/").body


def test_a_plan_is_made_carried_out_and_undone_through_the_api(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    place = entry(root, 1)
    with serving(StillFeed(), tmp_path / "state", roots=(str(root),)) as served:
        keys = [row["key"] for row in served.ask("/api/cache").json["rows"] if row["module"] == module(1)]
        (work,) = served.post("/api/cache/plans", {"verb": "evict", "keys": keys}).json
        identity = work["plan"]["identity"]
        assert work["state"] == "planned"
        assert place.exists()
        typed = work["plan"]["verb"]  # the entry is the last of its compiler version: the word is asked for
        assert served.post(f"/api/cache/plans/{identity}/execute", {}).status == 409
        assert served.post(f"/api/cache/plans/{identity}/execute", {"typed": typed}).status == 200
        done = served.ask(f"/api/cache/plans/{identity}").json
        moved = threading.Event()
        while done["state"] == "running":  # the limit of the whole test ends it
            moved.wait(0.02)
            done = served.ask(f"/api/cache/plans/{identity}").json
        assert (done["state"], done["outcome"]["done"]) == ("done", 1), done
        assert not place.exists()
        assert served.post(f"/api/cache/plans/{identity}/undo", {}).json["state"] == "undone"
        assert place.exists()
        assert served.post(f"/api/cache/plans/{identity}/undo", {}).status == 409
        assert served.post("/api/cache/plans", {"verb": "rm -rf", "keys": keys}).status == 400
        assert served.post("/api/cache/plans", {"verb": "evict", "keys": ["/etc/passwd"]}).status == 404
        assert served.post("/api/cache/plans", {"verb": "evict"}).status == 400
