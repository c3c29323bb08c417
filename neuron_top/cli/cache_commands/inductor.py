"""Inductor's cache in `neurontop cache ls`, `stats` and `show`: looked at, never changed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from neuron_top.cache import inductor, roots
from neuron_top.cache.inductor import InductorEntry
from neuron_top.cli.cache_commands import common
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.errors import NothingToShow, UsageError
from neuron_top.escapes import visible
from neuron_top.units import UNKNOWN, bytes_text, count_text, duration_text


def add_option(parser: argparse.ArgumentParser) -> None:
    """The choice of Inductor's cache instead of Neuron's."""
    text = "Inductor's cache (PyTorch), read-only: the ROOT given, else TORCHINDUCTOR_CACHE_DIR, else its default"
    parser.add_argument("--inductor", action="store_true", help=text)


def meant(arguments: argparse.Namespace) -> bool:
    """Whether the words name Inductor's cache, by option or because ROOT is one."""
    return bool(arguments.inductor) or (arguments.root is not None and inductor.is_inductor(arguments.root))


def listing(arguments: argparse.Namespace) -> int:
    """`cache ls`."""
    root = _root(arguments.root)
    found = inductor.entries(root)
    if arguments.json:
        print_json({"kind": "inductor", "root": root, "entries": found, "totals": _totals(found)})
        return 0
    now = common.now()
    rows = [
        (one.kind, one.key, bytes_text(one.bytes), count_text(one.files), _age(one.changed, now), _age(one.used, now))
        for one in found
    ]
    if rows:
        print(table(("kind", "key", "size", "files", "age", "last used"), rows, right=(2, 3, 4, 5)))
    log_stderr(f"{count_text(len(found))} entries in {visible(root)} (Inductor's; read-only)")
    return 0


def stats(arguments: argparse.Namespace) -> int:
    """`cache stats`."""
    root = _root(arguments.root)
    totals = _totals(inductor.entries(root))
    if arguments.json:
        print_json({"kind": "inductor", "root": root, "totals": totals})
        return 0
    rows = [
        (kind, count_text(one["entries"]), bytes_text(one["bytes"]), inductor.KINDS.get(kind, ""))
        for kind, one in totals.items()
    ]
    print(f"{visible(root)}\n")
    print(table(("kind", "entries", "size", ""), rows, right=(1, 2)))
    return 0


def show(arguments: argparse.Namespace) -> int:
    """`cache show`: one entry with its files."""
    words = [word for word in (arguments.root, arguments.module) if word is not None]
    places = [word for word in words if Path(word).is_dir()]
    texts = [word for word in words if word not in places]
    if len(texts) != 1:
        raise UsageError("which entry? give a key, or a part of one")
    root = _root(places[0] if places else None)
    found = [entry for entry in inductor.entries(root) if texts[0] in entry.key]
    if not found:
        raise NothingToShow(f"no entry of {root} has {texts[0]!r} in its key")
    if len(found) > 1:
        raise UsageError(f"{count_text(len(found))} entries have {texts[0]!r} in their key; give more of it")
    entry = found[0]
    files = sorted(inductor.files(entry))
    if arguments.json:
        print_json({"kind": "inductor", "root": root, "entry": entry, "files": dict(files)})
        return 0
    now = common.now()
    facts = (
        ("kind", f"{entry.kind}: {inductor.KINDS[entry.kind]}"),
        ("path", visible(entry.path)),
        ("size", bytes_text(entry.bytes)),
        ("age", _age(entry.changed, now)),
        ("last used", _age(entry.used, now)),
    )
    print(visible(entry.key) + "\n" + "\n".join(f"  {name:<11}{value}" for name, value in facts) + "\n")
    print(table(("file", "size"), [(visible(name), bytes_text(size)) for name, size in files], right=(1,)))
    return 0


def _root(given: str | None) -> str:
    if given is not None:
        return str(Path(given).absolute())
    known = [root for root in roots.find() if root.kind == "inductor"]
    if not known:
        raise NothingToShow("no Inductor cache here: TORCHINDUCTOR_CACHE_DIR is not set and its default is not there")
    return known[0].path


def _totals(found: list[InductorEntry]) -> dict[str, dict[str, Any]]:
    sums = {kind: {"entries": 0, "bytes": 0, "files": 0} for kind in inductor.KINDS}
    for entry in found:
        one = sums[entry.kind]
        one["entries"] += 1
        one["bytes"] += entry.bytes
        one["files"] += entry.files
    return {kind: one for kind, one in sums.items() if one["entries"]}


def _age(at: float | None, now: float) -> str:
    return UNKNOWN if at is None else duration_text(max(0.0, now - at))
