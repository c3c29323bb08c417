"""Names of process groups in graphs: alike for ranks that do the same work, and never another group's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch.testing._internal.distributed.fake_pg", reason="this PyTorch has no fake process groups")

import torch.distributed as dist  # noqa: E402
from torch import fx  # noqa: E402
from torch.testing._internal.distributed.fake_pg import FakeStore  # noqa: E402

from neuron_top.compile.compiler import NotSerializable  # noqa: E402
from neuron_top.compile.graphs import inductor_compile, process_groups, torch_settings  # noqa: E402
from neuron_top.compile.graphs.graph_file import SerializedGraph  # noqa: E402
from neuron_top.compile.graphs.script_operators import StandIns  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compile servers")]


@contextmanager
def rank(number: int, world: int = 4) -> Iterator[None]:
    """This process as a rank of a job whose other ranks do not exist."""
    dist.init_process_group("fake", rank=number, world_size=world, store=FakeStore())
    try:
        yield
    finally:
        dist.destroy_process_group()
        process_groups._owners.clear()


def group_of(*ranks: int) -> str:
    """A new group's name in this process."""
    return dist.new_group(list(ranks)).group_name


def summing(*groups: str) -> fx.GraphModule:
    """A graph that sums its input over one group after the other."""
    graph = fx.Graph()
    value = graph.placeholder("value")
    for group in groups:
        value = graph.call_function(torch.ops._c10d_functional.all_reduce.default, (value, "sum", group))
    graph.output(graph.call_function(torch.ops.aten.relu.default, (value,)))
    return fx.GraphModule(torch.nn.Module(), graph)


def names_in(module: fx.GraphModule) -> list[str]:
    """The groups it names, in order."""
    return [node.args[2] for node in module.graph.nodes if "all_reduce" in str(node.target)]


def test_replicas_that_do_the_same_work_have_the_same_graph() -> None:
    texts = []
    for number, ranks in ((0, (0, 1)), (1, (0, 1)), (2, (2, 3)), (3, (2, 3))):
        with rank(number):
            for _ in range(number):
                group_of(0, 1, 2, 3)  # so that the numbers of the groups differ
            module = summing(group_of(*ranks))
            process_groups.canonicalize(module)
            texts.append(module.code)
    assert len(set(texts)) == 1


def test_neighbors_and_strided_ranks_do_not_look_alike() -> None:
    with rank(0):
        neighbors, strided = summing(group_of(0, 1)), summing(group_of(0, 2))
        process_groups.canonicalize(neighbors)
        process_groups.canonicalize(strided)
    assert names_in(neighbors) != names_in(strided)


def test_every_name_leads_to_the_group_that_the_graph_named() -> None:
    with rank(0):
        first, second, third = group_of(0, 1), group_of(0, 1), group_of(0, 2)
        module = summing(first, second, third, first)
        renamed = process_groups.canonicalize(module)
        assert [renamed[name] for name in names_in(module)] == [first, second, third, first]
        for name, actual in renamed.items():
            assert process_groups._resolve(name) is process_groups._resolve(actual)


def test_a_name_moves_on_when_its_group_is_gone() -> None:
    with rank(0):
        old = dist.new_group([0, 1])
        module = summing(old.group_name)
        process_groups.canonicalize(module)
        dist.destroy_process_group(old)
        fresh = group_of(0, 1)
        again = summing(fresh)
        process_groups.canonicalize(again)
        assert process_groups._resolve(names_in(again)[0]) is process_groups._resolve(fresh)


def test_each_run_finds_the_group_of_its_graph_whoever_took_its_name_since() -> None:
    found = []
    for smaller_first in (False, True):  # the number of the first run's group is another group's in the second
        with rank(0):
            if smaller_first:
                group_of(0)
            actual = group_of(0, 1)
            module = summing(actual)
            renamed = process_groups.canonicalize(module)
            (name,) = names_in(module)
            found.append(process_groups.naming(renamed, lambda _, name=name: process_groups._resolve(name)))
            assert found[-1]([]) is process_groups._resolve(actual)
            assert found[0]([]) is process_groups._resolve("1")


def test_groups_in_subgraphs_are_renamed_too() -> None:
    with rank(0):
        inner, outer = summing(group_of(0, 1)), summing(group_of(0, 2))
        outer.add_module("inner", inner)
        process_groups.canonicalize(outer)
    assert all(name.startswith("neurontop:") for name in names_in(inner) + names_in(outer))


def test_a_group_that_this_process_does_not_know_keeps_its_name() -> None:
    with rank(0):
        module = summing("somewhere else")
        assert process_groups.canonicalize(module) == {}
    assert names_in(module) == ["somewhere else"]


def test_outside_a_distributed_job_nothing_changes() -> None:
    module = summing("0")
    assert process_groups.canonicalize(module) == {}
    assert names_in(module) == ["0"]


def test_a_compile_process_gets_groups_of_the_right_size() -> None:
    with rank(2):
        module = summing(group_of(0, 2), group_of(0, 1, 2, 3))
        process_groups.canonicalize(module)
        wanted = names_in(module)
    process_groups.register_stand_ins(module)
    assert [process_groups._resolve(name).size() for name in wanted] == [2, 4]


def test_code_that_depends_on_the_rank_that_compiles_stays_in_the_job() -> None:
    """One pass makes it; a compile process is rank 0 of every group."""
    by_rank = {"aten_distributed_optimizations.allow_comms_decompositions": True}
    assert process_groups.reason_to_stay(torch_settings.collect(by_rank).serializable())
    assert not process_groups.reason_to_stay(torch_settings.collect().serializable())


def test_code_that_depends_on_which_groups_share_memory_stays_in_the_job() -> None:
    """PyTorch is told of groups that do by the job alone: for a stand-in, a pass that joins operators does nothing."""
    from torch.distributed._symmetric_memory import _test_mode, is_symm_mem_enabled_for_group

    with rank(0):
        module, actual = summing(group_of(0, 1)), names_in(summing(group_of(0, 1)))[0]
        process_groups.canonicalize(module)
        with _test_mode({actual}):
            assert [is_symm_mem_enabled_for_group(name) for name in (actual, *names_in(module))] == [True, False]
    by_memory = torch_settings.collect({"_micro_pipeline_tp": True}).serializable()
    assert "memory" in process_groups.reason_to_stay(by_memory)


def test_a_graph_with_groups_that_no_compile_process_can_compile_is_left_to_its_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asks_for_its_rank(*_: object) -> None:
        raise ValueError("Default process group has not been initialized\nand more")

    with rank(0):
        module = summing(group_of(0, 1))
        process_groups.canonicalize(module)
    graph = SerializedGraph(gm=module, inputs=[], fake_mode=None, settings={}, stand_ins=StandIns([]))
    monkeypatch.setattr(inductor_compile, "_compile", asks_for_its_rank)
    monkeypatch.setattr(inductor_compile.torch_settings, "apply", lambda _: [])
    monkeypatch.setattr(inductor_compile.hashing, "digest_graph", lambda *_: "digest")
    with pytest.raises(NotSerializable, match=r"without the job's process groups, Inductor fails: ValueError: .*ized$"):
        inductor_compile.compile_serialized(graph, {}, module="", digest="digest")
