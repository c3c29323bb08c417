"""`model.stats.json`, the record of a local compile: key, graph, files of the artifact, and what the compile cost.

An artifact counts only with this record, and the record only with the right digest, so that neither a swapped file nor
a flipped bit goes unnoticed. A signature (`cache/signing.py`) shows with which key it was written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from io import BufferedReader
from typing import TYPE_CHECKING

import msgspec

from neuron_top.cache.model import filenames
from neuron_top.cache.model.keys import parse_key
from neuron_top.cache.model.signature import UNSIGNED, Signature
from neuron_top.escapes import visible

if TYPE_CHECKING:  # whoever only reads entries needs no keys
    from neuron_top.cache.signing import Keys


TEXT_BYTES = 16 << 20
"""Most bytes that are read of a record, a description or a log: a damaged disk may show a terabyte."""


class FileFacts(msgspec.Struct, frozen=True):
    """One file of an artifact as it was published."""

    sha256: str
    bytes: int

    def content(self, name: str) -> tuple[str, str, str]:
        """Name, digest and size as text."""
        return name, self.sha256, str(self.bytes)


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """`model.stats.json`. Times in seconds, `started` and `finished` since the epoch; memory of the compile process."""

    module: str = ""
    compiler: str = ""
    compile_seconds: float | None = None
    peak_rss_bytes: int | None = None
    started: float | None = None
    finished: float | None = None
    attempts: int = 1
    files: dict[str, FileFacts] = {}
    guards: str = ""
    """What the compiler assumed about symbolic sizes, as a Python expression over them; empty when nothing."""
    graph: str = ""
    """Digest of the graph that it was made from; see `graph_header.GraphHeader.graph`."""
    digest: str = ""
    """Digest of `content()`, so that a record with a flipped bit is not believed."""
    signature: Signature = UNSIGNED

    def content(self) -> list[str]:
        """All that is used when the artifact is loaded, in a fixed order: what is digested and signed."""
        files = [text for name in sorted(self.files) for text in self.files[name].content(name)]
        return ["neuron-top artifact 2", self.module, self.graph, self.compiler, self.guards, *files]

    def sealed(self, keys: Keys) -> Stats:
        """This record with its digest and signature."""
        content = self.content()
        return msgspec.structs.replace(self, digest=_digest_of(content), signature=keys.sign(content))

    def identity_problem(self, module: str) -> str:
        """Why this is not the record of `module`, as far as it shows without a key or another file; empty if it is."""
        if self.module != module:
            return f"it belongs to {visible(self.module) or 'no module'}"
        return "" if self.graph else "published by neuron-top 0.1: compiled again when it is next asked for"

    def problem(self, module: str, graph: str, keys: Keys) -> str:
        """Why this is not the record of `module` compiled from `graph` (empty: not known); empty if it is."""
        if problem := self.identity_problem(module):
            return problem
        key = parse_key(module)
        if (graph and self.graph != graph) or (key is not None and not self.graph.startswith(key.graph)):
            return "it was made from another graph"
        content = self.content()
        if self.digest != _digest_of(content):
            return f"{filenames.STATS} was changed after it was written"
        return keys.problem(content, self.signature)


def _digest_of(content: Sequence[str]) -> str:
    return hashlib.sha256(msgspec.json.encode(content)).hexdigest()


stats_decoder = msgspec.json.Decoder(Stats)  # made once, in one thread: see `cache/scan/index.py`


def file_facts(file: BufferedReader) -> FileFacts:
    """Digest and size of a file that is open at its beginning."""
    digest = hashlib.file_digest(file, "sha256")
    return FileFacts(digest.hexdigest(), file.tell())
