"""One frozen `Settings`, each value with its origin.

Order: command line > environment (`NEURONTOP_<FIELD>`) > file (`config.toml`) > default. The file lies in the
platform's configuration folder; `neurontop config` prints every value with where it came from.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from neuron_top.amounts import parse_bytes, parse_seconds
from neuron_top.database_address import has_password, is_address, masked
from neuron_top.errors import UsageError
from neuron_top.plain_files import NotAPlainFile, open_plain

APP = "neuron-top"
_ASSIGNED = re.compile(r"""\s*["']?(\w+)["']?\s*=""")
_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
_LONGEST_FILE = 1 << 20
"""Bytes of a settings file; one that sets everything has some hundred."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. Bytes, seconds; the docstring of a field is its reference text."""

    state_dir: str = ""
    """Folder of recordings and indexes; empty = the platform's state folder."""
    sample_seconds: float = 1.0
    """Period of telemetry samples, seconds, 0.1 to 60."""
    observer_url: str = ""
    """Address of Neuron Observer's metrics; empty = http://127.0.0.1:7001/metrics, tried quietly; `off` = none."""
    keep_runs: int = 50
    """How many recordings are kept; the oldest finished ones are deleted first."""
    keep_bytes: int = 2 * 1024**3
    """Largest total size of all recordings, bytes."""
    history_seconds: float = 8 * 3600.0
    """How much history a live view keeps, seconds."""
    theme: str = "dark"
    """`dark`, `light` or `high-contrast`."""
    ascii: bool = False
    """Draw with ASCII characters only."""
    memory_headroom: float = 0.1
    """An alert fires when less than this share of a core's memory is free, 0 to 1."""

    read_only: bool = False
    """Refuse all changes to caches."""
    cache_max_size: str = ""
    """`neurontop cache maintain` keeps a cache below this size, such as `200GB`; empty = no limit."""
    cache_min_free: str = ""
    """`maintain` keeps this much of the cache's file system free, such as `50GB`; empty = no minimum."""
    cache_older_than: str = ""
    """`maintain` evicts entries without a known use for this long, such as `30d`; empty = age is no criterion."""
    cache_states: str = ""
    """`maintain` evicts entries in these states, comma-separated, such as `empty,failed,corrupt`; empty = none."""
    cache_pins: str = ""
    """Patterns of modules that are never evicted, comma-separated; in addition to those of `neurontop cache pin`."""
    trash_grace: str = "7d"
    """How long removed entries can be restored before `maintain` purges them."""

    notify_error: str = ""
    """Command that gets each alert of severity `error` as JSON on standard input, such as `my-notify --desktop`."""
    notify_warning: str = ""
    """The same for severity `warning`."""
    notify_info: str = ""
    """The same for severity `info`."""
    webhook_error: str = ""
    """Address, https:// or http://, that gets each alert of severity `error` as JSON in a POST request."""
    webhook_warning: str = ""
    """The same for severity `warning`."""
    webhook_info: str = ""
    """The same for severity `info`."""

    store: str = ""
    """Database of many nodes whose recordings are read, `postgresql://host/database`; empty = those of this machine."""
    store_insecure: bool = False
    """Connect to a database on another machine also without verified TLS, where others can read along."""
    fleet_actions: bool = False
    """Let operators of the fleet change caches here: this node's agent plans, checks and carries out what they ask."""
    claims: str = ""
    """Where nodes claim a graph before they compile it: `postgresql://…`, `s3://bucket/prefix`, or `off`; empty = the
    database of `store` for a cache on a shared file system."""
    claim_lease: str = "60s"
    """How long a claim outlives a node that died; a living one renews it three times as often."""
    claim_wait: str = "4h"
    """How long a job waits for another node that compiles a graph before it compiles it itself."""
    cache_source: str = ""
    """Where a job fetches artifacts that its cache lacks: `s3://bucket/prefix`, or the folder of a shared cache."""
    fleet_keep: str = "30d"
    """`neurontop fleet prune` drops days of the database that are older than this."""
    fleet_max_size: str = ""
    """`fleet prune` drops the oldest days until all take at most this, such as `500GB`; empty = no limit."""

    agent_listen: str = ""
    """Where an agent answers for metrics and log lines, `host:port`; empty = on 127.0.0.1. Elsewhere it needs TLS."""
    agent_certificate: str = ""
    """File with the agent's certificate, for TLS."""
    agent_key: str = ""
    """File with the certificate's key; empty = it is in the same file."""
    agent_ca: str = ""
    """File with the certificates that those of agents are verified by; empty = the system's."""
    agent_token_file: str = ""
    """File with the token that fetches log lines from agents; NEURONTOP_AGENT_TOKEN holds the token itself."""

    prometheus: str = ""
    """Server with the samples of many nodes over time, anything that speaks Prometheus' HTTP API: `http://host:9090`."""
    prometheus_auth: str = ""
    """How to be let in there: `bearer`, `basic`, `sigv4` or `none`; empty = by the variables that are set."""

    @property
    def state_path(self) -> Path:
        """The state folder as a path (not created here). Raises UsageError where it is below a home that nobody has.

        It is absolute: a job gets folders below it, and may go to another folder.
        """
        try:
            return Path(self.state_dir).expanduser().absolute() if self.state_dir else _user_folder("state")
        except RuntimeError:  # no such user, or one without a home
            raise UsageError(
                f"state folder {self.state_dir}: the home folder is not known; give a path without ~ in state_dir "
                "(NEURONTOP_STATE_DIR)"
            ) from None


_BOUNDS: dict[str, tuple[float, float]] = {
    "sample_seconds": (0.1, 60.0),
    "keep_runs": (1, 100_000),
    "keep_bytes": (1024**2, 1024**5),
    "history_seconds": (60.0, 30 * 86400.0),
    "memory_headroom": (0.0, 1.0),
}
_AMOUNTS: dict[str, Callable[[str], float]] = {
    "cache_max_size": parse_bytes,
    "cache_min_free": parse_bytes,
    "cache_older_than": parse_seconds,
    "trash_grace": parse_seconds,
    "claim_lease": parse_seconds,
    "claim_wait": parse_seconds,
    "fleet_keep": parse_seconds,
    "fleet_max_size": parse_bytes,
}
_CLAIMS_ELSEWHERE = re.compile(r"(?:off|s3://[^/\s]+(?:/.*)?)?")
"""Where claims may lie besides a database: the form alone; `compile/claims/` chooses the place."""
_SOURCE = re.compile(r"(?:/[^\0]*|s3://[^/@\s]+(?:/.*)?)?")
_CHOICES = {
    "theme": ("dark", "light", "high-contrast"),
    "prometheus_auth": ("", "none", "bearer", "basic", "sigv4"),
}


_CONFIG = "NEURONTOP_CONFIG"
_XDG = {"state": ("XDG_STATE_HOME", ".local/state"), "config": ("XDG_CONFIG_HOME", ".config")}


def _user_folder(kind: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The platform's folder of this kind for this program; on Linux by the XDG rules (a relative path does not count),
    without a slow import."""
    platform: str = sys.platform
    if platform == "linux":
        name, default = _XDG[kind]
        given = environ.get(name, "")
        return (Path(given) if given.startswith("/") else _home(name) / default) / APP
    import platformdirs

    return platformdirs.user_state_path(APP) if kind == "state" else platformdirs.user_config_path(APP)


def _home(name: str) -> Path:
    """The user's own folder. Raises UsageError in a container whose user has none."""
    try:
        return Path.home()
    except RuntimeError:
        raise UsageError(f"this user has no home folder: set HOME, or {name} to a folder of your own") from None


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """The settings file in force: `NEURONTOP_CONFIG`, else `config.toml` in the platform's configuration folder."""
    given = environ.get(_CONFIG)
    return Path(given) if given else _user_folder("config", environ) / "config.toml"


def load(
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] = os.environ,
    path: Path | None = None,
) -> tuple[Settings, dict[str, str]]:
    """Settings and, per field, their origin (`default`, `file <path>`, `environment NAME`, `command line`).

    Raises UsageError for a file that is broken, or that `NEURONTOP_CONFIG` names and that is not there, and for a value
    that is out of bounds or of the wrong type.
    """
    given = environ.get(_CONFIG) if path is None else None
    path = path or config_path(environ)
    values: dict[str, object] = {}
    origins = dict.fromkeys(Settings.__struct_fields__, "default")
    text = _from_file(path, is_named=bool(given))
    for layer, origin in (
        (_parsed(path, text), f"file {path}"),
        (_from_environ(environ), None),
        (overrides or {}, "command line"),
    ):
        for name, value in layer.items():
            if value is None:
                continue
            values[name] = value
            origins[name] = origin or f"environment NEURONTOP_{name.upper()}"
    store = (overrides or {}).get("store")
    if isinstance(store, str) and has_password(store):
        raise UsageError(
            "--store holds a password, which every user of this machine can read in the list of processes: put it into "
            "~/.pgpass, PGPASSWORD or NEURONTOP_STORE instead"
        )
    lines = _lines_of_settings(text)
    places = {
        name: f"{path}, line {lines[name]}" if origin == f"file {path}" and name in lines else origin
        for name, origin in origins.items()
    }
    return _checked(values, places), origins


def shown(name: str, value: object) -> object:
    """A setting as it may be printed: an address without its password, a webhook's without its path."""
    if name.startswith("webhook_") and isinstance(value, str) and value:
        return "/".join([*value.split("/")[:3], "…"])
    return masked(value) if name in ("store", "claims") and isinstance(value, str) else value


def _from_file(path: Path, *, is_named: bool) -> str:
    """The text of the settings file; "" where there is none, which is an error of one that somebody named."""
    if str(path) == os.devnull:
        return ""
    try:
        return _text(path)
    except (FileNotFoundError, NotADirectoryError):
        if is_named:
            raise UsageError(
                f"{_CONFIG} names {path}, which does not exist; create it (it may be empty), or unset the variable"
            ) from None
        return ""
    except ValueError as problem:  # a name with a zero byte in it; bytes that are no UTF-8
        raise _broken(path, f"TOML ({problem})") from None
    except OSError as problem:
        raise UsageError(f"cannot read the settings in {path}: {problem.strerror or problem}") from None


def _broken(path: Path, expected: str) -> UsageError:
    return UsageError(f"{path}: expected {expected}")


def _lines_of_settings(text: str) -> dict[str, int]:
    """The line of each setting in a settings file."""
    found = ((number, _ASSIGNED.match(line)) for number, line in enumerate(text.splitlines(), 1))
    return {match[1]: number for number, match in found if match is not None}


def _parsed(path: Path, text: str) -> dict[str, object]:
    if not text:
        return {}
    import tomllib  # a slow import, and most have no such file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _broken(path, f"TOML ({problem})") from None
    except ValueError:
        raise _broken(path, "TOML (a number in it has too many digits)") from None
    except RecursionError:
        raise _broken(path, "TOML (nested too deeply)") from None


def _text(path: Path) -> str:
    """The file's text. Raises OSError, ValueError, UsageError for what is no plain file of ordinary length."""
    try:
        handle = open_plain(path, follow=True)
    except NotAPlainFile:
        raise _broken(path, "a plain file") from None
    with open(handle, "rb") as file:
        data = file.read(_LONGEST_FILE + 1)
    if len(data) > _LONGEST_FILE:
        raise _broken(path, f"at most {_LONGEST_FILE} bytes of TOML")
    return data.decode("utf-8")


def _from_environ(environ: Mapping[str, str]) -> dict[str, object]:
    names = ((field, f"NEURONTOP_{field.upper()}") for field in Settings.__struct_fields__)
    return {field: environ[name] for field, name in names if name in environ}


def _checked(values: dict[str, object], origins: dict[str, str]) -> Settings:
    for name in values:
        if name not in Settings.__struct_fields__:
            from neuron_top.suggestions import did_you_mean  # only where something is wrong

            raise UsageError(
                f"{origins.get(name, 'settings file')}: unknown setting {name!r}"
                f"{did_you_mean(name, Settings.__struct_fields__)}; "
                f"known: {', '.join(Settings.__struct_fields__)}"
            )
    try:
        settings = msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as problem:
        raise _wrong_type(values, origins) or UsageError(f"settings: {problem}") from None
    for name, (low, high) in _BOUNDS.items():
        value = getattr(settings, name)
        if not low <= value <= high:
            raise UsageError(f"{origins[name]}: {name} must lie between {low:.16g} and {high:.16g}, is {value:.16g}")
    for name, allowed in _CHOICES.items():
        if getattr(settings, name) not in allowed:
            raise UsageError(
                f"{origins[name]}: {name} must be one of {', '.join(allowed)}, is {getattr(settings, name)!r}"
            )
    for name, parse in _AMOUNTS.items():
        try:
            _ = parse(getattr(settings, name)) if getattr(settings, name) else None
        except UsageError as problem:
            raise UsageError(f"{origins[name]}: {name}: {problem}") from None
    _check_webhooks(settings, origins)
    _check_store(settings.store, origins["store"])
    if not (_CLAIMS_ELSEWHERE.fullmatch(settings.claims) or is_address(settings.claims)):
        raise UsageError(
            f"{origins['claims']}: claims must be postgresql://host/database, s3://bucket/prefix or off, is "
            f"{masked(settings.claims)!r}"
        )
    if not _SOURCE.fullmatch(settings.cache_source):
        raise UsageError(
            f"{origins['cache_source']}: cache_source must be s3://bucket/prefix or the absolute path of a cache, is "
            f"{masked(settings.cache_source)!r}"
        )
    return settings


def _wrong_type(values: dict[str, object], origins: dict[str, str]) -> UsageError | None:
    """What to say of the first value that is of another type than its setting."""
    defaults = Settings()
    for name, value in values.items():
        kind = type(getattr(defaults, name))
        try:
            msgspec.convert(value, kind, strict=False)
        except msgspec.ValidationError:
            return UsageError(f"{origins[name]}: {name} must be {_TYPES[kind]}, is {shown(name, value)!r}")
    return None


def _check_webhooks(settings: Settings, origins: dict[str, str]) -> None:
    for name in ("webhook_error", "webhook_warning", "webhook_info"):
        if getattr(settings, name) and not getattr(settings, name).startswith(("https://", "http://")):
            raise UsageError(f"{origins[name]}: {name} must begin with https:// or http://")


def _check_store(address: str, origin: str) -> None:
    """Raises UsageError for what is not the address of a database."""
    if address and not is_address(address):
        raise UsageError(f"{origin}: store must be postgresql://[user@]host[:port]/database, is {masked(address)!r}")
