"""Inductor's cache in `neurontop cache ls`, `stats` and `show`: looked at, never changed."""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import common
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.escapes import visible
from neuron_top.services.inductor_cache import KINDS, InductorCache, is_inductor_cache, totals
from neuron_top.units import bytes_text, count_text, counted


def add_option(parser: argparse.ArgumentParser) -> None:
    """The choice of Inductor's cache instead of Neuron's."""
    text = "Inductor's cache (PyTorch), read-only: the ROOT given, else TORCHINDUCTOR_CACHE_DIR, else its default"
    parser.add_argument("--inductor", action="store_true", help=text)


def is_asked_for(arguments: argparse.Namespace) -> bool:
    """Whether the words name Inductor's cache, by option or because ROOT is one."""
    return bool(arguments.inductor) or (arguments.root is not None and is_inductor_cache(arguments.root))


def listing(arguments: argparse.Namespace) -> int:
    """`cache ls`."""
    cache = InductorCache(arguments.root)
    entries = cache.entries()
    if arguments.json:
        print_json({"kind": "inductor", "root": cache.root, "entries": entries, "totals": totals(entries)})
        return 0
    now = common.now()
    rows = [
        (
            entry.kind,
            entry.key,
            bytes_text(entry.bytes),
            count_text(entry.files),
            common.since_text(entry.changed, now),
            common.since_text(entry.used, now),
        )
        for entry in entries
    ]
    if rows:
        print(table(("kind", "key", "size", "files", "age", "last used"), rows, right=(2, 3, 4, 5)))
    log_stderr(f"{counted(len(entries), 'entry', 'entries')} in {visible(cache.root)} (Inductor's; read-only)")
    return 0


def stats(arguments: argparse.Namespace) -> int:
    """`cache stats`."""
    cache = InductorCache(arguments.root)
    sums = totals(cache.entries())
    if arguments.json:
        print_json({"kind": "inductor", "root": cache.root, "totals": sums})
        return 0
    rows = [(kind, count_text(each.entries), bytes_text(each.bytes), KINDS[kind]) for kind, each in sums.items()]
    print(f"{visible(cache.root)}\n")
    print(table(("kind", "entries", "size", ""), rows, right=(1, 2)))
    return 0


def show(arguments: argparse.Namespace) -> int:
    """`cache show`: one entry with its files."""
    folder, text = common.folder_and_key(arguments)
    cache = InductorCache(folder)
    entry = cache.find(text)
    files = cache.files(entry)
    if arguments.json:
        print_json({"kind": "inductor", "root": cache.root, "entry": entry, "files": dict(files)})
        return 0
    now = common.now()
    facts = (
        ("kind", f"{entry.kind}: {KINDS[entry.kind]}"),
        ("path", visible(entry.path)),
        ("size", bytes_text(entry.bytes)),
        ("age", common.since_text(entry.changed, now)),
        ("last used", common.since_text(entry.used, now)),
    )
    print(visible(entry.key) + "\n" + "\n".join(f"  {name:<11}{value}" for name, value in facts) + "\n")
    print(table(("file", "size"), [(visible(name), bytes_text(size)) for name, size in files], right=(1,)))
    return 0
