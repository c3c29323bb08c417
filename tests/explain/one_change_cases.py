"""Misses made by changing exactly one thing, and the answer that must come first.

`hlo_cases` change a training step as an HLO module, `cache_cases` what surrounds a graph, `torch_cases` a real training
script. `python -m tests.explain.write_page` writes docs/explain-cases.md from them.
"""

from __future__ import annotations

import functools
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from neuron_top.actions.journal.records import (
    Move,
    MovesIntended,
    PlanBegun,
    PlanEnded,
    PlanPurged,
    PlanRestored,
    StepsRefused,
)
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Action
from neuron_top.actions.reasons import NotDone, NotDoneCode
from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model import filenames
from neuron_top.cache.scan.contents import LocalGraph
from neuron_top.cache.scan.scanner import scan
from neuron_top.explain.miss_causes import Explanation, explain
from neuron_top.views.miss_sentences import cause_text
from tests.builders import BF16, COMPILER, F32, FAILURE_LOG, module_name, neff, write_entry
from tests.explain.transformer_step_hlo import Step, of_another_kind, training_step

OTHER_COMPILER = "neuronxcc-2.19.8089.0+8ab9f450"
OLD, NOW = 7200.0, 60.0
FLAGS = ("--target=trn1", "--model-type=transformer", "--optlevel=2")


@dataclass(frozen=True)
class Case:
    """One change. `build` fills a cache and returns the explanation of the miss."""

    name: str
    expected: str
    build: Callable[[Path], Explanation]


@dataclass(frozen=True)
class ExplainedCase:
    """A case with the cause that was put first."""

    case: Case
    kind: str
    text: str

    @property
    def right(self) -> bool:
        """Whether it is what was expected."""
        return self.kind == self.case.expected


def answers(cases: Iterable[Case]) -> list[ExplainedCase]:
    """Every case in a cache of its own."""
    found = []
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="neurontop-explain-") as folder:
            first = case.build(Path(folder) / "cache").causes[0]
        found.append(ExplainedCase(case, first.kind, cause_text(first.code, first.values)))
    return found


def stored(root: Path, graph: bytes, number: int, age: float, **more: object) -> str:
    """A usable entry; returns its module. `more`: as for `write_entry`."""
    files = {"model.hlo_module.pb": graph, "model.neff": neff(), "model.done": b""}
    folder = write_entry(root, files, graph=f"{number:020x}", age=age, **{"flags": FLAGS, **more})  # type: ignore[arg-type]
    return folder.name


def found(root: Path, module: str, *others: Path) -> Explanation:
    """The explanation of this miss."""
    return explain(module, scan(str(root)), others=[scan(str(other)) for other in others])


# --- the graph ---

ADAM, EIGHT = Step(optimizer="adam"), Step(groups=(tuple(range(8)),))
CHANGES: tuple[tuple[str, str, Step, Step], ...] = (
    ("batch 8 → 16", "batch size", Step(), Step(batch=16)),
    ("last batch of 3", "batch size", Step(), Step(batch=3)),
    ("batch 1 → 8", "batch size", Step(batch=1), Step()),
    ("sequence 128 → 256", "sequence length", Step(), Step(sequence=256)),
    ("sequence not padded, 128 → 117", "sequence length", Step(), Step(sequence=117)),
    ("hidden size 64 → 128", "model size", Step(), Step(hidden=128)),
    ("heads 4 → 8", "model size", Step(), Step(heads=8)),
    ("vocabulary 1000 → 1024", "model size", Step(), Step(vocabulary=1024)),
    ("2 → 4 layers", "layers", Step(), Step(layers=4)),
    ("4 → 3 layers", "layers", Step(layers=4), Step(layers=3)),
    ("2 → 12 layers", "layers", Step(), Step(layers=12)),
    ("float32 → bfloat16", "dtype", Step(), Step(dtype=BF16)),
    ("bfloat16 → float32", "dtype", Step(dtype=BF16), Step(dtype=F32)),
    ("learning rate 1e-3 → 5e-4", "constant", Step(), Step(learning_rate=5e-4)),
    ("learning rate by a schedule", "constant", ADAM, Step(optimizer="adam", learning_rate=9.9e-4)),
    ("epsilon of the norm 1e-5 → 1e-6", "constant", Step(), Step(epsilon=1e-6)),
    ("weight decay 0.01 → 0.1", "constant", Step(weight_decay=0.01), Step(weight_decay=0.1)),
    ("SGD → Adam", "optimizer", Step(), Step(optimizer="adam")),
    ("Adam → SGD", "optimizer", ADAM, Step()),
    ("weight decay switched on", "optimizer", Step(), Step(weight_decay=0.01)),
    ("4 → 8 workers", "world size", Step(), EIGHT),
    ("8 workers in 1 → 2 groups", "world size", EIGHT, Step(groups=((0, 1, 2, 3), (4, 5, 6, 7)))),
    ("a tensor is printed each step", "output", Step(), Step(printed=1)),
    ("gradients are clipped", "operators", Step(), Step(clipping=True)),
    ("ReLU → tanh", "operators", Step(), Step(activation="tanh")),
)  # fmt: skip


