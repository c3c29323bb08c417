"""Questions to a real Prometheus and a real VictoriaMetrics: one suite, and each way to be let in."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from neuron_top.errors import UsageError
from neuron_top.services.fleet import FleetService
from neuron_top.services.site_history import SiteHistory
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import NodeNow, NodeRecord
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.telemetry import prometheus_api as api_module
from neuron_top.telemetry.prometheus_api import LabeledSeries, PrometheusApi, PrometheusUnusable, prometheus_api
from tests.servers.prometheus import PrometheusMissing, prometheus_server, victoria_metrics_server

ASSETS = Path(__file__).parents[2] / "assets"
RULES = ASSETS / "prometheus" / "neurontop.rules.yml"
NODES = ("n1", "n2", "n3", "n4")
CORES = (0.1, 0.5, 0.9)
Answer = Callable[[BaseHTTPRequestHandler], tuple[int, dict[str, str], bytes]]


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """A server on loopback that answers GET so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = answer(self)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_given: object) -> None:
            """Nothing: the output is the tests'."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def metrics(node: str) -> str:
    """What an agent of a node serves: three cores, and a step that takes longer on the last node."""
    cores = [f'neurontop_core_utilization_ratio{{core="{core}"}} {value}' for core, value in enumerate(CORES)]
    used = [f'neurontop_core_memory_used_bytes{{core="{core}"}} {value * 1e9}' for core, value in enumerate(CORES)]
    all_of = [f'neurontop_core_memory_capacity_bytes{{core="{core}"}} 1e9' for core in range(len(CORES))]
    step = f"neurontop_training_step_seconds {2.0 if node == 'n4' else 1.0 + int(node[1]) / 100}"
    return "\n".join((*cores, *used, *all_of, step, "neurontop_unknown NaN", 'neurontop_info{version="1"} 1', ""))


def agents(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
    """All agents behind one address, and the list of them as `/api/targets` gives it."""
    host = request.headers["Host"]
    if request.path == "/api/targets":
        labels = {node: {"node": node, "neurontop_job": "bert", "__metrics_path__": f"/{node}"} for node in NODES}
        document = [{"targets": [host], "labels": labels[node]} for node in NODES]
        return 200, {"Content-Type": "application/json"}, json.dumps(document).encode()
    return 200, {"Content-Type": "text/plain; version=0.0.4"}, metrics(request.path.strip("/")).encode()


SERVERS = {"prometheus": prometheus_server, "victoria-metrics": victoria_metrics_server}


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The kind and the address of a server that collects from four agents; it has collected when the test begins."""
    with answering(agents) as address:
        found = [{"url": f"{address}/api/targets", "refresh_interval": "1s"}]
        jobs = [{"job_name": "neurontop", "scrape_interval": "1s", "http_sd_configs": found}]
        configuration: dict[str, object] = {"global": {"evaluation_interval": "1s"}, "scrape_configs": jobs}
        if request.param == "prometheus":
            configuration["rule_files"] = [str(RULES)]
        try:
            with SERVERS[request.param](tmp_path_factory.mktemp(request.param), configuration) as url:
                wait_for(prometheus_api(url), "neurontop_training_step_seconds", len(NODES))
                yield request.param, url
        except PrometheusMissing as reason:
            pytest.skip(str(reason))


def wait_for(api: PrometheusApi, expression: str, count: int) -> list[LabeledSeries]:
    deadline, found = time.monotonic() + 180, list[LabeledSeries]()
    while len(found) < count:
        assert time.monotonic() < deadline, f"{expression} has {len(found)} series, not {count}"
        time.sleep(0.1)
        found = api.query(expression)
    return found


def by_node(series: list[LabeledSeries]) -> dict[str, float | None]:
    return {one.labels["node"]: one.last for one in series}


def test_every_node_is_found_by_service_discovery_and_answers_with_its_labels(server: tuple[str, str]) -> None:
    found = prometheus_api(server[1]).query('quantile by (node) (0.5, neurontop_core_utilization_ratio{node!="n2"})')
    assert by_node(found) == {"n1": 0.5, "n3": 0.5, "n4": 0.5}
    [step] = prometheus_api(server[1] + "/").query('neurontop_training_step_seconds{node="n4"}')
    assert (step.labels["neurontop_job"], step.last) == ("bert", 2.0)


