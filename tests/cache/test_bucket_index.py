"""A bucket is listed once, by one node, and then by its changes; whoever asks meanwhile waits and sees for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

boto3 = pytest.importorskip("boto3", reason="caches in S3 need the extra neuron-top[s3]")
pytest.importorskip("moto.server", reason="the tests' S3 server is moto[server]")

from neuron_top.cache import s3  # noqa: E402
from neuron_top.compile.claims.claim import Claimed  # noqa: E402
from neuron_top.compile.fetch.indexing import Indexing  # noqa: E402
from neuron_top.services.bucket_index import indexed_snapshot  # noqa: E402
from neuron_top.settings import Settings  # noqa: E402
from neuron_top.store.bucket_index import BucketIndex, LocalIndex  # noqa: E402
from tests import s3_server  # noqa: E402
from tests.actions import caches  # noqa: E402

COMPILER = caches.COMPILER
NAMES = ("compile_flags.json", "model.done", "model.hlo_module.pb", "model.neff")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A bucket of a server of its own."""
    with s3_server.served() as url:
        yield url


@pytest.fixture
def bucket(server: str, request: pytest.FixtureRequest) -> s3.Bucket:
    """A prefix of its own with four entries, and things that are none."""
    found = s3.connect(f"{server}/{abs(hash(request.node.name))}")
    for number in range(4):
        put(found, number)
    for key in ("notes.txt", f"{COMPILER}/0_REGISTRY/x/MODULE_1+e30acd3a/model.neff"):
        found.client.put_object(Bucket=found.name, Key=found.prefix + key, Body=b"x")
    return found


@pytest.fixture(params=["file", "postgresql"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BucketIndex]:
    """An index in each kind of store."""
    made: BucketIndex
    if request.param == "file":
        made = LocalIndex(tmp_path)
    else:
        address = request.getfixturevalue("postgres_url")
        from neuron_top.store.postgres.bucket_index import DatabaseIndex

        made = DatabaseIndex(address)
    yield made
    made.close()


def put(bucket: s3.Bucket, number: int, names: tuple[str, ...] = NAMES) -> None:
    """An entry, or a part of one."""
    for name in names:
        key = f"{bucket.prefix}{COMPILER}/{caches.module(number)}/{name}"
        bucket.client.put_object(Bucket=bucket.name, Key=key, Body=name.encode() * 100)


def requests(bucket: s3.Bucket) -> Counter[str]:
    """Counts what is asked of the service from now on."""
    counts: Counter[str] = Counter()
    bucket.client.meta.events.register("before-call.s3", lambda model, **_: counts.update([model.name]))
    return counts


def indexing(bucket: s3.Bucket, index: BucketIndex, **more: Any) -> Indexing:
    """Without an index that counts as fresh."""
    return Indexing(bucket, index, more.pop("claims", None), more.pop("notify", print), fresh_seconds=0.0, **more)


def listed(bucket: s3.Bucket) -> dict[str, list[s3.Object]]:
    """What a listing says."""
    return s3.take(bucket).objects


def test_it_says_what_a_listing_says_and_asks_only_for_what_changed(bucket: s3.Bucket, index: BucketIndex) -> None:
    asked = requests(bucket)
    assert indexing(bucket, index).objects() == listed(bucket)
    assert asked == {"ListObjectsV2": 2}  # one for each side
    asked.clear()
    put(bucket, 4)
    put(bucket, 5, NAMES[:1])  # its mark comes later
    gone = [each.key for each in s3.objects_of(bucket, f"{COMPILER}/{caches.module(0)}")]
    for key in gone:
        bucket.client.delete_object(Bucket=bucket.name, Key=key)
    asked.clear()
    found = indexing(bucket, index).objects()
    assert asked == {"ListObjectsV2": 4}  # the root, the compiler's folder, and two entries
    assert found == listed(bucket)
    put(bucket, 5)
    assert indexing(bucket, index).objects() == listed(bucket)
    assert set(indexing(bucket, index).objects([caches.module(4), "MODULE_1+e30acd3a"])) == {
        f"{COMPILER}/{caches.module(4)}"
    }


def test_a_fresh_index_costs_no_request(bucket: s3.Bucket, index: BucketIndex) -> None:
    first = indexing(bucket, index).objects()
    asked = requests(bucket)
    assert Indexing(bucket, index, None, print, fresh_seconds=600.0).objects() == first
    assert asked == {}


def test_a_listing_that_was_cut_off_goes_on_where_it_was(bucket: s3.Bucket, index: BucketIndex) -> None:
    whole = listed(bucket)
    first = min(whole)
    indexing(bucket, index).objects()
    after = whole[first][-1].key
    index.put(bucket.url, [], after, gone=[path for path in whole if path != first])
    starts: list[str] = []
    bucket.client.meta.events.register(
        "provide-client-params.s3.ListObjectsV2", lambda params, **_: starts.append(params.get("StartAfter", ""))
    )
    assert indexing(bucket, index).objects() == whole
    assert starts == [after]


def test_who_comes_meanwhile_waits_for_the_node_that_lists(bucket: s3.Bucket, index: BucketIndex) -> None:
    said: list[str] = []

    class Taken:
        place = "memory:"

        def claim(self, key: str, lease: float) -> Claimed:
            return Claimed(mine=False, node="n7") if len(pauses) < 3 else Claimed(mine=True)

        def renew(self, key: str, lease: float) -> bool:
            return True

        def release(self, key: str) -> None:
            said.append(f"gave back {key}")

        def rest(self) -> None: ...

    pauses: list[float] = []
    sleep: Callable[[float], None] = pauses.append
    indexing(bucket, index, claims=Taken(), notify=said.append, sleep=sleep).objects()
    assert said == [f"node n7 lists {bucket.url} for all", f"gave back index {bucket.url}"]


def test_a_compiler_whose_name_only_holds_that_of_the_registry_has_entries(bucket: s3.Bucket) -> None:
    module = caches.module(1)
    for compiler, path in (("not-0_REGISTRY", f"not-0_REGISTRY/{module}"), ("0_REGISTRY", "")):
        key = f"{bucket.prefix}{compiler}/{module}/model.neff"
        assert s3.entry_of(bucket, key) == (path, "model.neff")


def test_an_index_that_a_login_wrote_junk_into_is_not_used(
    bucket: s3.Bucket, postgres_url: str, tmp_path: Path
) -> None:
    """Agents of all nodes write the index: one row ended every copy from the bucket with a traceback."""
    from neuron_top.store.postgres.connection import Database

    settings = Settings(store=postgres_url, state_dir=str(tmp_path))
    whole = {entry.path for entry in indexed_snapshot(settings, bucket.url, (), print).entries}
    with Database(postgres_url) as database, database.connection() as connection:
        connection.execute("UPDATE neurontop.bucket_entries SET objects = '[[1]]' WHERE path = %s", (min(whole),))
    said: list[str] = []
    assert {entry.path for entry in indexed_snapshot(settings, bucket.url, (), said.append).entries} == whole
    assert f"has an entry {min(whole)} that cannot be read" in said[0]
    assert said[0].endswith("listing it here")
