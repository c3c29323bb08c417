"""Compiles one graph with Inductor, saves the artifact with its kernels, and loads both again.

PyTorch's artifact (`CompiledArtifact.save`) names the shared libraries it runs by the hash of their source, but does
not carry them; where they are missing, loading builds them again, which takes nearly as long as the compile did. So
they are kept beside the artifact, in a zip, and put where Inductor looks for them before the artifact is loaded
(`kernel_archive`).

Security: loading an artifact runs its code. It is loaded from bytes that passed the gate (`cache/trust.py`) and have
the digests of their record; a library of the same name in Inductor's directory is replaced unless it is the same.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._functorch.config as functorch_config
import torch._inductor.config as inductor_config
import torch.compiler.config as compiler_config
from torch._dynamo.symbolic_convert import TensorifyState
from torch._inductor import standalone_compile
from torch._inductor.runtime import triton_compat
from torch._inductor.runtime.cache_dir_utils import default_cache_dir
from torch._inductor.standalone_compile import CompiledArtifact
from torch.utils._python_dispatch import _disable_current_modes

from neuron_top.cache import trust
from neuron_top.cache.model import filenames
from neuron_top.compile.child_processes import die_with_parent, end_fork
from neuron_top.compile.compiler import NotSerializable
from neuron_top.compile.graphs import (
    broken_kernels,
    copying,
    directions,
    gpus,
    hashing,
    inductor_import,
    joined_kernels,
    kernel_archive,
    process_groups,
    quick_linker,
    ready_kernels,
    torch_functions,
    torch_settings,
    vector_instructions,
)
from neuron_top.compile.graphs.graph_file import SerializedGraph
from neuron_top.errors import CacheUnusable

_KEEPS_CONSTANTS = "donate_graph_module" in inspect.signature(standalone_compile).parameters
"""Where False, PyTorch copies the graph first, in its own way (see `graphs.copying`)."""
_NOTHING = "// neuron-top: compiled by nobody, only what comes before\n"
_IMPORTED_BY_COMPILES = (
    "sympy.combinatorics",
    "sympy.physics.units",
    "sympy.tensor.tensor",
    "torch._dynamo.backends.common",
    "torch._dynamo.repro.after_aot",
    "torch._export.passes",
    "torch._functorch._aot_autograd.graph_compile",
    "torch._functorch._activation_checkpointing.graph_info_provider",
    "torch._inductor.bounds",
    "torch._inductor.choices",
    "torch._inductor.codegen.cpp",
    "torch._inductor.codegen.cpp_wrapper_cpu",
    "torch._inductor.codegen.memory_planning",
    "torch._inductor.codegen.wrapper",
    "torch._inductor.extern_node_serializer",
    "torch._inductor.kernel_template_choice",
    "torch._inductor.runtime.triton_heuristics",
    "torch._inductor.hooks",
    "torch._subclasses.schema_check_mode",
    "torch.distributed.tensor.experimental",
    "torch.export._trace",
)
"""Modules that PyTorch otherwise imports in the middle of a compile, when they are first needed."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def warm_up() -> None:
    """Do once, before the first fork, what every compile begins with: imports and other preparations.

    Nothing is computed, no thread is left and no GPU is asked for, so that forks start clean. Raises RefusedForSafety,
    CacheUnusable: tests of the CPU run what they leave in Inductor's folder.
    """
    with _work_folder():
        pass
    with contextlib.suppress(ImportError):
        import tqdm  # type: ignore[import-untyped,unused-ignore]

        tqdm.tqdm.monitor_interval = 0  # PyTorch traces with a progress bar that is not shown but starts a thread
    vector_instructions.try_on_demand()
    quick_linker.use()
    joined_kernels.use()
    with gpus.counted_elsewhere():
        if torch.cuda.is_available():
            # Most graphs are then for the GPU; a fork that compiles for the CPU imports the rest itself.
            _import_compiler(gpus.imported_by_compiles())
            if triton_compat.HAS_TRITON:
                triton_compat.triton_key()  # a digest of all its files, which each compile for a GPU asks for
            check_work_folder()
        else:
            _prepare_for_the_cpu()
    torch_functions.replaced(compiling=True)  # a fork then looks only at what has changed


