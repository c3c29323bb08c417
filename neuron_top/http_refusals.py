"""What our HTTP clients do with answers that are none: they follow no redirect, read why a request was refused, and
wait no longer for an answer that never ends."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from http.client import HTTPException, HTTPResponse

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.escapes import visible

_LONGEST = 1 << 16
"""Bytes of an answer that are read for its reason."""
_CHUNK = 1 << 20


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, which would send our credentials to another server."""

    def redirect_request(self, *_given: object, **_named: object) -> None:
        """Return None: the redirect itself is then the answer, an HTTPError."""


def body_of(answer: HTTPResponse, most: int, seconds: float) -> bytes:
    """The body, or `most` + 1 bytes of a longer one. Raises OSError for one that has not come within `seconds`.

    A timeout of the socket restarts with every byte.
    """
    deadline = time.monotonic() + seconds
    body = bytearray()
    while len(body) <= most and (chunk := answer.read1(min(_CHUNK, most + 1 - len(body)))):
        body += chunk
        if time.monotonic() > deadline:
            raise TimeoutError(f"its answer was not complete after {seconds:g} s")
    return bytes(body)


class _Refusal(msgspec.Struct):
    error: str = ""


def reason_of(refused: urllib.error.HTTPError) -> str:
    """What the answer says as its `error` in JSON, safe to show; "" if it says nothing."""
    try:
        return visible(msgspec.json.decode(refused.read(_LONGEST), type=_Refusal).error)
    except (OSError, ValueError, HTTPException, *MALFORMED):
        return ""
