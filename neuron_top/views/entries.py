"""The catalog of compile caches as rows, and the filter language of the screen that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from neuron_top.actions.usage_history import NOTHING_RECORDED, UsageHistory
from neuron_top.cache.model.entry import Entry, Lock, written_at
from neuron_top.cache.use import is_ahead
from neuron_top.errors import UsageError
from neuron_top.filters import check_filter
from neuron_top.units import UNKNOWN, duration_text
from neuron_top.views.failure_advice import ADVICE
from neuron_top.views.other_caches import OtherCache


class EntryRow(msgspec.Struct, frozen=True, kw_only=True):
    """One cache entry. Bytes are disk blocks; times are seconds since the epoch; None is unknown."""

    key: str
    """Root and path below it: unique over all roots."""
    root: str
    compiler: str
    module: str
    state: str
    bytes: int
    artifact_bytes: int | None
    used: float | None
    """The newer of the artifact's last read, where the mount keeps it, and the last use by a recorded job."""
    age: float | None
    """Seconds since then; where no use is known, since it was written, as evictions count; None where that is dated far
    ahead of the clock."""
    compile_seconds: float | None
    flags: str
    lock: str
    """Who holds its lock and how that is known; "" without one."""
    failure: str
    """First line of a stored failure."""
    advice: str
    problems: tuple[str, ...]
    changed: float | None = None
    """Newest change of any of its files."""
    compile_recorded: bool = False
    """`compile_seconds` is of a recorded run, as the cache's own record has none."""

    def is_idle_for(self, seconds: float) -> bool:
        """Whether no use of it is known for longer; no where its age is not known."""
        return self.age is not None and self.age > seconds

    @property
    def compile_text(self) -> str:
        """The compile time with what it is of."""
        return compile_text(self.compile_seconds, recorded=self.compile_recorded)

    @property
    def used_text(self) -> str:
        """When it was used last, as far as that is known."""
        if self.age is None:
            return "unknown; dated ahead of the clock"
        age = duration_text(self.age)
        return f"{age} ago" if self.used is not None else f"unknown; written {age} ago"


def youngest(rows: Iterable[EntryRow]) -> EntryRow:
    """The entry that was used or written last, as far as that is known. Raises ValueError without rows."""
    return min(rows, key=lambda row: (row.age is None, row.age or 0.0))


def compile_text(seconds: float | None, *, recorded: bool) -> str:
    """The compile time of an entry with what it is of: a run counts the start of the compiler's process too, so that
    both may stand beside each other and differ."""
    if seconds is None:
        return UNKNOWN
    return f"{duration_text(seconds)} {'in a recorded run' if recorded else 'in the compiler alone'}"


class EntryTable(msgspec.Struct, frozen=True, kw_only=True):
    """All entries of the roots that exist. `roots` holds every root looked for: path, where it was named, exists."""

    roots: tuple[tuple[str, str, bool], ...]
    rows: tuple[EntryRow, ...]
    others: tuple[OtherCache, ...] = ()
    """Caches that are not ours to change: shown beside the entries, never among them."""
    problems: tuple[str, ...] = ()
    """Caches that could not be listed, and why."""

    @property
    def bytes_by_root(self) -> dict[str, int]:
        """What the entries of each cache take, those of the largest first; one that is there and empty takes 0."""
        sizes = {path: 0 for path, _origin, exists in self.roots if exists}
        for row in self.rows:
            sizes[row.root] = sizes.get(row.root, 0) + row.bytes
        return dict(sorted(sizes.items(), key=lambda pair: -pair[1]))

    @property
    def largest_first(self) -> list[str]:
        """The caches in which entries take room: in this order room is made."""
        return [root for root, size in self.bytes_by_root.items() if size]


