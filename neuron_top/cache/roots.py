"""Which caches exist on this machine, and who uses them.

The root of the Neuron cache comes from `--cache_dir` in `NEURON_CC_FLAGS`, else `NEURON_COMPILE_CACHE_URL`, else the
SDK's default. Anybody can create the folder of the default first; if it is not ours, our compile component uses a root
of the user's own beside it (`default_root`). What counts is a running job's environment, not ours, so that of every
process that may be read is looked at. Other caches (Inductor, Triton, JAX, vLLM, the hub's blob cache) are found only
to tell their size, never to be changed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from neuron_top.cache import trust
from neuron_top.cache.model import filenames
from neuron_top.cache.processes import CacheProcess
from neuron_top.escapes import name_text, without_secret

_CACHE_DIR = "--cache_dir"
_SDK_ORIGIN = "the SDK's default"
_OWN_ORIGIN = "the default of this user, since the SDK's is somebody else's"


class CacheKind(StrEnum):
    """What kind of cache a root is, by the program that writes it."""

    NEURON = "neuron"
    """The kind of root that the catalog lists entry by entry."""
    HUB = "hub"
    """Optimum Neuron's, in the cache of the Hugging Face hub."""
    VLLM_NEURON = "vllm-neuron"
    """The kind whose entries carry completion markers of their own."""
    TORCH_NEURON = "torch-neuronx"
    """TorchNeuron's cache: both of its tiers."""
    NKI = "nki"
    INDUCTOR = "inductor"
    """PyTorch's own cache: read, never changed."""
    TRITON = "triton"
    JAX = "jax"
    VLLM = "vllm"


class Root(msgspec.Struct, frozen=True, kw_only=True):
    """One cache that may exist. `origin` says where its path comes from, in words."""

    kind: CacheKind
    path: str
    origin: str
    exists: bool
    remote: bool = False
    """An `s3://` URL: not on this machine."""
    users: tuple[int, ...] = ()
    """Pids of processes that may use it, because their environment names it."""


def root_in_force(environ: Mapping[str, str] = os.environ, cwd: str | None = None, user: int | None = None) -> Root:
    """The Neuron cache that a job started here with this environment (by `user`, the effective one) would use.

    If none is named: the SDK's default, or the user's own root beside it if that exists and must be used instead.
    """
    path, origin = named_by(environ)
    if path is None and default_root(environ, user)[1] and os.path.isdir(own := user_root(user)):
        return _root(CacheKind.NEURON, own, _OWN_ORIGIN, cwd)
    return _root(CacheKind.NEURON, path or filenames.DEFAULT_ROOT, origin or _SDK_ORIGIN, cwd)


def default_root(environ: Mapping[str, str] = os.environ, user: int | None = None) -> tuple[str, str]:
    """(root that our compile component uses if none is named, why it is not the SDK's default).

    The reason is empty if it is the SDK's default, which does not exist yet or is safe to load code from.
    """
    reason = trust.problem_with(filenames.DEFAULT_ROOT, user, environ)
    return (user_root(user), reason) if reason else (filenames.DEFAULT_ROOT, "")


def user_root(user: int | None = None) -> str:
    """The default root of `user` (None: the effective one), beside the SDK's."""
    return f"{filenames.DEFAULT_ROOT}-{os.geteuid() if user is None else user}"


def find(
    environ: Mapping[str, str] = os.environ,
    processes: Iterable[CacheProcess] = (),
    cwd: str | None = None,
    named: Iterable[str] = (),
    bystanders: Collection[int] = (),
) -> list[Root]:
    """Every cache that is `named` on the command line, by a default, by our environment or by a running process: each
    path once, in this order. `bystanders`: processes whose environment may name a cache that they do not use; such a
    cache is found too, but they are not among its users."""
    found = of_command_line(named, cwd)
    found += [root_in_force(environ, cwd), _root(CacheKind.NEURON, filenames.DEFAULT_ROOT, _SDK_ORIGIN)]
    if os.path.isdir(own := user_root()):
        found.append(_root(CacheKind.NEURON, own, _OWN_ORIGIN))
    for process in processes:
        theirs = process.environ or {}
        users = () if process.pid in bystanders else (process.pid,)
        path, origin = named_by(theirs)
        if path:
            root = _root(CacheKind.NEURON, path, f"{origin} of process {process.pid}", process.cwd)
            found.append(msgspec.structs.replace(root, users=users))
        found += [
            msgspec.structs.replace(root, origin=f"{root.origin} of process {process.pid}", users=users)
            for root in _neighbors(theirs, process.cwd, defaults=False)
        ]
    found += _neighbors(environ, cwd, defaults=True)
    return _merged(found)


def of_command_line(named: Iterable[str], cwd: str | None = None) -> list[Root]:
    """The Neuron caches that were `named` on the command line, each once."""
    return _merged(_root(CacheKind.NEURON, path, "named on the command line", cwd) for path in named)


