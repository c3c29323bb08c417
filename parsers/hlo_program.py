"""Separates what an HLO module computes from names and numbers of ranks: graphs of one program differ only in those.

A rank or a process group gets into a graph's key as a constant, in replica groups, in the configuration of a kernel or
in a name. All of that is kept beside the digest, to report what differs.
Field numbers are those of XLA's `hlo.proto`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from neuron_top.parsers.hlo import DEVICE_LIST, REPLICA_GROUPS, MalformedHlo, fields, integers, number_of, text_of

HELD_KEPT = 64
"""Texts that are kept of each kind; one more text holds the number and the digest of the rest."""
_NAMES_KEPT = 8
"""The same for names and places in the source, of which every instruction has one."""
_TEXT = 100
_NUMBERS = 16


class HeldKind(StrEnum):
    """What a graph holds beside its program."""

    GROUPS = "replica groups"
    PARTNERS = "pairs of a permutation"
    NUMBERS = "whole numbers folded in"
    CONFIGURATION = "configuration of a kernel"
    ATTRIBUTES = "attributes of the framework"
    CHANNELS = "channels of collectives"
    NAMES = "names"
    PLACES = "places in the source"


_PLAIN = frozenset((HeldKind.NAMES, HeldKind.PLACES))


class Program(msgspec.Struct, frozen=True):
    """The digest of a module without names and numbers of ranks, and those by their kind, in the order of the file."""

    digest: str
    held: dict[str, list[str]]


def read_program(data: bytes) -> Program:
    """Read a serialized HloModuleProto, or an HloProto around one. Raises MalformedHlo."""
    try:
        module = memoryview(data)
        computations = _computations(module)
        if not computations:
            module = next((one for number, one in fields(module) if number == 1 and not isinstance(one, int)), module)
            computations = _computations(module)
        if not computations:
            raise MalformedHlo("no computation in it")
        reader = _Reader(computations)
        return Program(reader.digest.hexdigest(), {str(kind): texts.kept() for kind, texts in reader.held.items()})
    except (IndexError, RecursionError) as problem:
        raise MalformedHlo(f"cut short: {problem}") from None


def _computations(module: memoryview) -> list[memoryview]:
    return [value for number, value in fields(module) if number == 3 and not isinstance(value, int)]


class _Texts:
    """Texts of one kind: the first ones, and a digest of the rest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._first: list[str] = []
        self._rest = hashlib.blake2b(digest_size=8)
        self._more = 0

    def add(self, text: str) -> None:
        if len(self._first) < self._most:
            self._first.append(text if len(text) <= _TEXT else f"{text[: _TEXT - 17]}…{_short(text.encode())}")
        else:
            self._more += 1
            self._rest.update(text.encode() + b"\0")

    def kept(self) -> list[str]:
        return [*self._first, f"{self._more} more ({self._rest.hexdigest()})"] if self._more else self._first


_NAMES, _METADATA, _OPCODE, _LITERAL, _CHANNEL, _TARGET, _ID = 1, 7, 2, 8, 26, 28, 35
_REFERENCES = frozenset((36, 37))
_CALLED = 38
_CONFIGURATION, _PAIRS, _ATTRIBUTES = 43, 52, 68
_WHOLE_NUMBERS = frozenset((3, 4, 5, 6, 7, 15, 16, 17))
"""Fields of a literal: u8, s32, s64, u32, u64, s8, u16, s16."""
_AS_VARINTS = frozenset((4, 5, 6, 7))


