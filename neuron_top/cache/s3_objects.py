"""Reads an object of a bucket in chunks; a large one in parallel ranges, as one connection is too slow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from neuron_top.cache import s3

CHUNK = 1 << 20
RANGE_BYTES = 16 * 1024**2
"""Larger objects are read in ranges of this size."""
RANGES = 8
"""How many ranges of one object are fetched at a time."""


def object_chunks(bucket: s3.Bucket, found: s3.Object) -> Iterator[bytes]:
    """The contents of an object, in order. Raises Exchanged if it was replaced since it was listed, NothingToShow."""
    return _ranges(bucket, found) if found.size > RANGE_BYTES else _whole(bucket, found)


def _whole(bucket: s3.Bucket, found: s3.Object) -> Iterator[bytes]:
    with s3.explained(bucket):
        answer = bucket.client.get_object(Bucket=bucket.name, Key=found.key, IfMatch=found.tag)
        yield from answer["Body"].iter_chunks(CHUNK)


def _ranges(bucket: s3.Bucket, found: s3.Object) -> Iterator[bytes]:
    """The contents in ranges, of which the next are fetched while the caller uses one."""

    def fetch(start: int) -> bytes:
        end = min(start + RANGE_BYTES, found.size) - 1
        with s3.explained(bucket):
            answer = bucket.client.get_object(
                Bucket=bucket.name, Key=found.key, Range=f"bytes={start}-{end}", IfMatch=found.tag
            )
            return answer["Body"].read()

    waiting: deque[Future[bytes]] = deque()
    with ThreadPoolExecutor(RANGES, "range") as pool:
        for start in range(0, found.size, RANGE_BYTES):
            waiting.append(pool.submit(fetch, start))
            if len(waiting) == RANGES:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
