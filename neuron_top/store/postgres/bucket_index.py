"""Indexes of buckets in the fleet's database: see `store/bucket_index.py`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from neuron_top.store.bucket_index import (
    IndexedEntry,
    IndexState,
    decoded,
    encode,
    module_of,
    names_of,
)
from neuron_top.store.postgres.connection import Database


class DatabaseIndex:
    """See BucketIndex. It connects when it is first asked."""

    def __init__(self, address: str, *, insecure: bool = False) -> None:
        """Raises UsageError, RefusedForSafety (see Database)."""
        self._database = Database(address, insecure=insecure)

    def state(self, bucket: str) -> IndexState | None:
        """See BucketIndex."""
        with self._database.connection() as connection:
            row = connection.execute(
                "SELECT after, extract(epoch FROM clock_timestamp() - at)::float8 FROM neurontop.buckets "
                "WHERE bucket = %s",
                (bucket,),
            ).fetchone()
        return IndexState(str(row[0]), max(0.0, float(row[1]))) if row is not None else None

    def put(self, bucket: str, entries: Iterable[IndexedEntry], after: str, gone: Collection[str] = ()) -> None:
        """See BucketIndex."""
        rows = [
            (bucket, each.path, module_of(each.path), names_of(each), encode(each.objects).decode()) for each in entries
        ]
        with self._database.transaction() as connection, connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO neurontop.bucket_entries (bucket, path, module, names, objects) "
                "VALUES (%s, %s, %s, %s, %s) ON CONFLICT (bucket, path) DO UPDATE SET names = excluded.names, "
                "objects = excluded.objects",
                rows,
            )
            if gone:
                cursor.execute(
                    "DELETE FROM neurontop.bucket_entries WHERE bucket = %s AND path = ANY(%s)", (bucket, list(gone))
                )
            cursor.execute(
                "INSERT INTO neurontop.buckets (bucket, after, at) VALUES (%s, %s, clock_timestamp()) "
                "ON CONFLICT (bucket) DO UPDATE SET after = excluded.after, at = excluded.at",
                (bucket, after),
            )

    def marked(self, bucket: str, mark: str) -> dict[str, bool]:
        """See BucketIndex."""
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT path, %s = ANY(string_to_array(names, '/')) FROM neurontop.bucket_entries WHERE bucket = %s",
                (mark, bucket),
            ).fetchall()
        return {str(path): bool(has) for path, has in rows}

    def entries(self, bucket: str, modules: Collection[str] = ()) -> Iterator[IndexedEntry]:
        """See BucketIndex."""
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT path, objects::text FROM neurontop.bucket_entries WHERE bucket = %s "
                "AND (%s OR module = ANY(%s)) ORDER BY path",
                (bucket, not modules, sorted(modules)),
            ).fetchall()
        for path, objects in rows:
            yield IndexedEntry(str(path), decoded(bucket, str(path), objects))

    def close(self) -> None:
        """See BucketIndex."""
        self._database.close()
