"""Keyed digests (HMAC-SHA256) of what a cache entry holds: without the key, nobody can change it unnoticed.

A plain digest beside a file reveals only accidents, since whoever can change the file can change the digest, too. There
are two keys:

- the user's own, made in the state folder when it is first needed (`cache.key`, mode 0600). What is published is signed
  with it. At load, a signature with this key must be right. No signature, or one with another key, is no reason to
  refuse: in a user's own root, the gate (`cache/trust.py`) protects.
- a shared one, in the file that `NEURONTOP_CACHE_KEY_FILE` names, for S3 and for roots that several users share. Then a
  right signature with this key is required, and everything else is compiled again.

A signature does not replace the gate. What is signed is read back from the entry's folder after the compiler has
written it; if strangers can replace files there, they can have theirs signed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from neuron_top import private_files, settings
from neuron_top.cache.model.signature import UNSIGNED, Signature
from neuron_top.errors import NeuronTopError, RefusedForSafety, UsageError
from neuron_top.plain_files import NotAPlainFile, open_plain

KEY_FILE_VARIABLE = "NEURONTOP_CACHE_KEY_FILE"
OWN_KEY = "cache.key"
LEAST_BYTES = 16
_NEW_BYTES = 32
_ID_DIGITS = 16


class Keys:
    """The key that signs and checks in this process. Without one nothing is signed and nothing required."""

    def __init__(self, secret: bytes | None = None, *, required: bool = False, state: Path | None = None) -> None:
        self._secret, self.required, self._state = secret, required, state

    def sign(self, content: Sequence[str]) -> Signature:
        """The signature of `content`. Makes the user's own key if need be; returns UNSIGNED if it cannot be made."""
        if self._secret is None and self._state is not None:
            self._secret = _own_key(self._state, make=True)
        if self._secret is None:
            return UNSIGNED
        return Signature(_identity(self._secret), _digest(self._secret, content))

    def problem(self, content: Sequence[str], signature: Signature) -> str:
        """Why something with this `content` and `signature` must not be used; empty if it may be."""
        if self._secret is None and self._state is not None:
            self._secret = _own_key(self._state, make=False)
        if self._secret is None or signature.key != _identity(self._secret):
            if not self.required:
                return ""
            return "it is not signed" if signature == UNSIGNED else "it is signed with another key"
        if hmac.compare_digest(signature.digest, _digest(self._secret, content)):
            return ""
        return "its signature is wrong: it was changed after it was written"


def keys_in_force() -> Keys:
    """The shared key if one is named, else the user's own. Raises UsageError for a key file that cannot be used."""
    named = os.environ.get(KEY_FILE_VARIABLE, "")
    if named:
        return Keys(shared_key(named), required=True)
    try:
        return Keys(state=settings.load()[0].state_path)
    except NeuronTopError:  # broken settings, a user without a home: no reason to end a job
        return Keys()


def shared_key(path: str) -> bytes:
    """The key in a file that others may not read. Raises UsageError."""
    file_path = os.path.abspath(os.path.expanduser(path))
    wrong = f"{KEY_FILE_VARIABLE} names {file_path}, "

    def check(_: int, facts: os.stat_result) -> None:
        if facts.st_uid not in (os.geteuid(), 0):
            raise UsageError(f"{wrong}which belongs to user {facts.st_uid}: use a key file of your own")
        if facts.st_mode & 0o077:
            mode = stat.S_IMODE(facts.st_mode)
            raise UsageError(f"{wrong}which others may read or change (mode {mode:o}): chmod 600 {file_path}")

    try:
        with open(open_plain(file_path, follow=True, check=check), "rb") as file:
            secret = file.read()
    except NotAPlainFile:
        raise UsageError(f"{wrong}which is not a file") from None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UsageError(f"{wrong}which cannot be read ({reason}): make it with `openssl rand -out FILE 32`") from None
    if len(secret) < LEAST_BYTES:
        raise UsageError(f"{wrong}which holds {len(secret)} bytes: a key needs at least {LEAST_BYTES}")
    return secret


def _own_key(state: Path, *, make: bool) -> bytes | None:
    """The user's own key, which with `make` is made if need be; None if there is none that only this user can read."""
    path = state / OWN_KEY
    secret = _private_bytes(path)
    if secret is None and make:
        with contextlib.suppress(OSError, RefusedForSafety):  # nothing is signed then, which must not end a job
            _make_key(path)
        secret = _private_bytes(path)
    return secret


def _make_key(path: Path) -> None:
    """Make a new key. A link makes the file appear complete, and of several processes, the first one's stays.

    Raises OSError; RefusedForSafety for a state folder that others could change.
    """
    import secrets  # only a new key needs it, and it loads more than all of this module

    private_files.make_folder(path.parent)
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(secrets.token_bytes(_NEW_BYTES))
            file.flush()
            os.fsync(handle)
        with contextlib.suppress(FileExistsError):
            os.link(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _private_bytes(path: Path) -> bytes | None:
    """A key that only this user can read; None for anything else."""

    def check(_: int, facts: os.stat_result) -> None:
        if facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
            raise PermissionError(f"others can read {path}")

    try:
        with open(open_plain(path, check=check), "rb") as file:
            secret = file.read()
    except OSError:
        return None
    return secret if len(secret) >= LEAST_BYTES else None


@functools.lru_cache(maxsize=8)
def _identity(secret: bytes) -> str:
    return hashlib.sha256(b"neuron-top key id\0" + secret).hexdigest()[:_ID_DIGITS]


def _digest(secret: bytes, content: Sequence[str]) -> str:
    return hmac.new(secret, msgspec.json.encode(list(content)), hashlib.sha256).hexdigest()
