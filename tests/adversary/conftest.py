"""What attacks need: a user who is a stranger, a disk that is nearly full, a mount that cannot be written."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adversary.attacker import mounted
from tests.adversary.victim import PROGRAMS, started
from tests.inductor_folder import inductor_folder


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


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a cache of four sound entries in `cache`, and the state of the user who made them."""
    folder = tmp_path_factory.mktemp("sound")
    with started(folder / "cache", folder, inductor_folder(folder / "inductor")) as victim:
        for program in PROGRAMS:
            answer = victim.run(program)
            assert answer.right, (answer, victim.said())
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """A copy of it to attack. Inductor's folder is shared, since filling it is expensive, but holds none of the
    kernels."""
    (tmp_path / "inductor").symlink_to(sound / "inductor")
    for archive in sound.glob("cache/*/MODULE_*/model.kernels"):
        with zipfile.ZipFile(archive) as zipped:
            for name in zipped.namelist():
                (sound / "inductor" / name).unlink(missing_ok=True)
    shutil.copytree(sound / "cache", tmp_path / "cache")
    if (sound / "state").exists():
        shutil.copytree(sound / "state", tmp_path / "state")
    return tmp_path
