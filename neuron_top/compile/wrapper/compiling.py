"""Runs one compile while its lock is held: stores the graph, runs the compiler, publishes or records the failure.

However a compile ends, its end is emitted through the side channel and no temporary file is left. A graph that no
compile process can take is left to its job; the result is not shared, as the script may have changed the compiler in
the job's process. A compile that was killed is tried once more; only a fault of the graph itself is recorded as its
failure.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from neuron_top.cache import trust
from neuron_top.cache.model.keys import ModuleKey
from neuron_top.cache.model.record import Stats
from neuron_top.cache.stored_entry import StoredArtifact
from neuron_top.compile import side_channel
from neuron_top.compile.claims.turns import ClaimLost
from neuron_top.compile.compiler import Compiler, CompileTask, NotSerializable
from neuron_top.compile.wrapper import log_lines
from neuron_top.compile.wrapper.cache_root import unusable
from neuron_top.compile.wrapper.compile_end import is_disk_full
from neuron_top.compile.wrapper.flags import FLAGS_VARIABLE, WrapperOptions
from neuron_top.compile.wrapper.persistent_cache import EntryLock, WritableEntry, discard
from neuron_top.compile.wrapper.scratch import Scratch
from neuron_top.errors import CacheUnusable, CompileError, CompilerKilled, CompilerMissing
from neuron_top.events import CompileBegan, CompileCause, CompileEnded, CompileRequested, GraphDescribed
from neuron_top.parsers.hlo import MalformedHlo, read_hlo


class GraphToCompile(msgspec.Struct, frozen=True, kw_only=True):
    """A graph to be compiled. The functions are called only on a miss."""

    key: ModuleKey
    digest: str = ""
    """Digest of the exact description; its beginning is the graph half of the key. Empty if only the key is known."""
    data: Callable[[], bytes]
    """Returns the content of the graph file. Raises NotSerializable where there can be none."""
    description: Callable[[], bytes] | None = None
    flags: tuple[str, ...] | None = None
    """The compiler flags that it was stored with; None: those of the wrapper's options."""


class CompiledEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A complete artifact: where it is, whether it was a hit, how long we waited for a lock."""

    entry: WritableEntry
    hit: bool
    waited_seconds: float = 0.0
    guards: str = ""
    artifact: StoredArtifact | None = None
    """For a hit: the files that were read and found sound."""


class Compiling:
    """The compiles of one wrapper. Safe to share between threads."""

    def __init__(
        self,
        compiler: Compiler,
        options: WrapperOptions,
        log: log_lines.WrapperLog,
        emit: side_channel.Emit,
        scratch: Scratch,
    ) -> None:
        self._compiler, self._options, self._log, self._emit = compiler, options, log, emit
        self._scratch = scratch
        self.interrupted = False
        """Set once every compile under way has been ended on purpose: a compiler's death is no failure then."""

    def store(self, entry: WritableEntry, graph: GraphToCompile) -> str:
        """Store the graph with its flags; returns the digest of its file. Raises NotSerializable, CacheUnusable."""
        description = graph.description() if graph.description else None
        return entry.store_graph(graph.data(), graph.digest or graph.key.graph, self._flags(graph), description)

    def _flags(self, graph: GraphToCompile) -> tuple[str, ...]:
        return self._options.compiler_flags if graph.flags is None else graph.flags

    def compile(
        self,
        entry: WritableEntry,
        graph: GraphToCompile,
        lock: EntryLock | None,
        confirm: Callable[[], None] = lambda: None,
    ) -> CompiledEntry:
        """Compile with the entry's lock held (None: nobody else can see the entry) and publish.

        `confirm` is called right before, and what it raises keeps the artifact from being published.

        Raises NotSerializable for a graph that only its job can compile, with nothing recorded; else as
        `Wrapper.get_or_compile`.
        """
        if entry.failure.exists():
            self._log.cached_failure(entry.artifact, entry.failure_text(), retrying=True)
        if lock:
            self._compiler.hold(entry.lock, lock.token)
        entry.make()
        if lock:
            entry.sweep()
        stored = self.store(entry, graph)
        self._describe(entry, graph)
        outputs = {path.name: entry.temporary(path.name) for path in entry.artifacts}
        task = CompileTask(
            module=entry.module,
            graph=entry.graph,
            graph_sha256=stored,
            graph_digest=graph.digest,
            outputs=outputs,
            flags=self._flags(graph),
            lock=entry.lock if lock else None,
            token=lock.token if lock else "",
            workdir=self._kept("--compile_workdir", self._options.workdir),
            dump=self._kept("--dump", self._options.dump),
            scratch=self._scratch.moved_to,
        )
        try:
            return self._compile_twice(entry, graph, task, confirm)
        except BaseException:
            discard(outputs.values())
            if lock:
                entry.sweep()  # files that a compile on a full disk left beside its outputs
            raise

    def _kept(self, flag: str, wanted: str | None) -> Path | None:
        """A folder in which the user wants to keep the work of compiles; not used once a disk was found full."""
        return None if self._scratch.moved_to else kept_folder(flag, wanted, self._log.remark_once)

    def _compile_twice(
        self,
        entry: WritableEntry,
        graph: GraphToCompile,
        task: CompileTask,
        confirm: Callable[[], None],
    ) -> CompiledEntry:
        """Compile, and do so once more if the compile was killed, which says nothing about the graph.

        A second kill is logged and raised, but not stored: processes that wait for this graph try it, too.
        """
        try:
            return self._compile_task(entry, graph, task, confirm, last=False)
        except CompilerKilled as death:
            if self.interrupted:
                raise KeyboardInterrupt from None
            self._log.remark(
                f"{graph.key.name}: {death}. That says nothing about the graph, which is compiled once more."
            )
        discard(task.outputs.values())
        try:
            return self._compile_task(entry, graph, task, confirm, last=True)
        except CompilerKilled as death:
            if self.interrupted:
                raise KeyboardInterrupt from None
            why = f"{death}; it was the second time for this graph, nothing is stored, and the next run tries again"
            self._log.compile_failed(self._failure_text(task, f"{why}\n{death.log}".strip()))
            raise CompilerKilled(why, module=death.module, log=death.log) from death

    def _describe(self, entry: WritableEntry, graph: GraphToCompile) -> None:
        """Emit what an HLO module consists of, for estimates. PyTorch's graphs are described when they are traced."""
        if graph.description is not None:
            return
        try:
            data = entry.graph.read_bytes()
            found = read_hlo(data)
        except (OSError, MalformedHlo):
            return  # the compiler will say what is wrong with it
        self._emit(
            GraphDescribed(
                module=entry.module,
                operators=found.instructions,
                op_counts=side_channel.op_counts(found.opcodes),
                graph_bytes=len(data),
                compiler=self._compiler.directory(),
                **side_channel.reporter(),
            )
        )

    def _compile_task(
        self,
        entry: WritableEntry,
        graph: GraphToCompile,
        task: CompileTask,
        confirm: Callable[[], None],
        *,
        last: bool,
    ) -> CompiledEntry:
        self._log.compile_started(self._compiler.command(task))
        before, started = entry.stats(), time.time()
        attempts = before.attempts + 1 if before else 1
        stats = Stats(
            module=entry.module,
            graph=graph.digest or graph.key.graph,
            compiler=self._compiler.directory(),
            started=started,
            attempts=attempts,
        )
        self._emit(CompileRequested(module=entry.module, **side_channel.reporter()))
        with self._emitting_end(entry, task, last=last):
            try:
                if self.interrupted:  # while the graph was stored: the compiler would start anew, and nobody end it
                    raise KeyboardInterrupt
                outcome = self._compiler.compile(task, began=lambda pid: self._began(task, pid))
            except (NotSerializable, CacheUnusable, CompilerKilled, CompilerMissing):
                raise  # none of these is the graph's fault
            except OSError as problem:
                raise unusable(entry.path, problem) from problem
            except CompileError as failure:
                if self.interrupted:
                    raise KeyboardInterrupt from None
                confirm()
                self._record_failure(entry, task, failure, stats)
                raise
            finished = msgspec.structs.replace(
                stats,
                compile_seconds=outcome.seconds,
                peak_rss_bytes=outcome.peak_rss_bytes,
                finished=time.time(),
                guards=outcome.guards,
            )
            confirm()
            entry.publish(task.outputs, finished)
        self._log.compile_passed(entry.module, self._compiler.graph_name)
        return CompiledEntry(entry=entry, hit=False, guards=outcome.guards)

    def _record_failure(self, entry: WritableEntry, task: CompileTask, failure: CompileError, stats: Stats) -> None:
        message = f"{failure}\n{failure.log}".strip()
        text = self._failure_text(task, message)
        self._log.compile_failed(text)
        with contextlib.suppress(CacheUnusable):
            entry.record_failure(text, msgspec.structs.replace(stats, finished=time.time()))

    def _failure_text(self, task: CompileTask, message: str) -> str:
        return f"Failed compilation with {self._compiler.command(task)}: {message}"

    def _began(self, task: CompileTask, pid: int) -> None:
        self._emit(
            CompileBegan(
                module=task.module,
                compiler_pid=pid,
                **side_channel.reporter(),
            )
        )

    @contextlib.contextmanager
    def _emitting_end(self, entry: WritableEntry, task: CompileTask, *, last: bool) -> Iterator[None]:
        """Emit how the compile in the block ended, also where it raised. `last`: it is not tried again."""
        start, cause = time.monotonic(), CompileCause.INTERRUPTED
        try:
            yield
            cause = CompileCause.NONE
        except NotSerializable:  # not a failure: the job goes on without the cache, which is counted as a fallback
            raise
        except CompilerKilled:
            cause = CompileCause.KILLED if last else CompileCause.RETRIED
            raise
        except (CacheUnusable, ClaimLost) as problem:
            cause = CompileCause.DISK_FULL if is_disk_full(problem) else CompileCause.ELSEWHERE
            raise
        except CompilerMissing:
            cause = CompileCause.NO_COMPILER
            raise
        except Exception:
            cause = CompileCause.ERROR
            raise
        finally:
            ok = cause is CompileCause.NONE
            stats = entry.stats() if ok else None
            self._emit(
                CompileEnded(
                    module=task.module,
                    seconds=time.monotonic() - start,
                    ok=ok,
                    artifact_bytes=sum(facts.bytes for facts in stats.files.values()) if stats else None,
                    peak_rss_bytes=stats.peak_rss_bytes if stats else None,
                    cause=cause,
                    **side_channel.reporter(),
                )
            )