def hlo_cases() -> Iterator[Case]:
    """One size or constant of a training step."""
    for name, expected, before, now in CHANGES:
        yield Case(f"{name} (HLO)", expected, _graph_case(training_step(before), training_step(now)))


def _graph_case(before: bytes, now: bytes) -> Callable[[Path], Explanation]:
    def build(root: Path) -> Explanation:
        stored(root, of_another_kind(), 7, OLD)
        stored(root, before, 1, OLD)
        return found(root, stored(root, now, 2, NOW))

    return build


# --- what surrounds the graph ---

FLAG_CHANGES = (
    ("a flag added", "flags: added", (*FLAGS, "--enable-fast-loading-neuron-binaries")),
    ("a flag removed", "flags: removed", FLAGS[:2]),
    ("--optlevel 2 → 1", "flags: changed", (*FLAGS[:2], "--optlevel=1")),
    ("the same flags in another order", "flags: order only", (FLAGS[1], FLAGS[0], FLAGS[2])),
    ("--target trn1 → trn2", "flags: target", ("--target=trn2", *FLAGS[1:])),
)


def cache_cases() -> Iterator[Case]:
    """Flags, compiler, client, eviction, failure, root: the graph is the same or nowhere near."""
    graph = training_step(Step())
    for name, expected, flags in FLAG_CHANGES:
        yield Case(name, expected, _flags_case(graph, FLAGS, flags))
    logged = [(*FLAGS, f"--logfile=/tmp/job-{job}/compile.log") for job in (1, 2)]
    yield Case("only the path of a log", "flags: log path only", _flags_case(graph, logged[0], logged[1]))
    yield Case("another compiler version", "compiler version", _compiler_case)
    yield Case("flags as .txt by another client", "client form", _text_flags_case)
    yield Case("decimal → hexadecimal key", "client form", _decimal_case)
    yield Case("evicted yesterday", "evicted", _evicted_case)
    yield Case("its compile failed before", "failed", _failed_case)
    yield Case("entry of an old client, without its mark", "invisible", _invisible_case)
    yield Case("cached in another root", "other root", _other_root_case)
    yield Case("cached in another root, for another compiler", "compiler version", _other_root_and_compiler_case)
    yield Case(
        "nothing like it in the cache", "nothing near", _graph_case(of_another_kind(), training_step(Step(layers=6)))
    )


def edge_cases() -> Iterator[Case]:
    """What looks like a cause and is none. Not on the page of the docs."""
    yield Case("only its entry of another compiler was evicted", "nothing near", _evicted_of_another_compiler_case)
    yield Case("only its lock was removed", "nothing near", _unlocked_case)
    yield Case("its eviction was planned, but refused", "nothing near", _refused_case)
    yield Case("its eviction was undone, that of another entry was not", "nothing near", _partly_restored_case)
    yield Case("what of its plan was not restored was purged, and it was restored", "nothing near", _purged_later_case)
    yield Case("a journal with a time that no calendar has", "nothing near", _evicted_at_no_time_case)
    yield Case("the version of PyTorch is known of one only", "same structure", _one_torch_version_case)


def _flags_case(graph: bytes, before: tuple[str, ...], now: tuple[str, ...]) -> Callable[[Path], Explanation]:
    def build(root: Path) -> Explanation:
        stored(root, graph, 1, OLD, flags=before)
        return found(root, stored(root, graph, 1, NOW, flags=now))

    return build


def _compiler_case(root: Path) -> Explanation:
    stored(root, training_step(Step()), 1, OLD, compiler=OTHER_COMPILER)
    module = stored(root, training_step(Step()), 1, NOW)
    return explain(module, scan(str(root)), compiler=COMPILER)


