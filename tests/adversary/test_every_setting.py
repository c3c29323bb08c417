"""Nothing that PyTorch's compiler looks at is forgotten: every field, every property, every variable of this version.

Each either changes the key, or keeps graphs from being shared, or stands in a list with the reason why it can do
neither harm nor good. A new one of a new version of PyTorch fails here until somebody has looked at it.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import os
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from neuron_top.compile.graphs import torch_settings  # noqa: E402
from neuron_top.compile.graphs.hashing import exactly  # noqa: E402

PYTORCH = Path(torch.__file__).parent
READ_ELSEWHERE = {
    "torch._export.config": "torch.export writes other files",
    "torch.utils.serialization.config": "how torch.save writes files",
    "torch.testing._internal.fake_config_module": "made for PyTorch's own tests",
    "torch.testing._internal.fake_config_module2": "made for PyTorch's own tests",
    "torch.testing._internal.fake_config_module3": "made for PyTorch's own tests",
}


class Foreign:
    """A value that no other process can know."""


def _modules() -> list[ModuleType]:
    return [torch_settings.config_module(name) for name in torch_settings.MODULES]


def _another(value: Any) -> Any:
    """A different value of the same kind; fails for a kind that nobody has thought of."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case None:
            return 7
        case list():
            return [*value, "another"]
        case tuple():
            return (*value, "another")
        case set():
            return {*value, "another"}
        case dict():
            return {**value, "another": 1}
    raise AssertionError(f"a setting of a new kind: {type(value)}")


@pytest.mark.parametrize("module", _modules(), ids=lambda module: module.__name__)
def test_every_field_changes_the_key_or_keeps_graphs_in_the_job_or_has_a_reason(module: ModuleType) -> None:
    harmless = torch_settings.WITHOUT_EFFECT.get(module.__name__, {})
    assert all(harmless.values())
    before = exactly(torch_settings.fields(module), {})
    for name, entry in module._config.items():
        if name in harmless or name.partition(".")[0] in harmless or getattr(entry, "deprecated", False):
            continue
        if entry.alias is not None:
            assert entry.alias.rpartition(".")[0] in torch_settings.MODULES, f"{name} is a field that nobody keys"
            continue
        with module.patch({name: _another(getattr(module, name))}):
            assert exactly(torch_settings.fields(module), {}) != before, name
        for value in (Foreign(), Foreign, lambda: None, [Foreign()]):
            with module.patch({name: value}):
                assert name in torch_settings.indescribable(torch_settings.fields(module)), name
    assert exactly(torch_settings.fields(module), {}) == before