def test_a_span_of_time_gives_points_in_order_and_what_is_no_number_is_absent(server: tuple[str, str]) -> None:
    api, now = prometheus_api(server[1]), time.time()
    found = api.query_range("neurontop_training_step_seconds", now - 60, now + 1, 1)
    assert {one.labels["node"] for one in found} == set(NODES)
    assert all(list(one.points) == sorted(one.points) and one.points for one in found)
    assert not [one for one in api.query("neurontop_unknown") if one.points]
    assert api.query("neurontop_training_step_seconds", at=now - 86400) == []


def test_a_wrong_expression_is_answered_with_what_the_server_says_about_it(server: tuple[str, str]) -> None:
    with pytest.raises(PrometheusUnusable, match=r"answers 4\d\d: .*pars"):
        prometheus_api(server[1]).query("max by (node) (")


def test_each_board_question_is_understood(server: tuple[str, str]) -> None:
    board = json.loads((ASSETS / "grafana" / "neuron-top-fleet.json").read_text())
    targets = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    assert targets
    for expression in targets:
        for name, value in (("job", "bert"), ("node", "n.*"), ("cluster", ".*")):
            expression = expression.replace(f"${name}", value)
        prometheus_api(server[1]).query(expression)


def test_a_node_and_a_core_are_shown_with_their_last_hour(
    server: tuple[str, str], postgres_url: str, tmp_path: Path
) -> None:
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n2", job="bert", machine_id="m2"))
        store.beat(NodeNow(node="n2", at=0.0, job="bert", cores={"utilization": list(CORES)}))
    deadline = time.monotonic() + 60  # VictoriaMetrics ends a span at a full step: the newest 15 seconds may be outside
    with closing(FleetService(Settings(store=postgres_url, prometheus=server[1], state_dir=str(tmp_path)))) as fleet:
        node, core = fleet.node("n2"), fleet.core("n2", 1)
        while (node.history.missing or core.history.missing) and time.monotonic() < deadline:
            time.sleep(0.5)
            node, core = fleet.node("n2"), fleet.core("n2", 1)
    assert (node.history.missing, core.history.missing) == ("", "")
    shown = (node.history.low, node.history.median, node.history.high, core.history.utilization)
    assert [points[-1][1] for points in shown] == [0.1, 0.5, 0.9, 0.5]
    assert core.history.memory[-1][1] == 0.5e9
    assert all(time.time() - 3700 < at <= time.time() + 15 for points in shown for at, _value in points)


def test_a_node_that_the_server_does_not_collect_says_so(
    server: tuple[str, str], postgres_url: str, tmp_path: Path
) -> None:
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n9", job="bert", machine_id="m9"))
        store.beat(NodeNow(node="n9", at=0.0, job="bert", cores={"utilization": list(CORES)}))
    with closing(FleetService(Settings(store=postgres_url, prometheus=server[1], state_dir=str(tmp_path)))) as fleet:
        assert fleet.node("n9").history.missing.endswith("has no samples of this node's cores in the last hour")
        assert fleet.core("n9", 0).history.missing.endswith("has no samples of this core in the last hour")


@pytest.mark.parametrize(("status", "requests"), [(503, 2), (200, 6)])
def test_a_page_that_is_drawn_each_second_asks_for_its_history_once_a_step(
    postgres_url: str, tmp_path: Path, status: int, requests: int
) -> None:
    """A server that does not answer held up every picture of the page, and Amazon's counts every query."""
    asked: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        asked.append(request.path)
        return status, {"Retry-After": "30"}, b'{"status":"success","data":{"resultType":"matrix","result":[]}}'

    with FleetStore(postgres_url) as store:
        for node in ("n1", "n2"):
            store.register(NodeRecord(node=node, job="bert", machine_id=node))
    with answering(answer) as url:
        settings = Settings(store=postgres_url, prometheus=url, state_dir=str(tmp_path))
        with closing(FleetService(settings)) as fleet:
            shown = [fleet.node(node).history.missing for node in ("n1", "n2", "n1", "n2")]
    assert shown[:2] == shown[2:]
    assert all(shown)
    assert len(asked) == requests


