"""Middleware for authentication, host, origin and rate limits, which all requests and sockets pass (pure ASGI).

In this order: headers, address, Host, sign-in, rate, the permission that the address needs (`permissions.py`), Origin
of what changes something, body, the permission that a callback needs. A refused request gets a status and one line of
text; an accepted one carries its permission in `current_permission` and its client in `client_now`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from math import ceil
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote_to_bytes

from neuron_top.dashboard import permissions
from neuron_top.dashboard.access import SESSION_SECONDS, Access, Permission, same_origin
from neuron_top.dashboard.limits import UPLOAD_PATH, ConnectionLimits, Guesses, Rate, client_of
from neuron_top.dashboard.sign_in import sign_in_page, wrong_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BROWSER_COOKIE = "neurontop_browser"
"""Cookie of browsers that dropped a log; without an age, so that it ends with the browser."""
MOST_BODY_BYTES = ConnectionLimits().body_bytes
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_METHODS = _SAFE_METHODS | {"POST"}
_ONCE = frozenset({
    "host", "origin", "referer", "authorization", "cookie", "content-type", "content-length", "transfer-encoding",
    "sec-fetch-site", "x-forwarded-proto",
})  # fmt: skip
"""Headers that a proxy in front and we might read differently if they came twice."""
_CONNECTIONS_KEPT = 4096

current_permission: ContextVar[Permission] = ContextVar("current_permission", default=Permission.NONE)
"""The permission of the current request."""
acting_offered: ContextVar[bool] = ContextVar("acting_offered", default=True)
"""Whether this server has an act token: only then does a sign-in lead to changing anything."""
client_now: ContextVar[str] = ContextVar("client_now", default="")
"""The client of the current request: a session, a token at an address, or an address."""
browser_now: ContextVar[str] = ContextVar("browser_now", default="")
"""The browser of the current request, by the name that it was given when it dropped its first log; "" before."""
page_url: ContextVar[str] = ContextVar("page_url", default="")
"""The address of the page that asks, as its browser reports it; "" where it does not."""


def why_not_act(purpose: str) -> str:
    """The message for a reader who may not act; `purpose` of the act token, as `to undo`."""
    return (
        f"Sign in with the act token {purpose}." if acting_offered.get() else "This server changes nothing: read-only."
    )


class Refused(Exception):
    """A request that is refused."""

    def __init__(self, status: int, text: str, retry_after: float = 0.0) -> None:
        super().__init__(text)
        self.status, self.text, self.retry_after = status, text, retry_after


class _Caller(NamedTuple):
    """The client of a request and its permission."""

    permission: Permission
    client: str
    """See `client_now`."""


class Guard:
    """Wraps an ASGI application. `policy`: the Content-Security-Policy of its pages; `pages`: paths of one document;
    `links`: path and name of those that a wrong address is answered with; `callbacks`: the permission that each
    callback of Dash needs, by its name; `signed_out` is told the browser.
    """

    def __init__(
        self,
        app: App,
        access: Access,
        *,
        prefix: str,
        policy: str,
        pages: frozenset[str],
        links: Sequence[tuple[str, str]],
        callbacks: Mapping[str, Permission],
        signed_out: Callable[[str], None] = lambda _browser: None,
    ) -> None:
        self._app, self._access, self._prefix = app, access, prefix
        self._headers, self._pages, self._callbacks = _headers(policy), pages, callbacks
        self._links, self._signed_out = links, signed_out
        self._rate = Rate(per_second=400, burst=1200)
        self._sign_in_rate = Rate(per_second=0.1, burst=10)
        self._guesses = Guesses()
        self._known: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        """The right token that was shown on a connection: its programs need not wait while others guess."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, pass on, or refuse."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        answer = self._with_headers(scope, send)
        try:
            headers = _single(scope["headers"])
            scope = self._below_prefix(scope)
            caller = self._caller(scope, headers)
            if scope["type"] == "http" and await self._own_page(scope, headers, receive, answer, caller.permission):
                return
            self._check_permission(scope, headers, caller.permission)
            is_upload = scope["path"][len(self._prefix) :] == UPLOAD_PATH  # a log goes to a file as it comes
            if scope["type"] == "http" and scope["method"] not in _SAFE_METHODS and not is_upload:
                receive = _replayed(await self._json_body(scope, headers, receive, caller.permission))
        except Refused as refused:
            await self._refuse(scope, answer, refused)
            return
        if scope["type"] == "http" and scope["path"][len(self._prefix) :] in self._pages:
            # Every page is the same document, whose script reads the address and requests the rest.
            scope = {**scope, "path": self._prefix, "raw_path": self._prefix.encode()}
        permission_reset, client_reset = current_permission.set(caller.permission), client_now.set(caller.client)
        offered_reset = acting_offered.set(bool(self._access.act_token))
        url_reset = page_url.set(headers.get("referer", ""))
        browser_reset = browser_now.set(_cookie(headers, BROWSER_COOKIE))
        try:
            await self._app(scope, receive, answer)
        finally:
            current_permission.reset(permission_reset)
            client_now.reset(client_reset)
            acting_offered.reset(offered_reset)
            page_url.reset(url_reset)
            browser_now.reset(browser_reset)

    def _below_prefix(self, scope: Scope) -> Scope:
        """Check the path, and add our prefix where a reverse proxy has removed it."""
        raw = scope.get("raw_path") or b""
        path: str = scope["path"]
        steps = path.split("/")[1:-1] + path.rsplit("/", 1)[-1:]
        tricky = not path.startswith("/") or "" in steps[:-1] or not {".", ".."}.isdisjoint(steps)
        if tricky or "\\" in path or "\0" in path or b"%2f" in raw.lower() or b"%5c" in raw.lower():
            raise Refused(400, "this path is not served")
        if len(raw) > 2048 or len(scope["query_string"]) > 8192:
            raise Refused(414, "the address is too long")
        if not _is_text(scope["query_string"]):
            raise Refused(400, "the query of the address is not UTF-8 text, or contains a zero byte")
        if not f"{path}/".startswith(self._prefix):
            path = self._prefix + path.lstrip("/")
            scope = {**scope, "path": path, "raw_path": path.encode()}
        return scope

    def _caller(self, scope: Scope, headers: dict[str, str]) -> _Caller:
        """Check host and rate, and find the permission of the token or session."""
        if not self._access.allows_host(headers.get("host", "")):
            raise Refused(421, "the Host header does not name this server; allow the name with --allow-host")
        address = client_of(_address(scope))
        session = _cookie(headers, self._access.cookie)
        permission = self._access.permission_of_session(session, time.time())
        signed_in = permission is not Permission.NONE
        # A signed-in client is not slowed down by other requests from the same address.
        caller = _Caller(permission, f"session {_digest(session).hex()}" if signed_in else f"address {address}")
        if not self._rate.allows(caller.client, time.monotonic()):
            raise Refused(429, "too many requests", retry_after=1.0)
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            token = token.strip()
            return _Caller(self._permission_of_token(scope, token), f"token {_digest(token).hex()} at {address}")
        return caller._replace(permission=max(permission, self._access.anonymous_permission))

    def _permission_of_token(self, scope: Scope, token: str) -> Permission:
        """The permission of a token. Wrong ones delay the next comparison."""
        connection, digest = scope.get("client") or ("", 0), _digest(token)
        if self._known.get(connection) == digest:
            return self._access.permission_of_token(token)
        client, now = client_of(_address(scope)), time.monotonic()
        wait = self._guesses.wait(client, now)
        if wait > 0.0:
            raise Refused(429, f"too many wrong tokens; wait {ceil(wait)} s and try again", retry_after=wait)
        permission = self._access.permission_of_token(token)
        self._known.pop(connection, None)
        if permission is Permission.NONE:
            self._guesses.wrong(client, now)
        else:
            self._known[connection] = digest
        while len(self._known) > _CONNECTIONS_KEPT:
            self._known.popitem(last=False)
        return permission

    def _check_permission(self, scope: Scope, headers: dict[str, str], permission: Permission) -> None:
        path, socket = scope["path"][len(self._prefix) :], scope["type"] == "websocket"
        needed = permissions.permission_for(permissions.SOCKET if socket else scope["method"], path)
        if permission is Permission.NONE and needed is not Permission.NONE:
            raise Refused(401, "sign in first")
        if needed is None:
            raise Refused(404, "this path is not served")
        if socket or scope["method"] not in _SAFE_METHODS:
            self._check_origin(headers)
        if not socket and scope["method"] not in _METHODS:
            raise Refused(405, "this method is not served")
        if permission < needed:
            raise Refused(403, _NEEDS_ACT)

    def _check_origin(self, headers: dict[str, str]) -> None:
        """Check the Origin of a browser's request; a program without that header needs a token."""
        origin = headers.get("origin")
        if origin is not None and not same_origin(origin, headers.get("host", "")):
            raise Refused(403, "the request comes from a page of another site; use this server's own pages")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "the request comes from a page of another site; use this server's own pages")
        if origin is None and "authorization" not in headers:
            raise Refused(
                403, "the request has neither an Origin header nor a token; send `Authorization: Bearer TOKEN`"
            )

    async def _own_page(
        self, scope: Scope, headers: dict[str, str], receive: Receive, send: Send, permission: Permission
    ) -> bool:
        """Sign-in, sign-out and pages that have moved."""
        path, method = scope["path"][len(self._prefix) :], scope["method"]
        if path in permissions.MOVED and method in ("GET", "HEAD"):
            asked = quote(scope["query_string"], safe="=&%+/")
            place = f"{self._prefix}{permissions.MOVED[path]}{'?' if asked else ''}{asked}"
            await _respond(send, 308, "", "text/plain", (("location", place),))
            return True
        if path == "sign-in" and method in ("GET", "HEAD"):
            back = self._own_address(_field(_form(scope["query_string"]), "to"))
            await _respond(send, 200, sign_in_page(self._prefix, back=back), "text/html; charset=utf-8")
            return True
        if path not in ("sign-in", "sign-out") or method != "POST":
            return False
        self._check_origin(headers)
        if path == "sign-out":
            await asyncio.to_thread(self._signed_out, _cookie(headers, BROWSER_COOKIE))
            await self._signed(scope, headers, send, "", 0, self._prefix)
            return True
        if not self._sign_in_rate.allows(client_of(_address(scope)), time.monotonic()):
            raise Refused(429, "too many attempts to sign in; wait a minute", retry_after=60.0)
        form = _form(await _body(headers, receive))
        granted = self._permission_of_token(scope, _field(form, "token").strip())
        back = self._own_address(_field(form, "to"))
        if granted is Permission.NONE:
            page = sign_in_page(self._prefix, wrong=True, back=back)
            await _respond(send, 403, page, "text/html; charset=utf-8")
            return True
        session = self._access.session(max(granted, permission), time.time())
        await self._signed(scope, headers, send, session, int(SESSION_SECONDS), back)
        return True

    def _own_address(self, wanted: str) -> str:
        """The address to return to after sign-in: a page of ours, else the front page. Never another site."""
        path, mark, query = wanted.partition("?")
        is_page = path.startswith(self._prefix) and path[len(self._prefix) :] in self._pages
        if not is_page or not f"{path}{query}".isascii() or not f"{path}{query}".isprintable() or " " in query:
            return self._prefix
        return f"{path}{mark}{query}"

    async def _signed(self, scope: Scope, headers: dict[str, str], send: Send, value: str, age: int, back: str) -> None:
        secure = scope.get("scheme") == "https" or headers.get("x-forwarded-proto") == "https"
        cookie = f"{self._access.cookie}={value}; Path={self._prefix}; Max-Age={age}; HttpOnly; SameSite=Strict"
        cookie += "; Secure" if secure else ""
        await _respond(send, 303, "", "text/plain", (("location", back), ("set-cookie", cookie)))

    async def _json_body(
        self, scope: Scope, headers: dict[str, str], receive: Receive, permission: Permission
    ) -> bytes:
        """The body of a request that changes something or asks a callback: bounded, JSON, and of text."""
        if not headers.get("content-type", "").startswith("application/json"):
            raise Refused(415, "the body must be JSON (Content-Type: application/json)")
        body = await _body(headers, receive)
        try:
            whole = json.loads(body)
        except (ValueError, RecursionError):
            raise Refused(400, "the body is not JSON") from None
        if not isinstance(whole, dict):
            raise Refused(400, "the body is not a JSON object")
        if not _holds_text(body, whole):
            raise Refused(400, "a string in the body is not UTF-8 text, or contains a zero byte")
        if scope["path"][len(self._prefix) :] == permissions.CALLBACKS_PATH:
            self._check_callback(whole, permission)
        return body

    def _check_callback(self, question: Mapping[str, Any], permission: Permission) -> None:
        name = question.get("output")
        needed = self._callbacks.get(name) if isinstance(name, str) else None
        if needed is None:
            raise Refused(400, "there is no such callback")
        # Dash also calls back when buttons appear; then no click is counted, and nothing is done.
        if permission < needed and _counts_a_click(question.get("inputs")):
            raise Refused(403, _NEEDS_ACT)

    async def _refuse(self, scope: Scope, send: Send, refused: Refused) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4000 + refused.status})
            return
        accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
        wants_page = b"text/html" in accepted and scope["method"] == "GET"
        if refused.status == 401 and wants_page:
            query = scope["query_string"].decode("latin-1")
            wanted = quote(f"{scope['path']}?{query}" if query else scope["path"], safe="/")
            await _respond(send, 303, "", "text/plain", (("location", f"{self._prefix}sign-in?to={wanted}"),))
            return
        if refused.status in (400, 404, 414) and wants_page:
            page = wrong_page(self._prefix, self._links, refused.text)
            await _respond(send, refused.status, page, "text/html; charset=utf-8")
            return
        extra: tuple[tuple[str, str], ...] = (("www-authenticate", "Bearer"),) if refused.status == 401 else ()
        if refused.retry_after:
            extra = (("retry-after", str(ceil(refused.retry_after))),)
        await _respond(send, refused.status, json.dumps({"error": refused.text}), "application/json", extra)

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        path: str = scope["path"]  # as it came: a proxy in front may have removed our prefix
        is_file = f"/{path.removeprefix(self._prefix).lstrip('/')}".startswith(_FILES)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [pair for pair in message.get("headers", ()) if pair[0].lower() not in _OURS]
                own += self._headers
                status = message["status"]
                if not is_file or status >= 400:
                    own = [pair for pair in own if pair[0].lower() != b"cache-control"]
                    own.append((b"cache-control", b"no-store"))
                if status == 500:
                    status = next((better for part, better in _DASH_RAISES.items() if part in scope["path"]), 500)
                message = {**message, "status": status, "headers": own}
            await send(message)

        return answer


