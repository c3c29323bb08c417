"""What a signature is. `cache/signing.py` makes and checks them, and need not be loaded to read a record."""

from __future__ import annotations

import msgspec


class Signature(msgspec.Struct, frozen=True):
    """A keyed digest and the id of its key; both are empty if there is none."""

    key: str = ""
    digest: str = ""


UNSIGNED = Signature()
