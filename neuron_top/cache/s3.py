"""A compile cache in S3, `s3://bucket/prefix`: makes a snapshot of one paged listing. Reads only.

States are those of a folder, as far as a listing shows them: artifacts' headers are not read, because that would cost
a request each (`check_head` reads them on demand), and whether a lock's holder lives cannot be known from here. boto3
is loaded when the first bucket is named. Credentials come from where AWS's own tools find them, and are not stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

import msgspec

from neuron_top.cache.filesystem import AccessTimes, Filesystem
from neuron_top.cache.model.entry import MARKER_BYTES, MODULE, PARTS, Artifact, Entry, Lock, Part, classify, is_legacy
from neuron_top.cache.model.filenames import FLAGS_NAMES, NEFF
from neuron_top.cache.model.keys import flags_hash
from neuron_top.cache.model.snapshot import Other, Snapshot
from neuron_top.errors import NothingToShow, UsageError
from neuron_top.escapes import visible, without_secret
from neuron_top.parsers.neff import CHEAP_BYTES, head_problem

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

WHY_SHARED = "who uses a bucket cannot be seen from here"
NEVER = "0_REGISTRY"
"""What lies below a folder of this name is no entry."""
_LISTED = frozenset({"Key", "Size", "ETag", "LastModified"})
"""What a listing must say of each object."""
_LARGEST = 1 << 50
"""Bytes; many times what S3 stores as one object."""
_EXCHANGED = frozenset({"PreconditionFailed", "412", "NoSuchKey", "404"})
_WITHHELD = frozenset({"InvalidObjectState", "AccessDenied", "403"})
"""Answers to a request for an object that was archived by a rule of the bucket, or that this user may not read."""
_CONNECTIONS = 64
"""Most connections that are kept open: ranges of several objects are read at a time."""
_LONGEST_NAME = 255
"""Bytes that file systems allow in the name of a file."""
_FLAGS_LIMIT = 1 << 20
"""Most bytes that are read of a flags file; the hash of a longer one does not match."""


class ObjectUnavailable(NothingToShow):
    """An object was replaced, deleted or archived since it was listed, or may not be read; others may be there."""


class Object(msgspec.Struct, frozen=True, gc=False):
    """One object of an entry. `changed` is seconds since the epoch."""

    key: str
    size: int
    tag: str
    changed: float

    @property
    def name(self) -> str:
        """The name of its file in the entry."""
        return self.key.rpartition("/")[2]


class Bucket:
    """A prefix of a bucket, and the client that reads it. `prefix` is empty or ends with a slash."""

    def __init__(self, client: S3Client, name: str, prefix: str) -> None:
        self.client, self.name, self.prefix = client, name, prefix

    @property
    def url(self) -> str:
        """The address as a person gives it."""
        return f"s3://{self.name}/{self.prefix}".rstrip("/")

    def objects(self, below: str = "") -> Iterator[Any]:
        """Raw records of everything below the prefix (or a part of it), page by page. Raises NothingToShow, also for a
        listing that is not the whole one: what it lacks would be taken for missing."""
        asked = self.prefix + below
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=asked)
        first_keys: set[str] = set()
        with explained(self):
            try:
                for page in pages:
                    listed = page.get("Contents", ())
                    if not listed and "IsTruncated" not in page:
                        raise self._unreadable("it is no listing; is the endpoint that of S3?")
                    for record in listed:
                        self._check_listed(record, asked)
                        yield record
                    if listed and listed[0]["Key"] in first_keys:
                        raise self._unreadable("its pages repeat")
                    first_keys.update(record["Key"] for record in listed[:1])
                    if page.get("IsTruncated") and not page.get("NextContinuationToken"):
                        raise self._unreadable("it has more pages and does not say where they begin")
            except ValueError as problem:  # a number or a time that is none
                raise self._unreadable(visible(str(problem))) from None

    def _check_listed(self, record: Any, asked: str) -> None:
        if missing := _LISTED - record.keys():
            raise self._unreadable(f"it lists an object without {', '.join(sorted(missing))}")
        if not record["Key"].startswith(asked):
            raise self._unreadable(f"it lists {visible(record['Key'])}, which was not asked for")
        if not 0 <= record["Size"] <= _LARGEST:
            raise self._unreadable(f"it lists an object of {record['Size']} bytes")

    def _unreadable(self, why: str) -> NothingToShow:
        return NothingToShow(f"{self.url}: the service's answer cannot be read: {why}")

    def read(self, key: str, limit: int) -> bytes:
        """The first `limit` bytes of an object. Raises NothingToShow."""
        with explained(self):
            answer = self.client.get_object(Bucket=self.name, Key=key, Range=f"bytes=0-{limit - 1}")
            return answer["Body"].read(limit)

    def versioned(self) -> bool:
        """True if a deleted object can be brought back. Raises NothingToShow."""
        with explained(self):
            return self.client.get_bucket_versioning(Bucket=self.name).get("Status") == "Enabled"


class BucketListing(NamedTuple):
    """A listing of a bucket: the snapshot, and the objects of each entry by its path."""

    snapshot: Snapshot
    objects: dict[str, list[Object]]


def checked(url: str) -> SplitResult:
    """The parts of `s3://bucket/prefix`. Raises UsageError for another URL, or one that holds a login (never shown)."""
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets that hold no address
        parts = urlsplit("")
    if parts.scheme != "s3" or not parts.netloc or parts.query or parts.fragment:
        raise UsageError(f"{without_secret(url)!r} is not the address of a bucket: expected s3://bucket/prefix")
    if "@" in parts.netloc:
        raise UsageError(
            f"{without_secret(url)}: leave user name and password out of the address; "
            "credentials are read from where AWS's own tools find them (aws configure)"
        )
    return parts


def connect(url: str, *, hurried: bool = False) -> Bucket:
    """The bucket behind `s3://bucket/prefix`. `hurried`: short timeouts, for a caller that can do without the bucket.

    Raises UsageError for another URL, and if boto3 is missing.
    """
    parts = checked(url)
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise UsageError("reading S3 needs boto3: pip install 'neuron-top[s3]'") from None
    from botocore.exceptions import BotoCoreError

    prefix = parts.path.strip("/")
    config = Config(
        retries={"mode": "adaptive", "max_attempts": 3 if hurried else 8},
        connect_timeout=5 if hurried else 60,
        read_timeout=10 if hurried else 60,
        max_pool_connections=_CONNECTIONS,
        user_agent_extra="neuron-top",
    )
    try:
        client = boto3.client("s3", config=config)
    except (BotoCoreError, ValueError) as problem:
        raise UsageError(f"S3 cannot be reached: {visible(without_secret(str(problem)))}") from None
    return Bucket(client, parts.netloc, f"{prefix}/" if prefix else "")


@contextlib.contextmanager
def explained(bucket: Bucket) -> Iterator[None]:
    """Turns the service's errors into NothingToShow, with a sentence that leaves out what was sent."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (BotoCoreError, ClientError, RecursionError) as problem:  # boto3 follows redirects without an end
        raise _in_words(bucket, problem) from None
    except Boto3Error as problem:  # a transfer in parts failed: the cause is the exception behind it
        raise _in_words(bucket, getattr(problem, "last_exception", None) or problem.__context__ or problem) from None


