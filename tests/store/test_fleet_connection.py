"""The way to the fleet's database: TLS both ways, servers that are gone, and passwords that nobody sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("psycopg")

from neuron_top.compile.claims import database as claims
from neuron_top.compile.claims.claim import ClaimsUnreachable
from neuron_top.database_address import has_password, masked
from neuron_top.errors import RefusedForSafety, UsageError
from neuron_top.events import CacheHit
from neuron_top.parsers.secrets import without_secrets
from neuron_top.store.batches import pack
from neuron_top.store.errors import StoreUnreachable
from neuron_top.store.fleet_records import Batch
from neuron_top.store.postgres.connection import Database, conninfo_of
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.postgres.migration import migrate
from tests.servers.ports import free_ports
from tests.servers.postgresql import PostgresMissing, PostgresServer, running, short_folder
from tests.store.fleet_rows import rows

PASSWORD = "p:w/d@%25-3f9a"


def batch(sequence: int) -> Batch:
    packed = pack([CacheHit(module=f"MODULE_{sequence}+a", at=float(sequence))])
    return Batch(
        first=packed.first, last=packed.last, count=packed.count, data=packed.data, sequence=sequence, run="job-1"
    )


# --- how safe a connection must be ---


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://db.example/x?sslmode=require",
        "postgresql://db.example/x?sslmode=verify-ca",
        "postgresql://db.example/x?sslmode=disable",
        "postgresql://10.0.0.7:5432/x?sslmode=prefer",
        "postgresql://localhost,db.example/x?sslmode=require",
        "postgresql://localhost/x?hostaddr=10.0.0.7&sslmode=require",
        "postgresql:///x?service=prod&sslmode=require",
        "postgresql://[2001:db8::1]/x?sslmode=allow",
    ],
)
def test_beyond_this_machine_less_than_verified_tls_is_refused_unless_it_is_allowed(address: str):
    with pytest.raises(RefusedForSafety, match="store_insecure"):
        conninfo_of(address, environ={})
    assert "verify-full" not in conninfo_of(address, insecure=True, environ={})


def test_beyond_this_machine_an_address_that_says_nothing_gets_verified_tls():
    assert "sslmode=verify-full" in conninfo_of("postgresql://db.example/x", environ={})
    assert "sslmode=verify-full" in conninfo_of("postgresql:///x", environ={"PGHOST": "db.example"})
    with pytest.raises(RefusedForSafety):
        conninfo_of("postgresql://db.example/x", environ={"PGSSLMODE": "require"})


@pytest.mark.parametrize(
    "address",
    ["postgresql://localhost/x", "postgresql://127.0.0.1/x", "postgresql://[::1]/x", "postgresql:///x?host=/run/pg"],
)
def test_on_this_machine_no_tls_is_needed(address: str):
    assert "sslmode" not in conninfo_of(address, environ={})


# --- passwords ---


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{PASSWORD}@db.example/x",
        "postgresql://me:pw@db.example/x",
        "postgresql://:pw@db.example/x",
        "postgresql://db.example/x?user=me&password=pw",
        "postgres://db.example/x?sslpassword=pw&sslmode=verify-full",
    ],
)
def test_an_address_is_shown_without_its_password(address: str):
    assert "pw" not in masked(address)
    assert PASSWORD not in masked(address)
    assert "db.example" in masked(address)
    assert has_password(address)


def test_an_address_without_a_password_is_shown_as_it_is():
    assert masked("postgresql://me@db.example:5432/x?sslmode=verify-full") == (
        "postgresql://me@db.example:5432/x?sslmode=verify-full"
    )
    assert not has_password("postgresql://me@db.example/x")


def test_what_is_no_address_is_reported_without_quoting_it():
    with pytest.raises(UsageError) as raised:
        conninfo_of(f"postgresql://me:{PASSWORD}@db.example:not-a-port/x%zz", environ={})
    assert "3f9a" not in str(raised.value)


def neurontop(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neuron_top", *arguments]
    own = {**os.environ, **environ}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=own)


def test_no_command_prints_the_password_of_the_setting():
    (port,) = free_ports(1)
    store = f"postgresql://me:{PASSWORD}@127.0.0.1:{port}/x"
    for command in (
        ["config"],
        ["config", "--json"],
        ["runs"],
        ["fleet", "init"],
        ["doctor", "--json"],
        ["report", "last"],
    ):
        result = neurontop(*command, NEURONTOP_STORE=store)
        assert "3f9a" not in result.stdout + result.stderr, command
        assert "Traceback" not in result.stderr, command
    assert json.loads(neurontop("doctor", "--json", NEURONTOP_STORE=store).stdout)["findings"][-1]["level"] == "problem"
    shown = json.loads(neurontop("config", "--json", NEURONTOP_STORE=store).stdout)["store"]
    assert shown == {"value": f"postgresql://me:***@127.0.0.1:{port}/x", "origin": "environment NEURONTOP_STORE"}


def test_a_password_on_the_command_line_is_refused_without_repeating_it():
    result = neurontop("runs", "--store", f"postgresql://me:{PASSWORD}@127.0.0.1/x")
    assert (result.returncode, "PGPASSWORD" in result.stderr) == (2, True)
    assert "3f9a" not in result.stderr


@pytest.mark.parametrize("text", [f"--store postgresql://me:{PASSWORD}@db/x", f"STORE='postgres://:{PASSWORD}@db/x'"])
def test_a_command_line_is_recorded_without_the_password_of_a_database(text: str):
    assert "3f9a" not in without_secrets(text)


# --- servers that are gone ---


def test_a_server_that_does_not_answer_is_a_sentence_and_an_exit_status():
    (port,) = free_ports(1)
    result = neurontop("runs", "--store", f"postgresql://me@127.0.0.1:{port}/x")
    assert result.returncode == 1
    assert result.stderr.startswith(f"neurontop: postgresql://me@127.0.0.1:{port}/x cannot be reached: ")
    assert result.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def mortal() -> Iterator[PostgresServer]:
    """A server that tests kill; what it committed must be there afterwards."""
    try:
        with running() as server:
            yield server
    except PostgresMissing as reason:
        pytest.skip(str(reason))


def database_of(server: PostgresServer) -> str:
    url = server.url(server.new_database())
    with Database(url, prepared=False) as database:
        migrate(database)
    return url


@pytest.mark.parametrize("pool", [0, 3])
def test_after_a_server_was_killed_and_started_the_same_store_goes_on(mortal: PostgresServer, pool: int):
    with FleetStore(database_of(mortal), pool=pool) as store:
        assert store.ship("n1", "s", [batch(1)]) == 1
        mortal.kill()
        with pytest.raises(StoreUnreachable):
            store.ship("n1", "s", [batch(1), batch(2)])
        mortal.start()
        assert store.shipped("n1", "s") == 1
        assert store.ship("n1", "s", [batch(1), batch(2)]) == 2
        assert [one.sequence for one in store.news("job-1", {})] == [1, 2]


def test_a_server_that_dies_while_batches_land_loses_none_and_has_none_twice(mortal: PostgresServer):
    url, last, landed = database_of(mortal), 60, threading.Semaphore(0)

    pause = threading.Event()

    def agent() -> None:
        """As an agent ships: from after what is stored, and again after every failure."""
        with FleetStore(url) as store:
            done = 0
            while done < last:
                try:
                    done = store.shipped("n1", "s")
                    done = store.ship("n1", "s", [batch(done + 1), batch(done + 2)][: last - done])
                    landed.release()
                except StoreUnreachable:
                    pause.wait(0.05)

    thread = threading.Thread(target=agent)
    thread.start()
    for _ in range(2):
        for _ in range(5):
            assert landed.acquire(timeout=120)
        mortal.kill()
        mortal.start()
    thread.join(300)
    with FleetStore(url) as store:
        assert [one.sequence for one in store.news("job-1", {})] == list(range(1, last + 1))
        assert [(part.sequence, part.events) for part in rows(store, "parts", run="job-1")] == [(last, last)]


# --- servers that do not answer ---


@pytest.fixture
def locked(postgres_url: str) -> Iterator[str]:
    """The address of a database whose tables somebody holds."""
    with Database(postgres_url) as holder, holder.transaction() as connection:
        connection.execute("LOCK TABLE neurontop.parts, neurontop.claims IN ACCESS EXCLUSIVE MODE")
        yield postgres_url


@pytest.mark.parametrize("pool", [0, 2])
def test_a_store_that_is_closed_for_good_ends_the_wait_for_an_answer(locked: str, pool: int):
    store, ended = FleetStore(locked, pool=pool), list[str]()
    store.clock()

    def ask() -> None:
        with pytest.raises(StoreUnreachable, match="this program is ending") as raised:
            store.shipped("n1", "s")
        ended.append(str(raised.value))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    threads[0].join(0.5)
    assert ended == []
    store.end()
    for thread in threads:
        thread.join(60)
    assert len(ended) == 2


def test_a_job_compiles_without_a_claim_where_the_database_does_not_answer(
    locked: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(claims, "_PATIENCE", 0.5)
    asked = claims.DatabaseClaims(locked)
    with pytest.raises(ClaimsUnreachable, match="has not answered for"):
        asked.claim("MODULE_1+a", 60.0)
    with Database(locked, prepared=False) as database, database.connection() as connection:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        assert connection.execute(waiting).fetchone() == (0,)  # nobody waits there in our name


# --- TLS with a certificate for each node ---


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-keyout")


class Certificates:
    """An authority and what it signed, made with openssl; `wrong` is another authority's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for authority in ("ca", "other"):
            self._run(
                "req", "-x509", *_NEW_KEY, f"{authority}.key", "-out", f"{authority}.crt", "-subj", "/CN=authority"
            )
        self.sign("ca", "server", "localhost", "subjectAltName=DNS:localhost")
        self.sign("ca", "n1", "n1")
        self.sign("ca", "n2", "n2")
        self.sign("other", "forged", "n1")

    def sign(self, authority: str, file: str, name: str, extension: str = "basicConstraints=CA:FALSE") -> None:
        self._run("req", *_NEW_KEY, f"{file}.key", "-out", f"{file}.csr", "-subj", f"/CN={name}")
        (self.folder / f"{file}.ext").write_text(extension)
        self._run("x509", "-req", "-in", f"{file}.csr", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key",
                  "-CAcreateserial", "-days", "30", "-out", f"{file}.crt", "-extfile", f"{file}.ext")  # fmt: skip

    def _run(self, *words: str) -> None:
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def address(self, server: PostgresServer, user: str, *, certificate: str = "", trusted: str = "ca") -> str:
        own = f"&sslcert={self.folder}/{certificate}.crt&sslkey={self.folder}/{certificate}.key" if certificate else ""
        return (
            f"postgresql://{user}@localhost:{server.port}/fleet?hostaddr=127.0.0.1&sslmode=verify-full"
            f"&sslrootcert={self.folder}/{trusted}.crt{own}"
        )


