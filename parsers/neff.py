"""The NEFF header: 1,024 bytes in front of a tar archive, little-endian, without a magic number.

Field names, order and sizes are those of the vendor's "Working with NEFF files" page and of its packager's
print-out. The cheap test (two numbers against the file's length) is what a scan does; the payload is read by
`neff_payload` when somebody asks.
"""

from __future__ import annotations

import struct

import msgspec

from neuron_top.escapes import visible
from neuron_top.late_pattern import late_pattern

HEAD_BYTES = 1024
CHEAP_BYTES = 24
"""As much of the head as the cheap test needs."""
_HEAD = struct.Struct("<QQQQQ128sI32s16s256sI64sQI468s")
_SIZES = struct.Struct("<8xQQ")
_MODULE = late_pattern(r"MODULE_[0-9a-f]{8,64}(?![0-9a-f])(?:\+[0-9a-f]{8})?")
"""A key; era 1 repeats it behind a small running number, `MODULE_0_…`, which is none."""
LARGEST_MAJOR = 2
"""The newest major version that the runtimes seen accept."""
REFUSED_BITS = 0x7FFFFFFFF8000000
"""Feature bits that a major version of 2 must leave at zero."""
_FEATURES = {
    0x2: "collective offset",
    0x4: "custom ops",
    0x8: "coalesced collectives",
    0x10: "queue-set instances",
    0x20: "functions",
    0x40: "dynamic PWP",
    0x100: "indirect-memcpy bound check",
    0x200: "higher-dimension DMA descriptors",
    0x400: "virtual cores",
    0x800: "DVE performance mode",
    0x4000: "remote semaphores",
    0x2000000: "large tensors",
}


class NeffHeader(msgspec.Struct, frozen=True, kw_only=True):
    """What the first 1,024 bytes say."""

    package_version: int
    data_bytes: int
    version: str
    build: str
    cores: int
    """NeuronCores needed; each sub-graph has its own."""
    digest: str
    """As stored, hexadecimal: MD5 (package version 2) or SHA-256 (1) of the payload."""
    uuid: str
    """As profiles and the runtime's messages name this file."""
    name: str
    module: str | None
    """The module in `name`, for which this file was first compiled. None for newer files, whose names hold none."""
    cores_requested: int
    cores_per_node: tuple[int, ...]
    """Of each sub-graph."""
    features: tuple[str, ...]
    logical_core_size: int
    warnings: tuple[str, ...] = ()


def head_problem(head: bytes, size: int) -> str | None:
    """The cheap test on the start of a file of `size` bytes: None when it passes, else what is wrong.

    `data_size` equal to the whole file is accepted: one third-party writer counts the header in.
    """
    if size < HEAD_BYTES or len(head) < CHEAP_BYTES:
        return f"{size} bytes, a header alone has {HEAD_BYTES}"
    header_bytes, data_bytes = _SIZES.unpack_from(head)
    if header_bytes != HEAD_BYTES:
        return f"no NEFF header: header size {header_bytes} instead of {HEAD_BYTES}"
    if header_bytes + data_bytes == size or data_bytes == size:
        return None
    difference = header_bytes + data_bytes - size
    if difference > 0:
        return f"truncated: {difference} bytes are missing"
    return f"{-difference} bytes more than the header says"


def read_header(head: bytes, size: int) -> NeffHeader | None:
    """All fields; None when the cheap test fails."""
    if len(head) < HEAD_BYTES or head_problem(head, size) is not None:
        return None
    fields = _HEAD.unpack_from(head)
    package, _, data_bytes, major, minor, build, cores, digest, uuid, name, requested, nodes, bits, lnc, _ = fields
    text = _text(name)
    module = _MODULE.findall(text)
    return NeffHeader(
        package_version=package,
        data_bytes=min(data_bytes, size - HEAD_BYTES),
        version=f"{major}.{minor}",
        build=_text(build),
        cores=cores,
        digest=digest[:16].hex() if package == 2 else digest.hex(),
        uuid=uuid.hex(),
        name=text,
        module=module[-1] if module else None,
        cores_requested=requested,
        cores_per_node=tuple(node for node in nodes if node),
        features=_features(bits),
        logical_core_size=lnc,
        warnings=_warnings(major, bits, data_bytes, size),
    )


def _warnings(major: int, bits: int, data_bytes: int, size: int) -> tuple[str, ...]:
    found = []
    if data_bytes == size:
        found.append("the header's data size counts the header in")
    if major > LARGEST_MAJOR:
        found.append(f"major version {major}: the runtimes known accept up to {LARGEST_MAJOR}")
    if major == LARGEST_MAJOR and bits & REFUSED_BITS:
        found.append(f"feature bits {bits & REFUSED_BITS:#x} are refused by the runtimes known")
    return tuple(found)


def _features(bits: int) -> tuple[str, ...]:
    names = [name for bit, name in _FEATURES.items() if bits & bit]
    rest = bits & ~sum(_FEATURES)
    return (*names, f"unknown bits {rest:#x}") if rest else tuple(names)


def _text(field: bytes) -> str:
    return visible(field.partition(b"\0")[0].decode("utf-8", "replace"))
