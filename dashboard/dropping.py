"""Takes a log that is dropped into a page: `POST /dropped?name=…&modified=…` with the file as its body.

The answer names the run to show, `{"run": "dropped-…"}`, and gives a browser that has none a name of its own as a
cookie: the log is shown to that browser alone (see `services/dropped_logs.py`).
"""

from __future__ import annotations

import asyncio
import secrets

import msgspec
from fastapi import FastAPI
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from neuron_top.dashboard.endpoint import status_of
from neuron_top.dashboard.feed_registry import FeedRegistry
from neuron_top.dashboard.guard import BROWSER_COOKIE, browser_now
from neuron_top.dashboard.limits import UPLOAD_PATH
from neuron_top.errors import NeuronTopError, UsageError
from neuron_top.services.dropped_logs import DroppedLog, DroppedLogs

_NAME_CHARACTERS = range(20, 100)
_LONGEST_TIME = 16
"""Digits of milliseconds since the epoch."""


def register(server: FastAPI, feeds: FeedRegistry, prefix: str) -> None:
    """Add the address."""

    async def drop(request: Request) -> Response:
        browser = browser_now.get()
        owner = browser if len(browser) in _NAME_CHARACTERS else secrets.token_urlsafe(24)
        try:
            log = await _received(feeds.dropped, owner, request)
        except NeuronTopError as problem:
            return _answer({"error": str(problem)}, status_of(problem))
        except OSError as problem:
            return _answer({"error": f"the file cannot be kept: {problem.strerror or problem}"}, 503)
        answer = _answer({"run": log.identity})
        if owner != browser:
            secure = request.url.scheme == "https" or request.headers.get("x-forwarded-proto") == "https"
            answer.set_cookie(BROWSER_COOKIE, owner, path=prefix, httponly=True, samesite="strict", secure=secure)
        return answer

    server.add_route(f"{prefix}{UPLOAD_PATH}", drop, methods=["POST"])


async def _received(logs: DroppedLogs, owner: str, request: Request) -> DroppedLog:
    """The whole file, read from now on. Raises NeuronTopError, OSError."""
    size, modified = request.headers.get("content-length", ""), _seconds(request.query_params.get("modified", ""))
    if not request.headers.get("content-type", "").startswith("application/octet-stream"):
        raise UsageError("send the file as it is (Content-Type: application/octet-stream)")
    if not (size.isascii() and size.isdigit()):
        raise UsageError("say how long the file is (Content-Length)")
    log = await asyncio.to_thread(logs.receive, owner, request.query_params.get("name", ""), int(size))
    try:
        async for data in request.stream():
            if data:
                await asyncio.to_thread(log.write, data)
        await asyncio.to_thread(logs.begin, log, modified)
    except ClientDisconnect:
        await asyncio.to_thread(logs.give_up, log)
        raise UsageError("the file did not arrive whole: drop it again") from None
    except BaseException:
        logs.give_up(log)
        raise
    return log


def _seconds(milliseconds: str) -> float:
    """A browser's time in seconds; 0 for what is none. Python refuses to read thousands of digits as a number."""
    is_time = milliseconds.isascii() and milliseconds.isdigit() and len(milliseconds) < _LONGEST_TIME
    return int(milliseconds) / 1000 if is_time else 0.0


def _answer(value: dict[str, str], status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
