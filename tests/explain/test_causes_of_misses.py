"""Misses with one known cause each: how often the answer that comes first is the right one."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache.model.failures import FailureClass
from neuron_top.cache.model.states import State
from neuron_top.cache.scan.contents import LocalGraph
from neuron_top.cache.scan.scanner import scan
from neuron_top.cli.main import main
from neuron_top.explain.flag_changes import FlagsChange, differences
from neuron_top.explain.graph_changes import changes
from neuron_top.explain.kinds import Became, CauseCode, CauseKind, CauseValue
from neuron_top.explain.miss_causes import NEAR, Explanation, MissCause, explain
from neuron_top.explain.miss_evidence import MissEvidence
from neuron_top.explain.signature import GraphSignature, of_hlo, of_local, similarity
from neuron_top.parsers.hlo import MalformedHlo
from neuron_top.parsers.hlo_nodes import read_nodes
from neuron_top.views.entry_states import MEANINGS
from neuron_top.views.failure_advice import ADVICE
from neuron_top.views.miss_explanation import document
from neuron_top.views.miss_sentences import SENTENCES, cause_text
from tests.builders import COMPILER, F32, field, instruction, shape
from tests.explain import decoder_conv_hlo_cases
from tests.explain.one_change_cases import (
    FLAGS,
    NOW,
    OLD,
    OTHER_COMPILER,
    Case,
    answers,
    cache_cases,
    edge_cases,
    hlo_cases,
    removed,
    stored,
    torch_cases,
)
from tests.explain.transformer_step_hlo import Step, of_another_kind, training_step

NAMED = [*hlo_cases(), *cache_cases(), *edge_cases(), *decoder_conv_hlo_cases.cases()]


@pytest.mark.parametrize("case", NAMED, ids=lambda case: case.name)
def test_the_first_answer_is_the_right_one(case: Case) -> None:
    (answer,) = answers([case])
    assert answer.kind == case.expected, answer.text


@pytest.mark.parametrize("kept_bytes", [0, 1 << 20])
def test_misses_of_one_run_are_explained_from_what_was_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_bytes: int
) -> None:
    monkeypatch.setattr("neuron_top.explain.miss_evidence.KEPT_BYTES", kept_bytes)
    root = tmp_path / "cache"
    modules = [stored(root, training_step(Step(batch=2 + number)), number, OLD - number) for number in range(4)]
    removed(root)
    snapshot, evidence = scan(str(root)), MissEvidence()
    alone = [explain(module, snapshot) for module in modules]
    assert [explain(module, snapshot, evidence=evidence) for module in modules] == alone
    if kept_bytes:
        root.rename(tmp_path / "gone")  # nothing is read any more
        assert [explain(module, snapshot, evidence=evidence) for module in modules] == alone


@pytest.mark.torch
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_of_a_real_training_script_most_first_answers_are_right() -> None:
    pytest.importorskip("torch")
    found = answers(torch_cases())
    wrong = [f"{one.case.name}: {one.kind} ({one.text})" for one in found if not one.right]
    assert len(found) >= 15
    assert len(wrong) <= 0.2 * len(found), wrong
    assert len(wrong) <= 0.1 * (len(found) + len(NAMED)), wrong


def test_a_compiler_or_flags_that_changed_with_the_graph_are_named_after_it(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    stored(root, training_step(Step()), 1, OLD, compiler=OTHER_COMPILER, flags=FLAGS[:2])
    explanation = explain(stored(root, training_step(Step(batch=16)), 2, NOW), scan(str(root)))
    assert [(cause.kind, cause_text(cause.code, cause.values)) for cause in explanation.causes][1:] == [
        ("compiler version", f"another compiler, too: {OTHER_COMPILER} became {COMPILER}"),
        ("flags: added", "other flags, too: added --optlevel=2"),
    ]
    assert explanation.causes[0].kind == "batch size"


def test_a_compiler_that_changed_with_the_flags_is_named_after_them(tmp_path: Path) -> None:
    root, graph = tmp_path / "cache", training_step(Step())
    stored(root, graph, 1, OLD, compiler=OTHER_COMPILER, flags=FLAGS[:2])
    explanation = explain(stored(root, graph, 1, NOW), scan(str(root)), compiler=COMPILER)
    assert [cause.kind for cause in explanation.causes] == ["flags: added", "compiler version"]


def test_flags_are_compared_with_an_entry_of_the_same_compiler_if_there_is_one(tmp_path: Path) -> None:
    root, graph = tmp_path / "cache", training_step(Step())
    stored(root, graph, 1, OLD, flags=FLAGS[:2])
    stored(root, graph, 1, OLD / 2, compiler=OTHER_COMPILER, flags=(*FLAGS, "--lnc=2"))
    explanation = explain(stored(root, graph, 1, NOW), scan(str(root)), compiler=COMPILER)
    assert [cause.kind for cause in explanation.causes] == ["flags: added"]


def test_flags_are_compared_with_the_entry_from_which_they_differ_least(tmp_path: Path) -> None:
    """Two jobs share a cache, and the other one ran last."""
    root, graph = tmp_path / "cache", training_step(Step())
    stored(root, graph, 1, OLD, flags=FLAGS[:2])
    stored(root, graph, 1, OLD / 2, flags=("--target=trn2", "--lnc=2"))
    explanation = explain(stored(root, graph, 1, NOW), scan(str(root)))
    assert [cause.kind for cause in explanation.causes] == ["flags: added"]


def test_equal_graphs_have_no_difference_and_are_alike_altogether() -> None:
    graph = of_hlo(read_nodes(training_step(Step())))
    assert changes(graph, graph) == ()
    assert similarity(graph, graph) == pytest.approx(1.0)
    assert similarity(graph, of_hlo(read_nodes(of_another_kind()))) < 0.2


def test_a_module_inside_an_hlo_proto_has_the_same_nodes() -> None:
    data = training_step(Step())
    assert read_nodes(field(1, data)) == read_nodes(data)
    with pytest.raises(MalformedHlo):
        read_nodes(data[:-7])


def test_what_a_reduction_does_inside_is_no_input_of_the_graph() -> None:
    scalar, vector = shape(F32), shape(F32, 8)
    inner = field(1, "sum") + b"".join(
        field(2, one)
        for one in (
            instruction(1, "parameter", scalar),
            instruction(2, "parameter", scalar),
            instruction(3, "add", scalar, (1, 2)),
        )
    )
    entry = (
        field(1, "main")
        + field(2, instruction(4, "parameter", vector))
        + field(2, instruction(5, "reduce", scalar, (4,)))
    )
    for computations in ((inner, entry), (entry, inner)):
        graph = of_hlo(read_nodes(field(2, "main") + b"".join(field(3, one) for one in computations)))
        assert (list(map(str, graph.inputs)), list(map(str, graph.outputs))) == (["f32[8]"], ["f32[]"])
        assert graph.names == {"add": 1, "reduce": 1}


def sketch(names: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> GraphSignature:
    """A local graph of these operators."""
    nodes = tuple((name, "f32[8,8]", "") for name in names.split())
    return of_local(LocalGraph(nodes=nodes, inputs=inputs, outputs=outputs))


def test_another_optimizer_is_reported_though_it_shares_no_operator() -> None:
    weights = ("f32[8,8]", "f32[8]")
    plain = sketch("add add", weights * 2, weights)
    moments = sketch("mul mul lerp lerp sqrt sqrt div div", weights * 4, weights * 3)
    clipping = sketch("clamp clamp", weights, weights)
    assert similarity(plain, moments) >= NEAR > similarity(plain, clipping)
    assert changes(plain, moments)[0].kind == "optimizer"


def test_a_graph_that_ends_earlier_was_split_and_one_that_lacks_its_middle_lost_layers() -> None:
    layer = "aten.mm relu "
    weights = ("f32[8,8]",)
    whole = sketch(layer * 6 + "loss sum", weights * 6, ("f32[]",))
    piece = sketch(layer * 4, weights * 4, ("f32[8,8]",))
    shallow = sketch(layer * 4 + "loss sum", weights * 4, ("f32[]",))
    assert changes(whole, piece)[0].kind == "graph split"
    assert changes(piece, whole)[0].code is CauseCode.MERGED
    assert changes(whole, shallow)[0].kind == "layers"


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        (["--a", "--b"], ["--b", "--a"], "order only"),
        (["--optlevel", "1", "--b"], ["--optlevel=1", "--b"], "spelling only"),
        (["-O", "1"], ["-O1"], "spelling only"),
        (["-O", "1"], ["-O2"], "changed"),
        (["--optlevel", "1", "--b"], ["--b", "--optlevel=1"], "order only"),
        (["--logfile", "/a"], ["--logfile", "/b"], "log path only"),
        (["--a"], ["--a", "--dump-path=/x"], "log path only"),
        (["-O1"], ["-O2"], "changed"),
        (["--lnc=1"], ["--lnc=2"], "target"),
        ([], ["--logical-nc-config=1"], "added"),
        (["--template=/a"], ["--template=/b"], "changed"),
        (["--log-file=/a", "--xla_dump_to=/a"], ["--log-file=/b", "--xla_dump_to=/b"], "log path only"),
        ([], ["--workdir=/x", "--cache_dir=/y", "--tmp=/z"], "log path only"),
        (["--x=1"], ["--x=1"], "same"),
        (["--x=1"], ["--y=1"], "changed"),
        (["--x", "--x"], ["--x"], "removed"),
    ],
)
def test_flags_are_compared_by_option(before: list[str], now: list[str], kind: str) -> None:
    assert differences(before, now).kind == kind


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("NEURON_CC_FLAGS", raising=False)
    return tmp_path / "cache"


def test_the_command_explains_a_module(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(cache, training_step(Step()), 1, OLD)
    module = stored(cache, training_step(Step(batch=32)), 2, NOW)
    assert main(["explain", module, "--cache", str(cache)]) == 0
    assert "1. batch size" in capsys.readouterr().out
    assert main(["explain", module, "--cache", str(cache), "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported["causes"][0]["kind"] == "batch size"
    assert reported["compared"] == 1


def test_a_part_of_a_key_names_a_module_as_screens_show_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(cache.parent / "state"))
    stored(cache, training_step(Step()), 1, OLD)
    module = stored(cache, training_step(Step(batch=32)), 2, NOW)
    for part in (module.removeprefix("MODULE_"), module.removeprefix("MODULE_").partition("+")[0]):
        assert main(["explain", part, "--cache", str(cache)]) == 0
        assert capsys.readouterr().out.startswith(module)
    assert main(["explain", "99999999", "--cache", str(cache)]) == 3
    assert "99999999" in capsys.readouterr().err


def test_a_part_of_the_keys_of_several_graphs_is_refused_with_their_names(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    modules = [stored(cache, training_step(Step(batch=batch)), batch, OLD) for batch in (11, 12)]
    for part in ("00000000", "MODULE_0000"):
        assert main(["explain", part, "--cache", str(cache)]) == 2
        shown = capsys.readouterr()
        assert (shown.out, all(module in shown.err for module in modules)) == ("", True)


def test_a_part_of_two_keys_names_the_entry_that_changed_last(cache: Path) -> None:
    stored(cache, training_step(Step()), 1, OLD, flags=FLAGS[:2])
    module = stored(cache, training_step(Step()), 1, NOW)
    explanation = explain(module.partition("+")[0], scan(str(cache)))
    assert (explanation.module, explanation.causes[0].kind) == (module, "flags: added")


def test_a_module_that_the_cache_knows_nothing_of_is_not_found(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(cache, training_step(Step()), 1, OLD)
    assert main(["explain", "MODULE_00000000000000000009+00000009", "--cache", str(cache)]) == 3
    assert "no entry of that name" in capsys.readouterr().out


def test_the_command_explains_every_miss_of_a_log(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(cache, training_step(Step()), 1, OLD)
    module = stored(cache, training_step(Step()), 1, NOW, flags=FLAGS[:1])
    log = cache.parent / "train.log"
    log.write_text(
        f"2025-03-01 10:00:00.000123:  4242  [INFO]: Compilation Successfully Completed for "
        f"model.{module}.hlo_module.pb\n"
    )
    assert main(["explain", str(log), "--cache", str(cache)]) == 0
    assert "flags: removed" in capsys.readouterr().out


def test_a_log_without_misses_has_nothing_to_explain(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache.mkdir()
    log = cache.parent / "empty.log"
    log.write_text("nothing\n")
    assert main(["explain", str(log), "--cache", str(cache)]) == 3
    assert "nothing missed" in capsys.readouterr().err
    assert main(["explain", str(log), "--cache", str(cache), "--json"]) == 3
    assert capsys.readouterr().out == "[]\n"


def update(*names: str, inputs: tuple[str, ...] = ("f32[8,4]", "f32[8,4]", "f32[4]", "f32[4]")) -> GraphSignature:
    """An optimizer's graph: the same operators for each of two weights."""
    nodes = tuple((name, shape, "") for shape in ("f32[8,4]", "f32[4]") for name in names)
    return of_local(LocalGraph(inputs=inputs, outputs=inputs, nodes=nodes))


