"""What attacks need: a user who is a stranger, a disk that is nearly full, a mount that cannot be written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adversary.attacker import mounted


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """An empty tmpfs of 4 MiB; skips where this user may not mount."""
    with mounted(tmp_path / "small-disk", "size=4m") as place:
        yield place


@pytest.fixture(autouse=True)
def _no_trust_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The person who runs the tests may trust their own cache; the attacks start without that."""
    for name in ("NEURONTOP_TRUST_CACHE", "NEURONTOP_CACHE_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