def _headers(policy: str) -> list[tuple[bytes, bytes]]:
    """The headers of every response."""
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


_FILES = ("/assets/", "/_dash-component-suites/")
"""Files of the program, which browsers may keep: pages name them with the time or the version of each. Everything else
is data."""
_NEEDS_ACT = "this needs the act token"
_OURS = frozenset(name for name, _ in _headers("")) | {b"server"}


_DASH_RAISES = {"/_dash-component-suites/": 404, "/_dash-update-component": 400}
"""Statuses for invalid requests that Dash answers with an exception."""


def _single(pairs: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by name. Refuses duplicates of those that matter for security."""
    headers: dict[str, str] = {}
    for raw, value in pairs:
        name = raw.decode("latin-1").lower()
        if name in headers and name in _ONCE:
            raise Refused(400, f"the header {name} came more than once")
        headers[name] = value.decode("latin-1")
    return headers


def _is_text(query: bytes) -> bool:
    """Whether a query string holds UTF-8 without zero bytes, once its escapes are resolved."""
    plain = unquote_to_bytes(query)
    try:
        plain.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in plain


def _holds_text(body: bytes, value: Any) -> bool:
    """Whether all strings of a JSON value are UTF-8 without zero bytes. Only escapes can violate that, and few bodies
    have any."""
    lowered = body.lower()
    if b"\\u0000" not in lowered and b"\\ud" not in lowered:
        return True
    return all("\0" not in text and not _has_surrogate(text) for text in _texts(value))


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one


def _counts_a_click(inputs: Any) -> bool:
    """Whether one of a callback's inputs has a value; unreadable input counts as one."""
    if isinstance(inputs, list):
        return any(map(_counts_a_click, inputs))
    return not isinstance(inputs, dict) or bool(inputs.get("value"))


def _form(text: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(text.decode("utf-8", "replace"), max_num_fields=20)
    except ValueError:
        raise Refused(400, "the form has too many fields") from None


def _field(form: Mapping[str, list[str]], name: str) -> str:
    """The first value of a field; "" where it is empty or missing."""
    return form.get(name, [""])[0]


def _digest(secret: str) -> bytes:
    """A digest that identifies a secret without revealing it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()[:12]


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _cookie(headers: Mapping[str, str], name: str) -> str:
    """The value of a cookie. A host's cookies come together, whatever the port of the server that set them, and some
    have values that `http.cookies` stops at (JSON): they must not hide ours.
    """
    pairs = (pair.partition("=") for pair in headers.get("cookie", "").split(";"))
    return next((value.strip() for given, _, value in pairs if given.strip() == name), "")


async def _body(headers: dict[str, str], receive: Receive) -> bytes:
    """The whole body; the request is refused as soon as the body is known to be too long."""
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or len(length) > 12 or int(length) > MOST_BODY_BYTES:
        raise Refused(413, f"the body is too large: at most {MOST_BODY_BYTES} bytes are accepted")
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "the body ended before its announced length")
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > MOST_BODY_BYTES:
            raise Refused(413, f"the body is too large: at most {MOST_BODY_BYTES} bytes are accepted")
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