def test_more_arithmetic_in_a_graph_that_only_updates_weights_is_another_update_rule() -> None:
    before = update("aten.clone.default", "aten.detach.default", "aten.add.Tensor")
    now = update("aten.clone.default", "aten.detach.default", "aten.add.Tensor", "aten.add.Tensor")
    assert changes(before, now)[0].kind == "optimizer"


def test_weights_that_are_tied_no_longer_are_more_inputs_of_the_same_operators() -> None:
    node = ("aten.mm.default", "f32[4,96]", "")
    tied = of_local(LocalGraph(inputs=("f32[96,8]", "i64[4,5]"), outputs=(), nodes=(node,)))
    two = of_local(LocalGraph(inputs=("f32[96,8]", "f32[96,8]", "i64[4,5]"), outputs=(), nodes=(node,)))
    assert [one.kind for one in changes(tied, two)] == ["inputs"]
    more, fewer = changes(tied, two)[0], changes(two, tied)[0]
    assert more.code is CauseCode.MORE_INPUTS
    assert more.values == {"count": 1, "arrays": "f32[96,8]"}
    assert fewer.code is CauseCode.FEWER_INPUTS


@pytest.mark.parametrize(
    ("before", "now", "sentence"),
    [
        ("1='sum' 2='neurontop:0,1:0'", "", "2 workers → none"),
        ("1='sum' 2='neurontop:0,1:0'", "1='sum' 2='neurontop:0,1,2,3:0'", "2 workers → 4 workers"),
        (
            "1='sum' 2='neurontop:0,1:0'",
            "1='sum' 2='neurontop:0,8:0'",
            "2 workers → 2 workers (ranks 0,8 from the first)",
        ),
        ("1=2 2='0'", "1=4 2='0'", "2 workers → 4 workers"),
        ("1='sum' 2=8 3='3'", "1='sum' 2=4 3='3'", "8 workers → 4 workers"),
        ("1='sum' 2='0'", "1='sum' 2='tp'", "group 0 → group tp"),
    ],
)
def test_other_groups_of_workers_are_named_by_their_size(before: str, now: str, sentence: str) -> None:
    def step(arguments: str) -> GraphSignature:
        reduced = [("_c10d_functional.all_reduce.default", "f32[8]", arguments)] if arguments else []
        return of_local(LocalGraph(nodes=(("aten.mm.default", "f32[8]", ""), *reduced)))

    (cause, *_) = changes(step(before), step(now))
    assert cause_text(cause.code, cause.values) == f"the groups of workers that exchange tensors changed ({sentence})"