class _Reader:
    """Walks all computations once. Ids may be counted over a whole process, so places in the file stand in for them."""

    def __init__(self, computations: list[memoryview]) -> None:
        self.digest = hashlib.blake2b(digest_size=16)
        self.held: dict[HeldKind, _Texts] = {}
        self._called = {number_of(one, 5): place for place, one in enumerate(computations)}
        self._met: dict[int, int] = {}
        for one in computations:
            self._met.clear()
            self.digest.update(b"computation")
            for number, value in fields(one):
                if number == 2 and not isinstance(value, int):
                    self._instruction(value)

    def _keep(self, kind: HeldKind, text: str) -> None:
        if kind not in self.held:
            self.held[kind] = _Texts(_NAMES_KEPT if kind in _PLAIN else HELD_KEPT)
        self.held[kind].add(text)

    def _hash(self, number: int, data: bytes | memoryview) -> None:
        self.digest.update(b"%d:%d:" % (number, len(data)))
        self.digest.update(data)

    def _instruction(self, data: memoryview) -> None:
        opcode, groups, identity = "", list[str](), 0
        for number, value in fields(data):
            if number == _ID and isinstance(value, int):
                identity = value
            elif number in _REFERENCES:
                places = [self._met.get(integer, -1) for integer in integers(value, [])]
                self._hash(number, repr(places).encode())
            elif number == _CALLED:
                self._hash(number, repr([self._called.get(integer, -1) for integer in integers(value, [])]).encode())
            elif number == _CHANNEL:
                self._keep(HeldKind.CHANNELS, str(value))
            elif isinstance(value, int):
                self._hash(number, str(value).encode())
            elif number == _OPCODE:
                opcode = text_of(value)
                self._hash(number, value)
            elif number == REPLICA_GROUPS:
                groups.append(self._group(value))
            elif number == DEVICE_LIST:
                groups += self._devices(value)
            else:
                self._part(number, value)
        if groups:
            self._keep(HeldKind.GROUPS, f"{opcode} {', '.join(groups)}")
        self._hash(_ID, b"")  # where it ends
        self._met[identity] = len(self._met)

    def _part(self, number: int, value: memoryview) -> None:
        if number == _NAMES:
            self._keep(HeldKind.NAMES, text_of(value))
        elif number == _METADATA:
            self._keep(HeldKind.PLACES, _place(value))
        elif number == _LITERAL:
            self._literal(value)
        elif number == _CONFIGURATION:
            self._keep(HeldKind.CONFIGURATION, _text_or_digest(value))
        elif number == _PAIRS:
            self._keep(HeldKind.PARTNERS, f"{number_of(value, 1)} → {number_of(value, 2)}")
        elif number == _ATTRIBUTES:
            self._keep(HeldKind.ATTRIBUTES, _text_or_digest(value))
        else:
            self._hash(number, value)

    def _group(self, data: memoryview) -> str:
        """`{0,1,2,3}`. How many ranks there are is part of the program."""
        ranks = [rank for number, value in fields(data) if number == 1 for rank in integers(value, [])]
        self._hash(REPLICA_GROUPS, str(len(ranks)).encode())
        return "{" + ",".join(map(str, ranks)) + "}"

    def _devices(self, data: memoryview) -> Iterator[str]:
        """The newer form: groups one by one, or a rule that generates them, of which the digest is kept."""
        for number, value in fields(data):
            if isinstance(value, int):
                continue
            if number == 1:
                yield self._group(value)
            else:
                groups, ranks = number_of(value, 1), number_of(value, 2)
                self._hash(REPLICA_GROUPS, f"{groups} of {ranks}".encode())
                yield f"{groups} groups of {ranks} by rule {_short(value)}"

    def _literal(self, data: memoryview) -> None:
        """Floating-point numbers are part of the program; whole numbers may be ranks."""
        for number, value in fields(data):
            if number not in _WHOLE_NUMBERS:
                self._hash(number, str(value).encode() if isinstance(value, int) else value)
            elif number in _AS_VARINTS:
                found = integers(value, [])
                few = ", ".join(str(_signed(one)) for one in found)
                self._keep(
                    HeldKind.NUMBERS, few if len(found) <= _NUMBERS else f"{len(found)} ({_short(few.encode())})"
                )
            elif not isinstance(value, int):
                few = ", ".join(str(one) for one in value[:_NUMBERS])
                self._keep(HeldKind.NUMBERS, few if len(value) <= _NUMBERS else f"{len(value)} ({_short(value)})")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _place(metadata: memoryview) -> str:
    """`add train.py`: the texts in an operator's metadata."""
    return " ".join(_words(metadata))


def _words(message: memoryview) -> Iterator[str]:
    for _, value in fields(message):
        if not isinstance(value, int):
            yield _text_or_digest(value)


def _text_or_digest(value: memoryview) -> str:
    """A short printable text as it is, anything else (a kernel in base64) as its size and digest."""
    data = bytes(value)
    if len(data) <= _TEXT:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = ""
        if text.isprintable() and text:
            return text
    return f"{len(data)} bytes ({_short(data)})"


def _short(data: bytes | memoryview) -> str:
    return hashlib.blake2b(data, digest_size=6).hexdigest()
