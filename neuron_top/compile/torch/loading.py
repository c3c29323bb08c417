"""Makes a function of a complete entry: loads the artifact, checks its assumptions, emits an event.

Two ways lead here: a graph that was just traced (`load`), and one whose trace AOTAutograd has kept (`load_known`, see
`dispatch_cache`). Both look the entry up through the wrapper, so both write the same log lines and count the same.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from neuron_top.cache.model import filenames
from neuron_top.cache.model.keys import parse_key
from neuron_top.cache.model.record import TEXT_BYTES
from neuron_top.compile import side_channel
from neuron_top.compile.compiler import NotSerializable
from neuron_top.compile.compilers.inductor import Inductor
from neuron_top.compile.graphs import hashing, inductor_compile, other_pytorch
from neuron_top.compile.graphs.description import GraphDescription
from neuron_top.compile.torch import worker_memory
from neuron_top.compile.wrapper.compiling import CompiledEntry, GraphToCompile
from neuron_top.compile.wrapper.flags import parse_environment
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.decoders import MALFORMED
from neuron_top.errors import CacheUnusable, CompileError, RefusedForSafety
from neuron_top.events import ArtifactLoaded, GraphDescribed
from neuron_top.plain_files import read_plain

Runner = Callable[[list[Any]], Any]
"""A compiled graph: one list of arguments in (which it may empty), results out."""

_lock = threading.Lock()
_wrappers: dict[tuple[int, bytes], Wrapper] = {}


class _ThreadState(threading.local):
    """Functions that this thread found before the trace of the current compile."""

    def __init__(self) -> None:
        self.runners: dict[str, Runner] = {}
        self.waited = 0.0


_thread_state = _ThreadState()


def job_wrapper() -> Wrapper:
    """The wrapper for the environment as it is now; a forked child of the job gets its own."""
    options = parse_environment()
    identity = (os.getpid(), msgspec.json.encode(options))
    with _lock:
        if identity not in _wrappers:
            wrapper = Wrapper(Inductor(), options)
            for remark in options.remarks():
                wrapper.log.remark_once(remark)
            _wrappers[identity] = wrapper
        return _wrappers[identity]


def compile_begins(waited_seconds: float = 0.0) -> None:
    """Begin a new captured graph: forget the state of the last. Its first artifact reports how long we waited."""
    _thread_state.runners.clear()
    _thread_state.waited = waited_seconds


def known(graph: GraphToCompile) -> Runner | None:
    """The function of a graph that was found before its trace, if the graph was traced nevertheless."""
    return _thread_state.runners.pop(graph.key.name, None)


def load(
    wrapper: Wrapper,
    graph: GraphToCompile,
    inputs: Sequence[Any],
    obtain: Callable[[], CompiledEntry] | None = None,
) -> Runner:
    """The compiled function. An artifact that does not load is compiled once more; if that fails too, it is an error.

    `obtain` gives the entry the first time, instead of the wrapper.

    Raises NotSerializable where the compiled code assumes other sizes, else as `Wrapper.get_or_compile`.
    """
    ask = functools.partial(wrapper.get_or_compile, graph)
    for attempt in (1, 2):
        compiled, start = (obtain or ask)() if attempt == 1 else ask(), time.monotonic()
        try:
            runner = _loaded(compiled, graph.digest)
        except RefusedForSafety:
            raise
        except Exception as problem:
            if unknown := other_pytorch.mismatch(problem):  # no fault of the artifact
                raise NotSerializable(unknown) from problem
            if attempt == 2:
                raise CompileError(f"the artifact cannot be loaded: {problem}", module=graph.key.name) from problem
            if not wrapper.make_room(problem):  # a full disk is no fault of the artifact
                try:
                    wrapper.reject(compiled.entry, f"{type(problem).__name__}: {problem}")
                except CacheUnusable as reason:  # the broken artifact stays where it is, and would be the next hit
                    ask = functools.partial(wrapper.compile_without_cache, graph, reason)
            continue
        if not inductor_compile.guards_hold(compiled.guards, inputs, hashing.shape_environment(inputs)):
            raise NotSerializable("its compiled code assumes other sizes")
        _emit_loaded(compiled, start)
        return runner
    raise AssertionError("the second attempt returns or raises")


def load_known(module: str, digest: str) -> Runner | None:
    """The compiled function of a graph that is known before its trace; None without a sound artifact in the cache."""
    wrapper, key = job_wrapper(), parse_key(module)
    compiled = wrapper.find_hit(key, digest) if key is not None else None
    if compiled is None or compiled.guards:
        return None
    start = time.monotonic()
    try:
        runner = _loaded(compiled, digest)
    except Exception:  # noqa: BLE001 (the long way comes across it again, and says and repairs it)
        return None
    wrapper.log.cache_path(wrapper.options.cache_url)
    wrapper.log.hit(compiled.entry.artifact)
    _describe_again(wrapper, compiled)
    _emit_loaded(compiled, start)
    _thread_state.runners[module] = runner
    return runner


def describe(wrapper: Wrapper, description: GraphDescription) -> None:
    """Emit the description of a graph."""
    side_channel.emit(
        GraphDescribed(
            module=description.module,
            direction=description.direction,
            operators=description.operators,
            op_counts=side_channel.op_counts(description.operator_counts),
            inputs=description.inputs,
            flags=wrapper.options.compiler_flags,
            compiler=description.compiler,
            **side_channel.reporter(),
        )
    )


def _describe_again(wrapper: Wrapper, compiled: CompiledEntry) -> None:
    try:
        data = read_plain(compiled.entry.path / filenames.DESCRIPTION, TEXT_BYTES)
        describe(wrapper, msgspec.json.decode(data, type=GraphDescription))
    except (OSError, *MALFORMED):
        return  # it only helps people to read what was loaded


def _loaded(compiled: CompiledEntry, digest: str) -> Runner:
    files = (compiled.artifact or compiled.entry.load(digest)).files
    artifact = inductor_compile.load_artifact(*(files[path.name] for path in compiled.entry.artifacts))
    worker_memory.code_loaded()
    return lambda arguments: artifact(*arguments)


def _emit_loaded(compiled: CompiledEntry, start: float) -> None:
    waited, _thread_state.waited = compiled.waited_seconds + _thread_state.waited, 0.0
    side_channel.emit(
        ArtifactLoaded(
            module=compiled.entry.module,
            seconds=time.monotonic() - start,
            waited_seconds=waited,
            **side_channel.reporter(),
        )
    )