def _in_words(bucket: Bucket, problem: BaseException) -> NothingToShow:
    from botocore.exceptions import ClientError, NoCredentialsError, ParamValidationError

    if isinstance(problem, NoCredentialsError):
        return NothingToShow(f"{bucket.url}: no AWS credentials were found in the usual places (aws configure)")
    if isinstance(problem, ParamValidationError):  # before anything was sent
        return NothingToShow(f"{bucket.url}: S3 allows no such name of a bucket or object")
    if isinstance(problem, ClientError):
        code = problem.response.get("Error", {}).get("Code", "unknown error")
        withheld = code in _WITHHELD and problem.operation_name in ("GetObject", "HeadObject")
        kind = ObjectUnavailable if code in _EXCHANGED or withheld else NothingToShow
        return kind(f"{bucket.url}: {problem.operation_name} was refused: {visible(str(code))}")
    return NothingToShow(f"{bucket.url}: {type(problem).__name__}: the service cannot be reached")


def take(bucket: Bucket, now: float | None = None) -> BucketListing:
    """List the bucket once, and make a snapshot of its entries. Raises NothingToShow."""
    now = time.time() if now is None else now
    started = time.perf_counter()
    entries, others = _sorted_out(bucket)
    snapshot = snapshot_of(bucket, entries, now, others)
    return BucketListing(msgspec.structs.replace(snapshot, seconds=time.perf_counter() - started), entries)


