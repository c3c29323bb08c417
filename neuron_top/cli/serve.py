"""Serve the web dashboard, a JSON API and Prometheus metrics.

    neurontop serve                             this machine, on http://127.0.0.1:8421/
    neurontop serve train.log cache/            logs, folders and caches, as for neurontop watch
    neurontop serve s3://bucket/prefix          this machine, and a cache in a bucket
    neurontop serve --port 9000 --read-only     refuse all changes to caches
    neurontop serve --host 0.0.0.0 --read-token-file read.token --act-token-file act.token
    neurontop serve --store postgresql://host/neurontop     also the page of a fleet, and its API
    neurontop serve --prefix /neurontop/ --allow-host ops.example.org      behind a reverse proxy

Permissions: on loopback, every user of this machine may read. Beyond loopback, a read token is required. Changing a
cache (evict, retry, unlock, undo) always requires the act token; if none is given, a new one is generated and printed.
Tokens are read from a file or from the environment (NEURONTOP_READ_TOKEN, NEURONTOP_ACT_TOKEN), never from the command
line, which every user of the machine can read. Browsers exchange a token for a cookie on the sign-in page; programs
send `Authorization: Bearer <token>`. Use a TLS proxy on a network that others share.

/api/ lists the JSON API (described in full by /api/openapi.json), the Prometheus metrics are at /metrics.

exit status: 0 stopped · 2 an option or a token is invalid, or the port is in use · 130 interrupted
"""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import threading
from collections.abc import Sequence
from pathlib import Path

from neuron_top.cli.names import named
from neuron_top.cli.numbers import port
from neuron_top.cli.output import log_stderr
from neuron_top.cli.setting_options import add_prometheus, add_store, settings_of
from neuron_top.errors import NeuronTopError, UsageError
from neuron_top.services.notifications import notifying
from neuron_top.settings import Settings
from neuron_top.units import counted

PORT = 8421
SHORTEST_TOKEN = 16


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `serve`."""
    parser.add_argument("paths", nargs="*", metavar="PATH|-", help="logs, folders of logs, caches, as for watch")
    parser.add_argument(
        "--port", type=port, default=PORT, metavar="N", help=f"TCP port (default: {PORT}); 0 picks a free one"
    )
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--prefix", default="/", metavar="P", help="path prefix of all URLs (default: /)")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="accept this Host header (the name of a proxy), repeatable",
    )
    parser.add_argument("--read-token-file", type=Path, metavar="FILE", help="file with the token for reading")
    parser.add_argument("--act-token-file", type=Path, metavar="FILE", help="file with the token for changing caches")
    parser.add_argument("--read-only", action="store_true", help="refuse all changes")
    parser.add_argument(
        "--job", type=named, metavar="NAME", help="a job over all its nodes, out of the fleet's database"
    )
    add_store(parser)
    add_prometheus(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Serve until stopped."""
    from neuron_top.dashboard.access import rules
    from neuron_top.dashboard.server import serve
    from neuron_top.identity import is_loopback
    from neuron_top.services.feeds import cache_roots, job_feed, live_feed

    settings = settings_of(arguments)
    read = _token(arguments.read_token_file, "NEURONTOP_READ_TOKEN")
    act = "" if settings.read_only else _token(arguments.act_token_file, "NEURONTOP_ACT_TOKEN")
    local = is_loopback(arguments.host)
    if not local and not read:
        raise UsageError(
            f"--host {arguments.host} is reachable from other machines: set a token with --read-token-file or "
            "NEURONTOP_READ_TOKEN "
            '(generate one: python3 -c "import secrets; print(secrets.token_urlsafe(24))")'
        )
    if read and read == act:
        raise UsageError("the read token and the act token are the same: use two different ones")
    to_know = []  # printed once the port is ours: an error names no token
    if local and not act and not settings.read_only:
        act = secrets.token_urlsafe(18)
        to_know.append(f"to change caches from the browser, sign in with this token: {act}")
    if not local:
        to_know.append(f"listening beyond this machine, on {arguments.host}; traffic is not encrypted")
    feed = job_feed(settings, arguments.job) if arguments.job else live_feed(settings, arguments.paths)
    with notifying(lambda: feed, settings, log_stderr):
        serve(
            settings,
            feed,
            rules(read, act, _names(arguments.host, arguments.allow_host)),
            host=arguments.host,
            port=arguments.port,
            prefix=_prefix(arguments.prefix),
            roots=cache_roots(arguments.paths),
            shown=shown_name(arguments.paths, arguments.job or ""),
            opened=lambda address: _opened(address, to_know, settings),
        )
    return 0


def shown_name(paths: Sequence[str], job: str) -> str:
    """What pages call the run that is watched: by what was named, else by this machine."""
    from neuron_top.dashboard.feed_registry import MACHINE
    from neuron_top.services.feeds import bucket_paths

    buckets = bucket_paths(paths)
    named = ["standard input" if path == "-" else Path(path).name or path for path in paths if path not in buckets]
    if job or not named:
        return f"job {job}" if job else MACHINE
    return named[0] if len(named) == 1 else f"{named[0]} and {len(named) - 1} more"


def _opened(address: str, to_know: Sequence[str], settings: Settings) -> None:
    for line in (*to_know, f"{address}  (Ctrl-C ends)"):
        log_stderr(f"neurontop: {line}")
    if settings.store:  # in a thread: a database that does not answer is waited for
        threading.Thread(target=_print_fleet, args=(settings, address), name="fleet", daemon=True).start()


def _print_fleet(settings: Settings, address: str) -> None:
    """Say where the page of the fleet is, and why it is empty if it is."""
    from neuron_top.services.fleet import FleetService

    fleet = FleetService(settings)
    try:
        nodes = counted(len(fleet.page().nodes), "node")
        log_stderr(f"neurontop: the fleet in {fleet.place}, {nodes}: {address}fleet")
    except NeuronTopError as problem:
        log_stderr(f"neurontop: {address}fleet is empty, and is filled as soon as it can be: {problem}")
    finally:
        fleet.close()


def _token(file: Path | None, variable: str) -> str:
    """A token from its file, else from the environment; "" without either."""
    if file is None:
        token, origin = os.environ.get(variable, ""), variable
    else:
        try:
            token, origin = file.read_text(encoding="utf-8").strip(), str(file)
        except OSError as problem:
            raise UsageError(f"cannot read a token from {file}: {problem.strerror}") from None
        except UnicodeDecodeError:
            raise UsageError(f"cannot read a token from {file}: it is no text") from None
    if (token or file is not None) and (len(token) < SHORTEST_TOKEN or not token.isascii() or " " in token):
        raise UsageError(f"{origin}: a token must have at least {SHORTEST_TOKEN} ASCII characters and no blanks")
    return token


def _names(host: str, allowed: list[str]) -> frozenset[str]:
    """Names of this server besides loopback: where it listens, what it is called, and what was allowed."""
    names = {host, *allowed}
    if host in ("0.0.0.0", "::"):  # noqa: S104 (compared, not bound)
        import psutil

        names |= {address.address.partition("%")[0] for of in psutil.net_if_addrs().values() for address in of}
        names |= {socket.gethostname(), socket.getfqdn()}
    return frozenset(name.lower().strip("[]") for name in names)


def _prefix(given: str) -> str:
    prefix = f"/{given.strip('/')}/" if given.strip("/") else "/"
    if not all(part.replace("-", "").replace("_", "").replace(".", "").isalnum() for part in prefix.split("/") if part):
        raise UsageError(f"--prefix {given!r}: use letters, digits, - _ . between slashes")
    return prefix
