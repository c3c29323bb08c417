"""Claims in a bucket: an object per key, written only where there is none (`If-None-Match: *`).

A lease that ran out is taken over by a write that names the version it replaces (`If-Match`). Ages are differences
between the service's own times, so the clocks of the nodes do not matter. boto3 is loaded when the first key is
claimed.
"""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple, TypeVar

import msgspec

from neuron_top.cache import s3
from neuron_top.compile.claims.claim import Claimed, ClaimsUnreachable
from neuron_top.decoders import MALFORMED
from neuron_top.identity import node_name

FOLDER = "neurontop-claims"
_ATTEMPTS = 5
_REFUSED = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409"})
_GONE = frozenset({"NoSuchKey", "404"})
_LONGEST = 4096

Answer = TypeVar("Answer")


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    node: str
    holder: str
    lease: float


class _Found(NamedTuple):
    record: _Record
    tag: str
    age: float


def _time_in(date: str) -> datetime:
    """The service's time, by the `Date` header of an answer; ours where there is none that can be read."""
    try:
        found = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return datetime.now(UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


class BucketClaims:
    """See Claims."""

    def __init__(self, url: str) -> None:
        """Raises UsageError for what is no bucket, and where boto3 is missing."""
        self._bucket = s3.connect(url, hurried=True)
        self._node, self._holder = node_name().value, uuid.uuid4().hex
        self._tags: dict[str, str] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._trusted = False

    @property
    def place(self) -> str:
        """See Claims."""
        return f"{self._bucket.url}/{FOLDER}"

    def claim(self, key: str, lease: float) -> Claimed:
        """See Claims."""
        with self._lock_of(key):
            for _ in range(_ATTEMPTS):
                if self._write(key, lease, None):
                    self._check_conditions(key)
                    return Claimed(mine=True)
                found = self._read(key)
                if found is None:
                    continue  # given back in between
                left = found.record.lease - found.age
                if found.record.holder != self._holder and left > 0:
                    return Claimed(mine=False, node=found.record.node, seconds_left=left)
                if self._write(key, lease, found.tag):
                    ours = found.record.holder == self._holder
                    return Claimed(mine=True, taken_from="" if ours else found.record.node)
            raise ClaimsUnreachable(f"{self.place}: {key} changed at every attempt to take it")

    def renew(self, key: str, lease: float) -> bool:
        """See Claims."""
        with self._lock_of(key):
            return key in self._tags and (self._write(key, lease, self._tags[key]) or self._is_still_ours(key))

    def release(self, key: str) -> None:
        """See Claims."""
        with self._lock_of(key):
            self._tags.pop(key, None)
            found = self._read(key)
            if found is not None and found.record.holder == self._holder:
                self._asked(lambda: self._bucket.client.delete_object(Bucket=self._bucket.name, Key=self._object(key)))

    def rest(self) -> None:
        """See Claims. Nothing to do: requests leave nothing open that matters."""

    def _lock_of(self, key: str) -> threading.Lock:
        """The lock of requests for one key: waiting for an answer about one must not let another's lease run out."""
        return self._locks.setdefault(key, threading.Lock())

    def _object(self, key: str) -> str:
        return f"{self._bucket.prefix}{FOLDER}/{hashlib.sha256(key.encode()).hexdigest()[:40]}.json"

    def _write(self, key: str, lease: float, replaces: str | None) -> bool:
        """Write our record in place of the version `replaces`, or of no object; False if another one is there now."""
        record = msgspec.json.encode(_Record(key=key, node=self._node, holder=self._holder, lease=lease))
        tag = self._asked(lambda: self._put(key, record, replaces))
        if tag is not None:
            self._tags[key] = tag
        return tag is not None

    def _is_still_ours(self, key: str) -> bool:
        """Whether a refused write is ours after all: the SDK repeats a write if the answer to the first was lost."""
        found = self._read(key)
        if found is None or found.record.holder != self._holder:
            return False
        self._tags[key] = found.tag
        return True

    def _put(self, key: str, data: bytes, replaces: str | None) -> str:
        name, place, client = self._bucket.name, self._object(key), self._bucket.client
        if replaces is None:
            return client.put_object(Bucket=name, Key=place, Body=data, IfNoneMatch="*")["ETag"]
        return client.put_object(Bucket=name, Key=place, Body=data, IfMatch=replaces)["ETag"]

    def _read(self, key: str) -> _Found | None:
        return self._asked(lambda: self._found(key))

    def _found(self, key: str) -> _Found:
        answer = self._bucket.client.get_object(Bucket=self._bucket.name, Key=self._object(key))
        now = _time_in(answer["ResponseMetadata"]["HTTPHeaders"].get("date", ""))
        try:
            record = msgspec.json.decode(answer["Body"].read(_LONGEST), type=_Record)
        except MALFORMED:
            raise ClaimsUnreachable(f"{self.place}: the claim of {key} was not written by neuron-top") from None
        return _Found(record, answer["ETag"], (now - answer["LastModified"]).total_seconds())

    def _check_conditions(self, key: str) -> None:
        """Check once that the service honors conditions: without them it overwrites silently and protects nothing."""
        if not self._trusted and self._asked(lambda: self._put(key, b"", None)) is not None:
            raise ClaimsUnreachable(f"{self.place}: this service ignores If-None-Match, so it cannot keep claims")
        self._trusted = True

    def _asked(self, call: Callable[[], Answer]) -> Answer | None:
        """The response; None where a condition was not met, or the object is gone. Raises ClaimsUnreachable."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return call()
        except ClientError as problem:
            code = str(problem.response.get("Error", {}).get("Code", "unknown error"))
            if code not in _REFUSED | _GONE:
                raise ClaimsUnreachable(f"{self.place}: {problem.operation_name} was refused: {code}") from None
            return None
        except BotoCoreError as problem:
            raise ClaimsUnreachable(f"{self.place}: {type(problem).__name__}: the service cannot be reached") from None
