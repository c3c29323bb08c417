"""Show one entry in full: files, flags, graph, artifact, lock and failure log.

MODULE is a key or a part of one that names a single entry. The NEFF's header is read; --payload reads the whole
archive too: digest, target, inputs and outputs, constants, scratch and code bytes.

  neurontop cache show MODULE_176283691422090868+f7f529f3
  neurontop cache show 176283691 --payload --json

Floating-point operations count `dot` alone and loop bodies once; bytes are an upper bound before fusion.

exit status: 0 printed · 2 usage, or several entries match · 3 no such cache or entry
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import msgspec

from neuron_top.cli.cache_commands import common, inductor, options, vllm
from neuron_top.cli.output import broken_text, print_json, table
from neuron_top.escapes import name_text, visible
from neuron_top.services.cache_reader import BackendKind, CacheBackend, Entry, UsageHistory, is_ahead
from neuron_top.services.entry_contents import Contents, File, HloSummary, LocalGraph, Neff, contents_of
from neuron_top.units import UNKNOWN, bytes_text, count_text, duration_text, number_text
from neuron_top.views.entries import compile_text
from neuron_top.views.entry_states import MEANINGS
from neuron_top.views.failure_advice import ADVICE

_OPCODES_SHOWN = 12
_SHAPES_SHOWN = 8


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache show`."""
    common.add_root(parser)
    inductor.add_option(parser)
    common.add_entry(parser, required=True)
    parser.add_argument("--payload", action="store_true", help="read the whole NEFF, not only its header")


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    if inductor.is_asked_for(arguments):
        return inductor.show(arguments)
    if vllm.is_asked_for(arguments):
        return vllm.show(arguments)
    service = options.reader()
    root, text = common.root_and_entry(arguments, service, required=True)
    snapshot = common.take_snapshot(service, root)
    entry = common.one_entry(snapshot, text or "")
    backend = service.backend(root)
    with contents_of(backend, entry) as contents:
        return _shown(backend, contents, service.usage_history(root), arguments)


def _shown(backend: CacheBackend, contents: Contents, past: UsageHistory, arguments: argparse.Namespace) -> int:
    root, in_bucket = backend.root, backend.kind is BackendKind.BUCKET
    entry = contents.entry
    neff, graph, log = contents.neff(payload=arguments.payload), contents.graph(), contents.log()
    if arguments.json:
        print_json(
            {
                "root": name_text(root),
                **common.entry_json(entry, common.now(), past),
                "files": _files_of(contents, in_bucket=in_bucket),
                "neff": None if neff is None else _neff_json(neff),
                "graph": _graph_json(graph),
                "log": log,
            }
        )
        return 0
    print(
        "\n\n".join(
            part
            for part in (
                _head(entry, past, _size(entry, in_bucket=in_bucket)),
                _files(_files_of(contents, in_bucket=in_bucket), in_bucket=in_bucket),
                _graph(graph),
                _neff(neff),
                _log(log),
            )
            if part
        )
    )
    return 0


def _neff_json(neff: Neff) -> dict[str, object]:
    return {
        "problem": neff.problem,
        "header": msgspec.to_builtins(neff.header),
        "payload": msgspec.to_builtins(neff.payload),
    }


def _graph_json(graph: HloSummary | LocalGraph | str | None) -> object:
    if isinstance(graph, HloSummary):
        shapes = {
            "parameters": [str(shape) for shape in graph.parameters],
            "results": [str(shape) for shape in graph.results],
        }
        return {"kind": "hlo", **msgspec.to_builtins(graph), **shapes}
    if isinstance(graph, LocalGraph):
        return {"kind": "fx", **msgspec.to_builtins(graph)}
    return None if graph is None else {"kind": None, "problem": graph}


def _size(entry: Entry, *, in_bucket: bool) -> str:
    """The entry's size. In a bucket, which has no blocks, an entry takes its length."""
    length = f"{bytes_text(entry.apparent)} in length"
    return length if in_bucket else f"{bytes_text(entry.allocated)} on disk, {length}"


def _head(entry: Entry, past: UsageHistory, size: str) -> str:
    now = common.now()
    rows = [
        ("entry", entry.path),
        ("state", f"{entry.state}: {MEANINGS[entry.state]}"),
        ("size", size),
        ("compiled", _when(entry.compiled_at, now)),
        ("compile time", compile_text(past.compile_seconds(entry), recorded=entry.compile_seconds is None)),
        ("last used", _last_used(entry, past, now)),
        ("flags", _flags(entry)),
    ]
    if entry.lock is not None:
        proof = entry.lock.proof or "no proof that its holder lives or is dead"
        rows.append(("lock", f"{duration_text(max(0.0, now - entry.lock.since))} old, {entry.lock.verdict}: {proof}"))
        rows.append(("lock owner", entry.lock.owner or UNKNOWN))
    if entry.failure is not None:
        failure = entry.failure
        rows.append(("failure", f"{failure.kind}{f' {failure.code}' if failure.code else ''}: {failure.message}"))
        rows.append(("failed at", common.instant(failure.at) or UNKNOWN))
        rows.append(("advice", ADVICE[failure.cause]))
    rows += [("problem", problem) for problem in entry.problems]
    return _pairs(rows)


def _flags(entry: Entry) -> str:
    flags = entry.flag_list()
    if flags is None:
        return UNKNOWN if entry.flags is None else "the flags file is no list"
    judged = {True: "hash matches", False: "hash does NOT match the folder's name", None: "hash unknown"}
    return f"{' '.join(flags) or 'none'}  ({judged[entry.flags_hash_ok]})"


