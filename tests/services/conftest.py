from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a state folder that is empty."""
    return Settings(state_dir=str(tmp_path))