def test_a_collective_over_the_same_workers_is_no_change_of_them() -> None:
    def shared(splits: str) -> GraphSignature:
        return of_local(LocalGraph(nodes=(("_c10d_functional.all_to_all_single.default", "f32[8]", splits),)))

    assert not changes(shared("1=4,4 2=4,4 3='neurontop:0,1:0'"), shared("1=2,2 2=2,2 3='neurontop:0,1:0'"))


def test_longer_data_are_the_cause_where_an_unrolled_loop_keeps_more_of_them() -> None:
    def unrolled(length: int) -> GraphSignature:
        nodes = tuple(("aten.mm.default", "f32[8,20]", "") for _ in range(length))
        kept = tuple("f32[8,20]" for _ in range(length))
        return of_local(LocalGraph(inputs=(*kept, f"i64[8,{length}]"), outputs=(), nodes=nodes))

    assert changes(unrolled(5), unrolled(8))[0].kind == "sequence length"


def test_a_convolution_with_another_stride_is_another_model_and_no_larger_image() -> None:
    def patches(side: int) -> GraphSignature:
        inputs = ("f32[4,3,32,32]", f"f32[24,3,{side},{side}]", f"f32[1,{(32 // side) ** 2},24]")
        node = ("aten.convolution.default", f"f32[4,24,{32 // side},{32 // side}]", f"3={side},{side}")
        return of_local(LocalGraph(inputs=inputs, outputs=(), nodes=(node,)))

    assert changes(patches(8), patches(4))[0].kind == "model size"


