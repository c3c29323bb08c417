"""Fetches pages of a node's log lines from its agent.

The token is sent to an address that comes from the database, so it goes only to a server whose certificate was
verified, or to this machine. The answer comes from another program: it is bounded, and control characters are made
visible again.
"""

from __future__ import annotations

import os
import ssl
import urllib.error
import urllib.request
from enum import StrEnum
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from neuron_top.decoders import MALFORMED
from neuron_top.errors import NeuronTopError, UsageError
from neuron_top.escapes import visible
from neuron_top.http_refusals import NoRedirects, body_of, reason_of
from neuron_top.ingest.log_files import SHOWN_BYTES
from neuron_top.ingest.log_line import LogLine, LogPage
from neuron_top.settings import Settings

TOKEN = "NEURONTOP_AGENT_TOKEN"  # noqa: S105 (the name of the variable)
SHORTEST_TOKEN = 16
MOST_LINES = 1000
SECONDS = 5.0
"""How long one answer may take."""
_LARGEST_ANSWER = 16 << 20
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class LogsUnreachable(NeuronTopError):
    """A node's log lines cannot be fetched; the text says why, and what to do."""


class LogDirection(StrEnum):
    """Which lines of a log: the newest, or those before or after a place."""

    TAIL = "tail"
    OLDER = "older"
    NEWER = "newer"


class LogRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which lines to fetch. Logs have the names that the agent gave them; it serves only logs that it follows."""

    way: LogDirection = LogDirection.TAIL
    at: dict[str, int] = {}
    """By log, the offset to go on from."""
    count: int = 200
    query: str = ""
    """As `LogQuery` reads it."""
    only: str | None = None
    """The one log to look at."""


def agent_token(settings: Settings) -> str:
    """The token that agents and viewers share: NEURONTOP_AGENT_TOKEN, else the content of `agent_token_file`.

    Raises UsageError for one that is too short or cannot be read.
    """
    token, origin = os.environ.get(TOKEN, "").strip(), TOKEN
    if not token and settings.agent_token_file:
        origin = settings.agent_token_file
        try:
            token = Path(origin).expanduser().read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError, RuntimeError) as problem:  # RuntimeError: no home folder
            raise UsageError(f"cannot read the agents' token from {origin}: {problem}") from None
    if token and (len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token):
        raise UsageError(f"{origin}: a token must have at least {SHORTEST_TOKEN} ASCII characters and no blanks")
    return token


def fetch(settings: Settings, node: str, address: str, is_here: bool, request: LogRequest) -> LogPage:
    """A page from the agent at `address`; `is_here`: it runs on this machine. Raises LogsUnreachable, UsageError."""
    token = agent_token(settings)
    url = _url(node, address, is_here)
    if not token:
        raise LogsUnreachable(
            f"log lines of {node} need the agents' token: set {TOKEN} here and for the agent, to the same value"
        )
    question = urllib.request.Request(  # noqa: S310 (the scheme was checked)
        url,
        msgspec.json.encode(request),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        method="POST",
    )
    try:
        with _opener(settings).open(question, timeout=SECONDS) as answer:
            data = body_of(answer, _LARGEST_ANSWER, SECONDS)
    except urllib.error.HTTPError as problem:
        with problem:
            said = reason_of(problem) or f"HTTP status {problem.code}"
        raise LogsUnreachable(f"the agent of {node} refuses: {said}") from None
    except (OSError, HTTPException, ValueError) as problem:
        reason = getattr(problem, "reason", None) or problem
        raise LogsUnreachable(
            f"the agent of {node} cannot be reached at {visible(url)}: {visible(str(reason))}; on {node}, "
            "`neurontop watch PATH` shows them"
        ) from None
    if len(data) > _LARGEST_ANSWER:
        raise LogsUnreachable(f"the agent of {node} sent more than {_LARGEST_ANSWER >> 20} MiB for a page")
    try:
        page = msgspec.json.decode(data, type=LogPage)
    except MALFORMED:
        raise LogsUnreachable(f"the agent of {node} sent something that is not a page of log lines") from None
    return LogPage(lines=tuple(map(_safe, page.lines[: request.count])), at=_safe_places(page.at), ended=page.ended)


def _url(node: str, address: str, is_here: bool) -> str:
    if not address:
        raise LogsUnreachable(
            f"the agent of {node} reports no address: start it without --metrics-port -1, or look on {node} with "
            "`neurontop watch PATH`"
        )
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise LogsUnreachable(f"the agent of {node} reports an invalid address; restart it") from None
    loopback = host in _LOOPBACK
    if loopback and not is_here:
        raise LogsUnreachable(
            f"the agent of {node} answers on {node} alone ({host}): to be reached from here it needs agent_listen with "
            "a certificate (docs/fleet.md), or look there with `neurontop watch PATH`"
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
        raise LogsUnreachable(
            f"the agent of {node} answers without TLS: its token is not sent there; give it a certificate with "
            f"agent_listen (docs/fleet.md), or look on {node} with `neurontop watch PATH`"
        )
    if parts.username or port is None:
        raise LogsUnreachable(f"the agent of {node} reports an invalid address; restart it")
    return f"{parts.scheme}://{parts.netloc}/logs"


def _opener(settings: Settings) -> urllib.request.OpenerDirector:
    """No proxies, no redirects, and certificates verified."""
    try:
        context = ssl.create_default_context(cafile=settings.agent_ca or None)
    except OSError as problem:  # no such file, or no certificates in it
        raise UsageError(f"agent_ca {settings.agent_ca}: {problem}") from None
    handlers = (urllib.request.ProxyHandler({}), NoRedirects(), urllib.request.HTTPSHandler(context=context))
    return urllib.request.build_opener(*handlers)


def _safe(line: LogLine) -> LogLine:
    return msgspec.structs.replace(line, source=visible(line.source), text=visible(line.text)[:SHOWN_BYTES])


def _safe_places(at: dict[str, int]) -> dict[str, int]:
    return {visible(source): offset for source, offset in at.items()}
