"""The archive inside a NEFF, read as a stream: digest, members, and what the small JSON members say.

Nothing is unpacked to disk and little is kept: the archive is read in pieces, only JSON members up to a bound are held,
and only the fields asked for are decoded. An archive cannot be trusted: lengths may be wrong, names may lead out of it,
a few kilobytes may inflate to gigabytes. Each of these is reported as a problem, never raised as an exception.

Formats: gzip (RFC 1952) or plain GNU tar (512-byte headers, base-256 numbers, `L` members for long names).
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable

import msgspec

from neuron_top.escapes import visible
from neuron_top.parsers.json_fields import LARGEST_BYTES
from neuron_top.parsers.neff import NeffHeader
from neuron_top.parsers.neff_metadata import JsonMembers, Tensor, is_wanted

JSON_LIMIT = 4 * 1024**2
"""Largest JSON member that is read, bytes."""
INFLATED_LIMIT = 4 * 1024**3
"""Where unpacking stops, bytes."""
NAMES_KEPT = 2000
_BLOCK = 512
_PIECE = 256 * 1024
_PROBLEMS_KEPT = 20


class Member(msgspec.Struct, frozen=True, array_like=True):
    """One file of the archive; `size` in bytes."""

    name: str
    size: int


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """What the archive holds. Bytes; None is unknown."""

    compressed: bool
    digest_ok: bool | None
    """None when the package version says nothing known about the digest."""
    members: tuple[Member, ...]
    member_count: int
    unpacked_bytes: int
    problems: tuple[str, ...]
    target: str | None = None
    """`*`, `sunda` (Trn1, Inf2), `cayman` (Trn2), `mariana` (Trn3) or the vendor's short codes."""
    subgraphs: int = 0
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    constants_bytes: int | None = None
    scratch_bytes: int | None = None
    code_bytes: int = 0
    macs: int | None = None

    @property
    def sound(self) -> bool:
        """True when nothing is wrong with it as far as it can be known."""
        return not self.problems and self.digest_ok is not False


def read_payload(header: NeffHeader, chunks: Iterable[bytes]) -> Payload:
    """Walk the stored bytes behind the header, given in pieces of any size. Never raises on what they hold."""
    digest = {1: hashlib.sha256, 2: lambda: hashlib.md5(usedforsecurity=False)}.get(header.package_version, _Nothing)()
    archive = _Archive()
    unpacker: _Unpacker | None = None
    left = header.data_bytes
    for chunk in chunks:
        piece = chunk[:left]
        left -= len(piece)
        digest.update(piece)
        if unpacker is None and piece:
            unpacker = _Unpacker(archive, compressed=piece[:1] == b"\x1f")
        if unpacker is not None:
            unpacker.feed(piece)
        if not left:
            break
    if unpacker is None:
        archive.problem("the archive is empty")
    else:
        unpacker.finish()
    if left:
        archive.problem(f"{left} bytes of the archive are missing")
    stored = digest.hexdigest()
    return archive.result(
        compressed=unpacker is not None and unpacker.compressed,
        digest_ok=stored == header.digest if stored else None,
    )


class _Nothing:
    """Stands in for the digest where the package version is unknown."""

    def update(self, data: bytes) -> None:
        """Ignore the bytes."""

    def hexdigest(self) -> str:
        """No digest."""
        return ""


class _Unpacker:
    """Stored bytes → tar bytes, a bounded piece at a time."""

    def __init__(self, archive: _Archive, *, compressed: bool) -> None:
        self.archive, self.compressed = archive, compressed
        self._inflate = zlib.decompressobj(31) if compressed else None
        self._stopped = False

    def feed(self, data: bytes) -> None:
        if self._inflate is None:
            self.archive.feed(data)
            return
        while data and not self._stopped and not self._inflate.eof:
            try:
                self.archive.feed(self._inflate.decompress(data, _PIECE))
            except zlib.error as problem:
                self.archive.problem(f"gzip: {problem}")
                self._stopped = True
                return
            data = self._inflate.unconsumed_tail
            if self.archive.taken > INFLATED_LIMIT:
                self.archive.problem(f"more than {INFLATED_LIMIT} bytes unpacked: not read further")
                self._stopped = True

    def finish(self) -> None:
        if self._inflate is not None and not self._stopped and not self._inflate.eof:
            self.archive.problem("gzip: the stream ends early")
        self.archive.finish()