def test_the_document_keeps_the_keys_and_the_kinds_of_the_first_release() -> None:
    cause = MissCause(
        kind=CauseKind.of_flags(FlagsChange.LOG_PATH_ONLY),
        code=CauseCode.OTHER_FLAGS,
        values={"flags": differences(["--logfile=/a/1.txt"], ["--logfile=/b/2.txt"])},
        score=0.97,
        entry="c/m",
    )
    explanation = Explanation(module="m", root="/cache", state=None, causes=(cause,), compared=1)
    assert json.loads(msgspec.json.encode(document(explanation))) == {
        "module": "m",
        "root": "/cache",
        "state": None,
        "causes": [
            {
                "kind": "flags: log path only",
                "text": "other flags: --logfile /a/1.txt became /b/2.txt",
                "likely": 0.97,
                "entry": "c/m",
                "root": None,
            }
        ],
        "compared": 1,
    }
    assert {CauseKind.of_flags(change) for change in FlagsChange} == {
        kind for kind in CauseKind if kind.startswith("flags:")
    }


def test_every_code_has_a_sentence() -> None:
    assert set(SENTENCES) == set(CauseCode)
    assert len(set(SENTENCES.values())) == len(CauseCode)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("", "none"),
        (State.STALE_LOCK, f"stale-lock: {MEANINGS[State.STALE_LOCK]}"),
        (FailureClass.DISK, ADVICE[FailureClass.DISK]),
        (datetime(2026, 3, 1, 10, 30, tzinfo=UTC), "2026-03-01 10:30:00 UTC"),
        (
            (Became("f32[8]", "f32[16]"), Became("", "1e-05", "aten.add")),
            "f32[8] became f32[16]; aten.add: none became 1e-05",
        ),
        (differences(["-O1"], ["-O1"]), "the same flags"),
        (differences(["-O1", "--lnc=2"], ["--lnc=2", "-O1"]), "the same flags in another order"),
        (differences(["-O1", "--lnc=2"], ["-O", "1", "--lnc", "2"]), "the same flags, written in another way"),
        (differences(["-O", "1"], ["-O", "2"]), "-O 1 became 2"),
    ],
)
def test_values_are_shown_in_words(value: CauseValue, shown: str) -> None:
    assert cause_text(CauseCode.OTHER_ROOT, {"root": value}) == f"another root than expected: it is cached in {shown}"
