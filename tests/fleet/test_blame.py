"""Who compiled, who waited, what it cost: from logs of several nodes, from every reason, and over a thousand nodes."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from neuron_top.cli.main import main
from neuron_top.events import (
    AnyEvent,
    CacheHit,
    CompileBegan,
    CompileEnded,
    EntryChanged,
    GraphDescribed,
    LockWaited,
    NodeDescribed,
)
from neuron_top.parsers.hlo_program import read_program
from neuron_top.parsers.reader import LogReader
from neuron_top.run.model import Run
from neuron_top.store.batches import pack
from neuron_top.store.fleet_records import Batch, NodeKey, NodeRecord
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.views.blame.blame import blame
from neuron_top.views.blame.facts import facts_of
from neuron_top.views.blame.records import Because, Blame
from neuron_top.views.blame.text import cost_text, span_text
from neuron_top.views.blame.timeline import blame_timeline
from neuron_top.views.report import report
from tests.agent.logs import compiled, hit, stamp
from tests.builders import F32, field, hlo, instruction, replica_groups, shape, varint

KEYS = [f"MODULE_{number:020d}+a1b2c3d4" for number in range(4)]
NODES = ("n1", "n2", "n3")
T = 1_000_000.0


def started(second: float, pid: int, module: str) -> str:
    command = (
        f"neuronx-cc compile --framework=XLA /tmp/w/model.{module}.hlo_module.pb --output /tmp/w/model.{module}.neff"
    )
    return f"{stamp(second)}:  {pid}  [INFO]: Call compiler with cmd: {command} --target=trn1\n"


def waited(second: float, pid: int, module: str, minutes: float) -> str:
    entry = f"/var/tmp/neuron-compile-cache/neuronxcc-2.21.1.0+abc/{module}"
    return (
        f"{stamp(second)}:  {pid}  [INFO]: Another process must be compiling {entry}/model.hlo_module.pb, "
        f"been waiting for: {minutes:.1f} minutes\n"
    )


def logs() -> dict[str, str]:
    """n1 compiles two graphs, n2 waits for one of them, n3 compiles one again and one alone."""
    return {
        "n1": started(1, 100, KEYS[0]) + compiled(61, 100, KEYS[0]) + started(70, 100, KEYS[1])
        + compiled(100, 100, KEYS[1])
        + hit(101, 101, KEYS[0]),
        "n2": "".join(waited(5 + number / 10, 200 + number, KEYS[0], 0.0) for number in range(4))
        + "".join(hit(63 + number, 200 + number, KEYS[0]) for number in range(4)) + hit(110, 200, KEYS[3]),
        "n3": started(10, 300, KEYS[0]) + compiled(75, 300, KEYS[0]) + started(80, 300, KEYS[2])
        + compiled(95, 300, KEYS[2]),
    }  # fmt: skip


def events_of(text: str, node: str) -> list[AnyEvent]:
    reader = LogReader(f"log:/logs/{node}.log")
    events = [*reader.feed(text.encode()), *reader.flush()]
    return [msgspec.structs.replace(event, node=node) for event in events]


def run_of(events: list[AnyEvent]) -> Run:
    run = Run()
    for event in events:
        run.apply(event)
    return run


def records(cores: int | None = 32, **more: object) -> list[NodeRecord]:
    reported = {**({"cores": cores} if cores else {}), **more}
    return [NodeRecord(node=node, attributes=dict(reported), clock_offset=0.0) for node in NODES]  # type: ignore[arg-type]


def blamed(
    runs: dict[str, Run],
    nodes: list[NodeRecord] | None = None,
    keys: tuple[NodeKey, ...] = (),
    gone: tuple[str, ...] = (),
) -> Blame:
    return blame("bert", facts_of(runs, records() if nodes is None else nodes, keys, gone), T + 1000)


def test_totals_are_the_sums_of_the_reports_of_each_machine() -> None:
    runs = {node: run_of(events_of(text, node)) for node, text in logs().items()}
    singles = [report(run, run.last_time or 0.0) for run in runs.values()]
    compiles = [metric.value for one in singles for metric in one.metrics if metric.name == "compile_sum"]
    waits = [line.total_seconds for one in singles for line in one.waits]
    found = blamed(runs)
    assert found.compiling.seconds == pytest.approx(sum(value or 0.0 for value in compiles))
    assert found.waiting.seconds == pytest.approx(sum(waits))
    assert found.compiling.seconds > 0 < found.waiting.seconds
    for cost in ("compiling", "waiting", "again"):
        total = getattr(found, cost)
        assert sum(getattr(row, cost).seconds for row in found.graphs) == pytest.approx(total.seconds)
        assert sum(getattr(row, cost).core_hours or 0.0 for row in found.graphs) == pytest.approx(total.core_hours)
    assert sum(node.seconds for node in found.nodes) == pytest.approx(found.compiling.seconds + found.waiting.seconds)


def test_each_graph_names_who_compiled_it_who_waited_and_what_was_done_twice() -> None:
    found = blamed({node: run_of(events_of(text, node)) for node, text in logs().items()})
    first = next(row for row in found.graphs if row.graph == KEYS[0])
    assert [(one.node, one.because, one.again) for one in first.compiles] == [
        ("n1", Because.NEW, False), ("n3", Because.LOCK_NOT_SEEN, True),
    ]  # fmt: skip
    (wait,) = first.waits
    assert (wait.node, wait.ranks, wait.holder) == ("n2", 4, "n1")
    assert (first.again.seconds, found.again.seconds) == (first.compiles[1].seconds, first.compiles[1].seconds)
    assert [(row.because, row.compiles, row.nodes) for row in found.repeated] == [(Because.LOCK_NOT_SEEN, 1, ("n3",))]
    assert (len(found.graphs), found.found) == (3, 1)


def test_the_time_of_a_blame_has_its_days() -> None:
    assert span_text(T, T + 60) == "1970-01-12 13:46:40 to 13:47:40 UTC"
    assert span_text(T, T + 86400) == "1970-01-12 13:46 to 01-13 13:46 UTC"


def compile_of(
    node: str, module: str, start: float, seconds: float, rank: int = 0, **described: object
) -> list[AnyEvent]:
    who = {"node": node, "module": module, "pid": 10 + rank, "rank": rank}
    return [
        GraphDescribed(at=start, **who, **described),  # type: ignore[arg-type]
        CompileBegan(at=start, **who),  # type: ignore[arg-type]
        CompileEnded(at=start + seconds, seconds=seconds, ok=True, **who),  # type: ignore[arg-type]
    ]


def described(node: str, **attributes: str | int) -> NodeDescribed:
    return NodeDescribed(at=T - 10, node=node, attributes={"cores": 32, **attributes})


def reason(first: list[AnyEvent], second: list[AnyEvent], keys: tuple[NodeKey, ...] = ()) -> tuple[Because, str, bool]:
    """Why n2 compiled, when n1 had compiled before."""
    found = blamed({"n1": run_of(first), "n2": run_of(second)}, [], keys)
    (one,) = [one for row in found.graphs for one in row.compiles if one.node == "n2"]
    return one.because, one.text, one.again


SHARED = {"cache_root": "/fsx/cache", "cache_shared": 1, "cache_filesystem": "lustre"}

OWN = {"cache_root": "/cache", "cache_shared": 0}


@pytest.mark.parametrize(
    ("one", "other", "start", "because", "said"),
    [
        ({"cache_root": "/cache/n1"}, {"cache_root": "/cache/n2"}, 100.0, Because.OWN_ROOT,
         "/cache/n1 on n1, /cache/n2 on n2"),
        (OWN, OWN, 100.0, Because.OWN_ROOT, "/cache is on a local disk of each node"),
        (SHARED, SHARED, 30.0, Because.LOCK_NOT_SEEN, "n1 was compiling it in /fsx/cache (lustre)"),
        (SHARED, SHARED, 100.0, Because.NOT_SEEN, "n1 had it 40.0 s before in /fsx/cache (lustre)"),
        ({}, {}, 100.0, Because.UNKNOWN, "n1 had it; which cache n2 used was not reported"),
    ],
)  # fmt: skip
def test_a_compile_of_what_another_node_had_has_its_reason(
    one: dict[str, str | int], other: dict[str, str | int], start: float, because: Because, said: str
) -> None:
    first = [described("n1", **one), *compile_of("n1", KEYS[0], T, 60)]
    second = [described("n2", **other), *compile_of("n2", KEYS[0], T + start, 60)]
    assert reason(first, second) == (because, said, True)


def test_another_compiler_is_named_with_both_versions() -> None:
    first = compile_of("n1", KEYS[0], T, 60, compiler="neuronxcc-2.20.1+a")
    second = compile_of("n2", KEYS[0], T + 100, 60, compiler="neuronxcc-2.21.1+b")
    assert reason(first, second) == (Because.OTHER_COMPILER, "2.20.1+a on n1, 2.21.1+b on n2", True)
    reported = NodeKey(root="/c", key=KEYS[0], node="n9", state="hit", compiler="neuronxcc-2.20.1+a", seen=T)
    assert reason([], second, (reported,))[:2] == (Because.OTHER_COMPILER, "2.20.1+a on n9, 2.21.1+b on n2")


def test_the_folder_of_the_compiler_that_a_log_names_is_of_no_other_compiler() -> None:
    runs = {"n1": run_of(events_of(waited(1, 100, KEYS[0], 0.0) + started(2, 100, KEYS[0]), "n1"))}
    assert [graph.compiler for graph in runs["n1"].compiles.graphs.values()] == ["2.21.1.0+abc"]
    stored = NodeKey(root="/c", key=KEYS[0], node="n1", state="hit", compiler="neuronxcc-2.21.1.0+abc", seen=T + 300)
    ((call,),) = (row.compiles for row in blamed(runs, [], (stored,)).graphs)
    assert call.because is Because.NEW
    first, second = (
        compile_of(node, KEYS[0], at, 60, compiler=compiler)
        for node, at, compiler in (("n1", T, "2.21.1.0+abc"), ("n2", T + 100, "neuronxcc-2.21.1.0+abc"))
    )
    assert reason(first, second)[0] is Because.UNKNOWN


def test_a_graph_that_every_rank_compiles_by_itself_takes_no_longer_for_each_of_them() -> None:
    nodes, ranks = 32, 96
    runs = {
        f"n{node}": run_of([
            event for rank in range(ranks)
            for event in compile_of(f"n{node}", KEYS[0], T + node, 60 + rank, rank=node * ranks + rank)
        ])
        for node in range(nodes)
    }  # fmt: skip
    begun = time.process_time()
    (row,) = blamed(runs, []).graphs
    assert time.process_time() - begun < 2.0  # it was 6 s, and four times as long for twice as many ranks
    assert Counter(call.because for call in row.compiles) == {
        Because.NEW: 1, Because.TWICE_HERE: nodes * ranks - nodes, Because.LOCK_NOT_SEEN: nodes - 1,
    }  # fmt: skip


def test_other_flags_name_the_flag_or_the_variable() -> None:
    other = KEYS[0].replace("a1b2c3d4", "ffffffff")
    first = compile_of("n1", KEYS[0], T, 60, flags=("--optlevel=1",))
    second = compile_of("n2", other, T + 100, 60, flags=("--optlevel=2",))
    assert reason(first, second) == (Because.OTHER_FLAGS, "n1 → n2: --optlevel 1 became 2", True)
    first = [described("n1", compiler_flags="-O1"), *compile_of("n1", KEYS[0], T, 60)]
    second = [described("n2", compiler_flags="-O2"), *compile_of("n2", other, T + 100, 60)]
    assert reason(first, second) == (Because.OTHER_FLAGS, "compiler_flags is -O1 on n1, -O2 on n2", True)


def test_a_key_that_holds_a_rank_and_another_environment_are_distinguished() -> None:
    program = {"operators": 3, "op_counts": {"mm": 2, "add": 1}, "inputs": ("f32[8]",)}
    first = compile_of("n1", KEYS[0], T, 60, rank=0, **program)
    second = compile_of("n2", KEYS[1], T + 1, 60, rank=32, **program)
    because, text, again = reason(first, second)
    assert (because, again) == (Because.HELD_NAME, True)
    assert "rank 0 and rank 32" in text
    assert reason([described("n1", torch="2.8"), *first], [described("n2", torch="2.9"), *second]) == (
        Because.OTHER_ENVIRONMENT, "torch is 2.8 on n1, 2.9 on n2", True,
    )  # fmt: skip
    both = run_of([*first, *compile_of("n1", KEYS[1], T - 5, 2, rank=1, **program)])
    found = blamed({"n1": both, "n2": run_of(second)}, [])
    assert Because.HELD_NAME not in {one.because for row in found.graphs for one in row.compiles if one.node == "n2"}


def sdk_key(key: str, node: str, *, rank: int, groups: tuple[int, ...] = (0, 1), place: str = "a.py") -> NodeKey:
    """What an agent read of the graph of an entry."""
    literal = field(8, field(4, varint(rank)))
    graph = hlo(
        [
            instruction(1, "constant", shape(4), extra=literal + field(7, field(3, place))),
            instruction(2, "all-reduce", shape(F32, 8), (1,), replica_groups(groups)),
        ]
    )
    found = read_program(graph)
    return NodeKey(root="/c", key=key, node=node, state="hit", seen=T, program=found.digest, held=found.held)


@pytest.mark.parametrize(
    ("other", "because", "said"),
    [
        ({"rank": 32}, Because.HELD_NAME, "whole numbers folded in: 0 on rank 0, 32 on rank 32"),
        ({"rank": 0, "groups": (2, 3)}, Because.HELD_NAME,
         "replica groups: all-reduce {0,1} on rank 0, all-reduce {2,3} on rank 32"),
        ({"rank": 0, "place": "b.py"}, Because.OTHER_ENVIRONMENT,
         "places in the source: a.py on rank 0, b.py on rank 32"),
        ({"rank": 0, "groups": (0, 1, 2)}, Because.NEW, ""),
        ({"rank": 0}, Because.NEW, ""),
    ],
)  # fmt: skip
def test_a_graph_of_the_sdk_whose_key_holds_a_rank_or_a_group_names_what_differs(
    other: dict[str, Any], because: Because, said: str
) -> None:
    """The SDK's logs describe no graph: agents read those that were compiled."""
    first, second = compile_of("n1", KEYS[0], T, 60, rank=0), compile_of("n2", KEYS[1], T + 1, 60, rank=32)
    keys = sdk_key(KEYS[0], "n1", rank=0), sdk_key(KEYS[1], "n2", **other)
    found = reason(first, second, keys)
    assert (found[0], found[1].removesuffix(f" ({KEYS[0]} there)"), found[2]) == (because, said, bool(said))


