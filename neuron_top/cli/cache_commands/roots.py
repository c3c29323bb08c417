"""Name every compile cache of this machine: the Neuron caches, their neighbors, and work folders.

Found from defaults, from our environment and from the environments of running processes that may be read; `users` are
the processes that name a cache, without shells that wait and neurontop's own viewers. Neighbors (Inductor, Triton, JAX,
vLLM, the hub's blobs) are sized, never changed. Of vLLM-Neuron's cache each entry is judged by its completion marker,
of TorchNeuron's (kind `torch-neuronx`, two tiers) by its header and locks; `neurontop cache ls ROOT` lists the entries
of each.

PyTorch's own artifacts have no place of their own: bundles of torch.compiler.save_cache_artifacts (`mega-cache`),
functions saved by aot_compile and AOTInductor's packages are named where they lie in this folder, in vLLM's or in PATH.

  neurontop cache roots artifacts/ bundle.bin

exit status: 0 printed · 2 usage · 3 a given path is not found
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from neuron_top.cli.cache_commands import common
from neuron_top.cli.output import print_json, table
from neuron_top.errors import NothingToShow
from neuron_top.escapes import visible
from neuron_top.services.cache_places import CachePlace, TorchArtifact, VllmState, cache_places
from neuron_top.services.cache_reader import Entry, State
from neuron_top.services.inductor_cache import KINDS
from neuron_top.units import UNKNOWN, bytes_text, count_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache roots`."""
    text = "files and folders to look for PyTorch's artifacts in (default: this folder's files, and vLLM's)"
    parser.add_argument("places", nargs="*", metavar="PATH", help=text)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--no-sizes", action="store_true", help="do not walk the folders")


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    for place in arguments.places:
        if not Path(place).exists():
            raise NothingToShow(f"{visible(place)}: no such file or folder")
    places = cache_places(sizes=not arguments.no_sizes, artifacts_in=arguments.places)
    if arguments.json:
        print_json(
            {
                "roots": list(map(_json, places.caches)),
                "work_dirs": places.work_dirs,
                "torch_artifacts": list(map(_artifact_json, places.artifacts)),
            }
        )
        return 0
    header = ("kind", "size", "files", "users", "path", "known from")
    print(table(header, map(_row, places.caches), right=(1, 2)))
    for place in places.caches:
        if (sums := _entry_sums(place)) is not None:
            print(f"\n{visible(place.root.path)}: {sums}")
    if places.artifacts:
        head = ("PyTorch's artifacts", "size", "written", "holds", "path")
        print("\n" + table(head, map(_artifact_row, places.artifacts), right=(1,)))
    if places.work_dirs:
        dead = places.abandoned
        size = bytes_text(sum(folder.allocated or 0 for folder in dead))
        all_of_them = count_text(len(places.work_dirs))
        print(f"\nwork folders: {all_of_them}, of which {count_text(len(dead))} of dead compiles hold {size}")
    return 0


def _artifact_json(artifact: TorchArtifact) -> dict[str, object]:
    facts = {name: getattr(artifact, name) for name in artifact.__struct_fields__ if name != "changed"}
    return {**facts, "changed_at": common.instant(artifact.changed)}


def _artifact_row(artifact: TorchArtifact) -> tuple[str, ...]:
    facts = [f"{count_text(count)} {kind}" for kind, count in artifact.artifacts.items()]
    facts += [word for word in (artifact.function, artifact.backend, artifact.device, *artifact.models) if word]
    facts += ["cut short"] if artifact.complete is False else []
    return (
        artifact.kind,
        bytes_text(artifact.bytes),
        common.instant(artifact.changed) or UNKNOWN,
        ", ".join(facts) or UNKNOWN,
        visible(artifact.path),
    )


def _entry_sums(place: CachePlace) -> str | None:
    """The entries of a neighbor by state or kind; None for a cache whose entries are not read here."""
    if place.vllm is not None:
        return _sums_text(VllmState, ((entry.state, entry.bytes) for entry in place.vllm))
    if place.torch_neuron is not None:
        return _sums_text(State, ((entry.state, entry.allocated) for entry in place.torch_neuron))
    if place.inductor is not None:
        return _sums_text(KINDS, ((entry.kind, entry.bytes) for entry in place.inductor))
    return None


def _sums_text(kinds: Iterable[str], entries: Iterable[tuple[str, int]]) -> str:
    """`12 complete, 1 incomplete holding 130 MiB`: how many entries of each kind, in this order, and their bytes.

    `entries`: kind (or state) and bytes of each.
    """
    sizes = list(entries)
    parts = []
    for kind in kinds:
        held = [size for name, size in sizes if name == kind]
        if held:
            parts.append(f"{count_text(len(held))} {kind} holding {bytes_text(sum(held))}")
    return ", ".join(parts) or "no entries"


def _json(place: CachePlace) -> dict[str, object]:
    root, size = place.root, place.size
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
        "entries": place.vllm if place.torch_neuron is None else list(map(_neff_json, place.torch_neuron)),
    }


def _neff_json(entry: Entry) -> dict[str, object]:
    return {
        "key": entry.module,
        "state": entry.state,
        "bytes": entry.allocated,
        "neff_bytes": entry.neff_bytes,
        "compiled_at": common.instant(entry.compiled_at),
        "lock": common.lock_json(entry.lock, common.now()),
    }


def _row(place: CachePlace) -> tuple[str, ...]:
    root, size = place.root, place.size
    missing = "remote" if root.remote else "not there"
    return (
        root.kind,
        bytes_text(size.allocated) if size else (UNKNOWN if root.exists else missing),
        count_text(size.files) if size else UNKNOWN,
        " ".join(map(str, root.users)) or "none",
        visible(root.path),
        root.origin,
    )
