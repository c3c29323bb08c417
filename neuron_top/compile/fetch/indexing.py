"""Keeps the index of a bucket; one node brings it up to date, and the others wait for it or find it fresh.

The first listing is kept page by page, so one that is cut off goes on where it was. Later ones ask only for the names
of entries, a thousand per request, and list only entries that are new or had no mark.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

from neuron_top.cache import s3
from neuron_top.cache.model import filenames
from neuron_top.compile.claims.claim import Claims, ClaimsUnreachable
from neuron_top.compile.claims.node_gate import NodeGate
from neuron_top.identity import node_name
from neuron_top.store.bucket_index import BucketIndex, IndexedEntry, IndexedObject, IndexState

FRESH_SECONDS = 30.0
"""An index younger than this is not updated again: a thousand nodes begin at about the same time."""
_LEASE_SECONDS = 60.0
_PAUSE_SECONDS = 1.0
_AT_ONCE = 200


class Indexing:
    """The index of one bucket, for one process."""

    def __init__(
        self,
        bucket: s3.Bucket,
        index: BucketIndex,
        claims: Claims | None,
        notify: Callable[[str], None],
        *,
        fresh_seconds: float = FRESH_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`claims`: where nodes agree on who lists; None: this node has an index of its own."""
        self._bucket, self._index, self._claims, self._notify = bucket, index, claims, notify
        self._fresh_seconds, self._sleep = fresh_seconds, sleep
        self._key = f"index {bucket.url}"

    def objects(self, modules: Collection[str] = ()) -> dict[str, list[s3.Object]]:
        """Entries with their objects: all, or only those of these modules. Raises NothingToShow, StoreUnusable."""
        self._bring_up_to_date()
        return {
            entry.path: [
                s3.Object(f"{self._bucket.prefix}{entry.path}/{each.name}", each.size, each.tag, each.changed)
                for each in entry.objects
            ]
            for entry in self._index.entries(self._bucket.url, modules)
        }

    def _bring_up_to_date(self) -> None:
        said = ""
        with NodeGate(node_name().value, self._key) as gate:
            while True:
                state = self._index.state(self._bucket.url)
                if state is not None and not state.after and state.age < self._fresh_seconds:
                    return
                lister = self._claimed() if gate.passed() else "another process of this node"
                if not lister:
                    break
                if lister != said:
                    said = lister
                    self._notify(f"{lister} lists {self._bucket.url} for all")
                self._sleep(_PAUSE_SECONDS)
            try:
                self._list(state)
            finally:
                if self._claims is not None:
                    with contextlib.suppress(ClaimsUnreachable):  # the lease runs out by itself
                        self._claims.release(self._key)

    def _claimed(self) -> str:
        """The node that is listing the bucket; "" where this process is to list it."""
        if self._claims is None:
            return ""
        try:
            found = self._claims.claim(self._key, _LEASE_SECONDS)
        except ClaimsUnreachable:
            return ""
        return "" if found.mine else f"node {found.node}"

    def _list(self, state: IndexState | None) -> None:
        if state is None or state.after:
            self._first(state.after if state is not None else "")
        else:
            self._changes()

    def _first(self, after: str) -> None:
        """List all objects after the key `after`; the complete entries of each page are stored at once."""
        url = self._bucket.url
        path, objects, last = "", list[IndexedObject](), after
        for page in self._pages(Prefix=self._bucket.prefix, **({"StartAfter": after} if after else {})):
            whole: list[IndexedEntry] = []
            for record in page.get("Contents", ()):
                below, name = s3.entry_of(self._bucket, record["Key"])
                if not below:
                    continue
                if below != path:
                    if path:
                        whole.append(IndexedEntry(path, objects))
                        after = last
                    path, objects = below, []
                objects.append(IndexedObject(name, record["Size"], record["ETag"], record["LastModified"].timestamp()))
                last = record["Key"]
            if whole:
                self._index.put(url, whole, after)
        self._index.put(url, [IndexedEntry(path, objects)] if path else [], "")

    def _changes(self) -> None:
        """Find entries that are new, complete by now, or gone."""
        url, known = self._bucket.url, self._index.marked(self._bucket.url, filenames.DONE)
        there = set(self._paths())
        new = sorted(path for path in there if not known.get(path, False))
        for start in range(0, len(new), _AT_ONCE):
            found = [self._looked_at(path) for path in new[start : start + _AT_ONCE]]
            self._index.put(url, found, "")
            self._go_on()
        self._index.put(url, [], "", gone=known.keys() - there)

    def _paths(self) -> Iterator[str]:
        """The paths of all entries, from the names of folders alone."""
        folders = [self._bucket.prefix]
        while folders:
            for page in self._pages(Prefix=folders.pop(), Delimiter="/"):
                for each in page.get("CommonPrefixes", ()):
                    path, _ = s3.entry_of(self._bucket, each["Prefix"])
                    if path:
                        yield path
                    elif s3.NEVER not in each["Prefix"]:
                        folders.append(each["Prefix"])

    def _looked_at(self, path: str) -> IndexedEntry:
        objects = s3.objects_of(self._bucket, path)
        return IndexedEntry(path, [IndexedObject(each.name, each.size, each.tag, each.changed) for each in objects])

    def _pages(self, **asked: str) -> Iterator[Any]:
        pages = self._bucket.client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket.name,
            **asked,  # type: ignore[arg-type]  # Prefix, Delimiter and StartAfter are texts
        )
        with s3.explained(self._bucket):
            for page in pages:
                yield page
                self._go_on()

    def _go_on(self) -> None:
        if self._claims is not None:
            with contextlib.suppress(ClaimsUnreachable):
                self._claims.renew(self._key, _LEASE_SECONDS)