def test_recorded_series_say_what_the_cores_say_and_the_slow_node_is_an_alert(server: tuple[str, str]) -> None:
    if server[0] != "prometheus":
        pytest.skip("VictoriaMetrics leaves rules to vmalert")
    api = prometheus_api(server[1])
    for statistic, value in (("min", 0.1), ("median", 0.5), ("max", 0.9)):
        found = wait_for(api, f"node:neurontop_core_utilization_ratio:{statistic}", len(NODES))
        assert by_node(found) == dict.fromkeys(NODES, value)
    assert set(by_node(wait_for(api, "node:neurontop_core_memory_used_ratio:max", 4)).values()) == {0.9}
    [alert] = wait_for(api, 'ALERTS{alertname="NeurontopNodeSlow"}', 1)
    assert alert.labels["node"] == "n4"


def test_promtool_accepts_the_rules() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool on this machine (Debian: apt-get install prometheus)")
    checked = subprocess.run([promtool, "check", "rules", RULES], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "SUCCESS" in checked.stdout


# Who may ask

SECRETS = {
    "bearer": ({"NEURONTOP_PROMETHEUS_TOKEN": "a token"}, "Bearer a token"),
    "basic": (
        {"NEURONTOP_PROMETHEUS_USER": "somebody", "NEURONTOP_PROMETHEUS_PASSWORD": "ü:1"},
        "Basic c29tZWJvZHk6w7w6MQ==",
    ),
}


def before(url: str, admitted: Callable[[BaseHTTPRequestHandler], bool]) -> Answer:
    """What stands before a server of a site: it lets in whom it knows."""

    def answer(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        if not admitted(request):
            return 401, {}, b"who are you?"
        with urllib.request.urlopen(url + request.path) as given:
            return 200, {"Content-Type": "application/json"}, given.read()

    return answer


@pytest.mark.parametrize("kind", SECRETS)
def test_credentials_of_the_environment_are_sent(server: tuple[str, str], kind: str) -> None:
    environ, expected = SECRETS[kind]
    admitted = lambda request: request.headers["Authorization"] == expected  # noqa: E731
    with answering(before(server[1], admitted)) as url:
        for authentication in ("", kind):
            assert len(prometheus_api(url, authentication, environ).query("neurontop_info")) == len(NODES)
        with pytest.raises(PrometheusUnusable, match=r"refuses us \(401\)") as refused:
            prometheus_api(url, "none", environ).query("neurontop_info")
    assert not any(secret in str(refused.value) for secret in environ.values())


def test_requests_are_signed_as_amazon_checks_them(server: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    made_up = {"AWS_ACCESS_KEY_ID": "AKIDMADEUP", "AWS_SECRET_ACCESS_KEY": "made-up", "AWS_REGION": "eu-west-1"}
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in made_up.items():
        monkeypatch.setenv(name, value)

    def admitted(request: BaseHTTPRequestHandler) -> bool:
        again = AWSRequest(method="GET", url=f"http://{request.headers['Host']}{request.path}")
        again.context["timestamp"] = again.headers["X-Amz-Date"] = request.headers["X-Amz-Date"]
        signer = SigV4Auth(Credentials("AKIDMADEUP", "made-up"), "aps", "eu-west-1")
        text = signer.string_to_sign(again, signer.canonical_request(again))
        return request.headers["Authorization"].endswith(f"Signature={signer.signature(text, again)}")

    with answering(before(server[1], admitted)) as url:
        question = 'max by (node) (neurontop_core_utilization_ratio{core=~"0|1", node!="ü & +"})'
        assert len(prometheus_api(url, "sigv4").query(question)) == len(NODES)


def test_credentials_do_not_follow_a_redirect() -> None:
    seen: list[str] = []

    def elsewhere(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        seen.append(request.path)
        return 200, {}, b"{}"

    with (
        answering(elsewhere) as other,
        answering(lambda _request: (302, {"Location": other}, b"")) as url,
        pytest.raises(PrometheusUnusable, match="sends us elsewhere"),
    ):
        prometheus_api(url, environ=SECRETS["bearer"][0]).query("up")
    assert seen == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"{}",
        b'{"status":"success"}',
        b'{"status":"success","data":{"resultType":1}}',
        b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"much"]}]}}',
        b'{"other":' + b"[" * 100_000,
    ],
)
def test_what_is_no_prometheus_is_reported_as_none(body: bytes) -> None:
    with answering(lambda _request: (200, {}, body)) as url, pytest.raises(PrometheusUnusable, match="answer"):
        prometheus_api(url).query("up")


