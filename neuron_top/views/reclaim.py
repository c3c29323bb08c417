"""What a cache could give back, and what each part would cost to compile again. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from neuron_top.cache.model.entry import compiler_version
from neuron_top.cache.model.states import State
from neuron_top.units import duration_text
from neuron_top.views.entries import EntryRow

DAY = 86400.0
_WITHOUT_RESULT = frozenset({State.FAILED, State.PARTIAL, State.CORRUPT})


class Reclaim(msgspec.Struct, frozen=True, kw_only=True):
    """Entries that could go for one reason."""

    title: str
    query: str
    """The filter that shows exactly these."""
    entries: int
    bytes: int
    rebuild_seconds: float
    """Of those whose compile time is known."""
    rebuild_unknown: int
    """Entries with a result whose compile time nobody recorded."""

    @property
    def rebuild_text(self) -> str:
        """What would have to be compiled again."""
        known = duration_text(self.rebuild_seconds) if self.rebuild_seconds else ""
        unknown = f"{self.rebuild_unknown:,} of unknown duration" if self.rebuild_unknown else ""
        return " + ".join(filter(None, (known, unknown))) or "nothing"


def reclaimable(rows: Sequence[EntryRow]) -> list[Reclaim]:
    """By state, by age and by compiler version; an entry may stand in several. Parts without an entry are left out."""
    older = _older(dict.fromkeys(row.compiler for row in rows))
    parts: list[tuple[str, str, Callable[[EntryRow], bool]]] = [
        ("failed compiles", "state:failed", lambda row: row.state == State.FAILED),
        ("unfinished entries", "state:partial", lambda row: row.state == State.PARTIAL),
        ("unused for 90 days", "used>90d", lambda row: row.age > 90 * DAY),
        ("unused for 30 days", "used>30d", lambda row: row.age > 30 * DAY),
        ("unused for 7 days", "used>7d", lambda row: row.age > 7 * DAY),
        *(
            (f"older compiler {name}", f"compiler:{name}", _of_compiler(name))
            for name in older
            if name and " " not in name
        ),
    ]
    found = [_part(title, query, filter(keep, rows)) for title, query, keep in parts]
    return [part for part in found if part.entries]


def _of_compiler(name: str) -> Callable[[EntryRow], bool]:
    return lambda row: name.casefold() in row.compiler.casefold()


def _part(title: str, query: str, rows: Iterable[EntryRow]) -> Reclaim:
    chosen = list(rows)
    lost = [row for row in chosen if row.state not in _WITHOUT_RESULT]
    return Reclaim(
        title=title,
        query=query,
        entries=len(chosen),
        bytes=sum(row.bytes for row in chosen),
        rebuild_seconds=sum(row.compile_seconds or 0.0 for row in lost),
        rebuild_unknown=sum(row.compile_seconds is None for row in lost),
    )


def _older(compilers: Iterable[str]) -> list[str]:
    """Those with a newer version of the same compiler beside them, the oldest first.

    What follows the version (`+33df915f`) is a digest of a build: of one version, none is known to be older.
    """
    families: dict[str, list[str]] = {}
    for name in compilers:
        families.setdefault(name.partition("-")[0], []).append(name)
    older: list[str] = []
    for names in families.values():
        newest = max(map(compiler_version, names))
        older += sorted((name for name in names if compiler_version(name) < newest), key=compiler_version)
    return older
