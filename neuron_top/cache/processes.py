"""The processes that matter to caches: which compile, which use a root, which hold a file open.

Read straight from /proc, which shows open devices (`/dev/neuron*`) and environments, and whose path is a parameter, so
that a test can build a small one. What may not be read is None, so that callers can say so.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from neuron_top.escapes import visible

MODULE_KEY = re.compile(r"MODULE_[0-9a-f]{1,64}\+[0-9a-f]{8}")
"""A module's name, in a command or a path."""
COMPILER_NAMES = ("neuronx-cc", "neuron_parallel_compile", "walrus_driver", "neuron-cc")
"""`walrus_driver` is the compiler's long-running back end: a search for neuronx-cc alone misses it."""
VARIABLES = (
    "NEURON_COMPILE_CACHE_URL",
    "NEURON_CC_FLAGS",
    "NEURON_LIBTORCH_REMOTE_CACHE",
    "VLLM_CACHE_ROOT",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "JAX_COMPILATION_CACHE_DIR",
    "TORCH_NEURONX_NEFF_CACHE_DIR",
    "TORCH_NEURONX_NEFF_LOCAL_CACHE_DIR",
    "BASE_COMPILE_WORK_DIR",
    "HF_HOME",
    "HF_HUB_CACHE",
)
"""Environment variables that name a cache or a work folder."""
_FIRST_PID_NAMESPACE = "pid:[4026531836]"
"""The namespace of process ids in which a machine starts; Linux gives it this number on all machines."""
_SHELLS = frozenset({"bash", "zsh", "fish", "sh", "dash", "ksh", "tcsh", "csh"})
_TERMINALS = frozenset({"tmux", "screen", "SCREEN", "zellij", "sshd", "mosh-server"})
"""Programs that keep terminals for others; some append text to their names, behind a colon."""
_RELAY = ("neuron_top", "processes", "output_relay.py")
"""How the path of the program that passes a job's output on ends."""
_STARTERS = frozenset({"run", "compile"})
"""Commands of ours that start a job or a compiler; all others only read, or lock what they change."""


class CacheProcess(msgspec.Struct, frozen=True, kw_only=True):
    """One live process."""

    pid: int
    command: tuple[str, ...]
    """Empty during an exec, and if a process has erased it."""
    environ: dict[str, str] | None
    """Only VARIABLES; None when the environment may not be read (another user's process)."""
    cwd: str | None

    @property
    def compiles(self) -> bool:
        """True for a Neuron compiler, its back end or the parallel-compile tool."""
        return any(os.path.basename(word) in COMPILER_NAMES for word in self.command[:3])

    @property
    def name(self) -> str:
        """What a person calls it: `python -u /x/train.py --lr 1` → `train.py`."""
        names = [os.path.basename(word) for word in self.command]
        if not names:
            return ""
        if names[0].startswith("python"):
            for option, name in itertools.pairwise(names):
                if option == "-c":
                    break
                if not name.startswith("-"):
                    return visible(name)
        return visible(names[0])

    @property
    def only_waits(self) -> bool:
        """Whether its environment says nothing of its own use of a cache: an interactive shell, a program that keeps
        terminals or passes output on, or a neurontop that only looks. They only hand their environment on to what they
        start. A shell that runs a script is none of these: it may start a job soon."""
        words = [os.path.basename(word) for word in self.command]
        if words and words[0].lstrip("-") in _SHELLS:
            return all(word.startswith("-") for word in words[1:])
        is_relay = any(Path(word).parts[-len(_RELAY) :] == _RELAY for word in self.command[1:4])
        keeps_terminals = bool(words) and os.path.basename(self.command[0].partition(":")[0]) in _TERMINALS
        return self.only_looks or is_relay or keeps_terminals

    @property
    def is_ours(self) -> bool:
        """True for neurontop itself."""
        return self._own_words is not None

    @property
    def only_looks(self) -> bool:
        """True for a neurontop that starts no job: it only reads, or locks what it changes."""
        words = self._own_words
        return words is not None and not _STARTERS.intersection(words[:1])

    @property
    def _own_words(self) -> list[str] | None:
        """The words after `neurontop` in its command; None for another program."""
        words = [os.path.basename(word) for word in self.command]
        if words and words[0].startswith("python"):
            words = words[2:] if words[1:2] == ["-m"] else words[1:]
        return words[1:] if words[:1] in (["neurontop"], ["neuron_top"]) else None

    @property
    def modules(self) -> frozenset[str]:
        """The modules that it compiles, as far as its command shows."""
        named = frozenset(key for word in self.command for key in MODULE_KEY.findall(word))
        return frozenset(filter(self.is_compiling, named))

    def is_compiling(self, module: str) -> bool:
        """Whether its command shows that it compiles `module`.

        A compiler's command names the module. Another program's does not prove a compile: it may show the module,
        follow its log or pass its name on to us (`sudo neurontop cache unlock MODULE_…`). It must name a file of the
        module's work folder.
        """
        name = module if self.compiles else f"model.{module}."
        return any(name in word for word in self.command)