def test_one_program_of_the_sdk_under_other_flags_is_not_taken_for_a_rank() -> None:
    other = KEYS[1].replace("a1b2c3d4", "ffffffff")
    first = compile_of("n1", KEYS[0], T, 60, flags=("-O1",))
    second = compile_of("n2", other, T + 1, 60, flags=("-O2",))
    keys = sdk_key(KEYS[0], "n1", rank=0), sdk_key(other, "n2", rank=0)
    assert reason(first, second, keys)[:2] == (Because.OTHER_FLAGS, "n1 → n2: -O 1 became 2")


def test_a_failed_compile_leaves_nothing_that_another_node_could_have_found() -> None:
    failed = [
        *compile_of("n1", KEYS[0], T, 60)[:2],
        CompileEnded(at=T + 60, node="n1", module=KEYS[0], pid=10, seconds=60, ok=False),
    ]
    assert reason(failed, compile_of("n2", KEYS[0], T + 100, 60)) == (Because.NEW, "", False)


def test_unknown_cores_and_clocks_are_named_and_left_out() -> None:
    runs = {"n1": run_of(compile_of("n1", KEYS[0], T, 3600)), "n2": run_of(compile_of("n2", KEYS[0], T + 1, 3600))}
    found = blamed(runs, [NodeRecord(node="n1", attributes={"cores": 32}, clock_offset=0.1)])
    assert (found.compiling.seconds, found.compiling.core_hours) == (7200.0, 32.0)
    assert found.compiling.without_cores == ("n2",)
    assert found.unknown_clocks == ("n2",)
    assert found.graphs[0].order_known is False
    assert blamed(runs, []).compiling.core_hours is None


