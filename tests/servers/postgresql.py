"""A real PostgreSQL of this machine on a port of its own. Debian and Ubuntu: `apt-get install postgresql`.

Only Python's own library is needed, so that `make fleet` starts it too; `tests.servers.postgres` has the fixtures.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.servers.ports import free_ports

SUPERUSER = "tester"


class PostgresMissing(Exception):
    """No PostgreSQL can be started here; says why."""


def binaries() -> Path:
    """The folder of the newest PostgreSQL of this machine. Raises PostgresMissing where there is none from 15 on."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    folder = found[-1].parent if found else None
    on_path = shutil.which("initdb")
    if folder is None and on_path:
        folder = Path(on_path).resolve().parent
    if folder is None or (found and int(folder.parent.name) < 15):
        raise PostgresMissing("needs PostgreSQL 15 or newer: apt-get install postgresql")
    return folder


def unprivileged() -> dict[str, int]:
    """Whom the server runs as: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid}
    raise PostgresMissing("PostgreSQL refuses to run as root, and there is no user postgres or nobody here")


class PostgresServer:
    """One cluster: `start`, `kill`, `stop`; `url(database)` of its superuser, over loopback."""

    def __init__(self, folder: Path, *, settings: str = "", access: str = "", files: Sequence[Path] = ()) -> None:
        """`settings`: lines for postgresql.conf; `access`: of pg_hba.conf, above the usual ones.

        `files` are copied beside them, for this server's eyes only: its key and certificates.
        """
        self.bin = binaries()
        self.folder = folder
        self.data = folder / "data"
        self.port = free_ports(1)[0]
        self._as = unprivileged()
        self._process: subprocess.Popen[bytes] | None = None
        if self._as:
            os.chown(folder, self._as["user"], self._as["group"])
        subprocess.run(
            [self.bin / "initdb", "-D", self.data, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=folder,
            **self._as,
        )
        with open(self.data / "postgresql.conf", "a") as file:
            file.write(
                f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{folder}'\n"
                f"shared_buffers = 32MB\nmax_connections = 60\nautovacuum_naptime = 10\n{settings}\n"
            )
        if access:
            usual = (self.data / "pg_hba.conf").read_text()
            (self.data / "pg_hba.conf").write_text(f"{access}\n{usual}")

        for file in files:
            copied = Path(shutil.copy(file, self.data))
            copied.chmod(0o600)
            if self._as:
                os.chown(copied, self._as["user"], self._as["group"])

    def start(self) -> None:
        """Start, and wait until it answers."""
        with open(self.folder / "server.log", "ab") as log:
            self._process = subprocess.Popen(
                [self.bin / "postgres", "-D", self.data], stdout=log, stderr=log, cwd=self.folder, **self._as
            )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self._process.poll() is None:
            if not subprocess.run([self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
                return
            time.sleep(0.05)
        raise RuntimeError(f"PostgreSQL did not start: {(self.folder / 'server.log').read_text()[-2000:]}")

    def kill(self) -> None:
        """End it as a crash does, without a word to its clients."""
        self._end(signal.SIGQUIT)

    def stop(self) -> None:
        """End it; clients are disconnected."""
        self._end(signal.SIGINT)

    @property
    def pid(self) -> int:
        """Of the process that starts all others."""
        assert self._process is not None
        return self._process.pid

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait(60)

    def url(self, database: str, *, user: str = SUPERUSER, host: str = "127.0.0.1") -> str:
        """An address of it."""
        return f"postgresql://{user}@{host}:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> str:
        """Run SQL as the superuser; what psql prints of it, without headings."""
        command = [
            self.bin / "psql",
            "-X",
            "-A",
            "-t",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statement,
            self.url(database),
        ]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def new_database(self) -> str:
        """A fresh database; its name."""
        name = f"t{uuid.uuid4().hex[:12]}"
        self.execute(f'CREATE DATABASE "{name}"')
        return name


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose path is short enough for a socket, and that the server's user can reach."""
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextmanager
def running(*, settings: str = "", access: str = "", files: Sequence[Path] = ()) -> Iterator[PostgresServer]:
    """A server of one's own, ended afterwards; see PostgresServer."""
    with short_folder() as folder:
        server = PostgresServer(folder, settings=settings, access=access, files=files)
        try:
            server.start()
            yield server
        finally:
            server.stop()
