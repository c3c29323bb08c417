"""The rows of the cache's grid: entries in the order that its headers ask for, and groups of them that fold.

The community edition of the grid knows no groups; its data source gives rows in pieces, so a group is a row of its own
here, with its entries behind it while it is open. What is open stands in the address.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from neuron_top.dashboard.cache_figures import age_word
from neuron_top.units import count_text
from neuron_top.views.entries import EntryRow, youngest

GROUPED_BY: dict[str, Callable[[EntryRow], str]] = {
    "root": attrgetter("root"),
    "compiler": lambda row: row.compiler or "no compiler folder",
    "state": attrgetter("state"),
    "age": lambda row: age_word(row.age),
}
"""Ways to group entries, by their names in the address."""

_SORTED_BY: dict[str, Callable[[EntryRow], Any]] = {
    "module": attrgetter("module"), "state": attrgetter("state"), "compiler": attrgetter("compiler"),
    "bytes": attrgetter("bytes"), "artifact": attrgetter("artifact_bytes"), "age": attrgetter("age"),
    "seconds": attrgetter("compile_seconds"), "lock": attrgetter("lock"), "failure": attrgetter("failure"),
    "advice": attrgetter("advice"), "flags": attrgetter("flags"), "root": attrgetter("root"),
}  # fmt: skip
_GROUP_MARK = "group\t"


class Group(NamedTuple):
    """Entries that have something in common; `age` is that of the one used last."""

    name: str
    opened: bool
    rows: Sequence[EntryRow]

    @property
    def sums(self) -> dict[str, float | None]:
        """The sums in the group's row, by column; unknown compile times are left out."""
        last = youngest(self.rows)
        known = [one.compile_seconds for one in self.rows if one.compile_seconds is not None]
        return {
            "bytes": sum(one.bytes for one in self.rows),
            "artifact": sum(one.artifact_bytes or 0 for one in self.rows),
            "seconds": sum(known) if known else None,
            "age": last.age,
            "used": last.used,
        }


def ordered(rows: Sequence[EntryRow], model: Sequence[Mapping[str, Any]]) -> list[EntryRow]:
    """Rows in the order chosen in the headers of the grid; unknown values last."""
    made = list(rows)
    for step in reversed(model):
        value, down = _SORTED_BY.get(str(step.get("colId"))), step.get("sort") == "desc"
        if value is not None:
            unknown = [one for one in made if value(one) is None]
            made = [*sorted((one for one in made if value(one) is not None), key=value, reverse=down), *unknown]
    return made


def grouped(
    rows: Sequence[EntryRow], by: str, opened: Collection[str], model: Sequence[Mapping[str, Any]]
) -> list[EntryRow | Group]:
    """Groups, the largest first or as the headers ask, each with its entries behind it while it is open."""
    made: list[EntryRow | Group] = []
    for group in _sorted(_groups(rows, by, opened), model):
        made.append(group)
        if group.opened:
            made += ordered(group.rows, model)
    return made


def _groups(rows: Sequence[EntryRow], by: str, opened: Collection[str]) -> list[Group]:
    members: dict[str, list[EntryRow]] = {}
    name = GROUPED_BY[by]
    for one in rows:
        members.setdefault(name(one), []).append(one)
    return [Group(name, name in opened, found) for name, found in members.items()]


def _sorted(groups: list[Group], model: Sequence[Mapping[str, Any]]) -> list[Group]:
    """Groups sorted by the first chosen column that has sums; other columns sort groups by name."""
    column, down = (str(model[0].get("colId")), model[0].get("sort") == "desc") if model else ("bytes", True)
    if column in ("bytes", "artifact", "seconds", "age"):
        return sorted(groups, key=lambda group: group.sums[column] or 0, reverse=down)
    return sorted(groups, key=lambda group: group.name, reverse=down)


def row(item: EntryRow | Group, by: str = "") -> dict[str, Any]:
    """An entry or a group as a row of the grid."""
    if isinstance(item, Group):
        count = f"{count_text(len(item.rows))} {'entry' if len(item.rows) == 1 else 'entries'}"
        title = f"{'▾' if item.opened else '▸'} {item.name}: {count}"
        return {"id": f"{_GROUP_MARK}{by}\t{item.name}", "group": by, "module": title, **item.sums}
    return {
        "id": item.key,
        "module": item.module,
        "state": item.state,
        "compiler": item.compiler,
        "bytes": item.bytes,
        "artifact": item.artifact_bytes,
        "age": item.age,
        "used": item.used,
        "seconds": item.compile_seconds,
        "lock": item.lock,
        "failure": item.failure,
        "advice": item.advice,
        "flags": item.flags,
        "root": item.root,
    }


def toggled(opened: Sequence[str], identity: str) -> list[str]:
    """The open groups after the one with this row id was opened or closed."""
    name = identity.removeprefix(_GROUP_MARK).partition("\t")[2]
    return [one for one in opened if one != name] if name in opened else [*opened, name]


def keys_of(identities: Sequence[str], rows: Sequence[EntryRow]) -> list[str]:
    """Keys of the entries behind selected rows: of a group those of its entries that the filter shows, each once."""
    keys = dict.fromkeys(one for one in identities if not one.startswith(_GROUP_MARK))
    for identity in identities:
        if identity.startswith(_GROUP_MARK):
            by, _, name = identity.removeprefix(_GROUP_MARK).partition("\t")
            named = GROUPED_BY.get(by)
            keys |= dict.fromkeys(one.key for one in rows if named is not None and named(one) == name)
    return list(keys)
