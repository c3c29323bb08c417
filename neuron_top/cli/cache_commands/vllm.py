"""vLLM-Neuron's cache in `neurontop cache ls`, `stats` and `show`: looked at, never changed."""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import common
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.escapes import visible
from neuron_top.services.vllm_cache import ListedEntry, VllmCache, is_vllm_cache, sums
from neuron_top.units import UNKNOWN, bytes_text, count_text, counted

_PROMOTED = {True: "promoted", False: "not promoted: save_cache() was not called for it", None: ""}


def is_asked_for(arguments: argparse.Namespace) -> bool:
    """Whether ROOT is such a cache."""
    return any(
        word is not None and is_vllm_cache(word) for word in (arguments.root, getattr(arguments, "module", None))
    )


def listing(arguments: argparse.Namespace) -> int:
    """`cache ls`."""
    cache = VllmCache(arguments.root)
    entries = cache.entries()
    if arguments.json:
        print_json({"kind": "vllm-neuron", "root": cache.root, "entries": list(map(_json, entries))})
        return 0
    now = common.now()
    rows = [
        (
            each.entry.key,
            each.entry.state,
            bytes_text(each.entry.bytes),
            common.since_text(each.entry.newest, now),
            bytes_text(each.entry.neff_bytes),
            _PROMOTED[each.promoted],
        )
        for each in entries
    ]
    if rows:
        print(table(("key", "state", "size", "age", "NEFF", ""), rows, right=(2, 3, 4)))
    log_stderr(f"{counted(len(entries), 'entry', 'entries')} in {visible(cache.root)} (vLLM-Neuron's; read-only)")
    return 0


def stats(arguments: argparse.Namespace) -> int:
    """`cache stats`."""
    cache = VllmCache(arguments.root)
    found = sums(cache.entries())
    if arguments.json:
        totals = {state: {"entries": count, "bytes": size} for state, (count, size) in found.items()}
        print_json({"kind": "vllm-neuron", "root": cache.root, "totals": totals})
        return 0
    rows = [(state, count_text(count), bytes_text(size)) for state, (count, size) in found.items()]
    print(f"{visible(cache.root)}\n")
    print(table(("state", "entries", "size"), rows, right=(1, 2)))
    return 0


def show(arguments: argparse.Namespace) -> int:
    """`cache show`."""
    folder, text = common.folder_and_key(arguments)
    cache = VllmCache(folder if folder is not None else arguments.root)
    each = cache.find(text)
    if arguments.json:
        print_json({"kind": "vllm-neuron", "root": cache.root, **_json(each)})
        return 0
    facts = (
        ("state", str(each.entry.state)),
        ("path", visible(f"{cache.root}/{each.entry.key}")),
        ("size", f"{bytes_text(each.entry.bytes)} in {counted(each.entry.files, 'file', 'files')}"),
        ("NEFF", bytes_text(each.entry.neff_bytes)),
        ("age", common.since_text(each.entry.newest, common.now())),
        ("remote tier", _PROMOTED[each.promoted] or UNKNOWN),
    )
    print(each.entry.key + "\n" + "\n".join(f"  {name:<13}{value}" for name, value in facts))
    return 0


def _json(each: ListedEntry) -> dict[str, object]:
    entry = each.entry
    return {
        "key": entry.key,
        "state": entry.state,
        "bytes": entry.bytes,
        "files": entry.files,
        "neff_bytes": entry.neff_bytes,
        "changed_at": common.instant(entry.newest),
        "promoted": each.promoted,
    }
