"""What a cache could give back, and what each part would cost to compile again. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from neuron_top.cache.model.entry import compiler_version
from neuron_top.cache.model.states import COMPILED, FAILURES, KEPT, State
from neuron_top.units import duration_text
from neuron_top.views.entries import EntryRow

DAY = 86400.0
_BUILD = re.compile(r"[.+](cpu|cu|rocm|xpu)[\d.]*(?=[.+_-]|\Z)")
"""The platform that a PyTorch is built for, after the version in the name of its compiler's folder."""
_SPACE = re.compile(r"\s")
_READ_ONLY = ("snapshots/", "USER_neuroncc-")
"""In the compiler of an entry that evictions skip: in a hub's local copy, and in the layout of 2022."""


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
    """By state, by age and by compiler version; an entry may stand in several. Parts without an entry are left out.

    What no eviction takes, whatever it is asked for, stands in none.
    """
    parts: list[tuple[str, str, Callable[[EntryRow], bool]]] = [
        ("failed compiles", "state:failed", lambda row: row.state in FAILURES),
        ("unfinished entries", "state:partial", lambda row: row.state == State.PARTIAL),
        ("no use known for 90 days", "used>90d", lambda row: row.is_idle_for(90 * DAY)),
        ("no use known for 30 days", "used>30d", lambda row: row.is_idle_for(30 * DAY)),
        ("no use known for 7 days", "used>7d", lambda row: row.is_idle_for(7 * DAY)),
        *_older_parts(rows),
    ]
    found = [_part(title, query, filter(keep, rows)) for title, query, keep in parts]
    return [part for part in found if part.entries]


def _older_parts(rows: Sequence[EntryRow]) -> Iterator[tuple[str, str, Callable[[EntryRow], bool]]]:
    """A part per older compiler; one per root where it is not older in each root that has it.

    Other roots are not compared: their jobs may use another compiler.
    """
    compilers: dict[str, dict[str, None]] = {}
    for row in rows:
        compilers.setdefault(row.root, {})[row.compiler] = None
    places: dict[str, list[str]] = {}
    for root, names in compilers.items():
        for name in _older(names):
            places.setdefault(name, []).append(root)
    everywhere = [name for names in compilers.values() for name in names]
    for name, roots in sorted(places.items(), key=lambda pair: compiler_version(pair[0])):
        if not name or _SPACE.search(name):
            continue  # no filter can select it
        query = _exactly("compiler", name, everywhere)
        if len(roots) == everywhere.count(name):
            yield f"older compiler {name}", query, _is_of(name, roots)
            continue
        for root in roots:
            if not _SPACE.search(root):
                within = f"{query} {_exactly('root', root, compilers)}"
                yield f"older compiler {name} in {root}", within, _is_of(name, [root])


def _is_of(compiler: str, roots: Collection[str]) -> Callable[[EntryRow], bool]:
    return lambda row: row.compiler == compiler and row.root in roots


def _exactly(field: str, value: str, values: Iterable[str]) -> str:
    """The filter's terms for this value alone: a term finds every value that contains it."""
    longer = sorted({other for other in values if value.casefold() in other.casefold() and other != value})
    return " ".join((f"{field}:{value}", *(f"!{field}:{other}" for other in longer if not _SPACE.search(other))))


def _part(title: str, query: str, rows: Iterable[EntryRow]) -> Reclaim:
    found = list(rows)
    chosen = [row for row in found if row.state not in KEPT and not any(mark in row.compiler for mark in _READ_ONLY)]
    left_out = [f"!state:{state}" for state in sorted({row.state for row in found} & KEPT)]
    left_out += [f"!compiler:{mark}" for mark in _READ_ONLY if any(mark in row.compiler for row in found)]
    lost = [row for row in chosen if row.state in COMPILED]
    return Reclaim(
        title=title,
        query=" ".join((query, *left_out)),
        entries=len(chosen),
        bytes=sum(row.bytes for row in chosen),
        rebuild_seconds=sum(row.compile_seconds or 0.0 for row in lost),
        rebuild_unknown=sum(row.compile_seconds is None for row in lost),
    )


def _older(compilers: Iterable[str]) -> list[str]:
    """Those with a newer version of the same compiler and build beside them, the oldest first.

    What follows the version (`+33df915f`) is a digest of a build: of one version, none is known to be older.
    """
    families: dict[tuple[str, str], list[str]] = {}
    for name in compilers:
        families.setdefault(_family(name), []).append(name)
    older: list[str] = []
    for names in families.values():
        newest = max(map(compiler_version, names))
        older += sorted((name for name in names if compiler_version(name) < newest), key=compiler_version)
    return older


def _family(name: str) -> tuple[str, str]:
    """(compiler, platform of its build): `inductor-2.14.1.cu130+33df915f` → inductor, cu; "" where the name has
    none."""
    found = _BUILD.search(name)
    return name.partition("-")[0], found[1] if found else ""
