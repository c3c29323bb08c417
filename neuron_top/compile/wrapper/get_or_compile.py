"""One graph through cache and compiler, as the Neuron SDK's compile wrapper does it.

A job calls `Wrapper.get_or_compile`: it finds a hit, waits for the process that compiles already, or compiles, and
returns an entry with a complete artifact. `Wrapper.extract` stores the graph only. `Wrapper.compile_entry` compiles a
graph that lies in a cache (the parallel pre-compile, a retry). All write the SDK's log lines and, if somebody records,
events through the side channel.

A failure is stored and replayed (`--retry_failed_compilation` tries again). An interrupted compile is no failure, nor
is one that was killed: its entry stays a graph that waits to be compiled. A cache that cannot be written costs a
warning and the sharing, not the job; so does any other disk that a compile fills up, while there is one with room.
"""

from __future__ import annotations

import contextlib
import os
from contextlib import AbstractContextManager
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

import msgspec

from neuron_top.cache.model import filenames
from neuron_top.cache.model.keys import ModuleKey, parse_key
from neuron_top.cache.model.states import Lookup
from neuron_top.cache.signing import keys_in_force
from neuron_top.cache.stored_entry import StoredArtifact, Unsound
from neuron_top.compile import side_channel
from neuron_top.compile.claims.turns import ClaimLost, Turn
from neuron_top.compile.compiler import Compiler, NotSerializable
from neuron_top.compile.fetch.fetcher import Fetched
from neuron_top.compile.wrapper import log_lines
from neuron_top.compile.wrapper.cache_root import check_root
from neuron_top.compile.wrapper.compile_end import full_place, is_disk_full
from neuron_top.compile.wrapper.compiling import CompiledEntry, Compiling, GraphToCompile
from neuron_top.compile.wrapper.flags import OnMiss, WrapperOptions
from neuron_top.compile.wrapper.lock_wait import wait_for_lock
from neuron_top.compile.wrapper.persistent_cache import EntryLock, PersistentCache, WritableEntry
from neuron_top.compile.wrapper.refused_miss import refused_miss
from neuron_top.compile.wrapper.scratch import Scratch, process_scratch
from neuron_top.compile.wrapper.sharing import Sharing
from neuron_top.errors import (
    CachedFailure,
    CacheNotMade,
    CacheUnusable,
    CompileError,
    CompilerMissing,
    DiskFull,
    FileMalformed,
    NeuronTopError,
)


class _StoredFailure(NamedTuple):
    """Identifies the file of one stored failure, to tell it from that of another."""

    inode: int
    changed_ns: int


class _Next(Enum):
    """What a process does next that did not compile the entry."""

    LOOK_UP = auto()
    WAIT_FOR_LOCK = auto()


