"""Whether PyTorch's functions and kernels are its own: what a script changes in them is seen, wherever it does so."""

from __future__ import annotations

import builtins
import cmath
import copyreg
import functools
import math
import operator
import subprocess
import types
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

import torch._decomp.decompositions as decompositions  # noqa: E402
import torch._functorch.partitioners as partitioners  # noqa: E402
import torch._inductor.decomposition as decomposition  # noqa: E402
import torch._prims_common as prims_common  # noqa: E402
import torch._subclasses.fake_impls as fake_impls  # noqa: E402

from neuron_top.compile.graphs import torch_functions, torch_kernels  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

Undo = Callable[[], object]


def foreign(*arguments: Any) -> Any:
    """A function of the script."""
    return arguments[0]


class Foreign:
    """Something of the script that can be called."""

    def __call__(self, *arguments: Any) -> Any:
        return arguments[0]


def put(holder: Any, name: str, item: Any) -> Undo:
    """Set an attribute; what takes it back."""
    had = not hasattr(holder, "__dict__") or name in vars(holder) or name.startswith("__")
    before = getattr(holder, name, None)
    setattr(holder, name, item)
    return lambda: setattr(holder, name, before) if had else delattr(holder, name)


def table(entries: dict[Any, Any], key: Any, item: Any) -> Undo:
    """Set an entry of a table; what takes it back."""
    before = entries[key]
    entries[key] = item
    return lambda: entries.__setitem__(key, before)


def wrapped_by_pytorch() -> Any:
    """A function of the script in one of PyTorch's wrappers: name, module and code are PyTorch's."""
    wrapper = decompositions.pw_cast_for_opmath(foreign)
    wrapper.__module__, wrapper.__qualname__ = "torch._decomp.decompositions", "silu"
    return wrapper


def registered() -> Undo:
    """A row of the script in a table of PyTorch whose rows hold functions."""
    fake_impls.register_op_impl(foreign)(foreign)
    return lambda: fake_impls.op_implementations_checks.pop()


def held_by(wrapper: Any) -> types.CellType:
    """The cell in which one of PyTorch's wrappers holds a function."""
    found: types.CellType = next(cell for cell in wrapper.__closure__ if callable(cell.cell_contents))
    return found


def with_other_names(function: Any) -> Any:
    """One of PyTorch's functions that finds other things than PyTorch's under the names in its code."""
    return types.FunctionType(
        function.__code__, {**function.__globals__, "torch": math}, "silu", closure=function.__closure__
    )


def inner_code() -> Undo:
    """Other code in a function that one of PyTorch's wrappers holds."""
    inner = held_by(decompositions.silu_backward).cell_contents
    return put(inner, "__code__", inner.__code__.replace(co_firstlineno=1))