def test_points_at_times_that_cannot_be_shown_are_left_out() -> None:
    points = [[1e300, "1"], [-1e300, "1"], [1_800_000_000, "2"]]
    body = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [{"values": points}]}}).encode()
    with answering(lambda _request: (200, {}, body)) as url:
        (series,) = prometheus_api(url).query_range("up", 1.0, 2.0, 1.0)
    assert series.points == ((1_800_000_000.0, 2.0),)


@pytest.mark.parametrize(
    ("address", "authentication", "said"),
    [
        ("prometheus:9090", "", "not the address of a Prometheus server"),
        ("http://prometheus", "bearer", "needs NEURONTOP_PROMETHEUS_TOKEN"),
        ("http://127.0.0.1:9", "sigv4", "cannot be read: The config profile"),
    ],
)
def test_a_server_that_cannot_be_asked_costs_the_history_only(
    address: str, authentication: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEURONTOP_PROMETHEUS_TOKEN", raising=False)
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
    history = SiteHistory(Settings(prometheus=address, prometheus_auth=authentication))
    assert said in history.of_node("n1").missing
    assert said in history.of_core("n1", 0).missing


@pytest.mark.parametrize("status", [200, 400])
def test_what_a_server_says_of_a_refusal_cannot_change_the_terminal(status: int) -> None:
    said = b'{"status": "error", "error": "no such \\u001b[31mfunction"}'
    with answering(lambda _: (status, {}, said)) as url, pytest.raises(PrometheusUnusable) as refused:
        prometheus_api(url).query("leaf(up)")
    assert "no such" in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_an_answer_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timeout restarts with every byte."""
    monkeypatch.setattr(api_module, "SECONDS", 0.5)
    over = threading.Event()

    def drip(request: BaseHTTPRequestHandler) -> tuple[int, dict[str, str], bytes]:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        with suppress(OSError):  # the client is gone
            while not over.wait(0.1):
                request.wfile.write(b" ")
        return 200, {}, b""

    with answering(drip) as url:
        ending = threading.Timer(10.0, over.set)
        ending.start()
        try:
            with pytest.raises(PrometheusUnusable, match="its answer was not complete"):
                prometheus_api(url).query("up")
        finally:
            over.set()
            ending.cancel()


def test_a_server_that_is_away_is_named() -> None:
    with answering(lambda _request: (200, {}, b"")) as url:
        pass
    with pytest.raises(PrometheusUnusable, match=f"{url} cannot be reached"):
        prometheus_api(url).query("up")


@pytest.mark.parametrize(
    ("url", "authentication", "said"),
    [
        ("prometheus:9090", "", "not the address of a Prometheus server"),
        ("file:///etc/passwd", "", "not the address of a Prometheus server"),
        ("http://", "", "not the address of a Prometheus server"),
        ("http://me:secret@prometheus", "", "leave user and password out"),
        ("http://prometheus/?a=b", "", "without /api/v1"),
        ("http://prometheus", "bearer", "needs NEURONTOP_PROMETHEUS_TOKEN"),
        ("http://prometheus", "basic", "needs NEURONTOP_PROMETHEUS_USER and NEURONTOP_PROMETHEUS_PASSWORD"),
        ("http://prometheus", "sigv4", "set AWS_REGION"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_sent(url: str, authentication: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        prometheus_api(url, authentication, {})
    assert "secret" not in str(refused.value)