def kept_folder(flag: str, wanted: str | None, warn: Callable[[str], None]) -> Path | None:
    """The folder that `flag` (`--compile_workdir`, `--dump`) names, made if need be; None if that fails.

    Its content depends on the compiler. Inductor keeps its sources, libraries and kernels in the work folder
    (its `TORCHINDUCTOR_CACHE_DIR`), and writes graphs, schedule and output code of each compile into the dump folder
    (its `trace`). The Neuron compiler works in a folder of the module's name below either.
    """
    if not wanted:
        return None
    try:
        folder = Path(wanted).expanduser().absolute()
    except RuntimeError:  # no such user, or one without a home
        warn(f"{FLAGS_VARIABLE}: {flag} {wanted}: the home folder is not known; compiling without it")
        return None
    try:
        trust.make_folders(str(folder))
    except OSError as problem:
        warn(f"{FLAGS_VARIABLE}: {flag} {folder} cannot be made ({problem.strerror}); compiling without it")
        return None
    if reason := trust.problem_with(str(folder)):  # Inductor executes the files in its work folder
        warn(f"{FLAGS_VARIABLE}: {flag} is not used: {reason}; compiling without it")
        return None
    if not os.access(folder, os.W_OK | os.X_OK):
        warn(f"{FLAGS_VARIABLE}: {flag} {folder} cannot be written by this user; compiling without it")
        return None
    return folder
