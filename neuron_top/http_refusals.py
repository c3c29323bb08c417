"""What our HTTP clients do with answers that are none: they follow no redirect, and read why a request was refused."""

from __future__ import annotations

import urllib.error
import urllib.request
from http.client import HTTPException

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.escapes import visible

_LONGEST = 1 << 16
"""Bytes of an answer that are read for its reason."""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would send our credentials to another server."""

    def redirect_request(self, *_given: object, **_named: object) -> None:
        """Return None: the redirect itself is then the answer, an HTTPError."""


class _Refusal(msgspec.Struct):
    error: str = ""


def reason_of(refused: urllib.error.HTTPError) -> str:
    """What the answer says as its `error` in JSON, safe to show; "" if it says nothing."""
    try:
        return visible(msgspec.json.decode(refused.read(_LONGEST), type=_Refusal).error)
    except (OSError, ValueError, HTTPException, *MALFORMED):
        return ""
