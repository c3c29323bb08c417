"""Reads `NEURON_CC_FLAGS` and related variables, and divides the flags between wrapper and compiler.

The wrapper's own options travel in the same variable as the compiler's. They are removed here, so they never reach a
compiler and never enter the flags hash. A misspelled one (`--no-cache`, `NEURON_CC_CACHE`) is the classic reason for a
cache that silently does nothing: it gets a warning with the right spelling.
"""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from neuron_top.cache.model.filenames import DEFAULT_ROOT
from neuron_top.cache.roots import default_root
from neuron_top.errors import UsageError
from neuron_top.events.levels import LogLevel

FLAGS_VARIABLE = "NEURON_CC_FLAGS"
ROOT_VARIABLE = "NEURON_COMPILE_CACHE_URL"
EXTRACT_VARIABLE = "NEURON_EXTRACT_GRAPHS_ONLY"
ON_MISS_VARIABLE = "NEURONTOP_ON_MISS"
LEVELS = (LogLevel.DEBUG, LogLevel.INFO, LogLevel.WARNING, LogLevel.ERROR)
"""The values of `--log_level`."""

_SWITCHES = {"--no_cache": "no_cache", "--retry_failed_compilation": "retry_failed"}
_VALUED = {
    "--cache_dir": "cache_dir",
    "--log_level": "log_level",
    "--compile_workdir": "workdir",
    "--dump": "dump",
    "--cache_size": "cache_size",
    "--cache_ttl": "cache_ttl",
}
_OBSOLETE = ("--cache_size", "--cache_ttl")
_CLOSE = 0.87
"""How similar an unknown option must be to a wrapper option to count as a misspelling (difflib ratio)."""

_LOOK_ALIKES = {
    "NEURON_CC_CACHE": ROOT_VARIABLE,
    "NEURON_CC_CACHE_DIR": ROOT_VARIABLE,
    "NEURON_CC_CACHE_SIZE": None,
    "NEURON_CACHE_URL": ROOT_VARIABLE,
    "NEURON_CACHE_DIR": ROOT_VARIABLE,
    "NEURON_COMPILE_CACHE": ROOT_VARIABLE,
    "NEURON_COMPILE_CACHE_DIR": ROOT_VARIABLE,
    "NEURON_COMPILE_CACHE_PATH": ROOT_VARIABLE,
    "NEURON_COMPILER_CACHE_URL": ROOT_VARIABLE,
    "NEURONX_CACHE_URL": ROOT_VARIABLE,
    "NEURON_CC_FLAG": FLAGS_VARIABLE,
    "NEURONX_CC_FLAGS": FLAGS_VARIABLE,
    "NEURON_COMPILER_FLAGS": FLAGS_VARIABLE,
    "NEURON_EXTRACT_GRAPH_ONLY": EXTRACT_VARIABLE,
    "VLLM_NEURON_REMOTE_CACHE": "NEURON_LIBTORCH_REMOTE_CACHE",
}


class OnMiss(StrEnum):
    """What a job does with a graph that the cache does not have."""

    COMPILE = "compile"
    ERROR = "error"


class WrapperOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the environment asks of the compile wrapper."""

    compiler_flags: tuple[str, ...] = ()
    """Flags for the compiler, in their order; they are hashed."""
    cache_url: str = DEFAULT_ROOT
    """The cache root as configured, verbatim (log lines quote it)."""
    cache_origin: str = "default"
    """`--cache_dir`, `NEURON_COMPILE_CACHE_URL` or `default`."""
    no_cache: bool = False
    retry_failed: bool = False
    log_level: LogLevel = LogLevel.INFO
    workdir: str | None = None
    dump: str | None = None
    extract_only: bool = False
    """`NEURON_EXTRACT_GRAPHS_ONLY=1`: store graphs, compile nothing."""
    on_miss: OnMiss = OnMiss.COMPILE
    """`NEURONTOP_ON_MISS`."""
    warnings: tuple[str, ...] = ()
    root_remark: str = ""
    """Why the default root is not the SDK's, to be logged once; empty if it is, or if a root is named."""

    def remarks(self) -> tuple[str, ...]:
        """All remarks that are to be logged once."""
        return (*self.warnings, self.root_remark) if self.root_remark else self.warnings

    def cache_root(self) -> Path:
        """The root as an absolute path. Raises UsageError for a store that the local compiler cannot use."""
        return local_root(self.cache_url)


def local_root(url: str) -> Path:
    """A cache URL as an absolute path: plain (relative to the working directory) or `file://`.

    Raises UsageError for `s3://` and other schemes: locally compiled graphs are kept on a file system. Also for the
    home folder of an unknown user.
    """
    if "://" not in url:
        try:
            return Path(url).expanduser().absolute()
        except RuntimeError:  # no such user, or one without a home
            raise UsageError(
                f"cache root {url}: the home folder is not known; "
                f"give a path without ~ in {ROOT_VARIABLE} or --cache_dir"
            ) from None
    parts = urlsplit(url)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise UsageError(
            f"cache root {url}: the local compiler keeps its cache on a file system; "
            f"give a path or file:///path in {ROOT_VARIABLE} or --cache_dir"
        )
    return Path(unquote(parts.path)).absolute()


