"""Reads an object of a bucket in chunks; a large one in parallel ranges, as one connection is too slow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from neuron_top.cache import s3
from neuron_top.errors import NothingToShow
from neuron_top.escapes import visible

CHUNK = 1 << 20
RANGE_BYTES = 16 * 1024**2
"""Larger objects are read in ranges of this size."""
RANGES = 8
"""How many ranges of one object are fetched at a time."""


def object_chunks(bucket: s3.Bucket, found: s3.Object) -> Iterator[bytes]:
    """The contents of an object, in order. Raises ObjectUnavailable, NothingToShow."""
    return _ranges(bucket, found) if found.size > RANGE_BYTES else _whole(bucket, found)


def _whole(bucket: s3.Bucket, found: s3.Object) -> Iterator[bytes]:
    left = found.size
    with s3.explained(bucket):
        answer = bucket.client.get_object(Bucket=bucket.name, Key=found.key, IfMatch=found.tag)
        for chunk in answer["Body"].iter_chunks(CHUNK):
            left -= len(chunk)
            if left < 0:
                raise _other_length(bucket, found)
            yield chunk


def _ranges(bucket: s3.Bucket, found: s3.Object) -> Iterator[bytes]:
    """The contents in ranges, of which the next are fetched while the caller uses one."""

    def fetch(start: int) -> bytes:
        size = min(RANGE_BYTES, found.size - start)
        with s3.explained(bucket):
            answer = bucket.client.get_object(
                Bucket=bucket.name, Key=found.key, Range=f"bytes={start}-{start + size - 1}", IfMatch=found.tag
            )
            data = answer["Body"].read(size + 1)  # a service that ignores the range must not fill the memory
        if len(data) != size:
            raise _other_length(bucket, found)
        return data

    waiting: deque[Future[bytes]] = deque()
    with ThreadPoolExecutor(RANGES, "range") as pool:
        for start in range(0, found.size, RANGE_BYTES):
            waiting.append(pool.submit(fetch, start))
            if len(waiting) == RANGES:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _other_length(bucket: s3.Bucket, found: s3.Object) -> NothingToShow:
    name = visible(found.key[len(bucket.prefix) :])
    return NothingToShow(f"{bucket.url}: {name}: the service sent other bytes than those that it was asked for")
