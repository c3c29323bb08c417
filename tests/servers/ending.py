"""Servers that must not outlive who started them, even where that is killed and can end nothing any more."""

from __future__ import annotations

import shutil


def ended_with_us() -> list[str]:
    """Words before a command: the kernel sends it SIGTERM when the process that started it dies."""
    return ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