def _import_compiler(more: Sequence[str] = ()) -> None:
    inductor_import.import_inductor()
    from torch._inductor.codecache import torch_key
    from torch._inductor.codegen.common import init_backend_registration

    for name in (*_IMPORTED_BY_COMPILES, *more):
        with contextlib.suppress(ImportError):  # another version has it elsewhere
            importlib.import_module(name)
    torch_key()
    init_backend_registration()


def _prepare_for_the_cpu() -> None:
    """Make PyTorch's patterns, on the CPU though PyTorch would use a GPU if there is one, and test CPU and compiler."""
    from torch._inductor import cpu_vec_isa

    with _beside(vector_instructions.try_here), _beside(vector_instructions.try_all_but_the_largest):
        _import_compiler()
        _make_patterns()
    cpu_vec_isa.pick_vec_isa()
    check_work_folder()
    with contextlib.suppress(Exception):  # in another version each fork does it for itself
        _prepare_headers()


def _make_patterns() -> None:
    """Make the patterns with the arguments of the forks: for others PyTorch would make them again there, and fail."""
    from torch._inductor.fx_passes import joint_graph, post_grad

    asks_for_device = inspect.signature(joint_graph.lazy_init).parameters  # not yet in 2.10
    joint_graph.lazy_init(*[torch.device("cpu")] if asks_for_device else ())
    post_grad.lazy_init()


@contextlib.contextmanager
def _beside(work: Callable[[], object]) -> Iterator[None]:
    """Let a fork do this work, whose results are files, while the block runs.

    The fork leads its own session: if the block is left early, it is ended together with the C++ compiler it runs.
    """
    arrange = die_with_parent()
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            arrange()
            os.setsid()
            work()
        os._exit(0)
    try:
        yield
    except BaseException:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # the server's timer would interrupt it
        try:
            end_fork(pid)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise
    os.waitpid(pid, 0)


def _prepare_headers() -> None:
    """Prepare what every C++ compile needs: the compiler's version, the precompiled headers and their digests."""
    from torch._inductor.codecache import CppPythonBindingsCodeCache

    for code in (f"// at::vec::{_NOTHING}", _NOTHING):  # kernels with and without vector instructions
        CppPythonBindingsCodeCache.load_async(code, device_type="cpu", submit_fn=lambda compile_it: None)
        CppPythonBindingsCodeCache.cache.clear()


def compile_serialized(
    graph: SerializedGraph, outputs: Mapping[str, Path], *, module: str, digest: str, dump: str = ""
) -> dict[str, Any]:
    """Compile in this process, made for it, under the graph's own settings; returns `{"guards"}`.

    `digest`: the graph's, taken in the job; it also covers how a process handles the operators. `dump`: a folder for
    intermediate graphs, schedule and code; writing them does not change the result.

    Raises NotSerializable where this process cannot be made like the job's, where the graph's digest differs here, or
    where other code than PyTorch's compiles here.
    """
    if different := torch_settings.apply(graph.settings):
        raise NotSerializable(f"a compile process cannot take over {', '.join(different)}")
    try:
        found = hashing.digest_graph(graph.gm, graph.inputs, graph.settings)
    except hashing.NotCacheable as reason:
        raise NotSerializable(str(reason)) from None
    if found != digest:
        raise NotSerializable("in a compile process it is another graph, or its operators are handled in another way")
    _check_own_code()
    if dump:
        inductor_config.trace.enabled = True
        inductor_config.trace.debug_dir = dump
    has_groups = process_groups.register_stand_ins(graph.gm)
    if gpus.used_by(graph.gm):
        gpus.start_kernel_compilers()
    try:
        result = _compile(graph, outputs, module)
        _check_own_code()  # again: what replaces a function may wait until its module is imported
        return result
    except Exception as problem:
        if graph.stand_ins.unanswered:
            raise NotSerializable(graph.stand_ins.unanswered) from problem
        if has_groups and not isinstance(problem, (NotSerializable, OSError, MemoryError)):
            first_line = f"{type(problem).__name__}: {problem}".partition("\n")[0]
            raise NotSerializable(f"without the job's process groups, Inductor fails: {first_line}") from problem
        raise


