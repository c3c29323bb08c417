"""`torch.compile(model, backend="neurontop")`: every graph goes through the compile cache.

AOTAutograd splits what Dynamo captured into a forward and a backward graph (or an inference graph); each gets its key,
is looked up, compiled in another process if need be, and its artefact is loaded here. Inductor's own passes and
partitioner run on the way, so that the code is what `backend="inductor"` would generate.

With `NEURON_EXTRACT_GRAPHS_ONLY=1` graphs are stored and nothing is computed: what runs gives tensors of the right
shape, filled with zeros, so that the job goes on to its next graph.

This module runs inside training processes: it imports no user interface, and what goes wrong here is either a clear
`CompileError` or, with `NEURONTOP_COMPILE_FALLBACK=1`, a warning and the graph run as captured, which is counted.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import torch
from torch import fx

from neuron_top.cache.keys import module_key
from neuron_top.compile import graph_description, graph_file, graph_hash, inductor_compile, side_channel, worker_memory
from neuron_top.compile.compilers.base import CannotTravel, CompileOutcome, CompileTask
from neuron_top.compile.compilers.inductor import Inductor, config_from_flags
from neuron_top.compile.empty_outputs import empty_runner
from neuron_top.compile.flags import parse_environment
from neuron_top.compile.opaque_values import cut_opaque
from neuron_top.compile.wrapper import Graph, Wrapper
from neuron_top.errors import CompileError
from neuron_top.events import ArtefactLoaded, CompileFellBack, GraphDescribed

FALLBACK_VARIABLE = "NEURONTOP_COMPILE_FALLBACK"

_Runner = Callable[[list[Any]], Any]
_lock = threading.Lock()
_wrappers: dict[tuple[int, Any], Wrapper] = {}


def neurontop(
    gm: fx.GraphModule, example_inputs: list[Any], *, options: Mapping[str, Any] | None = None, mode: str | None = None
) -> Callable[..., Any]:
    """The backend. `options` are settings of Inductor (as with `backend="inductor"`), `mode` one of its names for some.

    Raises UsageError for flags that make no sense, CompileError where a graph does not compile.
    """
    import torch._inductor.compile_fx as compile_fx
    from torch._dynamo.backends.common import aot_autograd
    from torch._inductor.decomposition import select_decomp_table
    from torch._inductor.virtualized import V

    wrapper = _wrapper()
    worker_memory.start()
    patches = _patches(wrapper, options, mode)
    fake_mode = torch._guards.TracingContext.get().fake_mode
    compile_one = functools.partial(_compile_one, wrapper, patches)
    with V.set_fake_mode(fake_mode), torch._inductor.config.patch(patches):
        return aot_autograd(
            fw_compiler=functools.partial(compile_one, "forward"),
            bw_compiler=functools.partial(compile_one, "backward"),
            inference_compiler=functools.partial(compile_one, "inference"),
            decompositions=select_decomp_table,
            partition_fn=compile_fx.partition_fn,
            keep_inference_input_mutations=True,
        )(gm, example_inputs)


def _wrapper() -> Wrapper:
    """The wrapper for the environment as it is now; a forked child of the job gets its own."""
    options = parse_environment()
    identity = (os.getpid(), msgspec.json.encode(options))
    with _lock:
        if identity not in _wrappers:
            wrapper = Wrapper(Inductor(), options)
            for warning in options.warnings:
                wrapper.log.remark_once(warning)
            _wrappers[identity] = wrapper
        return _wrappers[identity]


def _patches(wrapper: Wrapper, options: Mapping[str, Any] | None, mode: str | None) -> dict[str, Any]:
    """Inductor settings of this compile: flags first, then the mode, then the caller's options."""
    patches, unknown = config_from_flags(wrapper.options.compiler_flags)
    if unknown:
        wrapper.log.remark_once(f"flags that mean nothing to Inductor (hashed all the same): {' '.join(unknown)}")
    if mode is not None and mode != "default":
        patches.update(torch._inductor.list_mode_options(mode))
    patches.update({name.replace("-", "_"): value for name, value in (options or {}).items()})
    return patches


def _compile_one(
    wrapper: Wrapper, patches: Mapping[str, Any], direction: str, gm: fx.GraphModule, inputs: Sequence[Any]
) -> Callable[..., Any]:
    try:
        copy = _copy(gm)
        cut = cut_opaque(copy)
        inputs_left = list(inputs) if cut is None else [inputs[place] for place in cut.kept]
        graph = _graph(wrapper, patches, direction, copy, inputs_left)
        if wrapper.options.extract_only:
            wrapper.extract(graph)
            return _boxed(empty_runner(gm))
        runner = _loaded(wrapper, graph, inputs_left)
        return _boxed(worker_memory.watched(runner if cut is None else cut.around(runner), direction))
    except (graph_hash.NotCacheable, CannotTravel) as reason:
        _fell_back(wrapper, f"{direction} graph cannot be cached ({reason}); compiled in the job")
        return _boxed(empty_runner(gm)) if wrapper.options.extract_only else _inductor_here(gm, inputs)
    except CompileError as failure:
        if os.environ.get(FALLBACK_VARIABLE, "") not in ("1", "true"):
            raise
        _fell_back(wrapper, f"{direction} graph runs uncompiled ({failure})")
        return _boxed(lambda arguments: gm(*arguments))