@pytest.fixture(scope="module")
def certified() -> Iterator[tuple[PostgresServer, Certificates]]:
    """A server that lets nobody in without a certificate, but its superuser."""
    access = (
        "host all tester 127.0.0.1/32 trust\nhostssl all all 127.0.0.1/32 cert\nhostnossl all all 127.0.0.1/32 reject"
    )
    with short_folder() as folder:
        made = Certificates(folder)
        settings = "ssl = on\nssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\nssl_ca_file = 'ca.crt'\n"
        files = [folder / name for name in ("server.crt", "server.key", "ca.crt")]
        try:
            with running(settings=settings, access=access, files=files) as server:
                server.execute("CREATE DATABASE fleet")
                with Database(server.url("fleet"), prepared=False) as database:
                    migrate(database)
                for node in ("n1", "n2"):
                    server.execute(f"CREATE ROLE {node} LOGIN IN ROLE neurontop_agent")
                yield server, made
        except PostgresMissing as reason:
            pytest.skip(str(reason))


def test_an_agent_ships_with_its_certificate_over_verified_tls(certified: tuple[PostgresServer, Certificates]):
    server, certificates = certified
    with FleetStore(certificates.address(server, "n1", certificate="n1")) as store:
        assert store.ship("n1", "s", [batch(1)]) == 1


@pytest.mark.parametrize(
    ("user", "certificate", "trusted", "reason"),
    [
        ("n1", "", "ca", "certificate"),  # none
        ("n1", "n2", "ca", "certificate authentication failed"),  # that of another node
        ("n1", "forged", "ca", "SSL|certificate|connection"),  # the right name, signed by nobody we trust
        ("n1", "n1", "other", "certificate verify failed"),  # the server is not the one that is trusted
    ],
)
def test_a_wrong_certificate_is_refused_in_a_sentence(
    certified: tuple[PostgresServer, Certificates], user: str, certificate: str, trusted: str, reason: str
):
    server, certificates = certified
    address = certificates.address(server, user, certificate=certificate, trusted=trusted)
    with FleetStore(address) as store, pytest.raises(StoreUnreachable, match=reason) as raised:
        store.ship("n1", "s", [batch(1)])
    assert "\n" not in str(raised.value)


def test_a_server_under_another_name_than_its_certificate_is_refused(certified: tuple[PostgresServer, Certificates]):
    server, certificates = certified
    address = certificates.address(server, "n1", certificate="n1").replace("@localhost", "@db.example")
    with FleetStore(address) as store, pytest.raises(StoreUnreachable, match="does not match host name"):
        store.shipped("n1", "s")
