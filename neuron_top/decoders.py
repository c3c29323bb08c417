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

    def __init__(self, kind: Any) -> None:
        self._kind, self._made = kind, False
        self.decode = self._first

    def _first(self, data: bytes | str) -> _Value:
        with _making:
            if not self._made:
                self.decode, self._made = msgspec.json.Decoder(self._kind).decode, True
        return self.decode(data)
