"""Means of attack that several tests share. Everything happens below a test's own temporary folder."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.inductor_folder import inductor_folder
from tests.warm_python import warm_python

STRANGER = 65534
"""`nobody`: owns nothing of ours."""
LONG = os.environ.get("NEURONTOP_ADVERSARY", "") == "long"
"""Set by `make adversary`: attacks that take minutes run in full, else a sample of them."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


@contextlib.contextmanager
def mounted(place: Path, options: str) -> Iterator[Path]:
    """A tmpfs at `place` while the block runs; skips the test where this user may not mount."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a file system, so none can be filled up")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=False)


def give_away(*paths: Path) -> None:
    """Make `paths` the stranger's, without following links."""
    for path in paths:
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


def as_stranger(work: Callable[[], str]) -> str:
    """What `work` returns in a child process that runs as the stranger; needs root."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            os.setgroups([])
            os.setgid(STRANGER)
            os.setuid(STRANGER)
            os.write(writer, work().encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        answer = stream.read().decode()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, answer
    return answer


ESCAPES = "\x1b]52;c;ZWNobw==\x07\x1b[2J\x9b31m\u202eexe\u200b\u2066"
"""Clears the screen, fills the clipboard, turns the line around and hides characters, where a terminal reads it."""


def unprintable(text: str) -> list[str]:
    """Characters of an output that are neither printable nor the line ends and blanks of ordinary text."""
    return sorted({character for character in text if not character.isprintable() and character not in "\n\t"})


def result_of(program: str, change: str, tmp_path: Path, **environ: str) -> tuple[float, str]:
    """The number that a program prints as its result, and what it said; all runs of a test share cache and folder."""
    work = inductor_folder(tmp_path / "inductor")
    root = {"NEURON_COMPILE_CACHE_URL": str(tmp_path / "root"), "TORCHINDUCTOR_CACHE_DIR": str(work)}
    done = subprocess.run(
        [*warm_python(), "-c", program, change],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **root, **environ},
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"^result (\S+)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return float(found.group(1)), done.stderr