def _check_own_code() -> None:
    """Raise NotSerializable where Inductor's functions are not its own.

    Code that Python runs by itself when a process starts (`sitecustomize`, of any folder of the job's search path, and
    extensions that PyTorch loads) can replace them here. No key knows of it, so what is compiled must not be shared.
    """
    if foreign := torch_functions.replaced(compiling=True):
        raise NotSerializable(f"in a compile process {foreign}")


def _compile(graph: SerializedGraph, outputs: Mapping[str, Path], module: str) -> dict[str, Any]:
    """Compile in this process, which has the graph's settings by now, and write the artifact's files.

    `module` goes into PyTorch's own cache keys, which know less than ours (not the values of constants, for one): so
    what it keeps of this compile is found for this module only, here and when the artifact is loaded.

    Raises NotSerializable for a graph whose code PyTorch cannot save.
    """
    check_work_folder()
    fake_mode = graph.fake_mode
    if copying.constants(graph.gm) and not _KEEPS_CONSTANTS:
        raise NotSerializable("this version of PyTorch cannot save code with the constants of its graph")
    donated: dict[str, Any] = {"donate_graph_module": True} if _KEEPS_CONSTANTS else {}
    before = set(kernel_archive.loaded())
    assumed = 0 if fake_mode.shape_env is None else len(fake_mode.shape_env.guards)
    caches = contextlib.ExitStack()  # PyTorch saves what its caches hold, so they are on, whatever the job wants
    caches.enter_context(compiler_config.patch(cache_key_tag=module, force_disable_caches=False))  # type: ignore[attr-defined]
    caches.enter_context(functorch_config.patch(enable_autograd_cache=True))
    caches.enter_context(inductor_config.patch(fx_graph_cache=True, freezing=False))  # frozen graphs never get here
    caches.enter_context(_floats_settled(fake_mode.shape_env))
    caches.enter_context(directions.compiled_as(graph.settings))

    def compiled() -> CompiledArtifact:
        return standalone_compile(
            copying.copied(graph.gm),
            list(graph.inputs),
            dynamic_shapes="from_tracing_context",
            **donated,
        )

    with torch._guards.tracing(torch._guards.TracingContext(fake_mode)), torch.no_grad(), caches:
        artifact = broken_kernels.written_anew(compiled)
        _save(artifact, outputs[filenames.INDUCTOR_ARTIFACT], compiled)
    kernels = [path for path in kernel_archive.loaded() if path not in before]
    kernel_archive.save(outputs[filenames.INDUCTOR_KERNELS], kernels)
    return {"guards": _guards(graph.inputs, fake_mode.shape_env, assumed)}


@contextlib.contextmanager
def _floats_settled(shape_env: Any) -> Iterator[None]:
    """Within the block, PyTorch does not ask for a second trace to make constants of floats.

    Dynamo traces a script again where a float cannot be an input (an epsilon, with `dynamic=True`). The graph of the
    second trace has it as a constant, but the shape environment still knows its symbol, and compiling the graph would
    ask for that second trace once more.
    """
    known = TensorifyState.force_specializations
    symbols = () if shape_env is None else hashing.symbol_hints(shape_env)
    TensorifyState.force_specializations = known | {str(symbol) for symbol in symbols}
    try:
        yield
    finally:
        TensorifyState.force_specializations = known


def load_artifact(artifact: bytes, kernels: bytes) -> Callable[..., Any]:
    """The compiled function of an entry, from the bytes that were checked.

    Raises RefusedForSafety for a work folder that belongs to somebody else, and whatever PyTorch raises for an artifact
    that is not its own.
    """
    with _work_folder() as folder:
        kernel_archive.place(kernels, folder)
    with open(os.memfd_create("neurontop-artifact", os.MFD_CLOEXEC), "wb") as file:  # PyTorch wants a path
        file.write(artifact)
        file.flush()
        # Under a trace, PyTorch loads constants without their values.
        with torch._guards.tracing(None), _disable_current_modes(), ready_kernels.loading(), gpus.kernels_ready():
            return CompiledArtifact.load(path=f"/proc/self/fd/{file.fileno()}", format="binary")


