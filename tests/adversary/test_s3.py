"""A bucket that somebody else can write to: keys that lead out, objects of any size, replies that carry escapes."""

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neuron_top.cache import s3, s3_objects
from neuron_top.cache.model.snapshot import Snapshot
from neuron_top.errors import NothingToShow, UsageError

boto3 = pytest.importorskip("boto3", reason="caches in S3 need the extra neuron-top[s3]")

MODULE = "MODULE_1234567890+abcdef01"
LOST = (
    f"neuronxcc-2/../../victim/{MODULE}",
    f"../victim/{MODULE}",
    f"/victim/{MODULE}",
    f"./victim/{MODULE}",
    f"neuronxcc-2//{MODULE}",
    f"neuronxcc-2\n/{MODULE}",
    f"neuronxcc-2\x1b]52;c;eA==\x07/{MODULE}",
)
"""Prefixes that are no place of an entry."""


class FakeClient:
    """As much of boto3's client as reading needs; the objects are whatever an attacker may store."""

    def __init__(self, objects: dict[str, bytes]) -> None:
        self.objects, self.taken = objects, 0

    def get_paginator(self, name: str) -> FakeClient:
        assert name == "list_objects_v2"
        return self

    def paginate(self, *, Bucket: str, Prefix: str) -> Iterator[dict[str, Any]]:  # noqa: N803 (boto3's names)
        now = datetime.now(UTC)
        found = [
            {"Key": key, "Size": len(data), "ETag": '"x"', "LastModified": now}
            for key, data in self.objects.items()
            if key.startswith(Prefix)
        ]
        yield {"Contents": found}

    def get_object(self, *, Bucket: str, Key: str, Range: str = "", IfMatch: str = "") -> dict[str, Any]:  # noqa: N803
        """Like a service that does not know ranges: all of it, whatever was asked for."""
        return {"Body": Endless(self) if self.objects[Key] == b"endless" else io.BytesIO(self.objects[Key])}

    def download_file(self, bucket: str, key: str, path: str) -> None:
        Path(path).write_bytes(self.objects[key])


class Endless:
    """A reply without end; counts what was taken of it."""

    def __init__(self, client: FakeClient) -> None:
        self._client = client

    def read(self, size: int | None = None) -> bytes:
        assert size is not None, "a reply without end was read to its end"
        self._client.taken += size
        return b"x" * size

    def iter_chunks(self, size: int) -> Iterator[bytes]:
        while self._client.taken < 1 << 30:
            yield self.read(size)
        raise AssertionError("a reply without end was taken to its end")


def bucket(objects: dict[str, bytes]) -> s3.Bucket:
    return s3.Bucket(FakeClient(objects), "caches", "team/")  # type: ignore[arg-type]


@pytest.mark.parametrize("place", LOST)
def test_a_key_that_leads_out_of_the_root_is_no_entry(place: str) -> None:
    listing = s3.take(bucket({f"team/{place}/model.neff": b"x", f"team/{place}/model.done": b""}))
    assert listing.snapshot.entries == ()
    assert sum(other.files for other in listing.snapshot.others) == 2


@pytest.mark.parametrize("place", LOST[:4])
def test_fetching_an_entry_writes_nowhere_but_into_its_folder(place: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    found = s3.Object(f"team/{place}/model.neff", 1, '"x"', 0.0)
    with pytest.raises(NothingToShow, match="leads out"):
        s3.fetch(bucket({found.key: b"x"}), [found], root)
    assert [path.name for path in tmp_path.rglob("*")] == ["root"]


def test_an_object_name_that_no_disk_takes_is_a_sentence(tmp_path: Path) -> None:
    found = s3.Object(f"team/neuronxcc-2/{MODULE}/{'x' * 900}", 1, '"x"', 0.0)
    with pytest.raises(NothingToShow, match="cannot be fetched"):
        s3.fetch(bucket({found.key: b"x"}), [found], tmp_path)


def test_a_service_that_ignores_the_range_costs_no_memory() -> None:
    found = bucket({"team/a": b"endless"})
    assert len(found.read("team/a", 24)) == 24
    assert found.client.taken < 1 << 20  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [24, s3_objects.RANGE_BYTES + 24])
def test_an_object_longer_than_it_was_listed_is_refused(size: int) -> None:
    found = bucket({"team/a": b"endless"})
    chunks = s3_objects.object_chunks(found, s3.Object("team/a", size, '"x"', 0.0))
    with pytest.raises(NothingToShow, match="other bytes"):
        for _ in chunks:
            pass
    assert found.client.taken <= 3 * s3_objects.RANGE_BYTES  # type: ignore[attr-defined]