IN_PYTHON = {
    "a function of a module": lambda: put(decompositions, "silu", foreign),
    "a method": lambda: put(torch.Tensor, "add", foreign),
    "a method that hides one of a base class": lambda: put(torch.nn.ReLU, "_call_impl", foreign),
    "a method that Python calls": lambda: put(torch.nn.ReLU, "__instancecheck__", foreign),
    "a property": lambda: put(torch.Tensor, "mT", property(foreign)),
    "an object that can be called": lambda: put(torch.nn.functional, "silu", Foreign()),
    "a function in a wrapper": lambda: put(decompositions, "silu", wrapped_by_pytorch()),
    "a function that is remembered": lambda: put(decompositions, "silu", functools.cache(foreign)),
    "a function for each type": lambda: put(decompositions, "silu", functools.singledispatch(foreign)),
    "a mock": lambda: put(decompositions, "silu", mock.Mock(side_effect=foreign)),
    "an object in a wrapper": lambda: put(decompositions, "silu", decompositions.pw_cast_for_opmath(Foreign())),
    "a remembered function in a wrapper": lambda: put(
        decompositions, "silu", decompositions.pw_cast_for_opmath(functools.cache(foreign))
    ),
    "a class": lambda: put(decompositions, "Reduction", Foreign),
    "a row of a table": registered,
    "an entry of a table": lambda: table(
        fake_impls.op_implementations_dict, next(iter(fake_impls.op_implementations_dict)), foreign
    ),
    "the code of a function": lambda: put(partitioners.default_partition, "__code__", foreign.__code__),
    "the code in a wrapper": inner_code,
    "what a wrapper holds": lambda: put(held_by(decompositions.silu_backward), "cell_contents", foreign),
    "what a wrapper of PyTorch's holds": lambda: put(
        held_by(decompositions.silu_backward), "cell_contents", decompositions.hardswish
    ),
    "the defaults of a function": lambda: put(decompositions.silu, "__defaults__", (2.0,)),
    "a model for a function": lambda: put(decompositions, "silu", torch.nn.Softplus()),
    "a method of a model": lambda: put(decompositions, "silu", torch.nn.Softplus().forward),
    "a method of a tensor": lambda: put(decompositions, "silu", torch.ones(1).mul),
    "an object of Python's that calls": lambda: put(math, "sqrt", operator.methodcaller("bit_length")),
    "other operators": lambda: put(decomposition, "aten", type(torch.ops.aten)("aten")),
    "a class of torch": lambda: put(torch, "finfo", Foreign),
    "a function of Python's": lambda: put(math, "sqrt", foreign),
    "a built-in function": lambda: put(builtins, "max", foreign),
    "a namespace for a module": lambda: put(decompositions, "math", types.SimpleNamespace(pi=3.0)),
    "another module of that name": lambda: put(decompositions, "math", types.ModuleType("math")),
    "names of its own for a function": lambda: put(decompositions, "silu", with_other_names(decompositions.hardswish)),
    "the partitioner": lambda: put(partitioners, "min_cut_rematerialization_partition", foreign),
}


@pytest.fixture
def looked_through() -> Iterator[None]:
    """PyTorch as it is here: nothing is replaced."""
    assert torch_functions.replaced() == ""
    yield
    assert torch_functions.replaced() == ""


@pytest.mark.parametrize("change", IN_PYTHON)
@pytest.mark.usefixtures("looked_through")
def test_a_change_in_python_is_seen_and_gone_when_it_is_undone(change: str) -> None:
    undo = IN_PYTHON[change]()
    try:
        assert "the script" in torch_functions.replaced()
    finally:
        undo()


IN_ANOTHER_PLACE = {
    "a method in C": lambda: put(torch.Tensor, "add", torch.Tensor.sub),
    "a decomposition": lambda: put(decompositions, "silu", decompositions.hardswish),
    "a function that is remembered": lambda: put(decompositions, "silu", functools.cache(decompositions.hardswish)),
    "a function in C": lambda: put(torch._C._nn, "gelu", torch._C._nn.silu),
    "a function of Python's": lambda: put(math, "sqrt", math.cbrt if hasattr(math, "cbrt") else math.exp),
    "a built-in function": lambda: put(builtins, "max", builtins.min),
    "a function with arguments": lambda: put(math, "sqrt", functools.partial(math.pow, 2.0)),
    "a number": lambda: put(math, "pi", 3.0),
    "a number of torch": lambda: put(torch, "pi", 3.0),
    "a type": lambda: put(torch, "float", torch.float64),
    "a type in a table": lambda: table(prims_common._computation_dtype_map, torch.float16, torch.float16),
    "a class": lambda: put(torch, "finfo", torch.iinfo),
    "a module": lambda: put(decompositions, "math", cmath),
    "an operator": lambda: table(
        decomposition.decompositions, torch.ops.aten.silu.default, torch.ops.aten.hardswish.default
    ),
}


@pytest.mark.parametrize("change", IN_ANOTHER_PLACE)
@pytest.mark.usefixtures("looked_through")
def test_one_of_pytorchs_functions_in_another_ones_place_changes_the_digest(change: str) -> None:
    before = torch_functions.places()
    undo = IN_ANOTHER_PLACE[change]()
    try:
        assert torch_functions.replaced() == ""
        assert torch_functions.places() != before
    finally:
        undo()
    assert torch_functions.replaced() == ""
    assert torch_functions.places() == before


