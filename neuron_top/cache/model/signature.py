"""What a signature is; `cache/signing.py` makes and checks them, and is not loaded to read a record."""

from __future__ import annotations

import msgspec


class Signature(msgspec.Struct, frozen=True):
    """A keyed digest, and by which key; both empty where there is none."""

    key: str = ""
    digest: str = ""


UNSIGNED = Signature()
