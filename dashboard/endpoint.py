"""One endpoint of the JSON API, as a row of its table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from starlette.requests import Request

from neuron_top.errors import UsageError


class Endpoint(NamedTuple):
    """One endpoint of the API."""

    path: str
    summary: str
    response: Any
    """Its type."""
    handler: Callable[[Request], Awaitable[Any]]
    parameters: tuple[str, ...] = ("run",)
    method: str = "GET"
    body: Any = None
    """The type of the request's body."""


def counted_parameter(request: Request, default: int, most: int) -> int:
    """The parameter `count`. Raises UsageError."""
    text = request.query_params.get("count", str(default))
    if len(text) > 9 or not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise UsageError(f"count must lie between 1 and {most}")
    return int(text)