def test_a_method_of_a_library_that_pytorch_does_not_name_is_no_change() -> None:
    """transformers puts one into Module."""
    undo = put(torch.nn.Module, "neurontop_tests_method", foreign)
    try:
        assert torch_functions.replaced() == ""
    finally:
        undo()


def test_how_a_library_copies_its_own_types_is_no_change() -> None:
    copyreg.pickle(Foreign, foreign)
    try:
        assert torch_functions.replaced() == ""
    finally:
        del copyreg.dispatch_table[Foreign]


def test_every_default_of_a_function_is_described() -> None:
    def function(padding: Any = None, *, flags: Any = ()) -> None:
        del padding, flags

    function.__module__ = "torch.nn.functional"
    texts = {torch_functions.text(function)}
    for changed in ({"__defaults__": ((1, 1),)}, {"__defaults__": ((0, 1),)}, {"__kwdefaults__": {"flags": (0,)}}):
        for name, value in changed.items():
            setattr(function, name, value)
            texts.add(torch_functions.text(function))
    assert len(texts) == 4


def test_which_function_another_one_closes_over_is_described() -> None:
    """The same wrapper of PyTorch's, with the same name: a process that skips the trace has never seen another."""
    before = torch_functions.text(decompositions.silu)
    undo = put(held_by(decompositions.silu), "cell_contents", held_by(decompositions.hardswish).cell_contents)
    try:
        assert torch_functions.text(decompositions.silu) != before
    finally:
        undo()
    assert torch_functions.text(decompositions.silu) == before


def test_the_arguments_of_a_partial_function_are_described() -> None:
    functions = [math.pow, 2.0], [math.pow, 3.0], [math.pow, math.sqrt], [math.fmod, 2.0]
    texts = {torch_functions.text(functools.partial(*parts)) for parts in functions}
    assert len(texts | {torch_functions.text(functools.partial(math.pow, y=2.0))}) == 5


def test_what_a_function_does_is_described() -> None:
    """Code with another constant has the same file, name and line; a process may have put it there before it looked."""
    function = decompositions.hardswish
    while function.__closure__:
        function = held_by(function).cell_contents
    code = function.__code__
    other = code.replace(co_consts=tuple(4 if constant == 3 else constant for constant in code.co_consts))
    assert other.co_consts != code.co_consts
    before = torch_functions.text(decompositions.hardswish)
    undo = put(function, "__code__", other)
    torch_functions._checksums.clear()
    try:
        assert torch_functions.text(decompositions.hardswish) != before
    finally:
        undo()
        torch_functions._checksums.clear()
    assert torch_functions.text(decompositions.hardswish) == before


def test_the_kernels_here_are_pytorchs_own() -> None:
    assert torch_kernels.replaced() == ""


def test_a_type_that_pytorch_defines_in_c_is_told_from_one_that_a_script_gives_its_name() -> None:
    assert torch_kernels._is_in_c(type(torch.ops.aten.sin.default._op))
    assert torch_kernels._is_in_c(torch.Generator)
    assert not torch_kernels._is_in_c(type("Generator", (), {"__module__": "torch._C"}))
    assert not torch_kernels._is_in_c(type(foreign))