class _Archive:
    """A tar stream, taken in pieces."""

    def __init__(self) -> None:
        self.taken = 0
        self.members: list[Member] = []
        self.member_count = 0
        self.code_bytes = 0
        self.documents: dict[str, bytes] = {}
        self._problems: list[str] = []
        self._pending = bytearray()
        self._skip = 0
        self._body: tuple[str, int, int] | None = None
        self._long_name: str | None = None
        self._ended = False

    def problem(self, text: str) -> None:
        if len(self._problems) < _PROBLEMS_KEPT:
            self._problems.append(text)

    def feed(self, data: bytes) -> None:
        self.taken += len(data)
        if self._ended:
            return
        if self._skip:
            step = min(self._skip, len(data))
            self._skip -= step
            data = data[step:]
        self._pending += data
        while self._step():
            pass

    def _step(self) -> bool:
        """Use up one header or one kept body; False when more bytes are needed."""
        if self._ended or self._skip:
            return False
        if self._body is not None:
            return self._take_body(*self._body)
        if len(self._pending) < _BLOCK:
            return False
        header = bytes(self._pending[:_BLOCK])
        del self._pending[:_BLOCK]
        self._header(header)
        return True

    def _header(self, header: bytes) -> None:
        if not header.strip(b"\0"):
            self._end()
            return
        size = _number(header[124:136])
        if size is None or _number(header[148:156]) != _checksum(header):
            self.problem("tar: a header does not add up")
            self._end()
            return
        kind = header[156:157]
        name, self._long_name = self._long_name or _name(header), None
        padded = -(-size // _BLOCK) * _BLOCK
        if kind == b"L" or (kind in b"\x000" and name.endswith(".json") and size <= JSON_LIMIT):
            self._body = ("" if kind == b"L" else name, size, padded)
        else:
            self._discard(padded)
        if kind in (b"\0", b"0", b"5", b"7"):
            self._member(name, size)
        elif kind in (b"1", b"2"):
            self.problem(f"tar: {name} is a link")

    def _member(self, name: str, size: int) -> None:
        self.member_count += 1
        if len(self.members) < NAMES_KEPT:
            self.members.append(Member(name, size))
        if name.startswith("/") or ".." in name.split("/"):
            self.problem(f"tar: the name {name} leads out of the archive")
        if name.endswith(".bin"):
            self.code_bytes += size
        if name.endswith(".json") and size > JSON_LIMIT:
            self.problem(f"{name} is too large to be read here ({size} bytes)")

    def _discard(self, count: int) -> None:
        here = min(count, len(self._pending))
        del self._pending[:here]
        self._skip = count - here

    def _take_body(self, name: str, size: int, padded: int) -> bool:
        if size > JSON_LIMIT:
            self._body = None
            self._discard(padded)
            return True
        if len(self._pending) < padded:
            return False
        body = bytes(self._pending[:size])
        del self._pending[:padded]
        self._body = None
        if not name:
            self._long_name = visible(body[:4096].rstrip(b"\0").decode("utf-8", "replace"))
        elif is_wanted(name) and sum(map(len, self.documents.values())) + size <= 2 * JSON_LIMIT:
            self.documents[name.removeprefix("./")] = body
        return True

    def _end(self) -> None:
        self._ended = True
        self._pending.clear()

    def finish(self) -> None:
        if not self._ended and (self._pending or self._skip or self._body is not None):
            self.problem("tar: the archive ends inside a member")

    def result(self, *, compressed: bool, digest_ok: bool | None) -> Payload:
        described = JsonMembers(
            self.documents,
            {member.name for member in self.members},
            self.problem,
            complete=self.member_count <= NAMES_KEPT,
        )
        return Payload(
            compressed=compressed,
            digest_ok=digest_ok,
            members=tuple(self.members),
            member_count=self.member_count,
            unpacked_bytes=self.taken,
            target=described.target,
            subgraphs=described.subgraphs,
            inputs=tuple(described.inputs),
            outputs=tuple(described.outputs),
            constants_bytes=described.constants,
            scratch_bytes=described.scratch,
            code_bytes=self.code_bytes,
            macs=described.macs,
            problems=tuple(self._problems),
        )


def _number(field: bytes) -> int | None:
    """A tar number: octal text, or base-256 when the first bit is set. None when it is neither, or more bytes than any
    archive has."""
    if field[:1] == b"\x80":
        number = int.from_bytes(field[1:], "big")
        return number if number <= LARGEST_BYTES else None
    text = field.strip(b" \0")
    try:
        return int(text, 8) if text.isdigit() else None if text else 0
    except ValueError:
        return None


def _checksum(header: bytes) -> int:
    return sum(header) - sum(header[148:156]) + 8 * 0x20


def _name(header: bytes) -> str:
    name = header[:100].partition(b"\0")[0]
    prefix = header[345:500].partition(b"\0")[0] if header[257:263] == b"ustar\0" else b""
    return visible((prefix + b"/" + name if prefix else name).decode("utf-8", "replace"))