def snapshot_of(
    bucket: Bucket, entries: Mapping[str, list[Object]], now: float, others: Iterable[Other] = ()
) -> Snapshot:
    """The snapshot of `entries`, given as path → objects."""
    return Snapshot(
        root=bucket.url,
        taken_at=now,
        seconds=0.0,
        entries=tuple(_entry(path, objects) for path, objects in entries.items()),
        folders=(),
        others=tuple(others),
        filesystem=Filesystem(kind="s3", shared=True, why_shared=WHY_SHARED, access_times=AccessTimes.NOATIME),
    )


def look_again(bucket: Bucket, path: str) -> tuple[Entry, list[Object]]:
    """One entry as it is now, and its objects; an entry without parts if it is gone. Raises NothingToShow."""
    found = objects_of(bucket, path)
    return _entry(path, found), found


def objects_of(bucket: Bucket, path: str) -> list[Object]:
    """The objects of one entry now; none if it is gone. Raises NothingToShow."""
    return _sorted_out(bucket, f"{path}/")[0].get(path, [])


def _sorted_out(bucket: Bucket, below: str = "") -> tuple[dict[str, list[Object]], list[Other]]:
    """List the bucket: (entry's path → its objects, objects that belong to no entry)."""
    entries: dict[str, list[Object]] = {}
    others: list[Other] = []
    start, last = len(bucket.prefix), ""
    members: list[Object] | None = None
    for record in bucket.objects(below):
        key = record["Key"]
        place, _, name = key.rpartition("/")
        if not name:  # some programs mark a folder by an object of its name: it makes no entry
            others.append(Other(key[start:], record["Size"], 1, 0))
            continue
        if place != last:
            last = place
            path, _ = entry_of(bucket, key)
            members = entries.setdefault(path, []) if path else None
        if members is None:
            others.append(Other(key[start:], record["Size"], 1, 0))
            continue
        members.append(Object(key, record["Size"], record["ETag"], record["LastModified"].timestamp()))
    return entries, others


def entry_of(bucket: Bucket, key: str) -> tuple[str, str]:
    """(path of the entry that a key belongs to, file name); the path is "" if it belongs to none."""
    place, _, name = key.rpartition("/")
    path = place[len(bucket.prefix) :]
    above, _, module = path.rpartition("/")
    is_entry = MODULE.match(module) and (path == module or _is_below(above)) and NEVER not in above.split("/")
    return (path if is_entry else ""), name


def _is_below(path: str) -> bool:
    """Whether `path` would stay below a root on a disk too: in a key, `..` is a name like any other."""
    return all(part not in ("", ".", "..") for part in path.split("/")) and path.isprintable()


