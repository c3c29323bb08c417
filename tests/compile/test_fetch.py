"""A job fetches what its cache lacks: once for all ranks of a node, verified, shown, and never a reason to fail."""

from __future__ import annotations

import io
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from neuron_top.cache import s3_objects
from neuron_top.cache.signing import KEY_FILE_VARIABLE
from neuron_top.compile.claims.node_gate import NodeGate
from neuron_top.compile.fetch.fetcher import Fetcher, source_at
from neuron_top.compile.fetch.source import ArtifactSource, FolderSource, SourceFile
from neuron_top.compile.wrapper.flags import OnMiss, WrapperOptions
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.compile.wrapper.log_lines import WrapperLog
from neuron_top.compile.wrapper.sharing import Sharing
from neuron_top.errors import GraphNotCompiled
from neuron_top.events import ArtifactFetched, Event
from neuron_top.run.model import Run
from neuron_top.views.overview import overview
from neuron_top.views.progress import fetch_words
from tests.compile.fakes import GRAPH, Copying, wrapper


class Counting:
    """A source that counts what it is asked."""

    def __init__(self, source: ArtifactSource) -> None:
        self._source, self.asked, self.read = source, 0, 0
        self.place = source.place

    def files(self, entry: str) -> Mapping[str, SourceFile]:
        self.asked += 1

        def counted(found: SourceFile) -> Iterator[bytes]:
            self.read += 1
            yield from found.chunks()

        found = self._source.files(entry)
        return {name: SourceFile(each.size, lambda each=each: counted(each)) for name, each in found.items()}


class Rank:
    """A process of a node, with the node's cache and a source."""

    def __init__(self, root: Path, source: ArtifactSource, **options: object) -> None:
        self.said, self.events, self.compiler = io.StringIO(), list[Event](), Copying()
        log = WrapperLog(stream=self.said)
        fetcher = Fetcher(source, log, self.events.append, node="n1")
        chosen = WrapperOptions(cache_url=str(root), **options)  # type: ignore[arg-type]
        self.wrapper = Wrapper(
            self.compiler, chosen, log=log, emit=self.events.append, sharing=Sharing(fetcher=fetcher)
        )
        self.thread = threading.Thread(target=self.obtain)

    def obtain(self) -> bool:
        """Whether it was a hit, of the right artifact."""
        found = self.wrapper.get_or_compile(GRAPH)
        assert found.entry.artifact.read_bytes() == b"the graphthe graph"
        return found.hit

    def fetched(self) -> list[ArtifactFetched]:
        """What was reported of fetches."""
        return [event for event in self.events if isinstance(event, ArtifactFetched)]


def eight_ranks(node: Path, source: Counting) -> list[Rank]:
    """Ranks of one node that asked for the graph at once, and have their answers."""
    ranks = [Rank(node, source) for _ in range(8)]
    for rank in ranks:
        rank.thread.start()
    for rank in ranks:
        rank.thread.join()
    return ranks


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """The root of a cache that has the graph."""
    wrapper(tmp_path / "shared").get_or_compile(GRAPH)
    return tmp_path / "shared"


def test_ranks_of_a_node_are_one_question_and_nobody_compiles(tmp_path: Path, shared: Path) -> None:
    source = Counting(FolderSource(shared))
    ranks = eight_ranks(tmp_path / "node", source)
    assert source.asked == 1
    assert source.read == 5  # graph, flags, record, two files of the artifact
    assert sum(rank.compiler.compiled for rank in ranks) == 0
    reported = [event for rank in ranks for event in rank.fetched()]
    assert [event.ended for event in reported] == [False, True]
    assert reported[-1].bytes == reported[-1].total_bytes > 0
    here, there = (
        sorted(each.relative_to(root) for each in root.rglob("model*")) for root in (tmp_path / "node", shared)
    )
    assert here == there
    assert [rank.said.getvalue().count("Fetched MODULE_") for rank in ranks].count(1) == 1


def test_who_waits_for_a_fetch_that_never_ends_takes_what_is_published_meanwhile(tmp_path: Path, shared: Path) -> None:
    waiting = Rank(tmp_path / "node", FolderSource(shared))
    entry = waiting.wrapper.entry(GRAPH.key)
    with NodeGate("n1", f"fetch {shared} {entry.path}") as gate:
        assert gate.passed()
        waiting.thread.start()
        wrapper(tmp_path / "node").get_or_compile(GRAPH)
        waiting.thread.join(60)
        assert not waiting.thread.is_alive()
    assert not waiting.compiler.compiled