REGISTERED = {
    "a library": """
library = torch.library.Library("aten", "IMPL")
library.impl("mul.Tensor", lambda x, y: x, "Meta", allow_override=True)""",
    "impl": 'torch.library.impl("aten::sin", "CompositeExplicitAutograd")(lambda x: x)',
    "register_kernel": 'torch.library.register_kernel("aten::cos", "cpu")(lambda x: x)',
    "register_fake": 'torch.library.register_fake("aten::tan")(lambda x: x)',
    "register_autograd": 'torch.library.register_autograd("aten::tan", lambda context, gradient: gradient)',
    "register_torch_dispatch": """
torch.library.register_torch_dispatch("aten::tan", torch.Tensor, lambda *rest: None)""",
    "py_impl": """
torch.ops.aten.add.Tensor.py_impl(torch._C.DispatchKey.AutogradCPU)(lambda x, y: x)""",
    "py_impl for a mode": """
from torch._subclasses.functional_tensor import FunctionalTensorMode
torch.ops.aten.add.Tensor.py_impl(FunctionalTensorMode)(lambda mode, x, y: x)""",
    "a function in the cache of an operator": """
torch.ops.aten.add.Tensor._dispatch_cache[torch._C.DispatchKey.AutogradCPU] = lambda x, y: x""",
    "a function of PyTorch in the cache of an operator": """
torch.ops.aten.add.Tensor._dispatch_cache[torch._C.DispatchKey.AutogradCPU] = torch._refs.sub""",
    "another key in the cache of an operator": """
torch.ops.aten.add.Tensor._dispatch_cache[torch._C.DispatchKey.AutogradCPU] = torch._C.DispatchKey.CPU""",
    "a method of an operator": "torch.ops.aten.add.Tensor.decompose = lambda x, y: x",
    "what another operator calls": "torch.ops.aten.sin.default._op = torch.ops.aten.cos.default._op",
    "another operator of a name": "torch.ops.aten.round = torch.ops.aten.floor",
    "another overload of a name": "torch.ops.aten.sum.dim_IntList = torch.ops.aten.mean.dim",
    "a function for an operator": "torch.ops.aten.round = lambda x: x",
    "what an operator calls": "torch.ops.aten.sin.default._op = lambda x: x",
    "prims": """
library = torch.library.Library("prims", "IMPL")
library.impl("sin", lambda x: x, "Meta", allow_override=True)""",
}


@pytest.mark.parametrize("way", REGISTERED)
def test_a_kernel_that_the_script_registers_is_seen(way: str) -> None:
    program = f"""
import torch
from neuron_top.compile.graphs import torch_kernels
assert torch_kernels.replaced() == ""
{REGISTERED[way]}
print(torch_kernels.replaced())
"""
    done = subprocess.run([*warm_python(), "-c", program], capture_output=True, text=True, check=False)
    if "already has an DispatchKey::Meta implementation" in done.stderr:
        pytest.skip("this PyTorch refuses it")
    assert done.returncode == 0, done.stderr
    beginnings = ("the script gives aten", "the script replaces", "the script changes", "a kernel of ")
    assert done.stdout.startswith(beginnings), done.stdout


OF_ANOTHER_OPERATOR = """
import torch, torch._refs
from neuron_top.compile.graphs import torch_functions, torch_kernels
from torch._C import DispatchKey

def digest():
    assert torch_functions.replaced() == torch_kernels.replaced() == ""
    return torch_functions.places() + torch_kernels.places()

add, sub = torch.ops.aten.add.Tensor, torch.ops.aten.sub.Tensor
found = [digest()]
add(torch.ones(3), torch.ones(3))
with torch._dispatch.python.enable_python_dispatcher():
    (torch.ones(3) + torch.ones(3)).sin()
assert add._dispatch_cache
found.append(digest())
add.py_impl(DispatchKey.AutogradCPU)(torch._refs.sub)
found.append(digest())
add.py_kernels[DispatchKey.AutogradCPU] = torch._refs.mul
found.append(digest())
sub.py_kernels[DispatchKey.AutogradCPU] = add.py_kernels.pop(DispatchKey.AutogradCPU)
found.append(digest())
del sub.py_kernels[DispatchKey.AutogradCPU]
found.append(digest())
print(*[found.index(one) for one in found])
"""


def test_a_function_of_pytorchs_as_another_operators_kernel_changes_the_digest_and_a_use_does_not() -> None:
    done = subprocess.run([*warm_python(), "-c", OF_ANOTHER_OPERATOR], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["0", "0", "2", "3", "4", "0"], done.stderr


def test_a_rank_that_prints_nothing_is_not_taken_for_one_that_changes_python(monkeypatch: pytest.MonkeyPatch) -> None:
    before = torch_functions.places()
    monkeypatch.setattr(builtins, "print", foreign)
    assert torch_functions.replaced() == ""
    assert torch_functions.places() == before
