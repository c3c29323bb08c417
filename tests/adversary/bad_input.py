"""Input that is not what it should be: databases in every broken state, and things that stand where a log should.

Each maker puts one of them into a folder and gives its path; `hold` keeps what must live as long as the attack.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path

from neuron_top.events import CacheHit, RunFinished, RunStarted
from neuron_top.store.sqlite import FILE_NAME, SCHEMA_VERSION, SqliteStore

LINE = (
    "2026-02-04 19:31:29.000382:  250618  [INFO]: Using a cached neff at /c/neuronxcc-2.22.1.0+b4a00d10/{}/model.neff\n"
)
KEY = "MODULE_04390708a5c55ca3e2e3+3d4a12eb"
LOG = "".join(LINE.format(KEY) for _ in range(50)) + "a line of ours: größer\n"
Hold = contextlib.ExitStack


def recorded(state: Path) -> Path:
    """A store with two recordings."""
    state.mkdir(parents=True, exist_ok=True)
    path = state / FILE_NAME
    with SqliteStore(path) as store:
        for number in (1, 2):
            run = f"20260214-09301{number}-7f3a"
            started = RunStarted(at=1.0 * number, run=run, node="n", name=f"run{number}", command=("train",))
            store.begin(started)
            store.append(run, [started, CacheHit(at=2.0, module=KEY), RunFinished(at=3.0, run=run, exit_code=0)])
            store.finish(run, 0, 3.0)
    return path


def _zero(path: Path, hold: Hold) -> None:
    path.write_bytes(b"")


def _truncated(path: Path, hold: Hold) -> None:
    _checkpointed(path)
    path.write_bytes(path.read_bytes()[:5000])


def _header_only(path: Path, hold: Hold) -> None:
    _checkpointed(path)
    path.write_bytes(path.read_bytes()[:60])


def _garbage(path: Path, hold: Hold) -> None:
    _remove(path)
    path.write_bytes(b"\x93garbage\n" * 1000)


def _flipped(path: Path, hold: Hold) -> None:
    """The right beginning, junk behind it."""
    _checkpointed(path)
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)


def _foreign(path: Path, hold: Hold) -> None:
    """A sound database of somebody else's."""
    _remove(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.commit()


def _newer(path: Path, hold: Hold) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 7}")


def _folder(path: Path, hold: Hold) -> None:
    _remove(path)
    path.mkdir()


def _dangling(path: Path, hold: Hold) -> None:
    _remove(path)
    path.symlink_to(path.with_name("nowhere"))


def _fifo(path: Path, hold: Hold) -> None:
    _remove(path)
    os.mkfifo(path)


def _socket(path: Path, hold: Hold) -> None:
    _remove(path)
    here = Path.cwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        hold.enter_context(socket.socket(socket.AF_UNIX)).bind(path.name)
    finally:
        os.chdir(here)


def _locked(path: Path, hold: Hold) -> None:
    """Another process writes and keeps everybody out."""
    connection = hold.enter_context(contextlib.closing(sqlite3.connect(path, isolation_level=None)))
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")


def _bad_rows(path: Path, hold: Hold) -> None:
    """Sound as a database, junk in its rows."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE runs SET command = 'not json', summary = '{'")
        connection.execute("UPDATE events SET data = x'00112233'")
        connection.commit()


def _unreadable(path: Path, hold: Hold) -> None:
    path.chmod(0)


def _sealed(path: Path, hold: Hold) -> None:
    """A folder that nobody can write to: SQLite can make no companion files there."""
    path.parent.chmod(0o555)
    hold.callback(path.parent.chmod, 0o755)


def _checkpointed(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")


def _remove(path: Path) -> None:
    for name in (path, *path.parent.glob(f"{path.name}-*")):
        name.unlink(missing_ok=True)


STORES: dict[str, Callable[[Path, Hold], None]] = {
    "zero bytes": _zero, "truncated": _truncated, "header only": _header_only, "garbage": _garbage,
    "flipped": _flipped, "foreign": _foreign, "newer": _newer, "folder": _folder, "dangling": _dangling,
    "fifo": _fifo, "socket": _socket, "locked": _locked, "bad rows": _bad_rows, "sealed": _sealed,
}  # fmt: skip
AS_STRANGER = {"unreadable": _unreadable}


def _text(data: bytes) -> Callable[[Path, Hold], Path]:
    def make(folder: Path, hold: Hold) -> Path:
        path = folder / "bad.log"
        path.write_bytes(data)
        return path

    return make


def _sparse(folder: Path, hold: Hold) -> Path:
    """A hole of 8 MiB in the middle, as a disk that lost a writer's pages leaves it."""
    path = folder / "bad.log"
    with path.open("wb") as file:
        file.write(LOG.encode())
        file.seek(8 << 20, os.SEEK_CUR)
        file.write(LOG.encode())
    return path


def _in_place(make: Callable[[Path, Hold], None]) -> Callable[[Path, Hold], Path]:
    def made(folder: Path, hold: Hold) -> Path:
        path = folder / "bad.log"
        make(path, hold)
        return path

    return made


def _device(name: str) -> Callable[[Path, Hold], Path]:
    return lambda folder, hold: Path(name)


READABLE: dict[str, Callable[[Path, Hold], Path]] = {
    "UTF-16 with a mark, little": _text(b"\xff\xfe" + LOG.encode("utf-16-le")),
    "UTF-16 with a mark, big": _text(b"\xfe\xff" + LOG.encode("utf-16-be")),
    "UTF-16 without a mark, little": _text(LOG.encode("utf-16-le")),
    "UTF-16 without a mark, big": _text(LOG.encode("utf-16-be")),
    "UTF-8 with a mark": _text(b"\xef\xbb\xbf" + LOG.encode()),
    "Latin-1": _text(LOG.encode("latin-1")),
    "zeros": _text(LOG.encode().replace(b"a line", b"\0\0\0\0 line")),
    "sparse": _sparse,
    "gzip with junk behind": _text(gzip.compress(LOG.encode()) + b"junk"),
    "gzip in two members": _text(gzip.compress(LOG.encode()[:2000]) + gzip.compress(LOG.encode()[2000:])),
}
"""Odd, but there is a log in it that can be read: fifty hits (one hundred in the sparse one)."""
UNREADABLE: dict[str, Callable[[Path, Hold], Path]] = {
    "folder": _in_place(_folder),
    "dangling": _in_place(_dangling),
    "socket": _in_place(_socket),
    "/dev/zero": _device("/dev/zero"),
    "/dev/random": _device("/dev/random"),
    "gzip cut": _text(gzip.compress(os.urandom(5000))[:900]),
    "gzip broken": _text(gzip.compress(LOG.encode())[:12] + b"\xff" * 90),
}
EMPTY: dict[str, Callable[[Path, Hold], Path]] = {
    "empty": _text(b""),
    "/dev/null": _device("/dev/null"),
}
