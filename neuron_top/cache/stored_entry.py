"""Reads an entry for a job or a compiler: through the gate, and only what was published under its key.

An artifact counts only if it has its mark, and the digests in its record (`model.stats.json`), which also names the key
and the graph that it was made from. Each file is read once, so that what is used is what was checked.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from neuron_top.cache import trust
from neuron_top.cache.model import filenames, graph_header
from neuron_top.cache.model.graph_header import NotThisGraph
from neuron_top.cache.model.keys import flags_hash, parse_key
from neuron_top.cache.model.record import TEXT_BYTES, FileFacts, Stats, file_facts, stats_decoder
from neuron_top.cache.model.states import Lookup
from neuron_top.cache.signing import Keys
from neuron_top.decoders import MALFORMED
from neuron_top.errors import FileMalformed
from neuron_top.plain_files import open_plain, read_plain


class Unsound(Exception):
    """An artifact is not what was published under its key; the text says what is wrong."""


class StoredArtifact(msgspec.Struct, frozen=True, kw_only=True):
    """The files of an artifact by name, as they were checked."""

    files: dict[str, bytes]
    guards: str = ""


class StoredEntry:
    """One `MODULE_<graph>+<flags>` folder. The compiler determines the names of its files."""

    def __init__(
        self,
        path: Path,
        root: Path,
        *,
        graph_name: str,
        artifact_names: Sequence[str],
        keys: Keys | None = None,
        private: bool = False,
    ) -> None:
        self.path, self.root, self.keys, self.private = path, root, keys or Keys(), private
        self.graph = path / graph_name
        self.artifact = path / artifact_names[0]
        self.artifacts = tuple(path / name for name in artifact_names)
        self.done, self.failure = path / filenames.DONE, path / filenames.FAILURE_LOG
        self.lock = path / (graph_name + filenames.LOCK_SUFFIX)

    @property
    def module(self) -> str:
        """The key, `MODULE_…`."""
        return self.path.name

    def state(self) -> Lookup:
        """What a lookup finds: the mark is looked for first, then the failure, as the SDK's clients do. A mark without
        the artifact's files is a miss."""
        if self.done.exists() and all(path.exists() for path in self.artifacts):
            return Lookup.HIT
        return Lookup.FAILED if self.failure.exists() else Lookup.MISS

    def stats(self) -> Stats | None:
        """The record of the last compile; None if there is none that can be read."""
        try:
            return stats_decoder.decode(read_plain(self.path / filenames.STATS, TEXT_BYTES))
        except (OSError, *MALFORMED):
            return None

    def failure_text(self) -> str:
        """The stored message of a failed compile; empty if there is none."""
        try:
            return read_plain(self.failure, TEXT_BYTES).decode("utf-8", errors="replace")
        except OSError:
            return ""

    @property
    def is_local(self) -> bool:
        """Whether the entry is of our own compiler: its graph is a pickle, and its artifact is loaded into this
        process."""
        return self.graph.name == filenames.FX_GRAPH

    def opened(self) -> trust.CheckedFolder:
        """Its folder, opened through the gate. Raises RefusedForSafety, FileNotFoundError or another OSError."""
        try:
            with contextlib.ExitStack() as above:
                folder = trust.open_own(str(self.root)) if self.private else trust.open_folder(str(self.root))
                for name in self.path.relative_to(self.root).parts:
                    folder = above.enter_context(folder).folder(name)
                return folder
        except trust.Untrusted as reason:
            raise trust.refusal(reason) from None

    def check(self) -> None:
        """Raises RefusedForSafety if others can change what lies here; a missing entry is fine."""
        with contextlib.suppress(OSError), self.opened():
            pass

    def load(self, graph: str = "") -> StoredArtifact:
        """The artifact's files, each read once, and checked to be what was published for `graph` under this key.

        Raises Unsound, RefusedForSafety.
        """
        try:
            with self.opened() as folder:
                return self._checked(folder, graph)
        except trust.NoPlainFile as reason:
            raise Unsound(str(reason)) from None
        except trust.Untrusted as reason:
            raise trust.refusal(reason) from None
        except FileNotFoundError as problem:  # evicted since the lookup: a miss, and no damage
            raise Unsound(f"{Path(problem.filename or self.path).name} is gone") from None
        except OSError as problem:
            raise Unsound(f"it cannot be read: {problem.strerror or problem}") from None

    def _checked(self, folder: trust.CheckedFolder, graph: str) -> StoredArtifact:
        if not self.is_local:
            self._compare_sdks(self.stats())
            return StoredArtifact(files={})
        try:
            stats = stats_decoder.decode(folder.read(filenames.STATS, TEXT_BYTES))
        except (FileNotFoundError, *MALFORMED):
            raise Unsound(f"{filenames.STATS} is missing or unreadable") from None
        if problem := stats.problem(self.module, graph, self.keys):
            raise Unsound(problem)
        files = {path.name: _published(folder, path.name, stats.files.get(path.name)) for path in self.artifacts}
        return StoredArtifact(files=files, guards=stats.guards)

    def _compare_sdks(self, stats: Stats | None) -> None:
        """Check a NEFF, which is not loaded here, against its record if it has one: the SDK writes none, but we do.

        Raises Unsound, OSError.
        """
        if stats is None:
            return
        if stats.module != self.module:
            raise Unsound(f"it belongs to {stats.module}")
        for path in self.artifacts:
            published = stats.files.get(path.name)
            # Its length first: hashing a file that a damaged disk shows as a terabyte takes hours.
            if published is None or path.stat().st_size != published.bytes or facts_of(path) != published:
                raise Unsound(f"{path.name} is not what was published")

    def broken_reason(self, graph: str = "") -> str:
        """Why it cannot be loaded, and which file is wrong; empty if it can. Raises RefusedForSafety."""
        try:
            self.load(graph)
        except Unsound as reason:
            return str(reason)
        return ""

    def stored_graph(self) -> tuple[str, bytes]:
        """(digest, body) of the graph in this entry, read through the gate.

        Raises FileMalformed if there is none, or it is that of another entry; RefusedForSafety.
        """
        try:
            data = self._read(self.graph.name)
            if not self.is_local:
                return "", data
            header, body = graph_header.checked(data, self.module, self.keys)
        except NotThisGraph as reason:
            raise FileMalformed(self.graph, f"the graph of this entry, but {reason}; collect it again") from None
        return header.graph, body

    def stored_flags(self) -> tuple[str, ...]:
        """The flags that it was stored with. Raises FileMalformed if none can be read, RefusedForSafety."""
        key = parse_key(self.module)
        for name in filenames.FLAGS_NAMES:
            if not (self.path / name).exists():
                continue
            data = self._read(name)
            if key is not None and key.flags is not None and flags_hash(data) != key.flags:
                raise FileMalformed(self.path / name, "the flags whose hash stands in the entry's name")
            try:
                text = data.decode("utf-8")
                return tuple(text.split() if name.endswith(".txt") else msgspec.json.decode(text, type=list[str]))
            except MALFORMED:
                raise FileMalformed(self.path / name, "a JSON list of flags") from None
        raise FileMalformed(self.path, "a flags file: the flags to compile it with are not known")

    def _read(self, name: str) -> bytes:
        """A file that is needed to compile the graph, read through the gate. Raises FileMalformed, RefusedForSafety."""
        try:
            with self.opened() as folder:
                return folder.read(name)
        except trust.Untrusted as reason:
            raise trust.refusal(reason) from None
        except OSError as problem:
            raise FileMalformed(self.path / name, f"a readable file ({problem.strerror or problem})") from None

    def holds_graph(self, graph: str) -> bool:
        """Whether the graph's file is here, undamaged, and has the digest `graph` (empty: any graph of this key)."""
        try:
            stored, _ = self.stored_graph()
        except FileMalformed:
            return False
        return stored == graph or not graph


def _published(folder: trust.CheckedFolder, name: str, facts: FileFacts | None) -> bytes:
    """A file of an artifact. Raises Unsound if it is not the one in its record; one of another length is not read."""
    with folder.open(name) as file:
        if facts is not None and os.fstat(file.fileno()).st_size == facts.bytes:
            data = file.read(facts.bytes + 1)
            if FileFacts(hashlib.sha256(data).hexdigest(), len(data)) == facts:
                return data
    raise Unsound(f"{name} is not what was published")


def facts_of(path: Path) -> FileFacts:
    """Digest and size of a plain file. Raises OSError, also for a link."""
    with open(open_plain(path), "rb") as file:
        return file_facts(file)
