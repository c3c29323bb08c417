"""The door: every request and every socket passes here before anything else sees it (a pure ASGI middleware).

In this order: path, Host, rate, size of the body, sign-in, right to read, Origin of what changes something. What is
refused gets a status and one line of text; what passes carries its right in the scope and in `right_now`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import ContextVar
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from neuron_top.dashboard.access import SESSION_SECONDS, Access, Right, same_origin
from neuron_top.dashboard.limits import Rate
from neuron_top.dashboard.sign_in import sign_in_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "neurontop_session"
MOST_BODY_BYTES = 1 << 20
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_METHODS = _SAFE_METHODS | {"POST"}
_OPEN_PATHS = ("sign-in", "assets/", "_favicon.ico")
"""What the sign-in page itself needs: no data of anybody's."""
_CLOSED_PATHS = ("_dash-ws-callback", "_reload-hash", "_alive", "_dash-error")
"""What Dash opens by itself and no page of ours uses."""

right_now: ContextVar[Right] = ContextVar("right_now", default=Right.NONE)
"""The right of the request that is being answered."""
asked_from: ContextVar[str] = ContextVar("asked_from", default="")
"""The address of the page that asks, as its browser tells it; "" where it does not."""


class Refused(Exception):
    """A request that is not answered."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class Guard:
    """Wraps an ASGI application. `policy`: the Content-Security-Policy of its pages; `pages`: paths of one document."""

    def __init__(self, app: App, access: Access, *, prefix: str, policy: str, pages: frozenset[str]) -> None:
        self._app, self._access, self._prefix = app, access, prefix
        self._headers, self._pages = _headers(policy), pages
        self._rate = Rate(per_second=400, burst=1200)
        self._sign_in_rate = Rate(per_second=0.1, burst=10)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, pass on, or refuse."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        answer = self._with_headers(scope, send)
        try:
            scope = self._below_prefix(scope)
            right = self._right(scope, headers)
            if scope["type"] == "http" and await self._own_page(scope, headers, receive, answer, right):
                return
            self._check_right(scope, headers, right)
            if scope["type"] == "http" and scope["method"] not in _SAFE_METHODS:
                receive = _replayed(await self._json_body(scope, headers, receive))
        except Refused as refused:
            await self._refuse(scope, headers, answer, refused)
            return
        if scope["type"] == "http" and scope["path"][len(self._prefix) :] in self._pages:
            # Every page is the same document; the script in it reads the address and asks for the rest.
            scope = {**scope, "path": self._prefix, "raw_path": self._prefix.encode()}
        token, place = right_now.set(right), asked_from.set(headers.get("referer", ""))
        try:
            await self._app(scope, receive, answer)
        finally:
            right_now.reset(token)
            asked_from.reset(place)

    def _below_prefix(self, scope: Scope) -> Scope:
        """The path is checked, and gets our prefix where a reverse proxy has taken it away."""
        raw = scope.get("raw_path") or b""
        path: str = scope["path"]
        steps = path.split("/")[1:-1] + path.rsplit("/", 1)[-1:]
        tricky = not path.startswith("/") or "" in steps[:-1] or not {".", ".."}.isdisjoint(steps)
        if tricky or "\\" in path or "\0" in path or b"%2f" in raw.lower() or b"%5c" in raw.lower():
            raise Refused(400, "this path is not served")
        if len(raw) > 2048 or len(scope["query_string"]) > 8192:
            raise Refused(414, "the address is too long")
        if not f"{path}/".startswith(self._prefix):
            path = self._prefix + path.lstrip("/")
            scope = {**scope, "path": path, "raw_path": path.encode()}
        return scope

    def _right(self, scope: Scope, headers: dict[str, str]) -> Right:
        """Host and rate are checked; then a token, a session, or nothing at all says what may be done."""
        if not self._access.allows_host(headers.get("host", "")):
            raise Refused(421, "this server does not go by that name (see --allow-host)")
        if not self._rate.allows(_address(scope), time.monotonic()):
            raise Refused(429, "too many requests")
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._access.right_of_token(token.strip())
        session = self._access.right_of_session(_cookie(headers), time.time())
        return max(session, self._access.without_token)

    def _check_right(self, scope: Scope, headers: dict[str, str], right: Right) -> None:
        path = scope["path"][len(self._prefix) :]
        if path.startswith(_CLOSED_PATHS):
            raise Refused(404, "this path is not served")
        if right is Right.NONE and not path.startswith(_OPEN_PATHS):
            raise Refused(401, "sign in first")
        if scope["type"] == "websocket" or scope["method"] not in _SAFE_METHODS:
            self._check_origin(headers)
        if scope["type"] == "http" and scope["method"] not in _METHODS:
            raise Refused(405, "this method is not served")

    def _check_origin(self, headers: dict[str, str]) -> None:
        """A browser says where a page comes from; a program without that header must show a token."""
        origin = headers.get("origin")
        if origin is not None and not same_origin(origin, headers.get("host", "")):
            raise Refused(403, "the request comes from another site")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "the request comes from another site")
        if origin is None and "authorization" not in headers:
            raise Refused(403, "the request does not say where it comes from")

    async def _own_page(
        self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send, right: Right
    ) -> bool:
        """Sign-in and sign-out."""
        path, method = scope["path"][len(self._prefix) :], scope["method"]
        if path == "sign-in" and method in ("GET", "HEAD"):
            await _respond(send, 200, sign_in_page(self._prefix), "text/html; charset=utf-8")
            return True
        if path not in ("sign-in", "sign-out") or method != "POST":
            return False
        self._check_origin(headers)
        if path == "sign-out":
            await self._to_front_page(scope, headers, send, "", 0)
            return True
        if not self._sign_in_rate.allows(_address(scope), time.monotonic()):
            raise Refused(429, "too many attempts to sign in; wait a minute")
        form = parse_qs((await _body(headers, receive)).decode("utf-8", "replace"))
        granted = self._access.right_of_token((form.get("token") or [""])[0].strip())
        if granted is Right.NONE:
            await _respond(send, 403, sign_in_page(self._prefix, wrong=True), "text/html; charset=utf-8")
            return True
        session = self._access.session(max(granted, right), time.time())
        await self._to_front_page(scope, headers, send, session, int(SESSION_SECONDS))
        return True

    async def _to_front_page(self, scope: Scope, headers: dict[str, str], send: Send, value: str, age: int) -> None:
        secure = scope.get("scheme") == "https" or headers.get("x-forwarded-proto") == "https"
        cookie = f"{COOKIE}={value}; Path={self._prefix}; Max-Age={age}; HttpOnly; SameSite=Strict"
        cookie += "; Secure" if secure else ""
        await _respond(send, 303, "", "text/plain", (("location", self._prefix), ("set-cookie", cookie)))

    async def _json_body(self, scope: Scope, headers: dict[str, str], receive: Receive) -> bytes:
        """The body of a request that changes something or asks a callback: bounded, and JSON."""
        if not headers.get("content-type", "").startswith("application/json"):
            raise Refused(415, "bodies are JSON here")
        body = await _body(headers, receive)
        try:
            whole = json.loads(body)
        except (ValueError, RecursionError):
            raise Refused(400, "the body is not JSON") from None
        if not isinstance(whole, dict):
            raise Refused(400, "the body is not a JSON object")
        return body

    async def _refuse(self, scope: Scope, headers: dict[str, str], send: Send, refused: Refused) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4000 + refused.status})
            return
        wants_page = "text/html" in headers.get("accept", "") and scope["method"] == "GET"
        if refused.status == 401 and wants_page:
            await _respond(send, 303, "", "text/plain", (("location", f"{self._prefix}sign-in"),))
            return
        extra = (("www-authenticate", "Bearer"),) if refused.status == 401 else ()
        await _respond(send, refused.status, json.dumps({"error": refused.text}), "application/json", extra)

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        cacheable = "/assets/" in scope["path"] or "/_dash-component-suites/" in scope["path"]

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [pair for pair in message.get("headers", ()) if pair[0].lower() not in _OURS]
                own += self._headers
                if not cacheable:
                    own = [pair for pair in own if pair[0].lower() != b"cache-control"]
                    own.append((b"cache-control", b"no-store"))
                status = message["status"]
                if status == 500:
                    status = next((own for part, own in _DASH_RAISES.items() if part in scope["path"]), 500)
                message = {**message, "status": status, "headers": own}
            await send(message)

        return answer


def _headers(policy: str) -> list[tuple[bytes, bytes]]:
    """On every answer."""
    pairs = {
        "content-security-policy": policy,
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
    }
    return [(name.encode(), value.encode()) for name, value in pairs.items()]


_OURS = frozenset(name for name, _ in _headers("")) | {b"server"}


_DASH_RAISES = {"/_dash-component-suites/": 404, "/_dash-update-component": 400}
"""Where Dash answers nonsense with an exception: what it is instead. A page's own failure is no 500."""


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _cookie(headers: dict[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


async def _body(headers: dict[str, str], receive: Receive) -> bytes:
    """The whole body; refused as soon as it is known to be too long."""
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > MOST_BODY_BYTES:
        raise Refused(413, f"a body may have {MOST_BODY_BYTES} bytes")
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the body was cut off")
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > MOST_BODY_BYTES:
            raise Refused(413, f"a body may have {MOST_BODY_BYTES} bytes")
    return b"".join(parts)


def _replayed(body: bytes) -> Receive:
    """A `receive` that hands out a body that was already read."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Message:
        return next(messages, {"type": "http.disconnect"})

    return receive


async def _respond(send: Send, status: int, text: str, kind: str, extra: tuple[tuple[str, str], ...] = ()) -> None:
    body = text.encode()
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    headers += [(name.encode(), value.encode()) for name, value in extra]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
