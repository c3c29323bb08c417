"""`torch.compile(model, backend="neurontop")`: every graph goes through the compile cache.

AOTAutograd splits what Dynamo captured into a forward and a backward graph (or an inference graph); each gets its key,
is looked up, compiled in another process if need be, and its artifact is loaded here. Inductor's own passes and
partitioner run before and in between, so that the code is what `backend="inductor"` would generate.

With `NEURON_EXTRACT_GRAPHS_ONLY=1` graphs are stored and nothing is computed: each graph returns tensors of the right
shape, filled with zeros, so that the job goes on to its next graph.

This module runs inside training processes: it imports no user interface, and a failure is either a clear `CompileError`
or, with `NEURONTOP_COMPILE_FALLBACK=1`, a warning; the graph then runs as captured, which is counted.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import torch
from torch import fx

from neuron_top.cache.model.keys import GRAPH_DIGITS, module_key
from neuron_top.compile import side_channel
from neuron_top.compile.compiler import NotSerializable
from neuron_top.compile.compilers.inductor import config_from_flags
from neuron_top.compile.graphs import (
    copying,
    description,
    gpus,
    graph_file,
    hashing,
    inductor_compile,
    inductor_import,
    other_pytorch,
    own_code,
    process_groups,
    torch_settings,
    vector_instructions,
)
from neuron_top.compile.graphs.directions import BACKWARD, FORWARD, INFERENCE, rounded, with_direction
from neuron_top.compile.torch import (
    before_trace,
    chosen_strides,
    compile_ahead,
    dispatch_cache,
    equal_blocks,
    in_job,
    loading,
    machine_locks,
    saved_strides,
    worker_memory,
    written_inputs,
)
from neuron_top.compile.torch.compile_beside import CompileBeside
from neuron_top.compile.torch.dispatch_cache import CachedGraph
from neuron_top.compile.torch.empty_outputs import empty_runner
from neuron_top.compile.torch.opaque_values import Cut, cut_opaque
from neuron_top.compile.wrapper.compiling import GraphToCompile
from neuron_top.compile.wrapper.flags import FLAGS_VARIABLE
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.errors import CompileError, NeuronTopError, UsageError
from neuron_top.events import CompileFellBack
from neuron_top.events.levels import LogLevel
from neuron_top.without_gc import seldom_gc

FALLBACK_VARIABLE = "NEURONTOP_COMPILE_FALLBACK"


class _Job(msgspec.Struct, frozen=True):
    """What all graphs of one call of the backend share: wrapper, patches to Inductor's settings, captured graph."""

    wrapper: Wrapper
    patches: dict[str, Any]
    captured: fx.GraphModule
    inputs: int
    """How many inputs the captured graph has."""
    beside: list[CompileBeside]
    """Compiles that run while the job goes on."""
    later: list[tuple[CachedGraph, Callable[[], CachedGraph]]]
    """Graphs whose function does not exist yet, and what waits for it."""


class _Traced(NamedTuple):
    """A graph that AOTAutograd made of the captured one."""

    direction: str
    gm: fx.GraphModule
    inputs: Sequence[Any]


class _Keyed(NamedTuple):
    """A traced graph with its key, in the form in which it is looked up and compiled."""

    graph: GraphToCompile
    inputs: Sequence[Any]
    """The arguments of `graph`: those of the traced graph without opaque ones."""
    cut: Cut | None
    groups: Mapping[str, str]
    """Process groups: canonical name → name in this process."""
    watch: worker_memory.Watch | None
    saved: saved_strides.ExpectedStrides
    """The strides that its backward graph is compiled for."""
    written: tuple[int, ...]
    """Positions of the traced graph's inputs that it writes to."""

    def function(self, runner: loading.Runner) -> CachedGraph:
        """The traced graph as a function, from its artifact's."""
        named = process_groups.naming(self.groups, runner)
        around = named if self.cut is None else self.cut.around(named)
        run = worker_memory.watching(around, self.watch)
        return self.function_of(equal_blocks.counting(run, self.graph.key.name, self.watch))

    def function_of(self, run: loading.Runner | None) -> CachedGraph:
        """The same, from a function of the traced graph's arguments; None: it does not exist yet."""
        module = "" if self.cut is not None or self.groups else self.graph.key.name
        return CachedGraph(module, self.watch, run, self.saved, self.graph.digest, self.written)


