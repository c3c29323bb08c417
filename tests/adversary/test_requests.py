"""Requests with everything in them that no program sends: each is answered, none with an error of ours."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_top.dashboard.access import Access, host_name
from neuron_top.dashboard.limits import Guesses
from tests.actions import caches
from tests.adversary import web
from tests.adversary.attacker import LONG
from tests.dashboard.served import ACT, READ, Served, serving
from tests.tui.feeds import StillFeed, compiles, job, samples

EXAMPLES = 1500 if LONG else 60
NASTY = (
    "\0", "a\0b", "\x01\x1b[31m", "\r\nX-Injected: 1", "/etc/passwd", "../" * 20 + "etc/passwd", "..", ".", "", " ",
    "\t", "-1", "0", "1e999", "9" * 5000, "-" + "9" * 400, "NaN", "null", "true", "[]", "{}", "𝟙", "é", "\u202e",
    "\ufeff", "\U0010ffff", "a" * 7000, "%", "%%", "%00", "%zz", "'; DROP TABLE runs;--", "last", "${jndi:ldap://x}",
    "<script>", "\ud800", "١٢", "1_000", "+1", "0x10", "²",
)  # fmt: skip
BROKEN_ESCAPES = ("%00", "%ff", "%c0%80", "%ed%a0%80", "%f4%90%80%80", "%80", "%e2%82", "a%00b", "%u0000", "%", "%zz")


@contextlib.contextmanager
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that whoever reaches it may look at, with a cache."""
    root = tmp_path_factory.mktemp("cache")
    caches.entry(root, 1)
    feed = StillFeed([*job(), *samples(4, 3), *compiles()])
    with serving(feed, tmp_path_factory.mktemp("state"), roots=(str(root),)) as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests, which refuses more requests than it allows in a second."""
    with open_server(tmp_path_factory) as running:
        yield running


@pytest.fixture
def rested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One that nobody has asked anything."""
    with open_server(tmp_path_factory) as running:
        yield running


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that asks for a token."""
    with serving(StillFeed(job()), tmp_path_factory.mktemp("state"), read=READ) as running:
        yield running


def operations(served: Served) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of everything that the API describes, and the tables beside it."""
    paths = served.ask("/api/openapi.json").json["paths"]
    found = [(method.upper(), f"/api{path}", one) for path, methods in paths.items() for method, one in methods.items()]
    query = {"name": "run", "in": "query"}
    tables = [f"/api/{name}.{kind}" for name in ("graphs", "cores", "runs", "cache") for kind in ("csv", "parquet")]
    documents = [
        ("/report", ("run",)),
        ("/comparison", ("a", "b")),
        ("/metrics", ()),
        ("/", ("q", "run", "plan", "open")),
    ]
    found += [("GET", path, {"parameters": [query]}) for path in tables]
    found += [("GET", path, {"parameters": [query | {"name": name} for name in names]}) for path, names in documents]
    return found


def escaped(value: str) -> str:
    """A value as it goes over the wire: what is no character too."""
    return quote(value.encode("utf-8", "surrogatepass"), safe="")


def asked(served: Served, method: str, path: str, one: dict[str, Any], value: str, body: bytes = b"{}") -> int:
    """The status of a request in which every parameter has this value (already escaped)."""
    query = []
    for parameter in one.get("parameters", ()):
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", value)
        else:
            query.append(f"{parameter['name']}={value}")
    target = path + ("?" + "&".join(query) if query else "")
    if method == "GET":
        return served.ask(target).status
    return served.ask(target, method=method, body=body, token=ACT, Content_Type="application/json").status


def test_nothing_that_stands_in_an_address_is_an_error_of_ours(served: Served) -> None:
    values = [*map(escaped, NASTY), *BROKEN_ESCAPES]
    wrong = {}
    for method, path, one in operations(served):
        for value in values:
            status = asked(served, method, path, one, value)
            if not (200 <= status < 500):
                wrong[method, path, value[:40]] = status
    assert not wrong


def test_what_is_no_text_is_reported_in_a_sentence(rested: Served) -> None:
    for value in BROKEN_ESCAPES[:8]:
        answer = rested.ask(f"/api/overview?run={value}")
        assert answer.status == 400
        assert "UTF-8" in answer.json["error"]
    for count in ("0", "-1", "5001", "9" * 5000, "0000000019999999", "%00", "²", "1e3"):
        assert rested.ask(f"/api/logs?count={quote(count, safe='%')}").status == 400, count[:20]


texts = st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=60))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=8,
)
SAMPLED = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