def _text_flags_case(root: Path) -> Explanation:
    graph = training_step(Step())
    text = " ".join(FLAGS).encode()
    files = {"model.hlo_module.pb": graph, "model.neff": neff(), "model.done": b"", "compile_flags.txt": text}
    write_entry(root, files, module=module_name(text, f"{1:020x}"), age=OLD)
    return found(root, stored(root, graph, 1, NOW))


def _decimal_case(root: Path) -> Explanation:
    graph = training_step(Step())
    files = {"model.hlo_module.pb": graph, "model.neff": neff(), "model.done": b""}
    write_entry(root, files, flags=FLAGS, graph="12345678901234567890", age=OLD)
    folder = write_entry(root, files, flags=FLAGS, graph="abcdef6789012345678f", age=NOW)
    return found(root, folder.name)


def _evicted_case(root: Path) -> Explanation:
    return found(root, removed(root))


def _evicted_of_another_compiler_case(root: Path) -> Explanation:
    module = removed(root, compiler=OTHER_COMPILER)
    return explain(module, scan(str(root)), compiler=COMPILER.partition("-")[2])


def _unlocked_case(root: Path) -> Explanation:
    return found(root, removed(root, Action.UNLOCK, file="/model.hlo_module.pb.lock"))


def _refused_case(root: Path) -> Explanation:
    module = removed(root)
    refused = (0, NotDone(NotDoneCode.USED))
    Trash(root).write(StepsRefused(plan="p1", at=time.time(), steps=(refused,)))
    return found(root, module)


def _partly_restored_case(root: Path) -> Explanation:
    module = removed(root)
    Trash(root).write(_restored_but_another())
    return found(root, module)


def _purged_later_case(root: Path) -> Explanation:
    module = removed(root)
    Trash(root).write(_restored_but_another(), PlanPurged(plan="p1", at=time.time(), freed=1, files=1))
    return found(root, module)


def _restored_but_another() -> PlanRestored:
    kept = ((f"{COMPILER}/MODULE_{9:020x}+00000000", NotDone(NotDoneCode.EXISTS_AGAIN)),)
    return PlanRestored(plan="p1", at=time.time(), restored=1, kept=kept)


def _evicted_at_no_time_case(root: Path) -> Explanation:
    return found(root, removed(root, at=1e18))


def _one_torch_version_case(root: Path) -> Explanation:
    graph = LocalGraph(nodes=(("aten.mm", "f32[8,8]", ""), ("aten.relu", "f32[8,8]", "")), inputs=("f32[8,8]",))
    for number, age, version in ((1, OLD, "2.8.0"), (2, NOW, None)):
        described = msgspec.json.encode(msgspec.structs.replace(graph, torch=version))
        files = {
            filenames.FX_GRAPH: b"graph",
            filenames.DESCRIPTION: described,
            "model.neff": neff(),
            "model.done": b"",
        }
        last = write_entry(root, files, flags=FLAGS, graph=f"{number:020x}", age=age)
    return found(root, last.name)


def removed(
    root: Path,
    action: Action = Action.EVICT,
    *,
    compiler: str = COMPILER,
    file: str = "",
    at: float | None = None,
) -> str:
    """A module of which somebody removed an entry, or a file in it, yesterday or at another time."""
    stored(root, training_step(Step(batch=3)), 5, OLD)
    at = time.time() - 86400 if at is None else at
    module = module_name(json.dumps(list(FLAGS)).encode(), f"{1:020x}")
    trash = Trash(root)
    trash.prepare()
    owner = lock_owner.current()
    trash.write(
        PlanBegun(
            plan="p1",
            at=at,
            verb="evict",
            root=str(root),
            policy="older than 30d",
            user="eve",
            host="node7",
            owner=owner,
            steps=1,
            frees=10,
        ),
        MovesIntended(
            plan="p1",
            at=at,
            moves=(
                Move(step=0, action=action, path=f"{compiler}/{module}{file}", inode=1, folder_mtime_ns=1, frees=10),
            ),
        ),
        PlanEnded(plan="p1", at=at, done=1, refused=0, moved_bytes=10),
    )
    return module


def _failed_case(root: Path) -> Explanation:
    stored(root, training_step(Step()), 1, OLD)
    log = FAILURE_LOG.format(message="[NCC_EXTP003] too many instructions").encode()
    folder = write_entry(
        root,
        {"model.hlo_module.pb": training_step(Step(batch=16)), "model.log": log},
        flags=FLAGS,
        graph=f"{2:020x}",
        age=NOW,
    )
    return found(root, folder.name)