@machine_locks.first_compile()
def neurontop(
    gm: fx.GraphModule, example_inputs: list[Any], *, options: Mapping[str, Any] | None = None, mode: str | None = None
) -> Callable[..., Any]:
    """The backend. `options` are settings of Inductor (as with `backend="inductor"`), `mode` a name for some of them.

    Raises UsageError for invalid flags, CompileError where a graph does not compile.
    """
    inductor_import.import_inductor()
    wrapper = loading.job_wrapper()
    inductor_compile.check_work_folder()
    worker_memory.start()
    vector_instructions.try_on_demand()
    patches = _patches(wrapper, options, mode)
    _start_compiler(wrapper)  # it imports PyTorch while this process tries the compiler and traces the graph
    if not wrapper.options.extract_only:
        try:
            _check_cacheable(patches, gm)
        except hashing.NotCacheable as reason:
            _fell_back(wrapper, f"graph is compiled in the job, by Inductor alone: {reason}")
            return in_job.whole(gm, example_inputs, patches)
    return _traced_and_compiled(_Job(wrapper, patches, gm, len(example_inputs), [], []), example_inputs)


def _traced_and_compiled(job: _Job, example_inputs: list[Any]) -> Callable[..., Any]:
    """The captured graph as a function: AOTAutograd traces it, and each graph that it makes goes through the cache."""
    import torch._inductor.compile_fx as compile_fx
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch._aot_autograd.schemas import SerializableAOTDispatchCompiler
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.virtualized import V

    fake_mode = torch._guards.TracingContext.get().fake_mode

    def compiler(direction: str) -> SerializableAOTDispatchCompiler:
        return SerializableAOTDispatchCompiler(CachedGraph, functools.partial(_compile_one, job, direction))

    with (
        V.set_fake_mode(fake_mode),
        torch._inductor.config.patch(job.patches),
        torch._functorch.config.patch(before_trace.settings()),
        _dispatch(job, example_inputs),
        _all_ready(job),
        seldom_gc(),  # else garbage collection takes a tenth of a trace; Dynamo lets one thread in at a time
    ):
        return aot_autograd(
            fw_compiler=compiler(FORWARD),
            bw_compiler=compiler(BACKWARD),
            inference_compiler=compiler(INFERENCE),
            decompositions=select_decomp_table,
            partition_fn=compile_fx.partition_fn,
            keep_inference_input_mutations=True,
            **before_trace.passes(),
        )(before_trace.changed(job.captured, example_inputs), example_inputs)


def prepare() -> None:
    """Begin before the first graph is captured what can begin: the compile server, if misses are expected.

    Errors in settings or cache are left for the first graph to report.
    """
    with contextlib.suppress(NeuronTopError, OSError):
        inductor_compile.check_work_folder()
        torch_settings.have_pytorch_set_its_variables()  # set later, they would make the server be started again
        _start_compiler(loading.job_wrapper())


def _start_compiler(wrapper: Wrapper) -> None:
    if wrapper.expects_misses and machine_locks.claim_server_start():
        wrapper.start_compiler()


@contextlib.contextmanager
def _dispatch(job: _Job, inputs: Sequence[Any]) -> Iterator[None]:
    """Compile a captured graph, with what AOTAutograd has kept of it where that is known to be safe."""
    loading.compile_begins()
    options = job.wrapper.options
    tag = _fingerprint(job, inputs)
    if tag is None:
        with dispatch_cache.never(backward_too=job.wrapper.expects_misses):
            yield
    elif options.extract_only or options.no_cache:
        with dispatch_cache.in_force(tag, keep=False):
            yield
    else:
        with dispatch_cache.in_force(tag, keep=True), dispatch_cache.first_alone(tag, job.wrapper.log.remark) as waited:
            loading.compile_begins(waited)
            if not waited and job.wrapper.expects_misses:
                job.wrapper.start_compiler()
            yield


def _fingerprint(job: _Job, inputs: Sequence[Any]) -> str | None:
    caching = torch._functorch.config.enable_autograd_cache and not torch.compiler.config.force_disable_caches
    if not caching or not dispatch_cache.wanted():
        return None

    def surroundings() -> Iterator[str]:
        yield job.wrapper.compiler.directory()
        yield str(job.wrapper.options.compiler_flags)
        yield hashing.exactly(_shareable_settings(job.patches, job.captured), {})

    try:
        with _known_to_us():
            return dispatch_cache.fingerprint(job.captured, inputs, surroundings())
    except hashing.NotCacheable as reason:
        job.wrapper.log.remark_once(f"graph is traced at every start: {reason}", level=LogLevel.INFO)
        return None


def _check_cacheable(patches: Mapping[str, Any], gm: fx.GraphModule) -> None:
    """Raise NotCacheable where under the settings in force `gm` can only be compiled in the job.

    Vector instructions are never a reason, so they are left out: to find them takes seconds if Inductor's folder is
    empty, and by the time the graph is traced the compile server has tried them.
    """
    if in_job.freezes(patches):
        raise hashing.NotCacheable("the values of parameters are frozen into its code")
    if in_job.is_for_a_file():
        raise hashing.NotCacheable("the script saves it in a file of its own")
    with _known_to_us():
        _shareable(torch_settings.collect(patches, cpu_code=False), gm)


