"""Claims a second: a key taken and given back, in PostgreSQL, in a bucket, and as a lock file, by 1 and by 8 at a time.

Rates, not ratios: a database of its own on this machine, without a network, and the tests' S3 server (moto, in Python,
one request after the other), whose figure says more of it than of S3. Nothing is bounded.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from neuron_top.cache.model.keys import parse_key
from neuron_top.compile.claims.bucket import BucketClaims
from neuron_top.compile.claims.claim import Claims
from neuron_top.compile.claims.database import DatabaseClaims
from neuron_top.compile.wrapper.persistent_cache import EntryLock, PersistentCache
from neuron_top.store.postgres.connection import Database
from neuron_top.store.postgres.migration import migrate
from tests import s3_server
from tests.servers.postgresql import PostgresMissing, running

SECONDS = 5.0
HOLDERS = (1, 8)
Work = Callable[[int, int], None]
"""Takes and gives back a key: the number of the holder, and of its turn."""


def claiming(make: Callable[[], Claims]) -> Work:
    """Each holder has its own connection."""
    holders: dict[int, Claims] = {}

    def work(holder: int, turn: int) -> None:
        if holder not in holders:
            holders[holder] = make()
        key = f"/cache/neuronxcc-2.21/MODULE_{holder:010d}{turn:010d}+e30acd3a"
        if not holders[holder].claim(key, 60.0).mine:
            raise AssertionError(key)
        holders[holder].release(key)

    return work


def locking(folder: Path) -> Work:
    """The lock file alone, as without a place of claims."""
    cache = PersistentCache(folder, "neuronxcc-2.21.1.0+0a1b2c3d")

    def work(holder: int, turn: int) -> None:
        key = parse_key(f"MODULE_{holder:010d}{turn % 100:010d}+e30acd3a")
        if key is None:
            raise AssertionError("it is a key")
        lock = EntryLock(cache.entry(key, graph_name="model.hlo_module.pb", artifact_names=("model.neff",)))
        if not lock.acquire():
            raise AssertionError(key)
        lock.release()

    return work


def rate(work: Work, holders: int) -> float:
    """Claims a second of all holders together."""
    until, counts = time.monotonic() + SECONDS, [0] * holders

    def go(holder: int) -> None:
        while time.monotonic() < until:
            work(holder, counts[holder])
            counts[holder] += 1

    threads = [threading.Thread(target=go, args=(holder,)) for holder in range(holders)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - began)


@contextlib.contextmanager
def database() -> Iterator[str]:
    """A fleet's database with its usual durability."""
    with running() as server:
        url = server.url(server.new_database())
        with Database(url, prepared=False) as made:
            migrate(made)
        yield url


def main() -> int:
    """Print them."""
    places: list[tuple[str, Callable[[], contextlib.AbstractContextManager[str]], Callable[[str], Claims]]] = [
        ("PostgreSQL", database, DatabaseClaims),
        ("bucket (moto)", s3_server.served, BucketClaims),
    ]
    for name, place, opened in places:
        try:
            with place() as address:
                for holders in HOLDERS:
                    found = rate(claiming(lambda opened=opened, address=address: opened(address)), holders)
                    print(
                        f"{name}, {holders} at a time: {found:.0f} claims a second, each taken and given back",
                        flush=True,
                    )
        except PostgresMissing as reason:
            print(f"{name}: {reason}")
    with tempfile.TemporaryDirectory() as folder:
        for holders in HOLDERS:
            print(f"lock file, {holders} at a time: {rate(locking(Path(folder)), holders):.0f} a second", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
