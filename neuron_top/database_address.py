"""Recognizes addresses of databases (`postgresql://…`), and shows them without their password."""

from __future__ import annotations

import re

SCHEMES = ("postgresql://", "postgres://")
HIDDEN = "***"
_LOGIN = re.compile(r"^(\w+://)([^:@/?#]*):.*@", re.DOTALL)
_IN_QUERY = re.compile(r"([?&](?:password|sslpassword|scram_client_key|oauth_client_secret)=)[^&#]*", re.IGNORECASE)


def is_address(text: str) -> bool:
    """Whether a text names a database by its scheme."""
    return text.lower().startswith(SCHEMES)


def masked(address: str) -> str:
    """The address as it may be shown: nothing of a password is left, whatever characters it holds."""
    # Up to the last @: a password that holds a / or an @ unescaped is no valid address, and hidden all the same.
    return _IN_QUERY.sub(rf"\1{HIDDEN}", _LOGIN.sub(rf"\1\2:{HIDDEN}@", address))


def has_password(address: str) -> bool:
    """Whether a password stands in it."""
    return masked(address) != address
