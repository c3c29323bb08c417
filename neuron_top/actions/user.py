"""Who acts, as journal and pins name them."""

from __future__ import annotations

import getpass
import os


def user_name() -> str:
    """The user's name; the number where there is no name (a container)."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