@SAMPLED
@given(data=st.data())
def test_any_value_of_any_parameter_has_an_answer(served: Served, data: st.DataObject) -> None:
    method, path, one = data.draw(st.sampled_from(operations(served)))
    value = data.draw(st.one_of(texts.map(escaped), st.binary(max_size=40).map(lambda raw: quote(raw, safe=""))))
    body = json.dumps(data.draw(values)).encode()
    assert asked(served, method, path, one, value, body) < 500, (method, path, value, body)


@SAMPLED
@given(
    wish=st.fixed_dictionaries(
        {
            "verb": st.one_of(st.sampled_from(["evict", "retry", "slim"]), values),
            "keys": st.one_of(st.lists(texts, max_size=3), values),
        }
    )
)
def test_any_request_for_a_plan_has_an_answer(served: Served, wish: Any) -> None:
    assert served.post("/api/cache/plans", wish).status < 500


@SAMPLED
@given(data=st.data())
def test_any_question_to_any_callback_has_an_answer(served: Served, data: st.DataObject) -> None:
    known = served.ask("/_dash-dependencies").json
    body = json.loads(
        web.callback(data.draw(st.sampled_from([one for one in known if not one["clientside_function"]])))
    )
    for one in (*body["inputs"], *body["state"]):
        address = st.sampled_from(["q", "run", "graph", "core", "plan", "open", "level"])
        strange = st.tuples(address, texts).map(lambda pair: f"?{pair[0]}={escaped(pair[1])}")
        one["value"] = data.draw(strange if one["property"] == "search" else values)
    origin = f"http://127.0.0.1:{served.port}"
    answer = served.ask(
        "/_dash-update-component",
        method="POST",
        body=json.dumps(body).encode(),
        Origin=origin,
        Content_Type="application/json",
    )
    assert answer.status < 500, body
    assert b"Traceback" not in answer.body


def test_texts_of_a_body_are_text(served: Served) -> None:
    for text in ('"\\u0000"', '"a\\ud800"', '"\\udfff\\ud800"'):
        for body in (f'{{"verb": {text}, "keys": []}}', f'{{"verb": "evict", "keys": [{text}]}}', f"{{{text}: 1}}"):
            answer = served.ask(
                "/api/cache/plans", method="POST", body=body.encode(), token=ACT, Content_Type="application/json"
            )
            assert answer.status == 400, body
            assert "UTF-8" in answer.json["error"]
    fine = {"verb": "evict", "keys": ["\\u0000 written out", "😀"]}
    assert served.post("/api/cache/plans", fine).status == 404, "no such entry, and nothing else is wrong"


# Host


HOSTS = (
    "evil.example@127.0.0.1", "127.0.0.1@evil.example", "127.0.0.1:80@evil.example", "evil.example#127.0.0.1",
    "evil.example/127.0.0.1", "127.0.0.1/", "127.0.0.1?x", "127.0.0.1\\", "127.0.0.1,evil.example",
    "127.0.0.1 evil.example",
    "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:99999999", "127.0.0.1:-1", "127.0.0.1:8o",
    "127.0.0.1:80:80",
    "127.0.0.1..", "localhost..", ".localhost", "-localhost", "[::1", "::1", "[::1]x", "[::1]:x", "[127.0.0.1]",
    "[localhost]",
    "[::1%25lo]", "[v1.x]", "http://127.0.0.1", "", "evil.example", "127.0.0.1.evil.example", "127.1", "0x7f.0.0.1",
    "2130706433", "0177.0.0.1", "127.0.0.1%00", "127.0.0.1\xe9", "localhost\t.", "*", "_",
)  # fmt: skip


def test_a_host_is_a_name_and_a_port_and_nothing_else(served: Served) -> None:
    for host in HOSTS:
        assert web.ask(served.port, host=host) in (400, 421), host
        assert not Access().allows_host(host), host
    for host in ("127.0.0.1", "LOCALHOST", "LocalHost.:1", "[::1]", "[::1]:65535", "127.0.0.1:80", "127.9.9.9"):
        assert web.ask(served.port, host=host) == 204, host
    assert host_name("[FE80::1]:1") == "fe80::1"


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization", "Cookie", "Content-Type"])
def test_a_header_that_decides_something_comes_once(served: Served, name: str) -> None:
    twice = [f"{name}: 127.0.0.1:{served.port}", f"{name}: evil.example"]
    sent = twice if name != "Host" else twice[1:]
    for lines in (sent, sent[::-1]):
        answer = web.exchange(served.port, web.head(served.port, "/alive", "Connection: close", *lines))
        assert web.status_of(answer) == 400
        assert name.lower().encode() in answer


