"""What is in zstd data, piece by piece within bounds: a few bytes of it may stand for gigabytes.

The library's own stream readers do not tell an end from a cut, so frames are followed here one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

MAGIC = b"\x28\xb5\x2f\xfd"
_READ = 1 << 16
_MOST_OUT = 1 << 20
"""Bytes that come out at a time."""
_MOST_WINDOW = 27
"""Binary logarithm of the bytes that a frame may look back, as zstd's own command allows without being asked."""


def unpacked(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The data of all frames. Raises EOFError where they are cut, ValueError where they are damaged."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _MOST_WINDOW}
    frame, begun = zstd.ZstdDecompressor(options=options), False
    try:
        while data := read(_READ):
            begun = True
            while data:
                if frame.eof:
                    frame = zstd.ZstdDecompressor(options=options)
                yield frame.decompress(data, _MOST_OUT)
                while not (frame.eof or frame.needs_input):
                    yield frame.decompress(b"", _MOST_OUT)
                data = frame.unused_data if frame.eof else b""
    except zstd.ZstdError as problem:
        raise ValueError(f"damaged zstd data: {problem}") from None
    if begun and not frame.eof:
        raise EOFError("its compressed data ends before its end-of-stream marker")
