"""Name every compile cache of this machine: the Neuron caches, their neighbors, and work folders.

Found from defaults, from our environment and from the environments of running processes that may be read; `users`
are the processes that name a cache. Neighbors (Inductor, Triton, JAX, vLLM, the hub's blobs) are sized, never changed.
Of vLLM-Neuron's cache each entry is judged by its completion marker; `neurontop cache ls` lists the entries of the
caches of kind `neuron`.
"""

from __future__ import annotations

import argparse
from typing import Any

from neuron_top.cache import inductor, roots, vllm_neuron, work_dirs
from neuron_top.cache.processes import read_processes
from neuron_top.cache.tree import TreeSize, measure
from neuron_top.cli.output import print_json, table
from neuron_top.escapes import visible
from neuron_top.units import UNKNOWN, bytes_text, count_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache roots`."""
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--no-sizes", action="store_true", help="do not walk the folders")


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    processes = read_processes()
    rows = [(root, _size(root, wanted=not arguments.no_sizes)) for root in roots.find(processes=processes)]
    left = work_dirs.find(processes)
    if arguments.json:
        print_json({"roots": [_json(root, size) for root, size in rows], "work_dirs": left})
        return 0
    print(table(("kind", "size", "files", "users", "path", "known from"), [_row(*row) for row in rows], right=(1, 2)))
    for root, _ in rows:
        if root.kind == roots.VLLM_NEURON and root.exists:
            print(f"\n{visible(root.path)}: {_judged(vllm_neuron.entries(root.path))}")
        elif root.kind == "inductor" and root.exists and not arguments.no_sizes:
            print(f"\n{visible(root.path)}: {_by_kind(inductor.entries(root.path))}")
    dead = [one for one in left if one.alive is False]
    if left:
        size = bytes_text(sum(one.allocated or 0 for one in dead))
        print(f"\nwork folders: {count_text(len(left))}, of which {count_text(len(dead))} of dead compiles hold {size}")
    return 0


def _size(root: roots.Root, *, wanted: bool) -> TreeSize | None:
    return measure(root.path) if wanted and root.exists else None


def _judged(entries: list[vllm_neuron.VllmEntry]) -> str:
    """`12 complete, 1 incomplete holding 130 MiB`."""
    parts = []
    for state in vllm_neuron.VllmState:
        of_it = [entry for entry in entries if entry.state is state]
        if of_it:
            held = bytes_text(sum(entry.bytes for entry in of_it))
            parts.append(f"{count_text(len(of_it))} {state} holding {held}")
    return ", ".join(parts) or "no entries"


def _by_kind(entries: list[inductor.InductorEntry]) -> str:
    """`8 fx-graph holding 1.2 MiB, …`."""
    parts = []
    for kind in inductor.KINDS:
        of_it = [entry for entry in entries if entry.kind == kind]
        if of_it:
            parts.append(f"{count_text(len(of_it))} {kind} holding {bytes_text(sum(entry.bytes for entry in of_it))}")
    return ", ".join(parts) or "no entries"


def _json(root: roots.Root, size: TreeSize | None) -> dict[str, Any]:
    return {
        "kind": root.kind,
        "path": root.path,
        "origin": root.origin,
        "exists": root.exists,
        "remote": root.remote,
        "users": list(root.users),
        "bytes": size.allocated if size else None,
        "files": size.files if size else None,
        "complete": size.complete if size else None,
        "entries": vllm_neuron.entries(root.path) if root.kind == roots.VLLM_NEURON and root.exists else None,
    }


def _row(root: roots.Root, size: TreeSize | None) -> tuple[str, ...]:
    missing = "remote" if root.remote else "not there"
    return (
        root.kind,
        bytes_text(size.allocated) if size else (UNKNOWN if root.exists else missing),
        count_text(size.files) if size else UNKNOWN,
        " ".join(map(str, root.users)) or "none",
        visible(root.path),
        root.origin,
    )