def test_a_lock_whose_holder_is_gone_is_named_with_those_who_wait() -> None:
    holds = run_of([CompileBegan(at=T, node="n1", module=KEYS[0], pid=10, rank=0)])
    waits = run_of(
        [LockWaited(at=T + 60 + pid, node="n2", module=KEYS[0], pid=pid, rank=pid, minutes=1.0) for pid in range(3)]
    )
    assert blamed({"n1": holds, "n2": waits}).lost_locks == ()
    (lock,) = blamed({"n1": holds, "n2": waits}, gone=("n1",)).lost_locks
    assert (lock.graph, lock.holder, lock.waiting, lock.nodes) == (KEYS[0], "n1", 3, ("n2",))
    reported = EntryChanged(
        at=T,
        node="n2",
        root="/c",
        compiler="x",
        module=KEYS[0],
        state="compiling",
        lock="held",
        lock_holder="pid 7 on n1",
    )
    waits.apply(reported)
    (lock,) = blamed({"n1": run_of([]), "n2": waits}, gone=("n1",)).lost_locks
    assert lock.holder == "n1"


def test_a_thousand_nodes_that_wait_alike_share_a_row() -> None:
    runs = {"n0": run_of(compile_of("n0", KEYS[0], T, 1500))}
    for number in range(1, 1000):
        node = f"n{number}"
        runs[node] = run_of(
            [
                LockWaited(at=T + 60, node=node, module=KEYS[0], pid=1, rank=number, minutes=1.0),
                CacheHit(at=T + 1500, node=node, module=KEYS[0], pid=1, rank=number),
            ]
        )
    found = blamed(runs, [NodeRecord(node=node, attributes={"cores": 1}, clock_offset=0.0) for node in runs])
    assert found.waiting.core_hours == pytest.approx(999 * 1500 / 3600)
    drawn = blame_timeline(found, 60)
    assert drawn is not None
    assert sum(len(row.nodes) for row in drawn.rows) == 1000
    assert len(drawn.rows) == 2
    assert {len(row.cells) for row in drawn.rows} == {60}


