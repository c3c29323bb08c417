"""Files with PyTorch's own compiled artifacts: finds out what they are, their size and date. Loads none. Reads only.

    mega-cache      what `torch.compiler.save_cache_artifacts()` returns: a checksum, a version, then for each kind of
                    cache the keys and the contents of its artifacts (torch/compiler/_cache.py,
                    _appending_byte_serializer.py)
    aot-compile     what `….aot_compile(…).save_compiled_function(path)` writes: a pickle (torch/_dynamo/aot_compile.py)
    aoti            a package of AOTInductor, `.pt2`: a zip archive (torch/export/pt2_archive)

They have no fixed place: a job writes them where its author wants. Loading a pickle would run code, so only its opcodes
are read, one by one, and no object is made.
"""

from __future__ import annotations

import base64
import binascii
import io
import os
import pickletools
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from typing import IO, cast

import msgspec

from neuron_top.cache.noatime_reader import NoAtimeReader
from neuron_top.escapes import name_text, visible

_VERSION = 1
_CHECKSUM = 4
_KIND = re.compile(r"[a-z][a-z0-9_]{1,40}\Z")
_MOST_KINDS, _MOST_KEYS, _MOST_ARTIFACTS = 64, 20, 1_000_000
_LONGEST_NAME = 4096
_HEAD = 256
_PICKLE_BYTES = 64 << 20
"""Most bytes that are read of a pickle. What lies behind larger contents stays unknown."""
_PICKLE_WORDS = 100_000
_ARCHIVE_NAMES = 100_000
DEEPEST, MOST_FILES = 4, 5000
_UNREADABLE = (OSError, ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What reading a file raises that is damaged, encrypted (RuntimeError) or compressed in a way that we do not know."""
_COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArtifactKind(StrEnum):
    """What a file is."""

    MEGA_CACHE = "mega-cache"
    AOT_COMPILE = "aot-compile"
    AOTI = "aoti"


class TorchArtifact(msgspec.Struct, frozen=True, kw_only=True):
    """One file. `bytes` is its length, `changed` in seconds since the epoch; None or empty: the file does not say."""

    kind: ArtifactKind
    path: str
    bytes: int
    changed: float
    complete: bool | None = None
    """Whether it has all the bytes that its contents announce."""
    artifacts: dict[str, int] = {}
    """Of a mega-cache: kind of cache (`inductor`, `aot_autograd`, `autotune`, …) → number of artifacts."""
    keys: tuple[str, ...] = ()
    """Some keys of these artifacts, the first ones."""
    function: str | None = None
    backend: str | None = None
    device: str | None = None
    models: tuple[str, ...] = ()


def find(places: Iterable[str]) -> list[TorchArtifact]:
    """The artifacts in `places`: files, or folders, which are searched with those below them. Each once, by path."""
    found: dict[str, TorchArtifact] = {}
    reader = NoAtimeReader()
    for path in _files(places):
        real = os.path.realpath(path)
        if real not in found and (artifact := read(path, reader)) is not None:
            found[real] = artifact
    return sorted(found.values(), key=lambda artifact: artifact.path)


def read(path: str, reader: NoAtimeReader | None = None) -> TorchArtifact | None:
    """The artifact in a file; None for any other file, and for one that cannot be read."""
    try:
        handle = (reader or NoAtimeReader()).open_file(path)
    except OSError:
        return None
    with open(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            return None
        with suppress(*_UNREADABLE):
            head = file.read(_HEAD)
            about = _about(file, head, facts.st_size)
            if about is not None:
                return msgspec.structs.replace(about, path=name_text(path), bytes=facts.st_size, changed=facts.st_mtime)
    return None


def _about(file: io.BufferedReader, head: bytes, size: int) -> TorchArtifact | None:
    if head.startswith(b"PK\x03\x04"):
        return _archive(file)
    if head.startswith(b"\x80") and b"signature" in head:
        file.seek(0)
        return _pickle(file)
    start = next((at for at in (_CHECKSUM, 0) if _begins_bundle(head, at)), None)
    return None if start is None else _bundle(file, start, size)


def _made(kind: ArtifactKind) -> TorchArtifact:
    return TorchArtifact(kind=kind, path="", bytes=0, changed=0.0)


# --- mega-cache ---


def _begins_bundle(head: bytes, at: int) -> bool:
    """Whether a mega-cache begins at offset `at`: a version, a length, and in that many bytes the name of a kind of
    cache in Base64."""
    if int.from_bytes(head[at : at + 8], "big") != _VERSION or len(head) < at + 8:
        return False
    length = int.from_bytes(head[at + 8 : at + 16], "big")
    return 0 < length <= 64 and _text(head[at + 16 : at + 16 + length]) is not None


def _bundle(file: io.BufferedReader, start: int, size: int) -> TorchArtifact:
    """Kinds and keys of a mega-cache; contents are skipped."""
    counts: dict[str, int] = {}
    keys: list[str] = []
    file.seek(start + 8)
    try:
        while file.tell() < size and len(counts) < _MOST_KINDS:
            kind = _text(_sized(file, size))
            number = _number(file)
            if kind is None or number > _MOST_ARTIFACTS:
                raise ValueError("no kind of cache")
            for _ in range(number):
                key = base64.b64decode(_sized(file, size), validate=True).decode("utf-8", "replace")
                _skip(file, size)
                counts[kind] = counts.get(kind, 0) + 1
                if len(keys) < _MOST_KEYS:
                    keys.append(visible(key[:_LONGEST_NAME]))
        complete = file.tell() == size
    except (ValueError, binascii.Error):
        complete = False
    return msgspec.structs.replace(
        _made(ArtifactKind.MEGA_CACHE), artifacts=counts, keys=tuple(keys), complete=complete
    )


def _number(file: io.BufferedReader) -> int:
    data = file.read(8)
    if len(data) < 8:
        raise ValueError("cut short")
    return int.from_bytes(data, "big")


def _sized(file: io.BufferedReader, size: int) -> bytes:
    length = _number(file)
    if length > _LONGEST_NAME or file.tell() + length > size:
        raise ValueError("cut short")
    return file.read(length)


def _skip(file: io.BufferedReader, size: int) -> None:
    length = _number(file)
    if file.tell() + length > size:
        raise ValueError("cut short")
    file.seek(length, os.SEEK_CUR)


def _text(data: bytes) -> str | None:
    try:
        text = base64.b64decode(data, validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if _KIND.match(text) else None


# --- aot_compile ---


class _Bounded:
    """A file of which at most `left` bytes are read: an opcode of a pickle may claim any length."""

    def __init__(self, file: io.BufferedReader, left: int) -> None:
        self._file, self._left = file, left

    def read(self, size: int = -1) -> bytes:
        """`size` bytes. Raises ValueError if that is more than is left."""
        if size < 0 or size > self._left:
            raise ValueError("more than is read")
        self._left -= size
        return self._file.read(size)

    def readline(self, size: int | None = -1) -> bytes:
        """A line, as the oldest pickles have them. Raises ValueError if it is longer than is left."""
        line = self._file.readline(_LONGEST_NAME)
        self._left -= len(line)
        if self._left < 0 or (len(line) == _LONGEST_NAME and not line.endswith(b"\n")):
            raise ValueError("more than is read")
        return line


def _pickle(file: io.BufferedReader) -> TorchArtifact | None:
    """Facts from the strings in a pickle: the string after a known name is its value. Nothing is loaded."""
    wanted = {"backend_name": "backend", "device_type": "device", "co_name": "function"}
    facts: dict[str, str] = {}
    words: set[str] = set()
    waiting, complete = "", False
    try:
        for number, (code, argument, _) in enumerate(
            pickletools.genops(cast("IO[bytes]", _Bounded(file, _PICKLE_BYTES)))
        ):
            if number >= _PICKLE_WORDS:
                break
            complete = code.name == "STOP"
            if not isinstance(argument, str):
                continue
            if waiting:
                facts.setdefault(waiting, visible(argument[:_LONGEST_NAME]))
            waiting = wanted.get(argument, "")
            words.add(argument)
    except ValueError:
        pass
    if not {"signature", "guards_state", "backend_id"} <= words:
        return None
    return msgspec.structs.replace(
        _made(ArtifactKind.AOT_COMPILE),
        complete=complete or None,
        function=facts.get("function"),
        backend=facts.get("backend"),
        device=facts.get("device"),
    )


# --- AOTInductor ---


def _archive(file: io.BufferedReader) -> TorchArtifact | None:
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()[:_ARCHIVE_NAMES]
        format_name = next((name for name in names if name.rpartition("/")[2] == "archive_format"), None)
        if format_name is None:
            return None
        about = archive.getinfo(format_name)
        if about.file_size > 16 or about.compress_type not in _COMPRESSION:
            return None
        if archive.read(format_name).strip() != b"pt2":
            return None
    models = {name.split("/aotinductor/", 1)[1].split("/", 1)[0] for name in names if "/data/aotinductor/" in name}
    return msgspec.structs.replace(
        _made(ArtifactKind.AOTI), complete=True, models=tuple(visible(name) for name in sorted(models)[:_MOST_KEYS])
    )


# --- files ---


def _files(places: Iterable[str]) -> Iterator[str]:
    count = 0
    for place in places:
        if not os.path.isdir(place):
            yield place
            continue
        depth = place.rstrip("/").count("/")
        for folder, folders, names in os.walk(place):
            if folder.count("/") - depth >= DEEPEST:
                folders.clear()
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if count >= MOST_FILES:
                    return
                count += 1
                yield f"{folder}/{name}"
