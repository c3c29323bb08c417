"""Connects to the database: checks that a connection is safe before it is tried, and words the errors.

Nothing here prints an address with its password: `masked` is what messages show, and psycopg's own texts of malformed
addresses, which quote parts of them, are not passed on.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, Self, TypeVar

import msgspec
import psycopg
import psycopg_pool
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow
from psycopg.types.json import set_json_loads

from neuron_top.database_address import is_address, masked
from neuron_top.decoders import MALFORMED
from neuron_top.errors import RefusedForSafety, UsageError
from neuron_top.store.errors import (
    StoreBusy,
    StoreFull,
    StoreMissing,
    StoreNewer,
    StoreNotAllowed,
    StoreRefused,
    StoreUnreachable,
    StoreUnusable,
)

Opened = psycopg.Connection[TupleRow]
Answer = TypeVar("Answer")

logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # without it, every failed attempt would be printed

SCHEMA_VERSION = 9
"""Version of the schema that this program reads and writes: the number of the last file in `schema/`."""
OLDEST_SERVER = 15
_DEFAULTS = {
    "application_name": "neurontop",
    "client_encoding": "utf8",  # a database without an encoding (SQL_ASCII) would send bytes
    "connect_timeout": "10",
    "tcp_user_timeout": "20000",  # so that a cut network is noticed
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
}
_POOL_SECONDS = 3.0
"""How long a page waits for a connection of the pool."""
_ENDING = "this program is ending"
_END_SECONDS = 3.0
_CANCEL_SECONDS = 1.0
"""How long the server may take to accept that a request is canceled."""
_STATES = {
    "42501": StoreNotAllowed,
    "53100": StoreFull,
    "55P03": StoreBusy,
    "57P01": StoreUnreachable,
    "57P02": StoreUnreachable,
    "57P03": StoreUnreachable,
}
_OF_THE_VALUE = ("22", "54")
"""Classes of SQLSTATE: data exceptions, as of a character that the database's encoding lacks, and limits of the
program, as of a value that is too large."""


class _Connection(psycopg.Connection[TupleRow]):
    """A connection that gives up waiting when its Database says so: a lock or a server that hangs does not answer, and
    neither the network nor the server ends such a wait."""

    why_give_up: Callable[[float], str] = staticmethod(lambda _waited: "")
    """Called with the seconds without an answer: why to stop waiting; "" to go on."""

    def wait(self, gen: PQGen[Answer], *given: Any, **named: Any) -> Answer:
        """See psycopg."""
        return super().wait(self._watched(gen), *given, **named)

    def _watched(self, gen: PQGen[Answer]) -> Generator[Any, Any, Answer]:
        began = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready:
                    began = time.monotonic()
                elif reason := self.why_give_up(time.monotonic() - began):
                    with suppress(psycopg.Error):
                        self.cancel_safe(timeout=_CANCEL_SECONDS)
                    self.pgconn.finish()
                    raise psycopg.OperationalError(reason)
                wanted = gen.send(ready)
        except StopIteration as answered:
            return answered.value  # type: ignore[no-any-return]


def _decoded(text: bytes | str) -> Any:
    """The value of a JSON column; None where a login has nested it too deep, so that only its row suffers."""
    try:
        return msgspec.json.decode(text)
    except MALFORMED:
        return None


class Database:
    """A database, connected to at the first request and again after a connection broke.

    One connection, which one thread uses at a time, or a pool of `pool` connections.
    """

    def __init__(
        self,
        address: str,
        *,
        insecure: bool = False,
        pool: int = 0,
        prepared: bool = True,
        patience: float = math.inf,
    ) -> None:
        """`insecure`: also where others could read along; `prepared`: its schema must be there, as this program's;
        `patience`: seconds without an answer after which it cannot be reached.

        Raises UsageError for what is no address, RefusedForSafety where it would be reached without verified TLS.
        """
        self.place = masked(address)
        self._conninfo = conninfo_of(address, insecure=insecure)
        self._prepared, self._patience = prepared, patience
        self._lock = threading.Lock()
        self._ended = False
        self._one: Opened | None = None
        self._pool: psycopg_pool.ConnectionPool[_Connection] | None = None
        if pool:
            self._pool = psycopg_pool.ConnectionPool(
                self._conninfo,
                connection_class=_Connection,
                min_size=1,
                max_size=pool,
                kwargs={"autocommit": True, "prepare_threshold": None},
                configure=self._configure,
                check=psycopg_pool.ConnectionPool.check_connection,
                timeout=_POOL_SECONDS,
                reconnect_timeout=_POOL_SECONDS,  # so that the next page makes it try again soon
                open=False,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; the next use makes new ones, except from a pool."""
        with self._lock:
            one, self._one = self._one, None
        if one is not None:
            one.close()
        if self._pool is not None:
            self._pool.close()

    def end(self) -> None:
        """Close for good: later requests are refused, threads that wait for an answer give up, and no connection is
        left open."""
        self._ended = True
        if self._lock.acquire(timeout=_END_SECONDS):  # else a thread is connecting, and closes its connection
            self._lock.release()
            self.close()

    @contextmanager
    def connection(self) -> Iterator[Opened]:
        """A connection in autocommit mode. Raises StoreUnusable for whatever goes wrong with the database inside."""
        with self._explained(), self._borrowed() as connection:
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[Opened]:
        """As `connection`, in a transaction that an exception undoes."""
        with self.connection() as connection, connection.transaction():
            yield connection

    @contextmanager
    def without_jit(self) -> Iterator[Opened]:
        """As `transaction`, for a query that the server would compile, which takes it longer than running it."""
        with self.transaction() as connection:
            connection.execute("SET LOCAL jit = off")  # local: behind a pooler, sessions are shared
            yield connection

    def connect(self) -> Opened:
        """A new connection, which the caller must close. Raises StoreUnusable."""
        with self._explained():
            return self._opened()

    def _check_open(self) -> None:
        if self._ended:
            raise StoreUnreachable(f"{self.place} is not asked any more: {_ENDING}")

    def _why_give_up(self, waited: float) -> str:
        if self._ended:
            return _ENDING
        return f"it has not answered for {self._patience:.0f} s" if waited > self._patience else ""

    def _borrowed(self) -> AbstractContextManager[Opened]:
        return self._from_pool(self._pool) if self._pool is not None else self._only_one()

    @contextmanager
    def _only_one(self) -> Iterator[Opened]:
        with self._lock:
            self._check_open()
            if self._one is None or self._one.closed or self._one.broken:
                self._one = self._opened()
            yield self._one

    @contextmanager
    def _from_pool(self, pool: psycopg_pool.ConnectionPool[_Connection]) -> Iterator[Opened]:
        with self._lock:
            self._check_open()
            if pool.closed:  # not opened yet
                self._opened().close()  # raises with the reason, while a pool would only wait
                pool.open()
        try:
            connection = pool.getconn()
        except psycopg_pool.PoolTimeout:
            self._opened().close()  # raises with the reason, if it is the server
            raise StoreBusy(f"{self.place}: none of {pool.max_size} connections was free; ask again") from None
        try:
            yield connection
        finally:
            pool.putconn(connection)

    def _opened(self) -> Opened:
        connection = _Connection.connect(self._conninfo, autocommit=True, prepare_threshold=None)
        try:
            self._configure(connection)
            if connection.info.server_version < OLDEST_SERVER * 10000:
                raise StoreUnusable(
                    f"{self.place}: PostgreSQL {connection.info.server_version // 10000} is too old: "
                    f"{OLDEST_SERVER} or newer is needed"
                )
            if self._prepared:
                self._check_schema(connection)
            self._check_open()  # it may have been closed while this connected
        except BaseException:
            connection.close()
            raise
        return connection

    def _configure(self, connection: _Connection) -> None:
        connection.why_give_up = self._why_give_up
        # JSON columns are decoded by msgspec, as a fleet's page reads thousands of them each second.
        set_json_loads(_decoded, connection)

    def _check_schema(self, connection: Opened) -> None:
        version = schema_version(connection)
        if version == 0:
            raise StoreMissing(f"{self.place} has no tables of neuron-top yet: `neurontop fleet init` makes them")
        if version > SCHEMA_VERSION:
            raise newer(self.place, version)
        if version < SCHEMA_VERSION:
            raise StoreUnusable(
                f"{self.place} has schema {version} and this neuron-top needs {SCHEMA_VERSION}: "
                "`neurontop fleet init` migrates it"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as problem:
            raise self.sentence(problem) from None
        except UnicodeEncodeError as problem:  # a value is a name that is no UTF-8
            raise StoreRefused(f"{self.place}: the database does not take this: {problem}") from None

    def sentence(self, problem: psycopg.Error) -> StoreUnusable:
        """The StoreUnusable for an exception of the driver, with a text for people."""
        primary = problem.diag.message_primary or _first_line(str(problem))
        kind = _STATES.get(problem.sqlstate or "")
        if kind is StoreNotAllowed:
            return StoreNotAllowed(
                f"{self.place}: this login may not do that ({primary}); an agent needs a login that is named as its "
                "node and is a member of neurontop_agent, a person one of neurontop_viewer or neurontop_operator"
            )
        if kind is not None:
            return kind(f"{self.place}: {primary}")
        is_of_the_driver = problem.sqlstate is None and isinstance(problem, psycopg.DataError)  # a zero byte
        if is_of_the_driver or (problem.sqlstate or "").startswith(_OF_THE_VALUE):
            return StoreRefused(f"{self.place}: the database does not take this: {primary}")
        if isinstance(problem, psycopg.OperationalError):
            return StoreUnreachable(f"{self.place} cannot be reached: {primary}")
        return StoreUnusable(f"{self.place}: {primary}")


def schema_version(connection: Opened) -> int:
    """The version of this database's schema; 0 if there is none."""
    found = connection.execute("SELECT to_regclass('neurontop.meta') IS NOT NULL").fetchone()
    if found is None or not found[0]:
        return 0
    row = connection.execute("SELECT max(version) FROM neurontop.meta").fetchone()
    return int(row[0]) if row is not None and row[0] is not None else 0


def newer(place: str, version: int) -> StoreNewer:
    """The error for a schema that a later version of this program made."""
    return StoreNewer(f"{place} was made by a newer neuron-top (schema {version}); update this one")


def conninfo_of(address: str, *, insecure: bool = False, environ: Mapping[str, str] = os.environ) -> str:
    """The connection string for libpq. Raises UsageError, RefusedForSafety (see `Database`).

    For another machine, an address that does not mention TLS gets `verify-full`, and one that asks for less is refused.
    """
    if not is_address(address):
        raise UsageError("store: expected postgresql://[user@]host[:port]/database, or nothing for the local file")
    try:
        given = conninfo_to_dict(address)
    except psycopg.Error:  # its text quotes the address, password and all
        raise UsageError(
            f"store: {masked(address)} is not the address of a database: expected "
            "postgresql://[user@]host[:port]/database "
            "(put a password with special characters into ~/.pgpass or PGPASSWORD)"
        ) from None
    parts = {name: str(value) for name, value in given.items() if value is not None}
    if not insecure and not _stays_here(parts, environ):
        mode = parts.get("sslmode") or environ.get("PGSSLMODE") or "verify-full"
        if mode != "verify-full":
            raise RefusedForSafety(
                f"{masked(address)}: sslmode={mode} lets others pose as the server or read along; use "
                "sslmode=verify-full with sslrootcert, or allow it with the setting store_insecure "
                "(NEURONTOP_STORE_INSECURE=1)"
            )
        parts["sslmode"] = mode
    for name, value in _DEFAULTS.items():
        parts.setdefault(name, value)
    return make_conninfo(**parts)


def _stays_here(parts: Mapping[str, str], environ: Mapping[str, str]) -> bool:
    """Whether every host of the address is this machine: a socket in its file system, or loopback."""
    if parts.get("service") or environ.get("PGSERVICE"):
        return False  # a file of libpq's has the host
    named = [
        parts.get(part) or environ.get(variable, "")
        for part, variable in (("host", "PGHOST"), ("hostaddr", "PGHOSTADDR"))
    ]
    hosts = [host for names in named if names for host in names.split(",")]
    return all(_is_this_machine(host) for host in hosts)


def _is_this_machine(host: str) -> bool:
    if host in ("", "localhost") or host.startswith(("/", "@")):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0]
