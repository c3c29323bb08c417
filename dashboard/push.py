"""Push notifications: a WebSocket that reports that a run has changed, and what the frame of its pages says then.

The page then requests what has changed since its marks: no data is lost when the socket breaks, a slow browser requests
less often, and where sockets are blocked the page polls every second.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from neuron_top.dashboard.feed_registry import LIVE, FeedRegistry
from neuron_top.dashboard.limits import client_of
from neuron_top.dashboard.shared_answers import SharedAnswers
from neuron_top.errors import NeuronTopError, NothingToShow
from neuron_top.services.jobs import PREFIX
from neuron_top.views.jobs import JobCard
from neuron_top.views.verdict import GOES_ON, SIGNS, freshness_text, progress_text

LEAST_SECONDS = 0.12
"""Least seconds between two messages to one browser."""
APART_SECONDS = 0.004
"""Seconds between messages to two browsers about one change, about as long as an answer takes, so that none queues."""
MOST_SECONDS = 1.0
"""The longest time between messages: elapsed times grow without events, and silence means a broken connection."""
STALE_SECONDS = 5.0
"""The frame's state in a message may be this old, so that the message need not wait for it."""
READING_SECONDS = 2.0
"""How long `alive` waits for a run that is still being read; then it says so, before a page takes it for lost."""
MOST_SOCKETS = 500
MOST_OF_ONE = 300
"""The most sockets of one address, which may be a proxy; a page without a socket polls every second instead."""


def register(server: FastAPI, feeds: FeedRegistry, prefix: str) -> None:
    """Add the socket at `push?run=…`, and `alive`, by which a page without a socket learns whether the server is there;
    with `?run=…` it says what a message of the socket would, or by status 202 that the run is still being read."""
    sockets: dict[WebSocket, str] = {}
    answers = SharedAnswers[str](LEAST_SECONDS, stale=STALE_SECONDS)

    async def news(run: str) -> str:
        await feeds.opened(run)  # refuses other browsers, as a dropped log belongs to one alone
        # In a thread: it asks for the recordings and for what is kept of alerts. Once for all who look at the run.
        return await answers.get(run, partial(_news, feeds, run))

    @server.get(f"{prefix}alive", include_in_schema=False)
    async def alive(request: Request) -> Response:
        run = request.query_params.get("run")
        with contextlib.suppress(NeuronTopError):
            if run is not None:
                try:
                    return Response(await asyncio.wait_for(news(run), READING_SECONDS), media_type="application/json")
                except TimeoutError:
                    return Response(status_code=202)
        return Response(status_code=204)

    @server.websocket(f"{prefix}push")
    async def push(socket: WebSocket) -> None:
        who = client_of(socket.client.host) if socket.client else ""
        if len(sockets) >= MOST_SOCKETS or list(sockets.values()).count(who) >= MOST_OF_ONE:
            await socket.close(4429)
            return
        await socket.accept()
        later = min(len(sockets) * APART_SECONDS, LEAST_SECONDS)
        sockets[socket] = who
        notifier = asyncio.create_task(_notify(socket, feeds, socket.query_params.get("run", LIVE), news, later))
        try:
            while True:
                await socket.receive_text()
        except (WebSocketDisconnect, KeyError):
            pass
        finally:
            sockets.pop(socket, None)
            notifier.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await notifier


def _news(feeds: FeedRegistry, run: str) -> str:
    """What the frame of a page says now, as JSON."""
    cards = feeds.jobs()
    shown = feeds.read(run, lambda one, _now: one.job.run) if run == LIVE else run
    pinned = next((card.id for card in cards if card.id == shown), cards[0].id if _are_logs(cards) else "")
    return json.dumps({**feeds.pulse(run)._asdict(), "jobs": [_card(card) for card in cards], "pin": pinned})


def _are_logs(cards: Sequence[JobCard]) -> bool:
    """Whether these are jobs of several logs, so that none of them is shown by default."""
    return bool(cards) and cards[0].id.startswith(PREFIX)


def _card(card: JobCard) -> dict[str, str]:
    one = card.verdict
    return {
        "id": card.id,
        "name": card.name,
        "state": str(one.state),
        "sign": SIGNS.get(one.state, GOES_ON),
        "severity": str(one.severity),
        "words": " · ".join(filter(None, (progress_text(one), one.reason))),
        "fresh": freshness_text(one),
    }


async def _notify(
    socket: WebSocket, feeds: FeedRegistry, run: str, news: Callable[[str], Awaitable[str]], later: float
) -> None:
    """Messages about a run; each `later` seconds after its change, because browsers ask as soon as they get one."""
    try:
        await feeds.opened(run)
    except NothingToShow:
        await socket.close(4404)
        return
    except NeuronTopError:  # it cannot be read at the moment
        pass
    version = -1
    while True:
        version = await feeds.wait_for_change(run, version, MOST_SECONDS)
        await asyncio.sleep(later)
        try:
            text = await news(run)
        except NeuronTopError:  # the recording cannot be read any more, which the page will report
            text = ""
        await socket.send_text(text)
        await asyncio.sleep(LEAST_SECONDS - later)