def _graph(
    wrapper: Wrapper, patches: Mapping[str, Any], direction: str, copy: fx.GraphModule, inputs: Sequence[Any]
) -> Graph:
    """Key and, for a miss, content of a graph. `copy` is ours: it is stripped to what travels."""
    settings = inductor_compile.settings_in_force(patches)
    if torch.distributed.is_available():
        from neuron_top.compile import process_groups

        process_groups.canonicalize(copy)
    graph_hash.travelling(copy)
    key = module_key(graph_hash.hash_graph(copy, inputs, settings), wrapper.options.compiler_flags)
    compiler = wrapper.compiler.directory()
    description = graph_description.describe(copy, module=key.name, direction=direction, compiler=compiler)
    _describe(wrapper, description)
    return Graph(
        key=key,
        data=functools.partial(_dumped, copy, inputs, settings),
        description=functools.partial(msgspec.json.encode, description),
        compile_inside=functools.partial(_compile_inside, copy, inputs, patches),
    )


def _copy(gm: fx.GraphModule) -> fx.GraphModule:
    """A module of its own around the same constants; nodes may be changed without the job noticing."""
    copy = fx.GraphModule(gm, fx.Graph())
    copy.graph = fx.Graph(copy)
    copy.graph.output(copy.graph.graph_copy(gm.graph, {}))
    for ours, theirs in zip(copy.graph.nodes, gm.graph.nodes, strict=True):
        ours.meta = dict(theirs.meta)
    for name, child in gm.named_children():
        if isinstance(child, fx.GraphModule):
            setattr(copy, name, _copy(child))
    copy.recompile()
    return copy


def _dumped(gm: fx.GraphModule, inputs: Sequence[Any], settings: Mapping[str, Any]) -> bytes:
    try:
        return graph_file.dump(gm, inputs, settings)
    except Exception as problem:
        raise CannotTravel(f"{type(problem).__name__}: {problem}") from problem


def _compile_inside(
    gm: fx.GraphModule, inputs: Sequence[Any], patches: Mapping[str, Any], task: CompileTask
) -> CompileOutcome:
    fake_mode = torch._guards.TracingContext.get().fake_mode
    started = time.monotonic()
    try:
        found = inductor_compile.compile_here(gm, inputs, fake_mode, task.outputs, patches)
    except Exception as problem:
        raise CompileError(f"the compile failed: {problem}", module=task.module) from problem
    return CompileOutcome(seconds=time.monotonic() - started, guards=found["guards"])


def _loaded(wrapper: Wrapper, graph: Graph, inputs: Sequence[Any]) -> _Runner:
    """The compiled function; an artefact that does not load is compiled once more, and then it is an error."""
    for attempt in (1, 2):
        obtained = wrapper.obtain(graph)
        start = time.monotonic()
        try:
            artefact = inductor_compile.load_artefact(*obtained.entry.artefacts)
        except Exception as problem:
            if attempt == 2:
                raise CompileError(f"the artefact cannot be loaded: {problem}", module=graph.key.name) from problem
            wrapper.reject(obtained.entry, f"{type(problem).__name__}: {problem}")
            continue
        if not inductor_compile.guards_hold(obtained.guards, inputs, graph_hash.shape_environment(inputs)):
            raise CannotTravel("its compiled code assumes other sizes")
        worker_memory.code_loaded()
        side_channel.tell(
            ArtefactLoaded(
                module=graph.key.name,
                pid=os.getpid(),
                rank=side_channel.rank(),
                seconds=time.monotonic() - start,
                waited_seconds=obtained.waited_seconds,
                source=f"worker:{os.getpid()}",
            )
        )
        return lambda arguments: artefact(*arguments)
    raise AssertionError("the second attempt returns or raises")


def _inductor_here(gm: fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """Inductor in the job's process, without our cache."""
    from torch._inductor.compile_fx import compile_fx_inner

    return compile_fx_inner(gm, list(inputs))


def _boxed(runner: _Runner) -> Callable[..., Any]:
    """AOTAutograd's convention: one list of arguments, which is emptied so that they can be freed early."""

    def run(arguments: list[Any]) -> Any:
        taken = list(arguments)
        arguments.clear()
        return runner(taken)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def _describe(wrapper: Wrapper, description: graph_description.GraphDescription) -> None:
    side_channel.tell(
        GraphDescribed(
            module=description.module,
            pid=os.getpid(),
            rank=side_channel.rank(),
            direction=description.direction,
            operators=description.operators,
            inputs=description.inputs,
            flags=wrapper.options.compiler_flags,
            compiler=description.compiler,
            source=f"worker:{os.getpid()}",
        )
    )


def _fell_back(wrapper: Wrapper, reason: str) -> None:
    wrapper.log.remark(reason)
    side_channel.tell(
        CompileFellBack(pid=os.getpid(), rank=side_channel.rank(), reason=reason, source=f"worker:{os.getpid()}")
    )