def _shareable_settings(patches: Mapping[str, Any], gm: fx.GraphModule) -> dict[str, Any]:
    """All settings in force. Raises NotCacheable where they do not let the code be shared."""
    return _shareable(torch_settings.collect(patches, cpu_code=gpus.cpu_code_in(gm, patches)), gm)


def _shareable(settings: torch_settings.TorchSettings, gm: fx.GraphModule) -> dict[str, Any]:
    found = settings.serializable()
    of_settings = settings.reason or process_groups.reason_to_stay(found)
    if reason := of_settings or own_code.foreign() or gpus.reason_to_stay(found, gm):
        raise hashing.NotCacheable(reason)
    return found


@contextlib.contextmanager
def _known_to_us() -> Iterator[None]:
    """Within the block, an interface of PyTorch that has changed only keeps the graph out of the cache."""
    try:
        yield
    except Exception as problem:
        if unknown := other_pytorch.mismatch(problem):
            raise hashing.NotCacheable(unknown) from problem
        raise


def _patches(wrapper: Wrapper, options: Mapping[str, Any] | None, mode: str | None) -> dict[str, Any]:
    """Inductor settings of this compile: flags first, then the mode, then the caller's options.

    Raises UsageError for a setting or value in the flags that this Inductor does not know.
    """
    patches, unknown = config_from_flags(wrapper.options.compiler_flags)
    for name in patches:
        if not hasattr(torch._inductor.config, name):
            raise UsageError(f"{FLAGS_VARIABLE}: Inductor {torch.__version__} has no setting {name}")
    try:
        patches = checked_options(patches)
    except RuntimeError as problem:
        raise UsageError(f"{FLAGS_VARIABLE}: {problem}") from problem
    if unknown:
        wrapper.log.remark_once(f"flags that mean nothing to Inductor (hashed all the same): {' '.join(unknown)}")
    if mode is not None and mode != "default":
        patches.update(torch._inductor.list_mode_options(mode))
    return patches | (checked_options(options) if options else {})


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """`options` as settings of Inductor. Raises RuntimeError, as PyTorch words it, for a wrong name or type."""
    found: dict[str, Any] = torch._TorchCompileInductorWrapper(None, dict(options), None).config  # type: ignore[no-untyped-call]
    return found


def _compile_one(job: _Job, direction: str, gm: fx.GraphModule, inputs: Sequence[Any]) -> CachedGraph:
    """A graph that AOTAutograd made, as a function; for a forward graph it may be ready later (see `_all_ready`)."""
    if direction == BACKWARD:
        _keep_buffers()
    if not any(node.op.startswith("call_") for node in gm.graph.nodes):
        return _here(lambda arguments: gm(*arguments))  # it only passes values on: there is nothing to compile or keep
    traced = _Traced(direction, gm, inputs)
    try:
        return _or_in_job(job, traced, lambda: _from_cache(job, traced))
    except Exception as failure:
        if direction == BACKWARD and torch._functorch.config.force_non_lazy_backward_lowering:
            return _here(functools.partial(_raise, failure))  # compiled early; perhaps the backward pass never runs
        raise


def _or_in_job(job: _Job, traced: _Traced, make: Callable[[], CachedGraph]) -> CachedGraph:
    """The result of `make`; if the graph cannot be cached, compile it in this process instead."""
    wrapper, (direction, gm, inputs) = job.wrapper, traced
    try:
        with _known_to_us():
            return make()
    except (hashing.NotCacheable, NotSerializable) as reason:
        _fell_back(wrapper, f"{direction} graph cannot be cached ({reason}); compiled in the job")
        return _here(
            empty_runner(gm)
            if wrapper.options.extract_only
            else in_job.one(direction, gm, inputs, job.captured, job.inputs, job.patches)
        )
    except CompileError as failure:
        if os.environ.get(FALLBACK_VARIABLE, "") not in ("1", "true"):
            raise
        _fell_back(wrapper, f"{direction} graph runs uncompiled ({failure})")
        return _here(lambda arguments: gm(*arguments))


def _from_cache(job: _Job, traced: _Traced) -> CachedGraph:
    """The function of a graph that can be cached. Raises NotCacheable, NotSerializable, CompileError."""
    direction, gm, inputs = traced
    copy = copying.copied(gm)
    if direction == INFERENCE:
        return _from_cache_as(job, traced, copy, saved_strides.NOTHING)
    if direction == BACKWARD:
        laid_out = traced._replace(inputs=chosen_strides.laid_out(copy, inputs))
        return _from_cache_as(job, laid_out, copy, saved_strides.NOTHING)
    laid_out = traced._replace(inputs=chosen_strides.laid_out(copy, inputs, chosen_strides.of_saved(gm, inputs)))
    other = chosen_strides.reported(gm, copy)
    made = _from_cache_as(job, laid_out, copy, saved_strides.expected_strides(copy))
    chosen_strides.report(other)
    return made


