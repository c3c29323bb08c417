"""PyTorch's Inductor as a compiler of the wrapper: graphs are compiled in forks of a compile server."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from neuron_top import programs
from neuron_top.cache.model import filenames
from neuron_top.compile.compiler import CompileOutcome, CompileTask
from neuron_top.compile.server.client import CompileClient
from neuron_top.compile.wrapper.compile_end import signal_text
from neuron_top.decoders import MALFORMED
from neuron_top.errors import CompilerMissing, UsageError

_CONFIG_FLAG = "--inductor-config"
_LEVELS: dict[str, dict[str, Any]] = {
    "-O1": {},
    "-O2": {},
    "-O3": {"max_autotune": True},
}
"""Neuron's optimization levels in Inductor's terms: its defaults, and everything it can try."""


class Inductor:
    """The local compiler. Safe to share between threads; one compile server serves them all."""

    graph_name = filenames.FX_GRAPH
    artifact_names: Sequence[str] = (filenames.INDUCTOR_ARTIFACT, filenames.INDUCTOR_KERNELS)

    def __init__(self, client: CompileClient | None = None) -> None:
        self._client = client or CompileClient()

    def directory(self) -> str:
        """`inductor-<version>+<platform facts>`; imports torch."""
        return directory_name()

    def start(self) -> None:
        """Start the compile server ahead of the first miss."""
        self._client.start()

    def command(self, task: CompileTask) -> list[str]:
        """What a log line quotes: there is no such program, but the shape is the SDK's."""
        output = str(task.outputs[filenames.INDUCTOR_ARTIFACT])
        return ["inductor", "compile", "--framework=FX", str(task.graph), "--output", output, *task.flags]

    def compile(self, task: CompileTask, *, began: Callable[[int], None]) -> CompileOutcome:
        """See `CompileClient.compile`."""
        return self._client.compile(task, began=began)

    def hold(self, lock: Path, token: str) -> None:
        """See `CompileClient.hold`."""
        self._client.hold(lock, token)

    def close(self) -> None:
        """End the compile server."""
        self._client.close()


def config_from_flags(flags: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Inductor options that these compiler flags stand for, and the flags that mean nothing to Inductor.

    `-O1`, `-O2`, `-O3`; `--inductor-config name=value` (or `--inductor-config=name=value`), values as JSON or text.
    Raises UsageError for a setting without `=`.
    """
    config: dict[str, Any] = {}
    unknown: list[str] = []
    rest = iter(flags)
    for flag in rest:
        name, equals, value = flag.partition("=")
        if flag in _LEVELS:
            config.update(_LEVELS[flag])
        elif name == _CONFIG_FLAG:
            config.update([_setting(value if equals else next(rest, ""))])
        else:
            unknown.append(flag)
    return config, unknown


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{_CONFIG_FLAG} needs name=value, has {text!r}")
    try:
        return name, msgspec.json.decode(value)
    except MALFORMED:
        return name, {"True": True, "False": False, "None": None}.get(value, value)


_DIGITS = 8
_CPU_FIELDS = ("flags", "Features", "model name", "CPU part")


@functools.cache
def directory_name() -> str:
    """`inductor-2.13.0.cpu+1a2b3c4d`: the version, and 8 digits of the hash of `facts`; imports torch.

    Another PyTorch, CPU or GPU (Inductor compiles for exactly this one), C++ compiler or place of installation gives
    another directory: a lookup there misses, and artifacts of the other kind are never loaded.

    Raises CompilerMissing where one of these facts cannot be known now.
    """
    import torch

    digest = hashlib.sha256("\n".join(facts()).encode()).hexdigest()[:_DIGITS]
    return f"inductor-{str(torch.__version__).replace('+', '.')}+{digest}"


def facts() -> list[str]:
    """What an artifact depends on besides its graph, as text that shows why two machines do not share a directory."""
    import torch
    from torch._inductor import config
    from torch._inductor.codecache import torch_key

    from neuron_top.compile.graphs import gpus

    return [
        f"torch {torch.__version__} {torch.version.git_version} at {Path(torch.__file__).parent}",
        f"inductor sources {torch_key().hex()}",
        f"python {sys.implementation.cache_tag} {platform.machine()} {platform.libc_ver()} {sys.prefix}",
        f"cpu {torch.backends.cpu.get_cpu_capability()} {_cpu()}",
        f"c++ {_compiler_version(config.cpp.cxx)}",
        f"cuda {torch.version.cuda} hip {torch.version.hip} triton {_triton()} {gpus.kinds()}",
    ]


def _triton() -> str:
    """Version and digest of Triton's sources, libraries and backends; "none" where it is not installed."""
    from torch._inductor.runtime import triton_compat

    return str(triton_compat.triton_key()) if triton_compat.HAS_TRITON else "none"


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace").partition("\n\n")[0]
    except OSError as problem:
        if problem.errno in _NOT_NOW:
            raise CompilerMissing(f"what this CPU can do cannot be read: {problem}") from None
        return platform.processor()
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in _CPU_FIELDS:
            found[name.strip()] = " ".join(sorted(value.split()))
    return str(sorted(found.items()))


_NOT_NOW = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
"""Errors of a program that exists but cannot be started or read: taken for missing, it would give another directory."""
_ANSWER_SECONDS, _PAUSE_SECONDS = 30.0, 1.0


def _compiler_version(candidates: object) -> str:
    """The first installed C++ compiler with its version; "none" where there is none. Raises CompilerMissing."""
    names = [name for name in (candidates if isinstance(candidates, (tuple, list)) else [candidates]) if name]
    for name in map(str, names):
        with contextlib.suppress(OSError):  # not installed
            return f"{name} {_version(name, tries=2)}"
    return "none"


def _version(name: str, tries: int) -> str:
    try:
        return _said_version(name)
    except _NoVersion as problem:
        if tries == 1:  # without its version, or with another compiler's, nobody else would use this directory
            raise CompilerMissing(
                f"{name} cannot be asked for its version: {problem}; set CXX to a C++ compiler that works"
            ) from None
    time.sleep(_PAUSE_SECONDS)
    return _version(name, tries - 1)


class _NoVersion(Exception):
    """An installed compiler did not give its version; the text says why."""


def _said_version(name: str) -> str:
    """The first line of a compiler's `--version`. Raises _NoVersion, and OSError where it is not installed."""
    try:
        answer = programs.ask([name, "--version"], seconds=_ANSWER_SECONDS)
    except programs.NoAnswer as problem:
        raise _NoVersion(f"it {problem}") from None
    except OSError as problem:
        if problem.errno in _NOT_NOW:
            raise _NoVersion(problem.strerror) from None
        raise
    said = (answer.out.strip() or answer.err.strip()).decode(errors="replace").partition("\n")[0]
    if answer.status < 0:
        raise _NoVersion(f"it was ended by {signal_text(-answer.status)}")
    if answer.status:
        raise _NoVersion(f"exit status {answer.status}: {said}")
    if not said:
        raise _NoVersion("it said nothing")
    return said