def _invisible_case(root: Path) -> Explanation:
    files = {"model.hlo.pb": training_step(Step()), "model.neff": neff(), "compile_flags.txt": b"--target=trn1"}
    folder = write_entry(
        root,
        files,
        compiler="neuronxcc-2.12.68.0+4480452af",
        graph="1234567890123456789",
        module=module_name(b"--target=trn1", "1234567890123456789"),
        age=NOW,
    )
    return found(root, folder.name)


def _other_root_case(root: Path) -> Explanation:
    other = root.parent / "other"
    module = stored(other, training_step(Step()), 1, OLD)
    stored(root, of_another_kind(), 9, OLD)
    return found(root, module, other)


def _other_root_and_compiler_case(root: Path) -> Explanation:
    other = root.parent / "other"
    module = stored(other, training_step(Step()), 1, OLD, compiler=OTHER_COMPILER)
    stored(root, training_step(Step()), 1, NOW)
    return explain(module, scan(str(root)), others=[scan(str(other))], compiler=COMPILER)


def torch_cases() -> Iterator[Case]:
    """One choice of a real training script, traced by PyTorch: forward, backward and optimizer graphs."""
    import torch

    from tests.explain.small_transformer import Script

    base = Script()
    for name, expected, which, before, now in (
        ("batch 4 → 8", "batch size", "forward", base, Script(batch=8)),
        ("last batch of 3", "batch size", "backward", base, Script(batch=3)),
        ("sequence 16 → 24", "sequence length", "forward", base, Script(sequence=24)),
        ("sequence 16 → 11", "sequence length", "backward", base, Script(sequence=11)),
        ("hidden size 32 → 64", "model size", "forward", base, Script(hidden=64)),
        ("vocabulary 50 → 64", "model size", "forward", base, Script(vocabulary=64)),
        ("heads 4 → 2", "model size", "forward", base, Script(heads=2)),
        ("2 → 3 layers", "layers", "forward", base, Script(layers=3)),
        ("2 → 4 layers", "layers", "backward", base, Script(layers=4)),
        ("model in bfloat16", "dtype", "forward", base, Script(dtype=torch.bfloat16)),
        ("autocast", "dtype", "forward", base, Script(autocast=True)),
        ("ReLU → GELU", "operators", "forward", base, Script(activation="gelu")),
        ("dropout switched on", "operators", "forward", base, Script(dropout=0.1)),
        ("epsilon of the norms", "constant", "forward", base, Script(epsilon=1e-6)),
        ("learning rate, SGD", "constant", "optimizer", base, Script(learning_rate=5e-3)),
        (
            "learning rate, AdamW",
            "constant",
            "optimizer",
            Script(optimizer="AdamW"),
            Script(optimizer="AdamW", learning_rate=5e-3),
        ),
        ("SGD → Adam", "optimizer", "optimizer", base, Script(optimizer="Adam")),
        ("Adam → AdamW", "optimizer", "optimizer", Script(optimizer="Adam"), Script(optimizer="AdamW")),
        ("gradients are clipped", "extra graph", "optimizer", base, Script(clipped=True)),
        ("logits are returned to be printed", "output", "forward", base, Script(printed=True)),
    ):
        yield Case(f"{name} ({which})", expected, _script_case(before, now, which))
    yield Case("another PyTorch version", "torch version", _torch_version_case)


def _script_case(before: object, now: object, which: str) -> Callable[[Path], Explanation]:
    def build(root: Path) -> Explanation:
        _local(root, before, which, 1, OLD)
        _local(root, before, "forward" if which != "forward" else "backward", 3, OLD)
        return found(root, _local(root, now, which, 2, NOW))

    return build


def _local(root: Path, script: object, which: str, number: int, age: float, **changes: object) -> str:
    import msgspec

    described = msgspec.structs.replace(_described(script, which), **changes)
    data = msgspec.json.encode(described)
    files = {"model.fxgraph": data * 2, "model.graph.json": data, "model.neff": neff(), "model.done": b""}
    return write_entry(root, files, compiler="inductor-2.13.0", graph=f"{number:020x}", flags=FLAGS, age=age).name


@functools.cache
def _described(script: object, which: str) -> Any:
    from tests.explain.small_transformer import traced

    return traced(script, which)  # type: ignore[arg-type]


def _torch_version_case(root: Path) -> Explanation:
    from tests.explain.small_transformer import Script

    _local(root, Script(), "forward", 1, OLD, torch="2.12.0")
    return found(root, _local(root, Script(), "forward", 2, NOW))
