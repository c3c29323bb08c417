"""Small caches, NEFFs and HLO modules, built byte by byte: what a test needs of the real thing, and no more."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import struct
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

HEAD = struct.Struct("<QQQQQ128sI32s16s256sI64sQI468s")
FLAGS = ("--target=trn1",)
GRAPH = "0123456789abcdef0123"
COMPILER = "neuronxcc-2.20.9961.0+0acef03a"
OLD_COMPILER = "neuronxcc-2.12.68.0+4480452af"
FAILURE_LOG = "Failed compilation with ['neuronx-cc', 'compile', '--verbose=35']: 2026-01-02T03:04:05Z {message}"
HLO_NAME = "model.hlo_module.pb"

Members = Sequence[tuple[str, bytes]]
KELF = b'{"graphs":[{"definition":"sg00/def.json","name":"sg00"}],"version":"0.5","target":"*"}'
DEFINITION = json.dumps(
    {
        "var": {
            "input0": {"type": "input", "size": 400},
            "output0": {"type": "output", "size": 40},
            "weights": {"type": "file", "size": 1000, "file_name": "w.npy"},
            "scratch": {"type": "virtual", "size": 100, "backing_variable_off": 50},
        }
    }
).encode()
SMALL_PAYLOAD: Members = (
    ("info.json", b"{}"),
    ("kelf-0.json", KELF),
    ("hlo_stats.json", b'{"hlo_mac_count": 1234}'),
    ("sg00/def.json", DEFINITION),
    ("sg00/pe.bin", b"\0" * 64),
)


def archive(members: Members) -> bytes:
    """A GNU tar, padded to 10 KiB."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def neff(
    members: Members = SMALL_PAYLOAD,
    *,
    package: int = 2,
    payload: bytes | None = None,
    name: bytes = b"",
    digest: bytes | None = None,
    data_size: int | None = None,
    header_size: int = 1024,
    major: int = 2,
    features: int = 0,
) -> bytes:
    """A NEFF: gzip with MD5 (package 2) or plain tar with SHA-256 (package 1), unless told otherwise."""
    tar = archive(members) if payload is None else payload
    body = gzip.compress(tar, 1, mtime=0) if package == 2 and payload is None else tar
    right = hashlib.md5(body).digest() + b"0" * 16 if package == 2 else hashlib.sha256(body).digest()
    head = HEAD.pack(
        package,
        header_size,
        len(body) if data_size is None else data_size,
        major,
        0,
        b"",
        1,
        right if digest is None else digest,
        b"u" * 16,
        name,
        1,
        b"\1",
        features,
        1,
        b"",
    )
    return head + body


def module_name(flags_data: bytes, graph: str = GRAPH) -> str:
    """The folder an entry with this flags file has."""
    return f"MODULE_{graph}+{hashlib.md5(flags_data).hexdigest()[:8]}"


def write_entry(
    root: Path,
    files: Mapping[str, bytes],
    *,
    compiler: str = COMPILER,
    graph: str = GRAPH,
    flags: Sequence[str] = FLAGS,
    module: str | None = None,
    age: float | None = None,
) -> Path:
    """An entry with exactly `files`, plus `compile_flags.json` unless a flags file is among them. `age`: seconds."""
    data = json.dumps(list(flags)).encode()
    given = dict(files)
    if not any(name.startswith("compile_flags") for name in given):
        given["compile_flags.json"] = data
    folder = root / compiler / (module or module_name(data, graph))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in given.items():
        (folder / name).write_bytes(content)
    if age is not None:
        set_age(folder, age)
    return folder


def set_age(folder: Path, age: float, now: float | None = None) -> None:
    """Make a folder and everything in it `age` seconds old."""
    at = (folder.stat().st_mtime if now is None else now) - age
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (at, at))


def sparse(path: Path, size: int, start: bytes = b"") -> None:
    """A file of `size` bytes that takes hardly any disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.write(start[:size])
        file.truncate(size)


def sparse_neff(path: Path, size: int) -> None:
    """A file that passes the cheap NEFF test, of exactly `size` bytes."""
    head = HEAD.pack(2, 1024, size - 1024, 2, 0, b"", 1, b"\0" * 32, b"", b"", 1, b"", 0, 1, b"")
    sparse(path, size, head)


# HLO: a wire-format writer, so that the reader is not tested against itself.


def varint(value: int) -> bytes:
    """A protobuf varint; negative values as 64-bit two's complement."""
    value &= 0xFFFFFFFFFFFFFFFF
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def field(number: int, value: int | bytes | str) -> bytes:
    """One field: a varint for an integer, length-delimited for the rest."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def shape(element: int, *dims: int, packed: bool = True) -> bytes:
    """An array's ShapeProto."""
    sizes = field(3, b"".join(map(varint, dims))) if packed else b"".join(field(3, size) for size in dims)
    return field(2, element) + (sizes if dims else b"")


def instruction(
    identity: int,
    opcode: str,
    result: bytes,
    operands: Sequence[int] = (),
    extra: bytes = b"",
) -> bytes:
    """An HloInstructionProto."""
    operand_field = field(36, b"".join(map(varint, operands))) if operands else b""
    return (
        field(1, f"{opcode}.{identity}")
        + field(2, opcode)
        + field(3, result)
        + field(35, identity)
        + operand_field
        + extra
    )


def replica_groups(*groups: Sequence[int]) -> bytes:
    """Field 49 of an instruction."""
    return b"".join(field(49, field(1, b"".join(map(varint, group)))) for group in groups)


def contracting(*axes: int) -> bytes:
    """Field 30 of a dot: the contracted axes of its left operand."""
    return field(30, field(1, b"".join(map(varint, axes))))


def hlo(instructions: Sequence[bytes], *, name: str = "SyncTensorsGraph.1", program: bytes = b"") -> bytes:
    """An HloModuleProto with one computation."""
    computation = field(1, "main") + b"".join(field(2, one) for one in instructions)
    return field(1, name) + field(2, "main") + field(3, computation) + (field(4, program) if program else b"")


F32, BF16 = 11, 16


def small_hlo() -> bytes:
    """bf16[8,16] · bf16[16,4], summed over two groups of four devices."""
    left, right, product = shape(BF16, 8, 16), shape(BF16, 16, 4, packed=False), shape(F32, 8, 4)
    return hlo(
        [
            instruction(1, "parameter", left),
            instruction(2, "parameter", right),
            instruction(3, "dot", product, (1, 2), contracting(1)),
            instruction(4, "all-reduce", product, (3,), replica_groups((0, 1, 2, 3), (4, 5, 6, 7))),
            instruction(5, "custom-call", product, (4,), field(28, "AwsNeuronCustomNativeKernel")),
        ],
        program=field(1, left) + field(1, right) + field(2, product),
    )