def cache_dir_flag(flags: str) -> str | None:
    """The last value of `--cache_dir` in NEURON_CC_FLAGS; None if there is none."""
    if _CACHE_DIR not in flags:
        return None
    import shlex  # like tempfile below: a script that names its root needs neither

    try:
        words = shlex.split(flags)
    except ValueError:
        words = flags.split()
    value = None
    for position, word in enumerate(words):
        if word.startswith(_CACHE_DIR + "="):
            value = word[len(_CACHE_DIR) + 1 :]
        elif word == _CACHE_DIR and position + 1 < len(words):
            value = words[position + 1]
    return value or None


def named_by(environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """(path or URL, where it is set) of the Neuron cache that this environment names; (None, None) if it names none."""
    flag = cache_dir_flag(environ.get("NEURON_CC_FLAGS", ""))
    if flag:
        return flag, "--cache_dir in NEURON_CC_FLAGS"
    url = environ.get("NEURON_COMPILE_CACHE_URL")
    return (url, "NEURON_COMPILE_CACHE_URL") if url else (None, None)


def local_path(named: str, cwd: str) -> str:
    """The path of a root on this machine that a job in the folder `cwd` names by a path or a `file://` URL; links and
    `..` are left in it."""
    return os.path.join(cwd, os.path.expanduser(named.removeprefix("file://")))


def _root(kind: CacheKind, path: str, origin: str, cwd: str | None = None) -> Root:
    if "://" in path and not path.startswith("file://"):
        return Root(kind=kind, path=without_secret(path), origin=origin, exists=False, remote=True)
    place = os.path.abspath(local_path(path, cwd or os.curdir))
    return Root(kind=kind, path=name_text(place), origin=origin, exists=os.path.isdir(place))


def _neighbors(environ: Mapping[str, str], cwd: str | None, *, defaults: bool) -> list[Root]:
    """The caches of other programs that this environment names; with `defaults`, also those at default places.
    `cwd`: where a relative path begins.

    Rows of the table: (kind, variable, path below the variable's value, default path).
    """
    import tempfile

    from neuron_top.cache import torch_neuron  # what reads entries: a script that names its root needs none of it

    tmp = tempfile.gettempdir()
    user = environ.get("USER") or environ.get("LOGNAME") or _user()
    hub = "models--aws-neuron--optimum-neuron-cache"
    table = (
        (CacheKind.HUB, "HF_HUB_CACHE", hub, None),
        (CacheKind.HUB, "HF_HOME", f"hub/{hub}", f"~/.cache/huggingface/hub/{hub}"),
        (CacheKind.VLLM_NEURON, "VLLM_CACHE_ROOT", "neuron/compile_cache", "~/.cache/vllm/neuron/compile_cache"),
        (CacheKind.VLLM_NEURON, None, "", f"{tmp}/vllm_neuron_wdir_{user}/neuron/compile_cache"),
        (CacheKind.VLLM_NEURON, None, "", "~/.cache/neuron_libtorch/neuron/compile_cache"),
        (CacheKind.VLLM_NEURON, "NEURON_LIBTORCH_REMOTE_CACHE", "", None),
        *((CacheKind.TORCH_NEURON, variable, "", default) for variable, default in torch_neuron.DEFAULTS.items()),
        (CacheKind.NKI, None, "", "/var/tmp/nki-intermediate-cache"),  # noqa: S108 (the tool chain's default)
        (CacheKind.INDUCTOR, "TORCHINDUCTOR_CACHE_DIR", "", f"{tmp}/torchinductor_{user}"),
        (CacheKind.TRITON, "TRITON_CACHE_DIR", "", "~/.triton/cache"),
        (CacheKind.JAX, "JAX_COMPILATION_CACHE_DIR", "", None),
        (CacheKind.VLLM, "VLLM_CACHE_ROOT", "torch_compile_cache", "~/.cache/vllm/torch_compile_cache"),
    )
    found = []
    for kind, variable, below, default in table:
        value = environ.get(variable) if variable else None
        if value:
            root = _root(kind, os.path.join(value, below).rstrip("/"), str(variable), cwd)
            found.append(root)
            if kind is CacheKind.TORCH_NEURON:
                found += [_root(kind, path, str(variable)) for path in torch_neuron.of_ranks(root.path)]
        elif default and defaults and (place := _default_place(default)):
            root = _root(kind, place, "default")
            if root.exists:
                found.append(root)
    return found


def _default_place(default: str) -> str:
    """The path of a default; "" if it lies below the home of a user who has none (a container's uid without a name)."""
    place = os.path.expanduser(default)
    return "" if place.startswith("~") else place


def _user() -> str:
    try:
        return Path.home().owner()
    except (KeyError, OSError, RuntimeError):  # RuntimeError: no home
        return str(os.getuid())


def _merged(roots: Iterable[Root]) -> list[Root]:
    unique: dict[tuple[str, str], Root] = {}
    for root in roots:
        key = (root.kind, root.path)
        first = unique.get(key)
        unique[key] = (
            root
            if first is None
            else msgspec.structs.replace(first, users=tuple(dict.fromkeys((*first.users, *root.users))))
        )
    return list(unique.values())