def _files_of(contents: Contents, *, in_bucket: bool) -> list[File]:
    """The entry's files. In a bucket, a file takes its length: the blocks are only those of our temporary copy."""
    files = contents.files()
    return [msgspec.structs.replace(file, allocated=file.bytes) for file in files] if in_bucket else files


def _files(files: Sequence[File], *, in_bucket: bool) -> str:
    if in_bucket:
        rows = [(visible(file.name), bytes_text(file.bytes), common.instant(file.changed_at) or "") for file in files]
        return table(("object", "length", "changed"), rows, right=(1,))
    return table(
        ("file", "length", "on disk", "changed"),
        [
            (
                visible(file.name),
                bytes_text(file.bytes),
                bytes_text(file.allocated),
                common.instant(file.changed_at) or "",
            )
            for file in files
        ],
        right=(1, 2),
    )


def _graph(graph: HloSummary | LocalGraph | str | None) -> str:
    if graph is None:
        return ""
    if isinstance(graph, str):
        return _pairs([("graph", graph)])
    if isinstance(graph, LocalGraph):
        counts = list(graph.operator_counts.items())
        return _pairs(
            [
                (
                    "graph",
                    f"{graph.direction or 'local'}, {count_text(graph.operators)} operators, torch {graph.torch}",
                ),
                ("operators", _counted(counts)),
                ("inputs", _listed(list(graph.inputs))),
                ("outputs", _listed(list(graph.outputs))),
            ]
        )
    return _pairs(
        [
            ("graph", f"{graph.name}, entry {graph.entry}"),
            ("instructions", f"{count_text(graph.instructions)} in {count_text(graph.computations)} computations"),
            ("opcodes", _counted(list(graph.opcodes.items()))),
            ("inputs", _listed([str(shape) for shape in graph.parameters])),
            ("outputs", _listed([str(shape) for shape in graph.results])),
            ("dot FLOPs", f"{number_text(graph.dot_flops)}{' (loop bodies once)' if graph.loops else ''}"),
            ("bytes moved", f"at most {bytes_text(graph.moved_bytes)}"),
            ("collectives", _counted(list(graph.collectives.items())) or "none"),
            ("world size", count_text(graph.world_size)),
            ("custom calls", _counted(list(graph.custom_calls.items())) or "none"),
        ]
    )


def _neff(neff: Neff | None) -> str:
    if neff is None:
        return ""
    if neff.header is None:
        return _pairs([("NEFF", neff.problem or "no header")])
    header, payload = neff.header, neff.payload
    rows = [
        (
            "NEFF",
            f"version {header.version}, package version {header.package_version}, build {header.build or UNKNOWN}",
        ),
        ("UUID", header.uuid),
        (
            "cores",
            f"{header.cores} needed, {header.cores_requested} asked for, logical core {header.logical_core_size}",
        ),
        *(
            [("by sub-graph", _listed([str(cores) for cores in header.cores_per_node]))]
            if header.cores_per_node
            else []
        ),
        ("compiled for", header.module or header.name or UNKNOWN),
        ("features", ", ".join(header.features) or "none"),
    ]
    rows += [("warning", warning) for warning in header.warnings]
    if payload is not None:
        judged = {
            True: "matches",
            False: "does NOT match",
            None: f"unknown for package version {header.package_version}",
        }
        rows += [
            ("digest", judged[payload.digest_ok]),
            ("archive", f"{count_text(payload.member_count)} members, {bytes_text(payload.unpacked_bytes)} unpacked"),
            ("target", payload.target or UNKNOWN),
            ("inputs", _listed([f"{one.name} {bytes_text(one.size)}" for one in payload.inputs])),
            ("outputs", _listed([f"{one.name} {bytes_text(one.size)}" for one in payload.outputs])),
            ("constants", bytes_text(payload.constants_bytes)),
            ("scratch", bytes_text(payload.scratch_bytes)),
            ("code", bytes_text(payload.code_bytes)),
        ]
        rows += [("problem", problem) for problem in payload.problems]
    return _pairs(rows)


def _log(log: str | None) -> str:
    if log is None:
        return ""
    return "model.log\n" + "\n".join(f"  {visible(line)}" for line in log.splitlines())


def _pairs(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"{name:<14}{broken_text(visible(value), 14)}" for name, value in rows)


def _counted(counts: list[tuple[str, int]]) -> str:
    shown = ", ".join(f"{name} {count_text(count)}" for name, count in counts[:_OPCODES_SHOWN])
    return shown + (f" and {len(counts) - _OPCODES_SHOWN} more" if len(counts) > _OPCODES_SHOWN else "")


def _listed(texts: list[str]) -> str:
    shown = ", ".join(texts[:_SHAPES_SHOWN])
    rest = f" and {len(texts) - _SHAPES_SHOWN} more" if len(texts) > _SHAPES_SHOWN else ""
    return f"{shown}{rest}" if texts else "none"


def _last_used(entry: Entry, past: UsageHistory, now: float) -> str:
    known_by = past.known_by(entry)
    return f"{_when(past.last_used(entry), now)}" + (f" (by {known_by})" if known_by else "")


def _when(at: float | None, now: float) -> str:
    if at is None:
        return UNKNOWN
    if is_ahead(at, now):
        return f"{common.instant(at)}, {duration_text(at - now)} ahead of this clock"
    return f"{common.instant(at)}, {duration_text(max(0.0, now - at))} ago"
