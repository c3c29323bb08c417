"""Real samples beside the checkout (`../shared/corpus`): never part of the project; tests skip where there are none."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"


def corpus(*parts: str) -> Path:
    """A file or folder of the corpus; skips the test that asks for it where there is none."""
    path = CORPUS.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the sample {'/'.join(parts)} is not on this machine")
    return path
