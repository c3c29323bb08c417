"""Graph hashes: equal for equal graphs, in every process; different for whatever changes the generated code."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

from neuron_top.cache.model.keys import GRAPH_DIGITS  # noqa: E402
from neuron_top.compile.graphs import copying, graph_file, hashing  # noqa: E402
from neuron_top.compile.torch import backend  # noqa: E402

_DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32]


def key_half(gm: Any, inputs: list[Any], settings: dict[str, Any]) -> str:
    """What a graph's key keeps of its digest."""
    return hashing.digest_graph(gm, inputs, settings)[:GRAPH_DIGITS]


def hashed(function: Callable[..., Any], *inputs: Any, **facts: Any) -> str:
    """The hash of a function traced with these inputs."""
    gm = make_fx(function, tracing_mode="fake")(*inputs)
    hashing.strip_unserialized(gm)
    return key_half(gm, [], facts)


def affine(factor: float, shift: Any) -> Callable[[Any], Any]:
    return lambda x: x * factor + shift


def test_the_same_function_has_the_same_hash_whatever_its_nodes_are_called() -> None:
    def one(x: Any) -> Any:
        first = x * 2
        return first + 1

    assert hashed(one, torch.zeros(3)) == hashed(lambda other: other * 2 + 1, torch.ones(3))


def test_another_process_computes_the_same_hash() -> None:
    code = "import torch; from tests.compile.test_graph_hash import *; print(hashed(affine(2.0, 1), torch.zeros(3, 4)))"
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PATH": "", "HOME": "/"},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert answers == {hashed(affine(2.0, 1), torch.zeros(3, 4))}