def check_work_folder() -> None:
    """Make sure that Inductor's folder is ours, as Inductor unpickles and executes what lies in it; make it if missing.

    Raises RefusedForSafety, CacheUnusable.
    """
    with _work_folder() as folder:
        _keep_headers_with_us(folder.path)


def _keep_headers_with_us(work_folder: str) -> None:
    """Keep precompiled headers below `work_folder` where PyTorch's default folder belongs to somebody else. PyTorch
    keeps them in the default one, whatever TORCHINDUCTOR_CACHE_DIR says, and the C++ compiler trusts them."""
    from torch._inductor import codecache

    try:
        with trust.open_folder(default_cache_dir(), make=True):
            pass
    except (trust.Untrusted, OSError):
        codecache._HEADER_DIR = f"{work_folder}/precompiled_headers"
        codecache._HEADER_LOCK_DIR = f"{codecache._HEADER_DIR}/locks"


def _work_folder() -> trust.CheckedFolder:
    place = os.environ.get("TORCHINDUCTOR_CACHE_DIR") or default_cache_dir()
    try:
        return trust.open_folder(place, make=True)
    except trust.Untrusted as reason:
        raise trust.refusal(reason, kernel_archive.ADVICE) from None
    except OSError as problem:
        raise CacheUnusable(f"Inductor's folder {place} cannot be used: {problem.strerror or problem}") from None


def guards_hold(expression: str, inputs: Sequence[Any], shape_env: Any) -> bool:
    """Whether the compiler's assumptions about sizes hold here; if so they become guards of this compile too."""
    if not expression:
        return True
    if shape_env is None:
        return False
    symbols = _symbolic(inputs)
    hints = [symbol.node.hint for symbol in symbols]
    if not shape_env.evaluate_guards_expression(expression, hints):
        return False
    return bool(shape_env.evaluate_guards_expression(expression, symbols))


def _guards(inputs: Sequence[Any], shape_env: Any, assumed: int) -> str:
    """The assumptions about the inputs' sizes, as an expression.

    Dynamo also makes assumptions about sizes that reach no graph, such as those of a tensor of which an input is a
    view; these hold in the job and are part of its key. They are among the first `assumed` guards, with which the
    compile began.

    Raises NotSerializable where the compile itself assumes something about a size that is not an input.
    """
    if shape_env is None:
        return ""
    symbols = _symbolic(inputs)
    known = {symbol.node.expr for symbol in symbols}
    of_inputs = [shape_env.simplify(guard.expr).free_symbols <= known for guard in shape_env.guards]
    if not all(of_inputs[assumed:]):
        raise NotSerializable("its compiled code assumes something of a size that is no input")
    if not symbols:
        return ""
    guards = [guard for guard, is_of_inputs in zip(shape_env.guards, of_inputs, strict=True) if is_of_inputs]
    return shape_env.produce_guards_expression(placeholders=symbols, guards=guards) or ""


def _symbolic(inputs: Sequence[Any]) -> list[torch.SymInt]:
    return [item for item in inputs if isinstance(item, torch.SymInt) and item.node.has_hint()]


def _save(artifact: CompiledArtifact, path: Path, compile_again: Callable[[], object]) -> None:
    """Write the artifact. Errors of saving are told from those of the disk, which are OSErrors."""
    try:
        artifact.save(path=str(path), format="binary")
    except (RuntimeError, AssertionError) as problem:
        reason = _why_not_kept(compile_again) or str(problem)
        raise NotSerializable(f"PyTorch cannot save its compiled code: {_in_short(reason)}") from problem


def _why_not_kept(compile_again: Callable[[], object]) -> str:
    """Why PyTorch cannot keep the code: it goes on silently, and gives the reason only where it is told to fail."""
    with functorch_config.patch(strict_autograd_cache=True):
        try:
            compile_again()
        except Exception as problem:  # noqa: BLE001 (whatever it is, it is what we ask for)
            return str(problem) or type(problem).__name__
    return ""


def _in_short(reason: str) -> str:
    """The first sentence, without addresses of this process, so that it is the same wherever the graph is compiled."""
    return _ADDRESS.sub("", re.split(r"\.\s|\n", reason)[0])