def test_every_configuration_module_of_pytorch_is_looked_at() -> None:
    found = {
        ".".join(path.relative_to(PYTORCH.parent).with_suffix("").parts)
        for path in PYTORCH.rglob("*.py")
        if re.search(r"^_?install_config_module\(sys", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert found == {*torch_settings.MODULES, *READ_ELSEWHERE}


def test_a_field_of_the_script_says_which_it_is() -> None:
    reason = torch_settings.collect({"post_grad_custom_post_pass": Foreign()}).reason
    assert reason.startswith("torch._inductor.config.post_grad_custom_post_pass is ")
    assert reason.endswith("Foreign")
    assert torch_settings.collect().reason == ""


def _properties() -> Iterator[tuple[str, Any, str]]:
    """(name, holder, attribute) of what can be set below torch.backends."""
    backends = importlib.import_module("torch.backends")
    yield "backends.fp32_precision", backends, "fp32_precision"
    for found in pkgutil.iter_modules([str(PYTORCH / "backends")]):
        if found.name.startswith("_") or found.name in ("xeon", "python_native"):
            continue  # exporters of other formats, a launcher; overrides of kernels for accelerators
        module = importlib.import_module(f"torch.backends.{found.name}")
        for name, value in vars(type(module)).items():
            if type(value).__name__ == "ContextProp":
                yield f"{found.name}.{name}", module, name
            elif type(value).__name__ == "_FP32Precision":
                yield f"{found.name}.{name}.fp32_precision", value, "fp32_precision"
    for name in sorted(
        set(re.findall(r'name == "(\w+)"', inspect.getsource(type(torch.backends.cuda.matmul).__setattr__)))
    ):
        yield f"cuda.matmul.{name}", torch.backends.cuda.matmul, name


def _changed(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return "ieee"
        case (bool(), bool()):
            return (False, False)
        case None:
            return "greedy"
    raise AssertionError(f"a property of a new kind: {type(value)}")


@pytest.mark.parametrize(("name", "holder", "attribute"), _properties(), ids=lambda part: str(part)[:40])
def test_every_property_of_the_backends_changes_the_key(name: str, holder: Any, attribute: str) -> None:
    if name == "cuda.matmul.allow_tf32":
        pytest.skip("another name for fp32_precision of cuda.matmul, which is keyed")
    try:
        before = getattr(holder, attribute)
    except (AttributeError, RuntimeError):
        pytest.skip(f"{name} is absent here")
    if name == "cudnn.depthwise_kernel":
        pytest.skip("its values are names of kernels for CUDA; it is keyed by its value")
    keyed = exactly(torch_settings.collect().state, {})
    try:
        setattr(holder, attribute, _changed(before))
    except RuntimeError as refusal:
        pytest.skip(f"{name} cannot be set here: {refusal}")
    try:
        if getattr(holder, attribute) != before:
            assert exactly(torch_settings.collect().state, {}) != keyed
    finally:
        setattr(holder, attribute, before)
    assert exactly(torch_settings.collect().state, {}) == keyed


SETTERS: dict[str, Callable[[], Any]] = {
    "enable_flash_sdp": lambda: torch.backends.cuda.enable_flash_sdp(False),
    "enable_mem_efficient_sdp": lambda: torch.backends.cuda.enable_mem_efficient_sdp(False),
    "enable_math_sdp": lambda: torch.backends.cuda.enable_math_sdp(False),
    "enable_cudnn_sdp": lambda: torch.backends.cuda.enable_cudnn_sdp(False),
    "allow_fp16_bf16_reduction_math_sdp": lambda: torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True),
    "set_fastpath_enabled": lambda: torch.backends.mha.set_fastpath_enabled(False),
    "set_num_threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "set_default_dtype": lambda: torch.set_default_dtype(torch.float64),
    "set_default_device": lambda: torch.set_default_device("meta"),
    "set_float32_matmul_precision": lambda: torch.set_float32_matmul_precision("high"),
    "use_deterministic_algorithms": lambda: torch.use_deterministic_algorithms(True),
    "use_deterministic_algorithms, to warn": lambda: torch.use_deterministic_algorithms(True, warn_only=True),
    "fill_uninitialized_memory": lambda: setattr(torch.utils.deterministic, "fill_uninitialized_memory", False),
    "nnpack": lambda: torch.backends.nnpack.set_flags(False),
    "set_flush_denormal": lambda: torch.set_flush_denormal(True),
}


@pytest.mark.parametrize("name", SETTERS)
def test_every_function_that_sets_a_state_changes_the_key_and_a_compile_process_takes_it_over(name: str) -> None:
    before = torch_settings.collect().serializable()
    try:
        SETTERS[name]()
        during = torch_settings.collect().serializable()
        if name == "set_flush_denormal" and torch_settings.collect().state["denormals"]:
            pytest.skip("this processor keeps denormals")
        assert exactly(during, {}) != exactly(before, {})
        assert torch_settings.apply(before) == []
        assert torch_settings.apply(during) == []
    finally:
        torch_settings.apply(before)
        torch.set_default_device(None)


def test_what_a_compile_process_cannot_take_over_is_reported() -> None:
    sent = torch_settings.collect().serializable()
    sent["state"] = {**sent["state"], "cuda.linalg": "Another"}
    assert torch_settings.apply(sent) == ["cuda.linalg"]


def test_code_for_other_vector_instructions_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import cpu_vec_isa

    found = torch_settings.collect().serializable()
    monkeypatch.setattr(cpu_vec_isa, "pick_vec_isa", lambda: cpu_vec_isa.invalid_vec_isa)  # its test found no room
    monkeypatch.setattr(cpu_vec_isa, "valid_vec_isa_list", cpu_vec_isa.valid_vec_isa_list)  # put back afterwards
    assert exactly(torch_settings.collect().serializable(), {}) != exactly(found, {})
    assert torch_settings.apply(found) == ["vector_instructions"]


def test_a_process_that_finds_more_vector_instructions_compiles_for_those_of_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from torch._inductor import cpu_vec_isa

    sent = torch_settings.collect().serializable()
    monkeypatch.setattr(cpu_vec_isa, "valid_vec_isa_list", cpu_vec_isa.valid_vec_isa_list)  # put back afterwards
    sent["state"] = {**sent["state"], "vector_instructions": str(cpu_vec_isa.invalid_vec_isa)}
    assert torch_settings.apply(sent) == []
    assert cpu_vec_isa.pick_vec_isa() is cpu_vec_isa.invalid_vec_isa


def test_variables_are_taken_over_and_others_of_the_same_list_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in torch_settings.VARIABLES:  # so that each is as before afterwards
        monkeypatch.setenv(name, "/here")
        monkeypatch.delenv(name)
    os.environ["CPATH"] = "/here"
    sent = torch_settings.collect().serializable()
    assert sent["variables"]["CPATH"] == "/here"
    sent["variables"] = {"LIBRARY_PATH": "/there"}
    assert torch_settings.apply(sent) == []
    assert os.environ["LIBRARY_PATH"] == "/there"
    assert "CPATH" not in os.environ


class UnkeyedReason(enum.Enum):
    """Reasons why a variable that PyTorch's sources name is not keyed by itself."""

    CACHES = "where and whether PyTorch keeps compiled code"
    WORKERS = "how many helpers work, how they are started, how long they are waited for"
    DEBUGGING = "what is written down or drawn for a person who debugs"
    DEVICE = "which devices are seen: they are in the name of the cache's folder, and tensors tell theirs"
    RUNNING = "read when code runs, not when it is generated"
    ADDRESS = "an address in this very process, set by PyTorch itself for the code that it loads"
    TESTS = "for PyTorch's own tests and builds"
    SYSTEM = "where Windows or a loader finds things; the compiler's version is in the name of the cache's folder"


UNKEYED: dict[str, UnkeyedReason] = {
    "CI": UnkeyedReason.TESTS,
    "CONDA_EXE": UnkeyedReason.SYSTEM,
    "CUDA_VISIBLE_DEVICES": UnkeyedReason.DEVICE,
    "HALIDE_REPRO": UnkeyedReason.DEBUGGING,
    "INDUCTOR_TEST_DISABLE_FRESH_CACHE": UnkeyedReason.TESTS,
    "INDUCTOR_WRITE_SCHEDULER_GRAPH": UnkeyedReason.DEBUGGING,
    "KMP_DUPLICATE_LIB_OK": UnkeyedReason.SYSTEM,
    "LD_LIBRARY_PATH": UnkeyedReason.SYSTEM,
    "PYTORCH_GEN_PATTERNS": UnkeyedReason.TESTS,
    "ProgramFiles": UnkeyedReason.SYSTEM,
    "ProgramFiles(x86)": UnkeyedReason.SYSTEM,
    "TORCHINDUCTOR_AUTOTUNE_POOL_INACTIVITY_TIMEOUT": UnkeyedReason.WORKERS,
    "TORCHINDUCTOR_CACHE_DIR": UnkeyedReason.CACHES,
    "TORCHINDUCTOR_COMPILE_THREADS": UnkeyedReason.WORKERS,
    "TORCHINDUCTOR_CONV_LOGGING_FILE": UnkeyedReason.DEBUGGING,
    "TORCHINDUCTOR_DUMP_LAUNCH_PARAMS": UnkeyedReason.RUNNING,
    "TORCHINDUCTOR_DUMP_LAUNCH_TENSORS": UnkeyedReason.RUNNING,
    "TORCHINDUCTOR_FLEX_ATTENTION_LOGGING_FILE": UnkeyedReason.DEBUGGING,
    "TORCHINDUCTOR_FX_GRAPH_CACHE": UnkeyedReason.CACHES,
    "TORCHINDUCTOR_FX_GRAPH_CACHE_DEFAULT": UnkeyedReason.CACHES,
    "TORCHINDUCTOR_KERNELS_TO_DUMP": UnkeyedReason.RUNNING,
    "TORCHINDUCTOR_MM_LOGGING_FILE": UnkeyedReason.DEBUGGING,
    "TORCHINDUCTOR_PATTERN_MATCH_DEBUG": UnkeyedReason.DEBUGGING,
    "TORCHINDUCTOR_REDIS_HOST": UnkeyedReason.CACHES,
    "TORCHINDUCTOR_REDIS_PORT": UnkeyedReason.CACHES,
    "TORCHINDUCTOR_REDIS_URL": UnkeyedReason.CACHES,
    "TORCHINDUCTOR_WRITE_MISSING_OPS": UnkeyedReason.DEBUGGING,
    "TORCH_COMPILE_DEBUG": UnkeyedReason.DEBUGGING,
    "TORCH_CUSTOM_PYTHONPATH": UnkeyedReason.WORKERS,
    "TORCH_INDUCTOR_INSTALL_GXX": UnkeyedReason.SYSTEM,
    "TORCH_TNT_IN_USE": UnkeyedReason.WORKERS,
    "TORCH_WARM_POOL": UnkeyedReason.WORKERS,
    "TRITON_CACHE_DIR": UnkeyedReason.CACHES,
    "XLA_HLO_DEBUG": UnkeyedReason.DEBUGGING,
    "_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR": UnkeyedReason.ADDRESS,
}


def _variables() -> Iterator[tuple[str, str]]:
    """(name, file) of each environment variable in the sources of PyTorch's compiler."""
    for folder in ("_inductor", "_functorch"):
        for path in sorted((PYTORCH / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            constants = {
                target.id: node.value.value
                for node in tree.body
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            for node in ast.walk(tree):
                for name in _read_by(node):
                    value = constants.get(name.id) if isinstance(name, ast.Name) else getattr(name, "value", None)
                    if isinstance(value, str):
                        yield value, str(path.relative_to(PYTORCH))


def _read_by(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Call(func=ast.Attribute(attr="get" | "getenv" | "pop" | "setdefault") as function, args=[first, *_]):
            return [first] if re.search(r"\benviron\b|\bos\b", ast.unparse(function)) else []
        case ast.Subscript(value=value, slice=index):
            return [index] if ast.unparse(value).endswith("environ") else []
        case ast.Compare(left=left, comparators=[right]):
            return [left] if ast.unparse(right).endswith("environ") else []
    return []


def test_every_variable_that_the_compiler_reads_is_keyed_or_has_a_reason() -> None:
    configuration = {f"{name.removeprefix('torch.').replace('.', '/')}.py" for name in torch_settings.MODULES}
    forgotten = {
        name: file
        for name, file in _variables()
        if file not in configuration and not torch_settings.variable_counts(name) and name not in UNKEYED
    }
    assert forgotten == {}