def test_a_graph_of_symbolic_sizes_has_the_same_hash_in_a_compile_process() -> None:
    """What follows from the symbols themselves is simplified on the way."""
    from torch._dynamo.backends.common import aot_autograd

    digests = []

    def compiler(gm: Any, inputs: list[Any]) -> Any:
        copy = copying.copied(gm)
        hashing.strip_unserialized(copy)
        traveled = graph_file.load(graph_file.dump(copy, inputs, {}))
        digests.extend(hashing.digest_graph(*graph, {}) for graph in ((copy, inputs), (traveled.gm, traveled.inputs)))
        return gm

    def halves(x: Any) -> Any:
        return x.view(x.shape[0] // 2, 2, -1).sum(1)

    torch.compile(halves, backend=aot_autograd(fw_compiler=compiler), dynamic=True)(torch.zeros(4, 3))
    first, second = digests
    assert first == second


def test_hashes_differ_with_the_range_of_a_size_that_only_running_tells() -> None:
    """Nothing but it tells the backward graphs apart, and code for a small range may be wrong for a large one."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    def counted(x: Any, scale: Any) -> Any:
        return torch.where(torch.arange(x.nonzero().shape[0]) < 5, scale.sin(), scale).sum()

    def backward(most: int) -> str:
        digests = []

        def compiler(gm: Any, inputs: list[Any]) -> Any:
            digests.append(hashing.digest_graph(gm, inputs, {}))
            return make_boxed_func(gm)

        torch.compiler.reset()
        backend = aot_autograd(
            fw_compiler=lambda gm, _: make_boxed_func(gm),
            bw_compiler=compiler,
            partition_fn=min_cut_rematerialization_partition,
        )
        with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
            torch.compile(counted, backend=backend)(torch.ones(most), torch.tensor(2.0, requires_grad=True)).backward()
        (only,) = digests
        return only

    assert backward(200) == backward(200) != backward(2000)


_shapes = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)
_numbers = st.one_of(st.integers(-3, 3), st.floats(allow_nan=False, width=32), st.booleans())


@settings(max_examples=40, deadline=None)
@given(_shapes, _shapes, st.sampled_from(_DTYPES), st.sampled_from(_DTYPES), _numbers, _numbers)
def test_hashes_differ_whenever_shape_dtype_or_constant_differ(
    shape: Any, other_shape: Any, dtype: Any, other_dtype: Any, number: Any, other: Any
) -> None:
    one = hashed(affine(2.0, number), torch.zeros(shape, dtype=dtype))
    two = hashed(affine(2.0, other), torch.zeros(other_shape, dtype=other_dtype))
    same = (shape, dtype, type(number), repr(number)) == (other_shape, other_dtype, type(other), repr(other))
    assert (one == two) == same


def _strided(stride: tuple[int, ...]) -> Any:
    return torch.empty_strided((2, 3), stride)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param(_strided((3, 1)), _strided((1, 2)), id="stride"),
        pytest.param(torch.zeros(2), torch.zeros(2, device="meta"), id="device"),
        pytest.param(torch.zeros(2), torch.zeros(2, dtype=torch.complex64), id="dtype"),
    ],
)
def test_hashes_differ_whenever_the_inputs_form_differs(one: Any, two: Any) -> None:
    assert hashed(lambda x: x + x, one) != hashed(lambda x: x + x, two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]), id="value"),
        pytest.param(torch.tensor([0.0, 2.0]), torch.tensor([-0.0, 2.0]), id="sign of zero"),
        pytest.param(torch.tensor([1, 2]), torch.tensor([1.0, 2.0]), id="dtype"),
    ],
)
def test_hashes_differ_whenever_a_constant_tensor_differs(one: Any, two: Any) -> None:
    def graph(constant: Any) -> Any:
        gm = torch.fx.GraphModule({}, torch.fx.Graph())
        gm.register_buffer("held", constant)
        attribute = gm.graph.get_attr("held")
        gm.graph.output((attribute,))
        return gm

    assert key_half(graph(one), [], {}) == key_half(graph(one.clone()), [], {})
    assert key_half(graph(one), [], {}) != key_half(graph(two), [], {})


def test_hashes_differ_whenever_a_setting_of_the_compiler_differs() -> None:
    x = torch.zeros(2)
    variants = [{}, {"threads": 1}, {"threads": 2}, {"threads": 2.0}, {"threads": True}]
    assert len({hashed(torch.sin, x, **facts) for facts in variants}) == len(variants)


def test_two_values_that_are_not_numbers_differ_by_their_sign() -> None:
    """`copysign` takes it over."""
    positive, negative = float("nan"), float("-nan")
    assert hashing.exactly(positive, {}) == hashing.exactly(float("nan"), {})
    assert hashing.exactly(positive, {}) != hashing.exactly(negative, {})
    assert hashing.exactly(complex(0, positive), {}) != hashing.exactly(complex(0, negative), {})


def test_the_order_of_arguments_counts() -> None:
    x, y = torch.zeros(2), torch.zeros(2)
    assert hashed(lambda a, b: a - b, x, y) != hashed(lambda a, b: b - a, x, y)


def test_the_position_in_a_storage_counts_by_alignment_only() -> None:
    gm = make_fx(torch.sin, tracing_mode="fake")(torch.zeros(16))
    base = torch.zeros(64)
    parts = [base[0:16], base[16:32], base[1:17]]
    hashing.strip_unserialized(gm)
    one, aligned, askew = (key_half(gm, [part], {}) for part in parts)
    assert one == aligned
    assert one != askew


def test_what_has_no_exact_description_has_no_hash() -> None:
    gm = torch.fx.GraphModule({}, torch.fx.Graph())
    argument = gm.graph.placeholder("x")
    gm.graph.output((gm.graph.call_function(test_the_order_of_arguments_counts, (argument,)),))
    with pytest.raises(hashing.NotCacheable):
        key_half(gm, [], {})
    with pytest.raises(hashing.NotCacheable):
        key_half(make_fx(torch.sin)(torch.zeros(1)), [], {"object": object()})


def test_a_graph_of_nested_tensors_stays_in_the_job_and_says_why() -> None:
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    reasons = []

    def compiler(gm: Any, inputs: list[Any]) -> Any:
        with pytest.raises(hashing.NotCacheable) as reason:
            key_half(gm, inputs, {})
        reasons.append(str(reason.value))
        return make_boxed_func(gm)

    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    torch.compile(torch.sin, backend=aot_autograd(fw_compiler=compiler))(nested)
    assert reasons == ["PyTorch cannot save the sizes of nested tensors"]


def test_an_operator_that_cannot_be_traced_once_more_keeps_a_graph_in_the_job() -> None:
    """PyTorch 2.14 puts one around the random numbers of a checkpointed step; a graph by itself is traced anew."""
    from torch._prims.rng_prims import run_and_save_rng_state, run_with_rng_state

    if not run_and_save_rng_state.cacheable():
        pytest.skip("this PyTorch saves no code that calls it")

    def calling(operator: Any) -> torch.fx.GraphModule:
        graph = torch.fx.Graph()
        graph.output(graph.call_function(operator, (torch.ops.aten.rand.default, [3])))
        return torch.fx.GraphModule(torch.nn.Module(), graph)

    with pytest.raises(hashing.NotCacheable, match="cannot trace code that calls run_and_save_rng_state once more"):
        hashing.digest_graph(calling(run_and_save_rng_state), [], {})
    assert hashing.digest_graph(calling(run_with_rng_state), [], {})


def test_an_object_of_the_job_is_named_by_its_type_not_by_its_stand_in() -> None:
    from torch._library.fake_class_registry import FakeScriptObject

    mesh = FakeScriptObject(None, "torch.distributed.device_mesh.DeviceMesh", None)
    for value, kind in ((mesh, "DeviceMesh"), (object(), "object")):
        with pytest.raises(hashing.NotCacheable, match=rf"an object of the job \({kind}\)"):
            hashing.described(value)


def test_options_that_inductor_does_not_know_are_refused_as_it_does() -> None:
    assert backend.checked_options({"max-autotune": True}) == {"max_autotune": True}
    with pytest.raises(RuntimeError, match="Unexpected optimization option max_autotun"):
        backend.checked_options({"max_autotun": True})
    with pytest.raises(RuntimeError, match="Unexpected type of attr fallback_random"):
        backend.checked_options({"fallback_random": "yes"})
