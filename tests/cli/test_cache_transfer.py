"""`neurontop cache push` and `pull` against a server that speaks S3: what is asked for, verified, and told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

boto3 = pytest.importorskip("boto3", reason="caches in S3 need the extra neuron-top[s3]")
pytest.importorskip("moto.server", reason="the tests' S3 server is moto[server]")

from neuron_top.actions.execution import s3_copy_target  # noqa: E402
from neuron_top.cache import s3, s3_objects  # noqa: E402
from neuron_top.cache.model.states import State  # noqa: E402
from tests import s3_server  # noqa: E402
from tests.actions import caches, states  # noqa: E402
from tests.compile import fakes  # noqa: E402
from tests.compile.fakes import wrapper  # noqa: E402

GRAPH = msgspec.structs.replace(fakes.GRAPH, data=lambda: b"the graph" * 500)
"""One whose artifact is too long for a listing to take it for a stub."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A bucket of a server of its own."""
    with s3_server.served() as url:
        yield url


@pytest.fixture
def url(server: str, request: pytest.FixtureRequest) -> str:
    """A prefix of its own for each test."""
    return f"{server}/{request.node.name[:40]}"


def cache(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`neurontop cache …` to its end."""
    own = {
        **os.environ,
        "NEURON_COMPILE_CACHE_URL": str(folder / "cache"),
        "NEURONTOP_STATE_DIR": str(folder / "state"),
    }
    return subprocess.run(
        [sys.executable, "-m", "neuron_top", "cache", *words],
        env=own,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_what_was_pushed_is_pulled_once_and_is_a_hit(tmp_path: Path, url: str) -> None:
    for number in (61, 62, 63):
        states.entry_in(tmp_path / "cache", State.HIT, number=number)
    wrapper(tmp_path / "cache").get_or_compile(GRAPH)
    refused = cache(tmp_path, "push", url)
    assert refused.returncode == 4
    assert "--assume-exclusive" in refused.stderr
    pushed = cache(tmp_path, "push", url, "--assume-exclusive")
    assert pushed.returncode == 0, pushed.stderr
    assert "4 entries, " in pushed.stdout
    assert "/s), each verified" in pushed.stdout
    wanted = tmp_path / "graphs.txt"
    wanted.write_text(f"a log that names {caches.module(61)} twice: {caches.module(61)}\n{GRAPH.key.name}\n")
    node = tmp_path / "node"
    pulled = cache(tmp_path, "pull", url, "--for", str(wanted), "--to", str(node), "--json")
    assert pulled.returncode == 0, pulled.stderr
    reported = json.loads(pulled.stdout)
    assert (reported["copied"], reported["refused"], reported["missing"]) == (2, {}, [])
    assert wrapper(node).get_or_compile(GRAPH).hit
    rest = cache(tmp_path, "pull", url, "--to", str(node))
    assert "2 entries, " in rest.stdout
    again = cache(tmp_path, "pull", url, "--to", str(node))
    assert again.returncode == 0
    assert "nothing to copy" in again.stdout


def test_pulls_of_one_node_at_once_share_the_work(tmp_path: Path, url: str) -> None:
    for number in range(60, 68):
        states.entry_in(tmp_path / "cache", State.HIT, number=number)
    assert cache(tmp_path, "push", url, "--assume-exclusive").returncode == 0
    words = ("pull", url, "--to", str(tmp_path / "node"), "--json")
    with ThreadPoolExecutor(3) as pool:
        pulled = [each.result() for each in [pool.submit(cache, tmp_path, *words) for _ in range(3)]]
    assert [each.returncode for each in pulled] == [0, 0, 0], [each.stderr for each in pulled]
    reported = [json.loads(each.stdout) for each in pulled]
    assert [one["copied"] + one["there"] for one in reported] == [8, 8, 8]
    assert (sum(one["copied"] for one in reported), [one["refused"] for one in reported]) == (8, [{}, {}, {}])


def test_what_the_source_lacks_is_named(tmp_path: Path, url: str) -> None:
    (tmp_path / "graphs.txt").write_text(caches.module(99))
    states.entry_in(tmp_path / "cache", State.HIT, number=61)
    assert cache(tmp_path, "push", url, "--assume-exclusive").returncode == 0
    done = cache(tmp_path, "pull", url, "--for", "graphs.txt", "--to", str(tmp_path / "node"))
    assert done.returncode == 1
    assert f"{caches.module(99)} is not in {url}" in done.stderr
    (tmp_path / "graphs.txt").write_text("nothing of the kind")
    empty = cache(tmp_path, "pull", url, "--for", "graphs.txt")
    assert (empty.returncode, "the file names no module (MODULE_…)" in empty.stderr) == (2, True)
    unknown = cache(tmp_path, "pull", url, "--for", "no-such-run")
    assert (unknown.returncode, "is not a file, and nothing was recorded yet" in unknown.stderr) == (3, True)


def test_what_the_destination_has_already_is_not_missing_and_what_is_not_usable_is_not_there(tmp_path: Path) -> None:
    source, node = tmp_path / "source", tmp_path / "node"
    for number, state in ((61, State.HIT), (62, State.FAILED)):
        states.entry_in(source, state, number=number)
    states.entry_in(node, State.HIT, number=63)
    (tmp_path / "graphs.txt").write_text(f"{caches.module(61)}\n{caches.module(63)}\n")
    words = ("pull", str(source), "--to", str(node), "--json")
    for copied, there in ((1, 0), (0, 1)):
        done = cache(tmp_path, *words, "--for", "graphs.txt")
        reported = json.loads(done.stdout)
        assert (done.returncode, reported["missing"], reported["copied"]) == (0, [], copied), done.stderr
        assert (reported["there"], json.loads(cache(tmp_path, *words).stdout)["there"]) == (there, 1)
    (tmp_path / "empty").mkdir()
    nothing = cache(tmp_path, "pull", str(tmp_path / "empty"), "--to", str(node)).stdout
    assert nothing == f"nothing to copy: {tmp_path}/empty has no usable entry that was asked for\n"


def test_an_artifact_that_is_not_what_its_record_says_does_not_arrive(tmp_path: Path, url: str) -> None:
    made = wrapper(tmp_path / "cache").get_or_compile(GRAPH).entry
    assert cache(tmp_path, "push", url, "--assume-exclusive").returncode == 0
    bucket = s3.connect(url)
    path = made.artifact.relative_to(tmp_path / "cache")
    bucket.client.put_object(Bucket=bucket.name, Key=f"{bucket.prefix}{path}", Body=made.artifact.read_bytes()[::-1])
    done = cache(tmp_path, "pull", url, "--to", str(tmp_path / "node"))
    assert done.returncode == 1
    assert "model.inductor is not what was published: its sha256 differs from the record's" in done.stdout
    assert list((tmp_path / "node").rglob("model.done")) == list((tmp_path / "node").rglob("model.inductor")) == []


def test_a_large_object_arrives_in_ranges_and_in_its_order(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_objects, "RANGE_BYTES", 1000)
    bucket, data = s3.connect(url), bytes(number % 251 for number in range(12_345))
    key = f"neuronxcc-2.21.1.0+0a1b2c3d/{caches.module(61)}"
    bucket.client.put_object(Bucket=bucket.name, Key=f"{bucket.prefix}{key}/model.neff", Body=data)
    found = s3_copy_target.S3CopyTarget(bucket).file(key, "model.neff")
    assert found is not None
    chunks = list(found.chunks)
    assert b"".join(chunks) == data
    assert len(chunks) == 13
