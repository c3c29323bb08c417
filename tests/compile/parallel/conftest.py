"""The trial run is made once: tests copy the cache it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compile.parallel import jobs
from tests.warm_python import warm_python


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `cache` holds three collected graphs, and `output.txt` with what the command said."""
    folder = tmp_path_factory.mktemp("collected")
    done = jobs.compile_command(
        ["--collect-only", "--", *warm_python(), jobs.script(folder)], jobs.environment(folder), folder
    )
    assert done.returncode == 0, done.stderr
    (folder / "output.txt").write_text(done.stdout + done.stderr)
    return folder