def test_no_host_at_all_is_not_answered(served: Served) -> None:
    for version in (b"1.0", b"1.1"):
        answer = web.exchange(served.port, b"GET /alive HTTP/" + version + b"\r\nConnection: close\r\n\r\n")
        assert web.status_of(answer) in (400, 421)


def test_an_address_with_a_server_in_it_names_the_server_that_was_asked(served: Served) -> None:
    here = f"127.0.0.1:{served.port}"
    assert web.ask(served.port, f"http://{here}/alive") == 204
    for target in (
        "http://evil.example/alive",
        f"http://evil.example@{here}/alive",
        f"https://{here}/alive",
        f"http://{here}@evil.example/alive",
        "http://127.0.0.1/alive",
        f"HTTP://LOCALHOST:{served.port}/alive",
        "ftp://x/",
        "*",
        "alive",
        "?x",
        "http://[/alive",
        "evil.example:443",
    ):
        assert web.ask(served.port, target) in (400, 404), target
    assert web.ask(served.port, "evil.example:443", method="CONNECT") == 400


def test_no_trick_smuggles_a_second_request(closed: Served) -> None:
    """What a proxy in front and we would divide differently."""
    inner = web.head(closed.port, "/api/overview", f"Authorization: Bearer {READ}").decode()
    for lines in (
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
        "Content-Length: +0\r\n\r\n",
        "X: a\nContent-Length: 0\r\n\r\n",
        "X: a\rY: b\r\n\r\n",
        "X:\0\r\n\r\n",
    ):
        begun = f"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:{closed.port}\r\n"
        answer = web.exchange(closed.port, (begun + lines + inner).encode())
        assert web.status_of(answer) in (400, 403, 501), lines
        assert answer.count(b"HTTP/1.1 200") == 0, lines


# Tokens


def test_wrong_bearer_tokens_are_slowed_down_and_the_right_one_gets_in(closed: Served) -> None:
    with web.connect(closed.port) as line:
        kept = web.head(closed.port, "/alive", f"Authorization: Bearer {READ}")
        line.sendall(kept)
        assert web.status_of(line.recv(4096)) == 204
        session = signed_in(closed)
        answers = [closed.ask("/api/overview", token=f"guess-number-{number:05}") for number in range(200)]
        statuses = [answer.status for answer in answers]
        assert set(statuses) == {401, 429}
        assert statuses.count(401) <= Guesses.FREE + 10, "a few more where the machine was slow"
        refused = next(answer for answer in answers if answer.status == 429)
        assert int(refused.headers["retry-after"]) <= Guesses.MOST_SECONDS
        assert "wrong tokens" in refused.json["error"]
        line.sendall(kept)  # a program that was there before is not held up, nor a browser
        assert web.status_of(line.recv(4096)) == 204
        assert closed.ask("/alive", Cookie=session).status == 204
    form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{closed.port}"}
    assert closed.ask("/sign-in", method="POST", body=b"token=guess", **form).status == 429, "one limit for both ways"


def signed_in(served: Served) -> str:
    """The cookie of somebody who has signed in."""
    form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{served.port}"}
    answer = served.ask("/sign-in", method="POST", body=f"token={READ}".encode(), **form)
    return answer.headers["set-cookie"].partition(";")[0]


def test_guesses_wait_longer_each_time_but_never_for_ever() -> None:
    guesses, now = Guesses(), 1000.0
    for _number in range(Guesses.FREE):
        assert guesses.wait("a", now) == 0.0
        guesses.wrong("a", now)
    waits = []
    for _number in range(10):
        waits.append(guesses.wait("a", now))
        assert guesses.wait("a", now) == waits[-1], "asking does not lengthen it"
        now += waits[-1]
        assert guesses.wait("a", now) == 0.0
        guesses.wrong("a", now)
    assert waits == sorted(waits)
    assert waits[0] == Guesses.FIRST_SECONDS
    assert waits[-1] == Guesses.MOST_SECONDS
    assert guesses.wait("b", now) == 0.0, "nobody else waits"
    assert guesses.wait("a", now + Guesses.FORGOTTEN_SECONDS + 1) == 0.0


def test_many_addresses_have_one_limit_together_that_time_lifts() -> None:
    guesses, now, compared = Guesses(), 1000.0, 0
    for number in range(10_000):
        if guesses.wait(f"client {number}", now) == 0.0:
            guesses.wrong(f"client {number}", now)
            compared += 1
    assert compared == Guesses.ALL_AT_ONCE
    assert 0.0 < guesses.wait("somebody else", now) <= 1.0 / Guesses.ALL_PER_SECOND
    assert guesses.wait("somebody else", now + 1.0) == 0.0