def test_a_bucket_is_read_in_ranges_by_one_rank_for_all(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boto3 = pytest.importorskip("boto3", reason="caches in S3 need the extra neuron-top[s3]")
    pytest.importorskip("moto.server", reason="the tests' S3 server is moto[server]")
    from tests import s3_server  # needs boto3

    monkeypatch.setattr(s3_objects, "RANGE_BYTES", 10)
    with s3_server.served() as url:
        client, (name, _, prefix) = boto3.client("s3"), url.removeprefix("s3://").partition("/")
        for path in shared.rglob("MODULE_*/*"):
            client.upload_file(str(path), name, "/".join(filter(None, (prefix, str(path.relative_to(shared))))))
        source = Counting(source_at(url))
        ranks = eight_ranks(tmp_path / "node", source)
    assert source.asked == 1
    assert sum(rank.compiler.compiled for rank in ranks) == 0
    (told,) = [event for rank in ranks for event in rank.fetched() if event.ended]
    assert not told.problem


def test_what_is_not_there_is_asked_for_once_and_compiled(tmp_path: Path) -> None:
    source = Counting(FolderSource(tmp_path / "none"))
    ranks = eight_ranks(tmp_path / "node", source)
    assert source.asked == 1
    assert sum(rank.compiler.compiled for rank in ranks) == 1
    assert [event for rank in ranks for event in rank.fetched()] == []


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("model.inductor", b"something else", "its sha256 differs from the record's"),
        ("model.stats.json", b"{", "model.stats.json is unreadable"),
        ("model.stats.json", b'{"module": "MODULE_1+2"}', "it belongs to MODULE_1+2"),
        ("model.fxgraph", b"no graph", "model.fxgraph: "),
        ("compile_flags.json", b'["-O9"]', "does not have the hash in the entry's name"),
    ],
)
def test_what_is_not_what_was_published_is_not_used(
    tmp_path: Path, shared: Path, name: str, data: bytes, said: str
) -> None:
    next(shared.rglob(name)).write_bytes(data)
    rank = Rank(tmp_path / "node", FolderSource(shared))
    assert not rank.obtain()
    assert said in rank.said.getvalue()
    assert said in rank.fetched()[-1].problem
    assert list((tmp_path / "node").rglob("*.tmp")) == list((tmp_path / "node").rglob("*.lock")) == []


def test_with_a_shared_key_only_what_it_signed_is_fetched(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o600)
    monkeypatch.setenv(KEY_FILE_VARIABLE, str(key))
    rank = Rank(tmp_path / "node", FolderSource(shared))
    assert not rank.obtain()
    assert "it is signed with another key" in rank.said.getvalue()
    shutil.rmtree(shared)  # noqa: TID251
    wrapper(shared).get_or_compile(GRAPH)
    again = Rank(tmp_path / "node2", FolderSource(shared))
    assert again.obtain()


def test_a_folder_that_strangers_can_write_to_is_not_read(tmp_path: Path, shared: Path) -> None:
    shared.chmod(0o777)
    rank = Rank(tmp_path / "node", FolderSource(shared))
    assert not rank.obtain()
    assert "everybody can write to" in rank.said.getvalue()


def test_a_miss_is_refused_only_after_the_source_was_asked(tmp_path: Path, shared: Path) -> None:
    assert Rank(tmp_path / "node", FolderSource(shared), on_miss=OnMiss.ERROR).obtain()
    with pytest.raises(GraphNotCompiled):
        Rank(tmp_path / "other", FolderSource(tmp_path / "none"), on_miss=OnMiss.ERROR).obtain()


def test_a_source_that_fails_is_reported_once_and_the_graph_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boto3 = pytest.importorskip("boto3", reason="caches in S3 need the extra neuron-top[s3]")
    assert boto3
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "made-up",
        "AWS_SECRET_ACCESS_KEY": "made-up-too",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    rank = Rank(tmp_path / "node", source_at("s3://caches/team"))
    assert not rank.obtain()
    assert "nothing is fetched from s3://caches/team" in rank.said.getvalue()


def test_the_setting_names_the_source(tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURONTOP_CACHE_SOURCE", str(shared))
    assert wrapper(tmp_path / "node").get_or_compile(GRAPH).hit
    monkeypatch.setenv("NEURONTOP_CACHE_SOURCE", "nowhere")
    assert not wrapper(tmp_path / "other").get_or_compile(GRAPH).hit


def test_screens_say_how_far_it_is_and_how_fast() -> None:
    run = Run()
    part = ArtifactFetched(module="MODULE_1+2", place="s3://b", bytes=40_000_000, total_bytes=90_000_000, seconds=2.0)
    run.apply(part)
    card = overview(run, 0.0).cache.fetches
    assert card is not None
    assert fetch_words(card) == "fetching 1 graph: 38.1 MiB of 85.8 MiB, 19.1 MiB/s"
    run.apply(
        ArtifactFetched(
            module="MODULE_1+2", place="s3://b", bytes=90_000_000, total_bytes=90_000_000, seconds=3.0, ended=True
        )
    )
    run.apply(
        ArtifactFetched(
            module="MODULE_2+2", place="s3://b", bytes=1, total_bytes=2, seconds=3.0, ended=True, problem="broken"
        )
    )
    card = overview(run, 0.0).cache.fetches
    assert card is not None
    assert fetch_words(card) == "fetched 1 graph, 85.8 MiB at 28.6 MiB/s · 1 that came was not used"
