"""Keeps the kernels of an artifact in a zip, and puts them back where Inductor looks for them.

A library that several kernels share (`joined_kernels`) is stored once; the others are links to it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import sys
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from torch._inductor.runtime.cache_dir_utils import cache_dir

from neuron_top.cache import trust

ADVICE = "Set TORCHINDUCTOR_CACHE_DIR to a folder of your own"
"""What to do where Inductor's folder belongs to somebody else."""
_KERNEL = re.compile(r"[a-z0-9]{2}/[\w.-]+\.so", re.ASCII)
_LINK = (stat.S_IFLNK | 0o777) << 16
"""How a symbolic link is marked in a zip."""


def loaded() -> list[Path]:
    """The kernels that are loaded into this process: shared libraries below Inductor's directory.

    One that several kernels share is mapped under one of its names; Python's modules have the others.
    """
    folder = os.path.realpath(cache_dir()) + os.sep
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    imported = (os.path.realpath(path) for path in files if path.endswith(".so"))
    below = dict.fromkeys(path.partition(folder)[2] for path in (*_mapped_files(), *imported))
    return [Path(folder, path) for path in below if _KERNEL.fullmatch(path)]


def _mapped_files() -> Iterator[str]:
    with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            yield line.rstrip("\n")


def save(archive: Path, kernels: Sequence[Path]) -> None:
    """Keep these libraries of Inductor's folder in a zip. Raises OSError."""
    folder = Path(os.path.realpath(cache_dir()))
    stored: dict[tuple[int, int], str] = {}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as zipped:
        for path in kernels:
            name, facts = str(path.relative_to(folder)), path.stat()
            first = stored.setdefault((facts.st_dev, facts.st_ino), name)
            entry = zipfile.ZipInfo(name)
            if first == name:
                zipped.writestr(entry, path.read_bytes())
            else:
                entry.external_attr = _LINK
                zipped.writestr(entry, f"../{first}")


def place(archive: bytes, folder: trust.CheckedFolder) -> None:
    """Unpack kernels into Inductor's folder; a complete file appears under its name or none does.

    One that is there already stays only where it is the same and nobody else can change it. Raises RefusedForSafety,
    OSError, BadZipFile.
    """
    placed: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as zipped:
        for entry in zipped.infolist():
            name, data, same_as = entry.filename, zipped.read(entry), ""
            if not _KERNEL.fullmatch(name):
                continue
            if entry.external_attr == _LINK:
                same_as = data.decode().removeprefix("../")
                if same_as not in placed:
                    raise zipfile.BadZipFile(f"{name} is a link to {same_as!r}, which is no kernel before it")
                data = placed[same_as]
            placed[name] = data
            _place(folder, name, data, same_as)


def _place(folder: trust.CheckedFolder, name: str, data: bytes, same_as: str) -> None:
    """Place one kernel. `same_as`: a kernel that was placed before and has the same library; "" for none."""
    above, _, base = name.partition("/")
    target = Path(folder.path, name)
    trust.make_folders(str(target.parent))
    try:
        with folder.folder(above) as below:
            with contextlib.suppress(FileNotFoundError, trust.Untrusted):
                if below.read(base) == data:
                    return
            temporary = target.with_name(f"{base}.{uuid.uuid4().hex}.tmp")
            try:
                _write(temporary, data, Path(folder.path, same_as) if same_as else None)
                temporary.rename(target)
            finally:
                temporary.unlink(missing_ok=True)
    except trust.Untrusted as reason:
        raise trust.refusal(reason, ADVICE) from None


def _write(path: Path, data: bytes, twin: Path | None) -> None:
    if twin is not None:
        with contextlib.suppress(OSError):  # a file system without hard links
            os.link(twin, path)
            return
    with open(path, "xb", opener=_executable) as file:
        file.write(data)


def _executable(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o755)