def _from_cache_as(
    job: _Job, traced: _Traced, copy: fx.GraphModule, saved: saved_strides.ExpectedStrides
) -> CachedGraph:
    """`copy`: the graph as it is compiled. `saved`: the strides that its backward graph is compiled for."""
    wrapper, keyed = job.wrapper, _keyed(job, traced, copy, saved)
    if wrapper.options.extract_only:
        wrapper.extract(keyed.graph)
        return _here(empty_runner(traced.gm))
    if runner := loading.known(keyed.graph):
        return keyed.function(runner)
    machine_locks.let_the_server_go_first(lambda: wrapper.is_begun(keyed.graph.key))
    compile_ahead.asked_for(wrapper, keyed.graph.key)
    # Assumptions about sizes may not hold here.
    if traced.direction != FORWARD or hashing.shape_environment(keyed.inputs) is not None:
        return keyed.function(loading.load(wrapper, keyed.graph, keyed.inputs))
    return _compiled_beside(job, traced, keyed)


def _compiled_beside(job: _Job, traced: _Traced, keyed: _Keyed) -> CachedGraph:
    """The function of a graph whose compile, if it needs one, runs while AOTAutograd goes on."""
    beside = CompileBeside(job.wrapper, keyed.graph)
    job.beside.append(beside)
    beside.start()
    load = functools.partial(loading.load, job.wrapper, keyed.graph, keyed.inputs, beside.finish)
    if not beside.is_under_way:
        return keyed.function(load())
    later = keyed.function_of(None)
    ready = functools.partial(_or_in_job, job, traced, lambda: keyed.function(load()))
    job.later.append((later, ready))
    return later


@contextlib.contextmanager
def _all_ready(job: _Job) -> Iterator[None]:
    """After the block, wait for the compiles that it began and that still run; end them on an interrupt."""
    try:
        yield
        with torch.no_grad(), torch._C._DisableAutocast():  # as AOTAutograd has it for its compilers
            for later, ready in job.later:
                later.run = ready().run
    except Exception:
        for beside in job.beside:
            with contextlib.suppress(Exception):
                beside.finish()  # other processes may wait for what it compiles
        raise
    except BaseException:
        for beside in job.beside:
            beside.end()
        raise


def _keep_buffers() -> None:
    """Our backward code takes no buffers from the forward graph ("donated"), so it may run any number of times."""
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.fw_metadata is not None:
        context.fw_metadata.bw_donated_idxs = []


def _raise(failure: Exception, _arguments: list[Any]) -> None:
    raise failure


def _here(run: Callable[[list[Any]], Any]) -> CachedGraph:
    """Wrap a function that only this process has."""
    return CachedGraph("", None, run)


def _keyed(job: _Job, traced: _Traced, copy: fx.GraphModule, saved: saved_strides.ExpectedStrides) -> _Keyed:
    """Key and, for a miss, content of a graph. `copy` belongs to us: it is stripped to what is serialized."""
    wrapper, (direction, gm, inputs) = job.wrapper, traced
    found = _shareable_settings(job.patches, copy)  # read again: a backward graph may be compiled later
    cut = cut_opaque(copy)
    places = rounded(gm) if direction == FORWARD else []
    if cut is not None and places:
        places[0] = cut.without_passed(places[0])
    inputs = list(inputs) if cut is None else [inputs[place] for place in cut.kept]
    settings = with_direction(found, direction, places)
    groups = process_groups.canonicalize(copy)
    hashing.strip_unserialized(copy)
    digest = hashing.digest_graph(copy, inputs, settings)
    key = module_key(digest[:GRAPH_DIGITS], wrapper.options.compiler_flags)
    text = description.describe(copy, module=key.name, direction=direction, compiler=wrapper.compiler.directory())
    loading.describe(wrapper, text)
    dispatch_cache.name_for_waiting(key.name)
    graph = GraphToCompile(
        key=key,
        digest=digest,
        data=functools.partial(_dumped, copy, inputs, settings),
        description=functools.partial(msgspec.json.encode, text),
    )
    return _Keyed(graph, inputs, cut, groups, worker_memory.watch(direction), saved, written_inputs.places(gm))


def _dumped(gm: fx.GraphModule, inputs: Sequence[Any], settings: Mapping[str, Any]) -> bytes:
    try:
        return graph_file.dump(gm, inputs, settings)
    except Exception as problem:
        raise NotSerializable(f"{type(problem).__name__}: {problem}") from problem


def _fell_back(wrapper: Wrapper, reason: str) -> None:
    wrapper.log.remark(reason)
    side_channel.emit(CompileFellBack(reason=reason, **side_channel.reporter()))
