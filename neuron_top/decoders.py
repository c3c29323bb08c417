"""What decoding others' JSON raises, and decoders of large unions, made when the first line is decoded."""

from __future__ import annotations

from _thread import allocate_lock  # threading's Lock, without the rest of it to import
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

MALFORMED = (msgspec.MsgspecError, UnicodeDecodeError)
"""What bytes raise that are not what was to be decoded: msgspec reports text that is no UTF-8 by Python's own error."""

_Value = TypeVar("_Value")
# One for all: msgspec crashes when two threads make what it knows of a struct at the same time.
_making = allocate_lock()


class LateDecoder(Generic[_Value]):
    """Decodes JSON to `kind`. Its structs are no part of decoders that another thread may make meanwhile."""

    decode: Callable[[bytes | str], _Value]
    """As that of `msgspec.json.Decoder`, which takes its place once it is made."""

    decode_lines: Callable[[bytes], list[_Value]]
    """The same of many values, a line each."""

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