def entry_row(root: str, entry: Entry, now: float, past: UsageHistory = NOTHING_RECORDED) -> EntryRow:
    """One entry of `root` as a row; `past` is what recordings say, by which evictions go too."""
    used = past.last_used(entry)
    at = used if used is not None else written_at(entry)
    lock, failure = entry.lock, entry.failure
    return EntryRow(
        key=f"{root}/{entry.path}",
        root=root,
        compiler=entry.compiler,
        module=entry.module,
        state=entry.state.value,
        bytes=entry.allocated,
        artifact_bytes=entry.output_bytes,
        used=used,
        age=None if is_ahead(at, now) else max(0.0, now - at),
        compile_seconds=past.compile_seconds(entry),
        flags=" ".join(entry.flag_list() or ()),
        lock=_lock_text(lock) if lock is not None else "",
        failure=failure.message.strip().partition("\n")[0] if failure is not None else "",
        advice=ADVICE[failure.cause] if failure is not None else "",
        problems=entry.problems,
        changed=entry.changed_at,
        compile_recorded=entry.compile_seconds is None,
    )


def _lock_text(lock: Lock) -> str:
    known = ", ".join(part for part in (lock.owner, lock.proof) if part)
    return f"{lock.verdict}: {known}" if known else str(lock.verdict)


NO_CACHES = (
    "This is a recording of another machine: its cache is not here, and the caches of this machine are not shown.",
    "What its job looked up there, and what it found, stands under Compile.",
)
"""Where a recording is played that has nothing to do with this machine: the demo."""
OWN_CACHES = "To see your own caches: `neurontop cache ls`."

_TERM = re.compile(r"(!?)(?:(state|compiler|root):(\S+)|(size|used)([<>])(\d+(?:\.\d+)?)([a-zA-Z]*)|(\S+))")
_SIZES = {"": 1, "b": 1, "k": 1024, "kb": 1024, "kib": 1024, "m": 1024**2, "mb": 1024**2, "mib": 1024**2,
          "g": 1024**3, "gb": 1024**3, "gib": 1024**3, "t": 1024**4, "tb": 1024**4, "tib": 1024**4}  # fmt: skip
_AGES = {"s": 1, "m": 60, "h": 3600, "": 86400, "d": 86400, "w": 7 * 86400}

Keep = Callable[[EntryRow], bool]


def entry_filter(query: str) -> Keep:
    """A predicate for `state:failed size>1GB used>30d compiler:2.21 text`; all terms must hold, `!` negates one.

    Sizes are powers of 1024 whatever their spelling; `used>30d` means not used for more than thirty days; an
    entry without a known use counts from when it was written, as with `cache evict --older-than 30d`.
    Raises UsageError for a filter that is too long or has too many terms, or asks for a field that there is not.
    """
    check_filter(query)
    found = list(_TERM.finditer(query))
    check_filter(query, len(found))
    terms = [_term(match) for match in found]
    return lambda row: all(term(row) for term in terms)


def _term(match: re.Match[str]) -> Keep:
    banned, field, value, measure, relation, number, unit, word = match.groups()
    keep: Keep
    if field is not None:
        text = value.casefold()
        keep = lambda row: text in getattr(row, field).casefold()  # noqa: E731 (four small predicates side by side)
    elif measure is not None:
        units = _SIZES if measure == "size" else _AGES
        if unit.lower() not in units:
            known = "KB, MB, GB, TB" if measure == "size" else "s, m, h, d, w"
            raise UsageError(f"{match[0]}: {unit} is no unit of {measure}; units: {known}")
        limit = float(number) * units[unit.lower()]
        name, more = ("bytes" if measure == "size" else "age"), relation == ">"
        keep = lambda row: (size := getattr(row, name)) is not None and (size > limit) == more  # noqa: E731
    else:
        _check_word(word)
        text = word.casefold()
        keep = lambda row: text in f"{row.module} {row.compiler} {row.state} {row.failure} {row.flags}".casefold()  # noqa: E731
    return (lambda row: not keep(row)) if banned else keep


_ASKED = re.compile(r"([a-z]+)([:<>])")
_FIELDS = "state:, compiler:, root:, size> or size<, used> or used<"


def _check_word(word: str) -> None:
    """Raise UsageError for a word that looks like a term but is none, which would match nothing without a reason."""
    asked = _ASKED.match(word)
    if asked is None:
        return
    name, relation = asked.groups()
    if name in ("size", "used"):
        raise UsageError(f"{word}: a number is missing, as in size>1GB or used>30d")
    if name not in ("state", "compiler", "root") or relation != ":":
        raise UsageError(f"{name}{relation} is not a field to filter by; fields: {_FIELDS}")
