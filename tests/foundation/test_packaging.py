"""The wheel, built from the source archive, holds one top-level name and starts."""

import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive, and the wheel that was built from it."""
    target = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return target


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


def test_the_source_archive_holds_what_its_documents_link_to(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    documents = ["README.md", "CONTRIBUTING.md", *(name for name in names if re.fullmatch(r"docs/[^/]*\.md", name))]
    assert len(documents) >= 5
    for document in documents:
        for link in re.findall(r"\]\(([^)#\s]+)", (ROOT / document).read_text(encoding="utf-8")):
            if "://" not in link and not link.startswith(("mailto:", "reference/")):  # the site's build makes those
                target = (ROOT / document).parent.joinpath(link).resolve().relative_to(ROOT).as_posix()
                assert target in names or any(name.startswith(f"{target}/") for name in names), f"{document}: {link}"


def test_the_wheel_has_one_top_level_name(wheel: Path) -> None:
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"neuron_top"}


def test_the_wheel_brings_what_is_not_code(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "neuron_top/store/schema.sql" in names
    assert "neuron_top/assets/examples/train_bert_tp.py" in names
    assert "neuron_top/py.typed" in names
    assert not [name for name in names if "/screenshots/" in name], "pictures of the documentation"


def test_the_installed_program_starts(wheel: Path, tmp_path: Path) -> None:
    """A fresh environment that borrows the dependencies of this one, but not its checkout."""
    venv.create(tmp_path / "fresh", with_pip=False, symlinks=True)
    site = next((tmp_path / "fresh/lib").glob("python3.*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    borrowed = next(Path(path) for path in sys.path if path.endswith("site-packages"))
    code = (
        f"import sys; sys.path.append({str(borrowed)!r}); import neuron_top\n"
        f"assert {str(site)!r} in neuron_top.__file__, neuron_top.__file__\n"
        "from neuron_top.cli.main import main; from neuron_top.parsers.reader import LogReader; main(['--version'])"
    )
    python = tmp_path / "fresh/bin/python"
    result = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("neurontop ")
