"""Runs a scheduler's task on its node: finds the graph in the root that all nodes see, compiles it, reports the end.

A task and its result are sent as JSON, so neither needs this process's objects. The result names what was published by
its digests, and the process that submitted the task looks for exactly these files.
"""

from __future__ import annotations

import contextlib
import hashlib
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import msgspec

from neuron_top.cache.model import filenames, graph_header
from neuron_top.cache.model.graph_header import NotThisGraph
from neuron_top.cache.model.record import FileFacts, Stats
from neuron_top.compile.claims.choice import turns_for
from neuron_top.compile.compiler import Compiler
from neuron_top.compile.compilers.by_graph import compiler_for
from neuron_top.compile.fetch.fetcher import Fetcher
from neuron_top.compile.fetch.shared_bucket import GRAPH_FILES, SharedBucket
from neuron_top.compile.fetch.source import BucketSource
from neuron_top.compile.parallel.compile_queue import CompileResult, Fault
from neuron_top.compile.wrapper import log_lines
from neuron_top.compile.wrapper.compile_end import full_place
from neuron_top.compile.wrapper.flags import parse_environment
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.compile.wrapper.sharing import Sharing
from neuron_top.errors import (
    CacheUnusable,
    CompileError,
    CompilerKilled,
    CompilerMissing,
    NeuronTopError,
    NothingToShow,
)
from neuron_top.identity import node_name
from neuron_top.plain_files import read_plain

if TYPE_CHECKING:
    from neuron_top.compile.wrapper.compiling import CompiledEntry

VISIBLE_SECONDS = 60.0
"""How long a file that another node wrote may take to appear: attribute caches of NFS last up to a minute."""
_LOOK_SECONDS = 0.5


class NodeTask(msgspec.Struct, frozen=True, kw_only=True):
    """A graph to compile: its file in an entry of a root that all nodes see."""

    graph: str
    sha256: str
    """Digest of what is compiled, as seen by the process that submits the task."""
    retries: int = 0
    visible_seconds: float = VISIBLE_SECONDS
    bucket: str = ""
    """URL of the cache root if that is a bucket; `graph` is then the path below it."""


class NodeResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a task ended on its node."""

    result: CompileResult
    files: dict[str, FileFacts] = {}
    """Digests of the artifact's files as they were published."""


def graph_digest(graph: Path) -> str:
    """Sha256 of a graph file. Raises OSError.

    The first lines of a graph file of ours are left out: each node that begins to compile it signs them again.
    """
    data = read_plain(graph)
    if graph.name == filenames.FX_GRAPH:
        with contextlib.suppress(NotThisGraph):  # then the whole file: the gate will say what is wrong with it
            data = graph_header.body(data)
    return hashlib.sha256(data).hexdigest()


def compile_on_node(data: bytes) -> bytes:
    """Run one task to its end; a termination (scancel, a time limit) ends its compile and gives back its lock."""
    task = msgspec.json.decode(data, type=NodeTask)
    node, began = node_name().value, time.monotonic()
    try:
        ended = _compile_from_bucket(task) if task.bucket else _compile(task)
    except Exception as problem:  # noqa: BLE001 (whatever it is, whoever waits for the task gets it)
        ended = NodeResult(result=_failure(problem, None if task.bucket else Path(task.graph).parent))
    result = msgspec.structs.replace(ended.result, node=node, seconds=time.monotonic() - began)
    return msgspec.json.encode(msgspec.structs.replace(ended, result=result))


def arrived(graph: Path, result: NodeResult) -> str:
    """Empty once the artifact that a node published is visible here, else what is missing.

    Waits at least as long as a slow file system may need to show a new file.
    """
    deadline = time.monotonic() + VISIBLE_SECONDS
    while True:
        problem = _differs(graph.parent, result.files)
        if not problem or time.monotonic() >= deadline:
            return problem
        time.sleep(_LOOK_SECONDS)


def _differs(entry: Path, files: dict[str, FileFacts]) -> str:
    for name, facts in files.items():
        try:
            with (entry / name).open("rb") as file:
                found = FileFacts(hashlib.file_digest(file, "sha256").hexdigest(), file.tell())
        except OSError as problem:
            return f"{entry / name} cannot be seen from here ({problem.strerror}): is the cache root shared?"
        if found != facts:
            return f"{entry / name} is not the file that the node published"
    return ""


def _compile_from_bucket(task: NodeTask) -> NodeResult:
    """In a folder of this task: the graph is fetched into it, and the artifact stored from it under the claim."""
    bucket, below = SharedBucket(task.bucket), Path(task.graph)
    entry = str(below.parent)
    try:
        with tempfile.TemporaryDirectory(prefix="neurontop-node-") as root:
            folder = Path(root) / entry
            folder.mkdir(parents=True)
            bucket.fetch(entry, GRAPH_FILES, folder)
            here = msgspec.structs.replace(task, graph=str(folder / below.name), visible_seconds=0.0)
            try:
                return _compile(here, bucket)
            except CompileError:
                bucket.store(entry, (filenames.STATS, filenames.FAILURE_LOG), folder)
                raise
    except OSError as problem:
        raise CacheUnusable(f"no folder to compile in: {problem.strerror or problem}") from problem