class Wrapper:
    """The wrapper of one process: one cache root, one compiler, one set of options. Safe to share between threads."""

    def __init__(
        self,
        compiler: Compiler,
        options: WrapperOptions,
        *,
        log: log_lines.WrapperLog | None = None,
        emit: side_channel.Emit = side_channel.emit,
        scratch: Scratch | None = None,
        sharing: Sharing | None = None,
    ) -> None:
        """What is not given is as the settings and the environment of this process say."""
        self.compiler, self.options = compiler, options
        self.log = log or log_lines.WrapperLog(form=log_lines.log_format(), level=options.log_level)
        self._scratch = scratch or process_scratch()
        self._compiling = Compiling(compiler, options, self.log, emit, self._scratch)
        self._keys = keys_in_force()
        self._root: Path | None = None
        self._has_compiled = False
        self._emit, self._sharing = emit, sharing or Sharing()

    def get_or_compile(self, graph: GraphToCompile) -> CompiledEntry:
        """A complete artifact for `graph`.

        Raises GraphNotCompiled for a miss where that is to be an error, CachedFailure, CompileError (CompilerKilled,
        CompilerMissing), NotSerializable for a graph that only its job can compile, CacheUnusable for a root that is no
        directory, RefusedForSafety for one that strangers can write to.
        """
        if self.options.no_cache:
            return self._compile_apart(graph)
        may_compile = self.options.on_miss is not OnMiss.ERROR
        try:
            entry = self.entry(graph.key)
        except CacheNotMade as problem:
            if not may_compile:
                raise
            return self.compile_without_cache(graph, problem)
        self.log.cache_path(self.options.cache_url)
        if not may_compile:
            with entry.reaching():
                return self._found_or_refused(entry, graph)
        try:
            with entry.reaching():
                return self._with_room(entry, graph)
        except CacheUnusable as problem:
            return self.compile_without_cache(graph, problem)

    def compile_without_cache(self, graph: GraphToCompile, problem: CacheUnusable) -> CompiledEntry:
        """Compile for this process alone, with a warning, as `get_or_compile` does where the cache cannot be used.

        Raises CompileError, NotSerializable.
        """
        self.log.remark_once(f"{problem}; compiling without the cache")
        return self._compile_apart(graph)

    def _found_or_refused(self, entry: WritableEntry, graph: GraphToCompile) -> CompiledEntry:
        """The hit, or GraphNotCompiled. Does not wait for another process's compile: this job's accelerators would
        idle."""
        before = self._stored_failure(entry)
        found = self._looked_up(entry, graph.digest, before)
        if found is None and self._fetched(entry, graph.digest).look_again:
            found = self._looked_up(entry, graph.digest, before)
        if found is None:
            raise refused_miss(entry, graph.description() if graph.description else None)
        return found

    def find_hit(self, key: ModuleKey, digest: str) -> CompiledEntry | None:
        """The artifact of a graph if it is complete and sound, without logging, waiting or repairing."""
        if self.options.no_cache or self.options.extract_only:
            return None
        try:
            entry = self.entry(key)
        except CacheNotMade:
            return None
        try:
            return _hit(entry, entry.load(digest)) if entry.state() is Lookup.HIT else None
        except (Unsound, OSError):  # the lookup fails in the same way, and reports it
            return None

    def is_begun(self, key: ModuleKey) -> bool:
        """Whether the cache has the artifact of `key`, a failure, or the lock of whoever compiles it.

        Also True if that is unknown or does not matter: the caller then does not wait.
        """
        if self.options.no_cache:
            return True
        with contextlib.suppress(OSError, NeuronTopError):  # the lookup fails in the same way, and reports it
            entry = self.entry(key)
            return entry.state() is not Lookup.MISS or os.path.lexists(entry.lock)
        return True

    def extract(self, graph: GraphToCompile) -> bool:
        """Store the graph for a later compile; returns True if the cache has its artifact already.

        Raises CacheUnusable, RefusedForSafety, NotSerializable.
        """
        entry = self.entry(graph.key)
        self.log.cache_path(self.options.cache_url)
        with entry.reaching():
            if entry.state() is Lookup.HIT:
                if not entry.broken_reason(graph.digest):
                    self.log.hit(entry.artifact)
                    return True
                self._set_aside(entry, graph.digest)
            if not entry.holds_graph(graph.digest):  # another rank's is as good, and may be compiled right now
                self._compiling.store(entry, graph)
        self.log.extracted(entry.graph)
        return False

    def compile_entry(self, path: Path) -> CompiledEntry:
        """Compile the graph that lies in the entry directory `path`.

        A finished entry is a hit; a stored failure is retried only with `retry_failed`.

        Raises FileMalformed for a directory that holds no graph of this compiler and key, CompileError for a graph
        that only its job can compile, else as `get_or_compile`.
        """
        key = parse_key(path.name)
        entry = self._entry_at(path)
        if key is None or not entry.graph.exists():
            raise FileMalformed(path, f"a cache entry with a {self.compiler.graph_name}")
        check_root(entry.root)
        digest, body = entry.stored_graph()
        try:
            with entry.reaching():
                graph = GraphToCompile(key=key, data=lambda: body, digest=digest, flags=entry.stored_flags())
                return self._with_room(entry, graph)
        except NotSerializable as reason:
            why = f"the graph can only be compiled in the job it came from: {reason}"
            raise CompileError(why, module=key.name) from None

    def entry(self, key: ModuleKey) -> WritableEntry:
        """The entry of a key in this wrapper's cache. Raises CacheUnusable, RefusedForSafety, UsageError."""
        root = self._checked_root()
        cache = PersistentCache(root, self.compiler.directory(), keys=self._keys)
        return cache.entry(key, graph_name=self.compiler.graph_name, artifact_names=self.compiler.artifact_names)

    @property
    def keeps_compiles(self) -> bool:
        """Whether a graph that the cache does not have is compiled for this process, and kept there."""
        options = self.options
        return not (options.no_cache or options.extract_only or options.on_miss is OnMiss.ERROR)

    @property
    def expects_misses(self) -> bool:
        """Whether compiles are to be expected: there was one already, or the cache has no artifact."""
        if not self.keeps_compiles:
            return False
        if self._has_compiled:
            return True
        with contextlib.suppress(OSError, NeuronTopError):  # the lookup fails in the same way, and reports it
            root = self._checked_root()
            if self._sharing.fetcher(root, self.log, self._emit) is not None:  # it may have what is missing here
                return False
            finished = f"MODULE_*/{filenames.DONE}"
            if not any(root.glob(f"*/{finished}")):  # the compiler takes up to a second to know its own directory
                return True
            return not any((root / self.compiler.directory()).glob(finished))
        return False

    def start_compiler(self) -> None:
        """Start the compiler ahead of the first miss."""
        with contextlib.suppress(CompilerMissing):  # the miss fails in the same way
            self.compiler.start()

    def interrupt(self) -> None:
        """From another thread: end the compiles under way; callers get KeyboardInterrupt, no failure is stored."""
        self._compiling.interrupted = True
        self.compiler.close()

    def go_on(self) -> None:
        """Compile again after `interrupt`, once no compile is left."""
        self._compiling.interrupted = False

    def make_room(self, problem: BaseException) -> bool:
        """Whether a full disk caused a failure in this process and the work could be moved to another disk."""
        return is_disk_full(problem) and self._moved(problem, self._scratch.moved_to)

    def _moved(self, problem: BaseException, found_full: Path | None) -> bool:
        folder = self._scratch.move(found_full)
        if folder is not None:
            self.log.remark_once(f"{problem}; compilers of this process work in {folder} from now on")
        return folder is not None

    def _with_room(self, entry: WritableEntry, graph: GraphToCompile) -> CompiledEntry:
        """Compile through the cache; again with another scratch folder if a disk other than the cache's was full."""
        scratch = self._scratch.moved_to
        try:
            return self._through_cache(entry, graph)
        except DiskFull as problem:
            if full_place([entry.path]) or not self._moved(problem, scratch):
                raise
        return self._through_cache(entry, graph)

    def _entry_at(self, path: Path) -> WritableEntry:
        return WritableEntry(
            path,
            path.parent.parent,
            graph_name=self.compiler.graph_name,
            artifact_names=self.compiler.artifact_names,
            keys=self._keys,
        )

    def _checked_root(self) -> Path:
        if self._root is None:
            root = self.options.cache_root()
            check_root(root)
            self._root = root
        return self._root

    def _through_cache(self, entry: WritableEntry, graph: GraphToCompile) -> CompiledEntry:
        before, waited, asked = self._stored_failure(entry), 0.0, False
        while True:
            seen = entry.state()
            found = self._looked_up(entry, graph.digest, before)
            if found is not None:
                return msgspec.structs.replace(found, waited_seconds=waited)
            if not asked:
                asked, fetched = True, self._fetched(entry, graph.digest)
                waited += fetched.waited
                if fetched.look_again:
                    continue
            with self._turn(entry, seen) as turn:
                waited += turn.waited
                result = self._in_turn(entry, graph, turn, before)
            if isinstance(result, CompiledEntry):
                return result
            if result is _Next.WAIT_FOR_LOCK:
                waited += wait_for_lock(
                    entry,
                    self.log,
                    began=lambda: self._emit(side_channel.wait_began(entry.module)),
                    interrupted=lambda: self._compiling.interrupted,
                )

    def _in_turn(
        self, entry: WritableEntry, graph: GraphToCompile, turn: Turn, before: _StoredFailure | None
    ) -> CompiledEntry | _Next:
        """Compile the entry if the turn and its lock are ours; otherwise what to do next."""
        if not turn.mine:
            return _Next.LOOK_UP
        if self._sharing.share is not None and self._fetched(entry, graph.digest, anew=True).look_again:
            return _Next.LOOK_UP  # the process that had its turn before has stored it
        lock = EntryLock(entry, claim=turn.place)
        try:
            if not lock.acquire_claimed():
                return _Next.WAIT_FOR_LOCK
            return self._compile_locked(entry, graph, lock, turn, before) or _Next.LOOK_UP
        finally:
            lock.release()

    def _compile_locked(
        self,
        entry: WritableEntry,
        graph: GraphToCompile,
        lock: EntryLock,
        turn: Turn,
        before: _StoredFailure | None,
    ) -> CompiledEntry | None:
        """Compile while `lock` and `turn` are ours; None if the entry is to be looked up again."""
        state = entry.state()  # it may have been compiled since it was looked up
        if state is not Lookup.MISS and not (state is Lookup.FAILED and self._may_retry(entry, before)):
            return None
        try:
            compiled = self._compiling.compile(entry, graph, lock, confirm=turn.confirm)
            self._has_compiled = True
            if self._sharing.share is not None:
                self._sharing.share(entry, turn.confirm)
        except ClaimLost as lost:
            self.log.remark(f"{entry.module}: {lost}")
            return None
        return compiled

    def _turn(self, entry: WritableEntry, seen: Lookup) -> AbstractContextManager[Turn]:
        """The right to compile an entry, if nodes claim what they compile; `seen`: the result of the lookup before."""
        return self._sharing.turns(entry.root, self.log).turn(
            entry.path,
            settled=lambda: entry.state() is not seen,
            interrupted=lambda: self._compiling.interrupted,
            began=lambda: self._emit(side_channel.wait_began(entry.module)),
        )

    def _fetched(self, entry: WritableEntry, digest: str, *, anew: bool = False) -> Fetched:
        """Try to fetch the artifact, if there is an artifact source; not done for a stored failure."""
        fetcher, state = self._sharing.fetcher(entry.root, self.log, self._emit), entry.state()
        if fetcher is None or state is not Lookup.MISS:  # perhaps published a moment ago
            return Fetched(look_again=state is Lookup.HIT, waited=0.0)
        return fetcher.fetch(entry, digest, lambda: self._compiling.interrupted, anew=anew)

    def _looked_up(self, entry: WritableEntry, digest: str, before: _StoredFailure | None) -> CompiledEntry | None:
        state = entry.state()
        if state is Lookup.HIT:
            try:
                artifact = entry.load(digest)
            except Unsound:
                self._set_aside(entry, digest)
            else:
                if entry.lock.exists():  # its holder may have been killed after it wrote the mark
                    EntryLock(entry).break_if_dead()
                self.log.hit(entry.artifact)
                return _hit(entry, artifact)
        elif state is Lookup.FAILED and not self._may_retry(entry, before):
            entry.check()
            text = entry.failure_text()
            self.log.cached_failure(entry.artifact, text, retrying=False)
            raise CachedFailure(
                f"{entry.module} failed to compile before (see {entry.failure}); "
                "add --retry_failed_compilation to NEURON_CC_FLAGS to try again",
                module=entry.module,
                log=text,
            )
        return None

    def _may_retry(self, entry: WritableEntry, before: _StoredFailure | None) -> bool:
        """Whether to retry a failure: once for all processes that asked before it happened, not once by each.

        `before` is what was stored when this process asked; times are no help, since clocks jump and differ.
        """
        return self.options.retry_failed and self._stored_failure(entry) in (None, before)

    def _stored_failure(self, entry: WritableEntry) -> _StoredFailure | None:
        """The stored failure; None if there is none, and if failures are not retried."""
        if not self.options.retry_failed:
            return None
        try:
            facts = entry.failure.stat()
        except OSError:
            return None
        return _StoredFailure(facts.st_ino, facts.st_mtime_ns)

    def _set_aside(self, entry: WritableEntry, digest: str) -> None:
        lock = EntryLock(entry)
        try:
            if not lock.acquire():
                return  # somebody is repairing it already: wait for that
            if entry.state() is Lookup.HIT and (reason := entry.broken_reason(digest)):
                kept = entry.set_aside()
                self.log.remark(f"Artifact in {entry.path} is not used: {reason}; kept as {kept}, recompiling")
        finally:
            lock.release()

    def reject(self, entry: WritableEntry, reason: str) -> None:
        """Set aside an artifact that could not be loaded, so that the next `get_or_compile` compiles again."""
        lock = EntryLock(entry)
        try:
            if lock.acquire() and entry.state() is Lookup.HIT:
                kept = entry.set_aside()
                self.log.remark(f"Artifact in {entry.path} cannot be loaded: {reason}; kept as {kept}, recompiling")
        finally:
            lock.release()

    def _compile_apart(self, graph: GraphToCompile) -> CompiledEntry:
        """Compile into a folder of this process, which is deleted with it; if a disk is full, on the next one."""
        while True:
            scratch = self._scratch.moved_to
            try:
                return self._compile_in(self._scratch.folder(), graph)
            except CacheUnusable as problem:
                is_of_folder = isinstance(problem, DiskFull) or isinstance(problem.__cause__, OSError)
                if not is_of_folder or not self._moved(problem, scratch):
                    raise

    def _compile_in(self, folder: Path, graph: GraphToCompile) -> CompiledEntry:
        cache = PersistentCache(folder, self.compiler.directory(), private=True)
        names = self.compiler.artifact_names
        entry = cache.entry(graph.key, graph_name=self.compiler.graph_name, artifact_names=names)
        if entry.state() is Lookup.HIT:
            with contextlib.suppress(Unsound):
                return _hit(entry, entry.load(graph.digest))
        return self._compiling.compile(entry, graph, None)


def _hit(entry: WritableEntry, artifact: StoredArtifact) -> CompiledEntry:
    return CompiledEntry(entry=entry, hit=True, guards=artifact.guards, artifact=artifact)