def parse_environment(environ: Mapping[str, str] = os.environ) -> WrapperOptions:
    """Read `NEURON_CC_FLAGS`, `NEURON_COMPILE_CACHE_URL` and `NEURON_EXTRACT_GRAPHS_ONLY`.

    Raises UsageError where the flags cannot be split (an open quote), lack a value, or name an unknown log level, for
    an unknown NEURONTOP_ON_MISS, and for bytes that are no text.
    """
    for name in (FLAGS_VARIABLE, ROOT_VARIABLE):
        _check_is_text(name, environ.get(name, ""))
    compiler, own, warnings = split_flags(environ.get(FLAGS_VARIABLE, ""))
    url, origin, remark = _root(own, environ)
    level = own.get("log_level", LogLevel.INFO).upper()
    if level not in LEVELS:
        raise UsageError(f"{FLAGS_VARIABLE}: --log_level must be one of {', '.join(LEVELS)}, is {own['log_level']!r}")
    on_miss = environ.get(ON_MISS_VARIABLE, "").lower() or OnMiss.COMPILE
    if on_miss not in tuple(OnMiss):
        raise UsageError(f"{ON_MISS_VARIABLE} must be one of {', '.join(OnMiss)}, is {on_miss!r}")
    return WrapperOptions(
        compiler_flags=compiler,
        cache_url=url,
        cache_origin=origin,
        no_cache="no_cache" in own,
        retry_failed="retry_failed" in own,
        log_level=LogLevel(level),
        workdir=own.get("workdir"),
        dump=own.get("dump"),
        extract_only=environ.get(EXTRACT_VARIABLE, "").lower() in ("1", "true", "yes", "on"),
        on_miss=OnMiss(on_miss),
        warnings=(*warnings, *_variable_warnings(environ)),
        root_remark=remark,
    )


def _check_is_text(name: str, value: str) -> None:
    """Raise UsageError for flags that are not text: keys, records and requests hold them as UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{name} must be UTF-8, is {value!r}") from None


def split_flags(text: str) -> tuple[tuple[str, ...], dict[str, str], tuple[str, ...]]:
    """Flags for the compiler, the wrapper's own options by field name, and warnings about look-alikes."""
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise UsageError(f"{FLAGS_VARIABLE}: {problem} in {text!r}") from None
    return _sorted_out(words)


def _sorted_out(words: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str], tuple[str, ...]]:
    compiler: list[str] = []
    own: dict[str, str] = {}
    warnings: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _SWITCHES and not equals:
            own[_SWITCHES[name]] = "1"
        elif name in _VALUED:
            own[_VALUED[name]] = value if equals else _next_value(name, rest)
            if name in _OBSOLETE:
                warnings.append(f"{FLAGS_VARIABLE}: {name} has had no effect since the cache lost its eviction in 2023")
        else:
            compiler.append(word)
            warnings.extend(_misspelling(name))
    return tuple(compiler), own, tuple(warnings)


def _next_value(name: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None or value.startswith("--"):
        raise UsageError(f"{FLAGS_VARIABLE}: {name} needs a value")
    return value


def _misspelling(name: str) -> list[str]:
    if not name.startswith("-"):
        return []
    known = [*_SWITCHES, *_VALUED]
    plain = "--" + name.lstrip("-").replace("-", "_").lower()
    close = difflib.get_close_matches(plain, known, n=1, cutoff=_CLOSE)
    return [f"{FLAGS_VARIABLE}: unknown option {name}; did you mean {close[0]}?"] if close else []


def _root(own: Mapping[str, str], environ: Mapping[str, str]) -> tuple[str, str, str]:
    """(root, where it is named, a remark about it)."""
    if own.get("cache_dir"):
        return own["cache_dir"], "--cache_dir", ""
    if environ.get(ROOT_VARIABLE):
        return environ[ROOT_VARIABLE], ROOT_VARIABLE, ""
    root, reason = default_root(environ)
    said = f"the default cache root is not used: {reason}; using {root} instead" if reason else ""
    return root, "default", said


def _variable_warnings(environ: Mapping[str, str]) -> list[str]:
    found = []
    for name in look_alikes(environ):
        right = _LOOK_ALIKES[name]
        advice = f"did you mean {right}?" if right else "the cache has no size limit; see `neurontop cache`"
        found.append(f"environment variable {name} is not read by anything; {advice}")
    return found


def is_switched_off(variable: str) -> bool:
    """Whether a variable turns off something that is on by default."""
    return os.environ.get(variable, "").lower() in ("0", "false", "no", "off")


def look_alikes(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Variables that are set and look like one that is read, but that nothing reads."""
    return tuple(name for name in _LOOK_ALIKES if environ.get(name))