def read_processes(proc: str = "/proc") -> list[CacheProcess]:
    """Every process that can be seen, except this one.

    One without a command line counts if it runs a program, because of what it may hold open; kernel threads run none.
    """
    own = str(os.getpid())
    found = []
    for name in _numbers(proc):
        if name == own:
            continue
        command = _words(f"{proc}/{name}/cmdline")
        if command or _link(f"{proc}/{name}/exe"):
            found.append(
                CacheProcess(
                    pid=int(name), command=command, environ=_environ(f"{proc}/{name}"), cwd=_link(f"{proc}/{name}/cwd")
                )
            )
    return found


def sees_all_processes(proc: str = "/proc") -> bool | None:
    """Whether all processes of the machine can be seen, by its own ids: not so in a container. None if unknown."""
    namespace = _link(f"{proc}/self/ns/pid")
    return namespace == _FIRST_PID_NAMESPACE if namespace else None


def ancestors(proc: str = "/proc") -> frozenset[int]:
    """This process and those that started it: shells, tmux, a container's first process. If their environment names a
    cache, they need not use it."""
    found: set[int] = set()
    pid = os.getpid()
    while pid > 1 and pid not in found:
        found.add(pid)
        try:
            with open(f"{proc}/{pid}/stat", encoding="utf-8", errors="replace") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return frozenset({*found, pid} - {0})


def readers(running: Iterable[CacheProcess], proc: str = "/proc") -> frozenset[int]:
    """Processes that read what we print (`| tee log | less`): they have our environment, but use no cache."""
    pipes = {_link(f"{proc}/{os.getpid()}/fd/{end}") for end in (1, 2)}
    pipes = {pipe for pipe in pipes if pipe and pipe.startswith("pipe:")}
    waiting = {process.pid: _link(f"{proc}/{process.pid}/fd/0") for process in running} if pipes else {}
    found: set[int] = set()
    while nearer := {pid for pid, source in waiting.items() if source in pipes} - found:
        found |= nearer
        pipes |= {pipe for pid in nearer if (pipe := _link(f"{proc}/{pid}/fd/1")) and pipe.startswith("pipe:")}
    return frozenset(found)


def bystanders(running: Sequence[CacheProcess], proc: str = "/proc") -> frozenset[int]:
    """Processes whose environment may name a cache that they do not use: our ancestors, readers of our output, and
    those that only wait or look."""
    waiting = frozenset(process.pid for process in running if process.only_waits)
    return waiting | ancestors(proc) | readers(running, proc)


def open_paths(pid: int, proc: str = "/proc") -> list[str] | None:
    """Paths a process holds open; None when they may not be seen or the process is gone."""
    folder = f"{proc}/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    return [target for name in names if (target := _link(f"{folder}/{name}"))]


def mapped_paths(pid: int, proc: str = "/proc") -> list[str]:
    """Files that a process has mapped; none where they may not be seen."""
    try:
        with open(f"{proc}/{pid}/maps", encoding="utf-8", errors="surrogateescape") as lines:
            parts = (line.rstrip("\n").split(maxsplit=5) for line in lines)
            return list(dict.fromkeys(part[5] for part in parts if len(part) == 6 and part[5].startswith("/")))
    except OSError:
        return []


def start_time(pid: int, boot: float | None, proc: str = "/proc") -> float | None:
    """When a process started, in seconds since the epoch; `boot`: when the machine started. None if unknown."""
    try:
        with open(f"{proc}/{pid}/stat", encoding="utf-8", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None
    return None if boot is None else boot + ticks / os.sysconf("SC_CLK_TCK")


def boot_time(proc: str = "/proc") -> float | None:
    """When this machine was started, in seconds since the epoch; None if unknown."""
    try:
        with open(f"{proc}/stat", encoding="ascii", errors="replace") as lines:
            return next((float(line.split()[1]) for line in lines if line.startswith("btime ")), None)
    except (OSError, ValueError, IndexError):
        return None


def _numbers(proc: str) -> Iterator[str]:
    try:
        yield from sorted((name for name in os.listdir(proc) if name.isdigit()), key=int)
    except OSError:
        return


def _words(path: str) -> tuple[str, ...]:
    try:
        with open(path, "rb") as file:
            data = file.read(1 << 20)
    except OSError:
        return ()
    return tuple(word.decode("utf-8", "replace") for word in data.rstrip(b"\0").split(b"\0")) if data else ()


def _environ(folder: str) -> dict[str, str] | None:
    try:
        with open(f"{folder}/environ", "rb") as file:
            data = file.read(1 << 20)
    except OSError:
        return None
    pairs = (item.decode("utf-8", "surrogateescape").partition("=") for item in data.split(b"\0"))
    return {name: value for name, _, value in pairs if name in VARIABLES}


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
