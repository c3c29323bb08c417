"""The first lines of `model.fxgraph`: which graph it is, under which key, and the digest of what follows.

The rest of the file is a pickle, so it is not loaded before these lines were checked: the key is that of the entry, the
body has the digest, and the signature is right if one is required. A file of another format, or without these lines,
does not count as a graph.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from neuron_top.cache.model.signature import UNSIGNED, Signature
from neuron_top.decoders import MALFORMED

if TYPE_CHECKING:  # whoever only reads entries needs no keys
    from neuron_top.cache.signing import Keys

MAGIC = b"neuron-top fx graph 3\n"
HEAD_BYTES = 4096
"""The most bytes that magic and header may have."""


class GraphHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What the header of a graph file says."""

    module: str
    """The key of its entry."""
    graph: str
    """Digest of the graph's exact description; the key's graph half is its beginning. If the whole digest is not known,
    that half."""
    sha256: str
    """Digest of the body."""
    signature: Signature = UNSIGNED

    def content(self) -> list[str]:
        """What is signed."""
        return ["neuron-top graph file 3", self.module, self.graph, self.sha256]


class NotThisGraph(ValueError):
    """The file is not the graph that its place promises; the text says why."""


_header = msgspec.json.Decoder(GraphHeader)  # made once, in one thread: see `cache/scan/index.py`


def wrap(body: bytes, *, module: str, graph: str, keys: Keys) -> bytes:
    """The bytes of a graph file."""
    header = GraphHeader(module=module, graph=graph, sha256=hashlib.sha256(body).hexdigest())
    signed = msgspec.structs.replace(header, signature=keys.sign(header.content()))
    return MAGIC + msgspec.json.encode(signed) + b"\n" + body


def read(head: bytes) -> GraphHeader:
    """The header, from the first HEAD_BYTES of a graph file, or from all of it. Raises NotThisGraph."""
    if not head.startswith(MAGIC):
        raise NotThisGraph("it is not a graph file of this version of neuron-top")
    line, end, _ = head[len(MAGIC) : HEAD_BYTES].partition(b"\n")
    try:
        if end:
            return _header.decode(line)
    except MALFORMED:
        pass
    raise NotThisGraph("its first lines cannot be read")


def body(data: bytes) -> bytes:
    """What follows the header, unchecked. Raises NotThisGraph."""
    read(data)
    return data[data.index(b"\n", len(MAGIC)) + 1 :]


def checked(data: bytes, module: str, keys: Keys) -> tuple[GraphHeader, bytes]:
    """Header and body of the graph of `module`. Raises NotThisGraph for anything else."""
    header = read(data)
    if header.module != module:
        raise NotThisGraph(f"it is the graph of {header.module}")
    content = body(data)
    if hashlib.sha256(content).hexdigest() != header.sha256:
        raise NotThisGraph("it was changed after it was written (its digest differs)")
    if problem := keys.problem(header.content(), header.signature):
        raise NotThisGraph(problem)
    return header, content
