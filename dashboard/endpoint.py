"""One endpoint of the JSON API, as a row of its table, and the statuses of errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from starlette.requests import Request

from neuron_top.dashboard.plan_registry import NotPermitted
from neuron_top.errors import LimitReached, NeuronTopError, NothingToShow, RefusedForSafety, UsageError
from neuron_top.services.fleet_actions import StoreNotAllowed

_STATUS: dict[type, int] = {
    UsageError: 400,
    NotPermitted: 403,
    StoreNotAllowed: 403,
    NothingToShow: 404,
    RefusedForSafety: 409,
    LimitReached: 429,
}
"""Every other error is ours or the store's: 503."""


def status_of(problem: NeuronTopError) -> int:
    """The status of an answer that has this error in it: that of its nearest class."""
    return next((_STATUS[kind] for kind in type(problem).__mro__ if kind in _STATUS), 503)


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
