"""Cache entries as a tree: a head per compiler version (and root, where there are several), entries below it."""

from __future__ import annotations

import msgspec

from neuron_top.cache.model.entry import compiler_version
from neuron_top.cache.model.states import BROKEN, FAILURES
from neuron_top.views.entries import EntryRow, EntryTable, youngest


class CompilerRow(msgspec.Struct, frozen=True, kw_only=True):
    """All entries that one compiler version left in one root. Bytes are disk blocks."""

    key: str
    """Root and compiler folder: unique over all roots."""
    root: str
    compiler: str
    entries: int
    bytes: int
    share: float
    """Its bytes as a share of the largest head's, 0…1."""
    failed: int
    """Entries that hold a failure."""
    broken: int = 0
    """Entries that are corrupt or inconsistent."""
    age: float | None
    """Of the entry with the least: seconds since its last use, or since it was written where none is known."""
    use_known: bool = True
    """Whether that one was used."""


def head_key(row: EntryRow) -> str:
    """The key of the head that an entry stands under."""
    return f"{row.root}/{row.compiler}"


def compiler_rows(view: EntryTable) -> tuple[CompilerRow, ...]:
    """Heads in an order that sizes don't change: by root, the newest compiler first."""
    below: dict[str, list[EntryRow]] = {}
    for row in view.rows:
        below.setdefault(head_key(row), []).append(row)
    largest = max((sum(row.bytes for row in rows) for rows in below.values()), default=0) or 1
    heads = [_head(key, rows, largest) for key, rows in below.items()]
    heads.sort(key=lambda head: head.compiler)
    heads.sort(key=lambda head: compiler_version(head.compiler), reverse=True)
    return tuple(sorted(heads, key=lambda head: head.root))


def _head(key: str, rows: list[EntryRow], largest: int) -> CompilerRow:
    size = sum(row.bytes for row in rows)
    last = youngest(rows)
    return CompilerRow(
        key=key,
        root=rows[0].root,
        compiler=rows[0].compiler,
        entries=len(rows),
        bytes=size,
        share=size / largest,
        failed=sum(row.state in FAILURES for row in rows),
        broken=sum(row.state in BROKEN for row in rows),
        age=last.age,
        use_known=last.used is not None,
    )