def test_flags_of_any_size_are_read_up_to_a_limit() -> None:
    key = f"team/neuronxcc-2/{MODULE}/compile_flags.json"
    found = bucket({key: b"endless"})
    problem = s3.check_head(found, [s3.Object(key, 1 << 40, '"x"', 0.0)])
    assert problem is not None
    assert found.client.taken <= 1 << 21  # type: ignore[attr-defined]


def test_what_the_service_says_moves_no_cursor() -> None:
    from botocore.exceptions import ClientError

    with pytest.raises(NothingToShow) as reported, s3.explained(bucket({})):
        raise ClientError({"Error": {"Code": "\x1b]0;owned\x07\x9b31m"}}, "ListObjectsV2")
    assert str(reported.value).isprintable()


@pytest.mark.parametrize("missing", ["Key", "Size", "ETag", "LastModified"])
def test_a_listing_that_leaves_out_what_the_service_must_say_is_a_sentence(missing: str) -> None:
    """Of a service that only resembles S3: it was a KeyError with a traceback."""
    found = bucket({f"team/neuronxcc-2/{MODULE}/model.done": b""})
    pages = list(found.client.get_paginator("list_objects_v2").paginate(Bucket="caches", Prefix="team/"))
    del pages[0]["Contents"][0][missing]
    found.client.paginate = lambda **_: iter(pages)  # type: ignore[attr-defined]
    with pytest.raises(NothingToShow, match=f"s3://caches/team: the service's answer cannot be read: .* {missing}"):
        s3.take(found)


def test_a_listing_with_a_time_that_is_none_is_a_sentence() -> None:
    def paginate(**_: str) -> Iterator[dict[str, Any]]:
        raise ValueError('Invalid timestamp "\x1b[2Jsoon"')
        yield {}

    found = bucket({})
    found.client.paginate = paginate  # type: ignore[attr-defined]
    with pytest.raises(NothingToShow, match="Invalid timestamp") as reported:
        s3.take(found)
    assert str(reported.value).isprintable()


def _listed(key: str, **changes: object) -> dict[str, Any]:
    return {"Key": key, "Size": 1, "ETag": '"x"', "LastModified": datetime.now(UTC), **changes}


PAGE = {"Contents": [_listed(f"team/neuronxcc-2/{MODULE}/model.neff")], "IsTruncated": True}


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        ([{"ResponseMetadata": {}}], "it is no listing"),
        ([PAGE], "it has more pages and does not say where"),
        ((PAGE | {"NextContinuationToken": f"t{number}"} for number in itertools.count()), "its pages repeat"),
        ([{"Contents": [_listed("other/x\x1b[2J")]}], "it lists other/x␛.*, which was not asked for"),
        ([{"Contents": [_listed("team/x", Size=-5)]}], "an object of -5 bytes"),
        ([{"Contents": [_listed("team/x", Size=10**40)]}], "an object of 1000"),
    ],
    ids=["a page for people", "cut", "in circles", "somebody else's", "negative", "huge"],
)
def test_what_is_not_the_listing_that_was_asked_for_is_a_sentence(pages: Iterable[dict[str, Any]], said: str) -> None:
    """An endpoint that is another web server showed an empty cache; a listing that was cut, a smaller one."""
    found = bucket({})
    found.client.paginate = lambda **_: iter(pages)  # type: ignore[attr-defined]
    with pytest.raises(NothingToShow, match=f"the service's answer cannot be read: .*{said}"):
        s3.take(found)


def test_redirects_without_an_end_are_a_sentence() -> None:
    said = "s3://caches/team: RecursionError: the service cannot be reached"
    with pytest.raises(NothingToShow, match=said), s3.explained(bucket({})):
        raise RecursionError


def test_a_login_in_the_endpoint_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:hunter2@bad host:port")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with pytest.raises(UsageError) as reported:
        s3.connect("s3://caches/team")
    assert "hunter2" not in str(reported.value)


def test_a_region_from_the_environment_moves_no_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us\x1b]0;owned\x07")
    with pytest.raises(UsageError) as reported:
        s3.connect("s3://caches/team")
    assert str(reported.value).isprintable()


def test_names_from_a_listing_move_no_cursor(tmp_path: Path) -> None:
    """The names of objects inside an entry are anybody's: they reach the screen as text only."""
    key = f"team/neuronxcc-2/{MODULE}/\x1b]52;c;eA==\x07\u202e.log"
    snapshot: Snapshot = s3.take(bucket({key: b"x"})).snapshot
    assert all(name.isprintable() for entry in snapshot.entries for name in entry.others)


def test_a_listing_is_shown_without_escapes() -> None:
    url = "s3://caches/\x1b]52;c;eA==\x07"
    shown = subprocess.run(
        [sys.executable, "-m", "neuron_top", "cache", "ls", url], capture_output=True, text=True, check=False
    )
    assert "\x1b" not in shown.stdout + shown.stderr
    assert "Traceback" not in shown.stderr