def ship(url: str) -> None:
    with FleetStore(url) as store:
        store.open_job("4711", name="bert", started=T)
        for node, text in logs().items():
            packed = pack(events_of(text, node))
            batch = Batch(
                sequence=1, run="4711", first=packed.first, last=packed.last, count=packed.count, data=packed.data
            )
            store.ship(node, f"spool-{node}", [batch])
            store.register(NodeRecord(node=node, machine_id=node, job="4711", attributes={"cores": 32}))


def test_the_command_prints_it_from_the_database(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ship(postgres_url)
    monkeypatch.setenv("NEURONTOP_STORE", postgres_url)
    assert main(["fleet", "blame", "4711", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    alone = blamed({node: run_of(events_of(text, node)) for node, text in logs().items()})
    for cost in ("compiling", "waiting", "again"):
        assert reported[cost]["seconds"] == pytest.approx(getattr(alone, cost).seconds, abs=1e-3)
        assert reported[cost]["core_hours"] == pytest.approx(getattr(alone, cost).core_hours, abs=1e-6)
    assert main(["fleet", "blame", "bert"]) == 0
    text = capsys.readouterr().out
    assert "lock not seen across nodes" in text
    assert "4 ranks on 1 node" in text
    assert "CCCC" in text
    assert "wwww" in text
    assert main(["fleet", "blame", "nothing"]) == 3


def test_the_report_of_a_job_reports_what_fleet_blame_reports(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ship(postgres_url)
    monkeypatch.setenv("NEURONTOP_STORE", postgres_url)
    assert main(["fleet", "blame", "4711", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert main(["report", "4711", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["blame"] == reported
    found = msgspec.convert(reported, Blame)
    words = ("Who compiled, who waited", str(Because.LOCK_NOT_SEEN), "4 ranks on 1 node", cost_text(found.again))
    for form in ("md", "html"):
        assert main(["report", "4711", "--format", form]) == 0
        text = capsys.readouterr().out
        assert [word for word in words if word not in text] == [], form
