"""Decodes JSON that others wrote: the exceptions that this raises, and decoders that are built at their first use."""

from __future__ import annotations

from _thread import allocate_lock  # threading's Lock, without the rest of it to import
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

MALFORMED = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""Raised for bytes that cannot be decoded; for text that is not UTF-8, and where values are nested too deep, msgspec
raises Python's own errors."""

_Value = TypeVar("_Value")
# One lock for all decoders: msgspec crashes when two threads inspect a struct for the first time at once.
_making = allocate_lock()


class LateDecoder(Generic[_Value]):
    """Decodes JSON to `kind`. Its structs must not be part of a decoder that another thread builds without the lock."""

    decode: Callable[[bytes | str], _Value]
    """As `msgspec.json.Decoder.decode`, which replaces it once the decoder is built."""

    decode_lines: Callable[[bytes], list[_Value]]
    """The same for many values, one a line."""

    def __init__(self, kind: Any) -> None:
        self._kind, self._made = kind, False
        self.decode, self.decode_lines = self._first, self._first_lines

    def _make(self) -> None:
        with _making:
            if not self._made:
                decoder = msgspec.json.Decoder(self._kind)
                self.decode, self.decode_lines, self._made = decoder.decode, decoder.decode_lines, True

    def _first(self, data: bytes | str) -> _Value:
        self._make()
        return self.decode(data)

    def _first_lines(self, data: bytes) -> list[_Value]:
        self._make()
        return self.decode_lines(data)
