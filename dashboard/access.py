"""Decides who may read and who may act: tokens, sessions after a sign-in, and allowed hosts and origins. Pure.

Reading and acting are separate rights, each with a token of its own. A token is compared in constant time and never
travels in a URL: a sign-in exchanges it for a cookie, programs send it as `Authorization: Bearer`. A session is signed,
not stored: the key comes from the tokens, so that sessions outlive a restart and end when a token is changed.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from enum import IntEnum
from urllib.parse import urlsplit

import msgspec

from neuron_top.identity import is_loopback

SESSION_SECONDS = 12 * 3600.0
_HOST = re.compile(
    r"(?:(?P<name>[a-z0-9](?:[a-z0-9._-]{0,252}[a-z0-9.])?)|\[(?P<six>[0-9a-f:.]{2,45})\])(?::(?P<port>[0-9]{1,5}))?",
    re.ASCII | re.IGNORECASE,
)
_PORTS = range(1, 65536)


class Permission(IntEnum):
    """The permission of a request; each includes the one before."""

    NONE = 0
    READ = 1
    ACT = 2


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Access rules of one server."""

    read_token: str = ""
    """If empty, everybody who reaches the server may read; allowed only on loopback."""
    act_token: str = ""
    """If empty, nobody may act."""
    hosts: frozenset[str] = frozenset()
    """Names besides loopback under which the server may be addressed, in lower case, without a port."""
    key: bytes = b""
    """The key that signs sessions."""

    def permission_of_token(self, token: str) -> Permission:
        """The permission of a token. Both comparisons are always made, each in constant time."""
        acts = bool(self.act_token) & same(token, self.act_token)
        reads = bool(self.read_token) & same(token, self.read_token)
        return Permission.ACT if acts else Permission.READ if reads else Permission.NONE

    @property
    def anonymous_permission(self) -> Permission:
        """The permission of a request without a token."""
        return Permission.NONE if self.read_token else Permission.READ

    @property
    def cookie(self) -> str:
        """The name of the cookie with the session. Browsers tell the servers of a host apart by name, not by port: two
        with other tokens would end each other's sessions.
        """
        return f"neurontop_session_{self._signature('cookie')[:8]}"

    def session(self, permission: Permission, now: float) -> str:
        """A new signed session: `<permission>.<expiry>.<random>.<signature>`."""
        body = f"{permission.value}.{int(now + SESSION_SECONDS)}.{secrets.token_hex(8)}"
        return f"{body}.{self._signature(body)}"

    def permission_of_session(self, session: str, now: float) -> Permission:
        """The permission of a session; NONE when it is forged, broken or expired."""
        body, _, signature = session.rpartition(".")
        if not same(signature, self._signature(body)):
            return Permission.NONE
        permission, expiry, *_random = body.split(".")
        return Permission(int(permission)) if now < int(expiry) else Permission.NONE

    def allows_host(self, host: str) -> bool:
        """Whether a Host header names this server (protects against DNS rebinding)."""
        name = host_name(host)
        return name in self.hosts or is_loopback(name)

    def _signature(self, body: str) -> str:
        return hmac.new(self.key, body.encode(), hashlib.sha256).hexdigest()


def rules(read_token: str, act_token: str, hosts: frozenset[str]) -> Access:
    """The rules with a signing key made from the tokens, or a random one where there is none."""
    secret = f"{read_token}\0{act_token}" if read_token or act_token else secrets.token_hex()
    key = hashlib.scrypt(secret.encode(), salt=b"neurontop session", n=2**14, r=8, p=1)
    return Access(read_token=read_token, act_token=act_token, hosts=hosts, key=key)


def same(given: str, expected: str) -> bool:
    """Whether two texts are equal, compared in constant time whatever their lengths."""
    return hmac.compare_digest(hashlib.sha256(given.encode()).digest(), hashlib.sha256(expected.encode()).digest())


def host_name(host: str) -> str:
    """The name in a Host header, in lower case, without port and brackets; "" when it is no plain `name:port`."""
    found = _HOST.fullmatch(host)
    if found is None or int(found["port"] or 1) not in _PORTS or (found["six"] and not _is_ipv6(found["six"])):
        return ""
    return (found["six"] or found["name"].removesuffix(".")).lower()


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def same_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the host that was asked. The scheme is the proxy's, so it is not compared."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and parts.netloc.lower() == host.lower()
