"""What is in zstd data, piece by piece within bounds: a few bytes of it may stand for gigabytes.

The library's own stream readers do not tell an end from a cut, so frames are followed here one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

MAGIC = b"\x28\xb5\x2f\xfd"
_STEP = 1024
"""Bytes that are unpacked at a time: at worst 32 MiB come out of them."""
_READ = 1 << 16
_MOST_WINDOW = 1 << 27
"""Bytes that a frame may look back, as zstd's own command allows without being asked: its memory."""


def unpacked(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The data of all frames. Raises EOFError where they are cut, ValueError where they are damaged."""
    import zstandard

    begun = False
    frame = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW).decompressobj()
    try:
        while data := read(_READ):
            for start in range(0, len(data), _STEP):
                step = data[start : start + _STEP]
                while step:
                    if frame.eof:
                        frame = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW).decompressobj()
                    if out := frame.decompress(step):
                        yield out
                    begun, step = True, frame.unused_data if frame.eof else b""
    except zstandard.ZstdError as problem:
        raise ValueError(f"damaged zstd data: {problem}") from None
    if begun and not frame.eof:
        raise EOFError("its compressed data ends before its end-of-stream marker")