def _compile(task: NodeTask, bucket: SharedBucket | None = None) -> NodeResult:
    graph = Path(task.graph)
    if unseen := _unseen(task):
        return NodeResult(result=CompileResult(ok=False, message=unseen, fault=Fault.NODE))
    with contextlib.closing(compiler_for(graph.name)) as compiler:
        return _compile_by(compiler, graph, task.retries, bucket)


def _compile_by(compiler: Compiler, graph: Path, most_retries: int, bucket: SharedBucket | None) -> NodeResult:
    try:
        compiler.start()  # Inductor imports PyTorch while we fetch the graph
        directory = compiler.directory()
    except ImportError as problem:
        raise CompilerMissing(f"PyTorch cannot be imported: {problem}") from problem
    wanted = graph.parent.parent.name
    if directory != wanted:
        said = f"its compiler is {directory}, the graph is for {wanted} (another version or instruction set)"
        return NodeResult(result=CompileResult(ok=False, message=said, fault=Fault.NODE))
    wrapper = _wrapper(compiler, graph, bucket)
    compiled, retries = _ended_by_signal(lambda: _attempts(wrapper, graph, most_retries))
    stats = compiled.entry.stats()
    return NodeResult(result=_success(stats, retries), files=stats.files if stats else {})


def _wrapper(compiler: Compiler, graph: Path, bucket: SharedBucket | None) -> Wrapper:
    """The wrapper for the cache that `graph` lies in, or for the bucket that it was fetched from."""
    options = msgspec.structs.replace(parse_environment(), retry_failed=True)  # a submitted graph is to be compiled
    log = log_lines.WrapperLog(form=log_lines.log_format(), level=options.log_level)
    entry = graph.parent
    folder, root = entry.parent.name, entry.parent.parent
    if bucket is None:
        return Wrapper(compiler, options, log=log, sharing=Sharing(turns=turns_for(root, log, many_nodes=True)))
    below = f"{bucket.url}/{folder}/{entry.name}"
    return Wrapper(
        compiler,
        msgspec.structs.replace(options, cache_url=str(root)),
        log=log,
        sharing=Sharing(
            turns=turns_for(root, log, many_nodes=True, bucket=bucket.url, key_of=lambda _: below),
            fetcher=Fetcher(BucketSource(bucket.url), log),
            share=lambda entry, confirm: bucket.publish(f"{folder}/{entry.module}", entry.path, confirm),
        ),
    )


def _attempts(wrapper: Wrapper, graph: Path, most: int) -> tuple[CompiledEntry, int]:
    for retries in range(most + 1):
        try:
            return wrapper.compile_entry(graph.parent), retries
        except (CompilerMissing, CompilerKilled, CacheUnusable):
            raise  # who submitted the task decides about another attempt: on another node, or with more memory
        except NeuronTopError:
            if retries == most:
                raise
    raise AssertionError("the last attempt returns or raises")


def _ended_by_signal(work: Callable[[], tuple[CompiledEntry, int]]) -> tuple[CompiledEntry, int]:
    """Run `work`; a termination ends it with an exception, so that its locks are given back before the process ends."""
    if threading.current_thread() is not threading.main_thread():
        return work()

    def end(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)  # do nothing else here: `work`, in the same thread, may hold any lock

    before = signal.signal(signal.SIGTERM, end)
    try:
        return work()
    finally:
        signal.signal(signal.SIGTERM, before)


def _unseen(task: NodeTask) -> str:
    """Empty once the graph is visible here as it was submitted, else what is wrong."""
    graph, deadline = Path(task.graph), time.monotonic() + task.visible_seconds
    problem = ""
    while True:
        try:
            if graph_digest(graph) == task.sha256:
                return ""
            problem = f"{graph} is not the graph that was submitted"
        except OSError as missing:
            problem = f"{graph} cannot be seen from this node ({missing.strerror}): is the cache root shared?"
        if time.monotonic() >= deadline:
            return problem
        time.sleep(_LOOK_SECONDS)


def _success(stats: Stats | None, retries: int) -> CompileResult:
    return CompileResult(ok=True, retries=retries, peak_rss_bytes=stats.peak_rss_bytes if stats else None)


def _failure(problem: Exception, entry: Path | None) -> CompileResult:
    return CompileResult(ok=False, message=str(problem) or type(problem).__name__, fault=_fault(problem, entry))


def _fault(problem: Exception, entry: Path | None) -> Fault:
    """The cause of a failure. `entry`: in the root that all nodes see; None for a bucket, which is never full."""
    if isinstance(problem, (CompilerMissing, NothingToShow)):
        return Fault.NODE
    if isinstance(problem, CompilerKilled):
        return Fault.MEMORY
    if isinstance(problem, CacheUnusable):
        return Fault.CACHE if entry is not None and full_place([entry]) else Fault.NODE
    return Fault.GRAPH