def _entry(path: str, objects: list[Object]) -> Entry:
    compiler, _, module = path.rpartition("/")
    parts = kept = size = 0
    artifact, artifact_bytes, graph_bytes, kernels_bytes = Artifact.NONE, None, None, None
    compiled_at = lock_since = None
    changed_at = artifact_at = 0.0
    others: list[str] = []
    digest = hashlib.sha256()
    for each in objects:
        name = each.name
        part = PARTS.get(name, Part.OTHER)
        parts |= part
        size += each.size
        changed_at = max(changed_at, each.changed)
        digest.update(f"{name}\0{each.tag}\0".encode("utf-8", "surrogateescape"))
        if not part & Part.OUTPUT:
            kept += each.size
        if part & Part.ARTIFACT:
            artifact = Artifact.VALID if each.size > MARKER_BYTES else Artifact.STUB
            artifact_bytes, artifact_at = each.size, each.changed
        elif part & Part.KERNELS:
            kernels_bytes = each.size
        elif part & Part.GRAPH:
            graph_bytes = each.size
        elif part & Part.DONE:
            compiled_at = each.changed
        elif part & Part.LOCK:
            lock_since = each.changed
        elif part & Part.OTHER:
            others.append(visible(name))
    return Entry(
        compiler=compiler,
        module=module,
        # The log is not read here, so any log counts as that of a failure.
        state=classify(artifact, parts, is_legacy(compiler), bool(parts & Part.LOG)),
        parts=parts,
        allocated=size,
        apparent=size,
        kept=kept,
        artifact_bytes=artifact_bytes,
        graph_bytes=graph_bytes,
        artifact=artifact,
        artifact_inode=0,
        artifact_mtime_ns=round(artifact_at * 1e9),
        flags=None,
        flags_hash_ok=None,
        compiled_at=(compiled_at or artifact_at) if artifact is Artifact.VALID else None,
        changed_at=changed_at,
        read_at=None,
        compile_seconds=None,
        lock=Lock(lock_since) if lock_since is not None else None,
        failure=None,
        # There are no folders in S3: a digest of the objects' names and tags takes the place of the inode.
        folder_inode=int.from_bytes(digest.digest()[:7]),
        folder_mtime_ns=round(changed_at * 1e9),
        others=tuple(others),
        kernels_bytes=kernels_bytes,
    )


def can_be_file(each: Object) -> bool:
    """Whether an object can be stored in a folder under its own name; a key may hold any text."""
    name = each.name
    return name not in (".", "..") and "\0" not in name and len(os.fsencode(name)) <= _LONGEST_NAME


def fetch(bucket: Bucket, objects: Iterable[Object], root: Path) -> None:
    """Copy objects to a folder of ours, with their times and the paths that they have below the prefix.

    Raises NothingToShow.
    """
    for each in objects:
        below = each.key[len(bucket.prefix) :]
        if not _is_below(below.rpartition("/")[0]):
            raise NothingToShow(f"{bucket.url}: {visible(below)} leads out of its folder and is not fetched")
        path = root / below
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with explained(bucket):
                bucket.client.download_file(bucket.name, each.key, str(path))
            os.utime(path, (each.changed, each.changed))
        except OSError as problem:
            raise NothingToShow(f"{bucket.url}: {visible(below)} cannot be fetched: {problem.strerror}") from None


def check_head(bucket: Bucket, objects: list[Object]) -> str | None:
    """What is wrong with an entry's artifact or flags, by header, length and flags hash; None if nothing is. Costs a
    request per file. Raises NothingToShow."""
    for each in objects:
        if each.name == NEFF:
            problem = head_problem(_start(bucket, each, CHEAP_BYTES), each.size)
            if problem is not None:
                return f"{each.name}: {problem}"
        expected = each.key.rpartition("/")[0].rpartition("+")[2]
        if each.name in FLAGS_NAMES and flags_hash(_start(bucket, each, _FLAGS_LIMIT)) != expected:
            return f"{each.name} does not have the hash in the entry's name"
    return None


def _start(bucket: Bucket, each: Object, limit: int) -> bytes:
    """The first bytes of an object, without a request for an empty one, of which the service refuses any range."""
    return bucket.read(each.key, limit) if each.size else b""
