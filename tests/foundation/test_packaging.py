"""The wheel, built from the source archive, holds one top-level name and starts."""

import importlib.metadata
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
# fmt: off
BASE = {
    "ahocorasick-rs", "annotated-doc", "annotated-types", "anyio", "backports-zstd", "blinker", "certifi",
    "charset-normalizer", "click", "comm", "dash", "dash-ag-grid", "fastapi", "flask", "google-re2", "h11",
    "httptools", "idna", "importlib-metadata", "itsdangerous", "janus", "jinja2", "lazy-importer", "linkify-it-py",
    "markdown-it-py", "markupsafe", "mdit-py-plugins", "mdurl", "msgspec", "narwhals", "nest-asyncio", "numpy",
    "opentelemetry-api", "packaging", "platformdirs", "plotly", "prometheus-client", "psutil", "pydantic",
    "pydantic-core", "pygments", "requests", "retrying", "rich", "setuptools", "shtab", "starlette", "textual",
    "tomlkit", "typing-extensions", "typing-inspection", "urllib3", "uvicorn", "watchdog", "websockets", "werkzeug",
    "zipp",
}
# fmt: on
"""All that `pip install neuron-top` may bring, on any Python; docs/install.md has what they weigh."""


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


def test_the_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < 2.7e6
    with zipfile.ZipFile(wheel) as archive:
        assert sum(member.file_size for member in archive.infolist()) < 7.5e6
        large = [member.filename for member in archive.infolist() if member.file_size > 200_000]
    assert large == ["neuron_top/assets/web/plotly/plotly.min.js"]


def test_an_install_without_extras_stays_below_330_mb() -> None:
    """The packages that are required here, and theirs, by their own lists of files. pip adds byte code; together with
    its sources that is taken for 2.2 times their size, as it was measured."""
    found: dict[str, importlib.metadata.Distribution] = {}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [(Requirement(text), "") for text in project["dependencies"]]
    seen = set()
    while wanted:
        requirement, extra = wanted.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        distribution = found.setdefault(
            canonicalize_name(requirement.name), importlib.metadata.distribution(requirement.name)
        )
        for chosen in {"", *requirement.extras}:
            if (distribution.metadata["Name"], chosen) not in seen:
                seen.add((distribution.metadata["Name"], chosen))
                wanted += [(Requirement(text), chosen) for text in distribution.requires or ()]
    assert set(found) <= BASE
    total = 0.0
    for name, distribution in found.items():
        files = [file for file in distribution.files or () if file.suffix != ".pyc" and file.size is not None]
        assert files, name
        total += sum(file.size * (2.2 if file.suffix == ".py" else 1) for file in files if file.size)
    assert total < 330e6 - 20e6, "20 MB are kept for what neuron-top itself weighs"


def test_the_documents_install_from_a_checkout_alike() -> None:
    """The package is on no index: `pip install neuron-top` fails where it is not installed yet."""
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    commands = {
        (document.name, command[1])
        for document in documents
        for command in re.finditer(
            r"^(?:\$| {3}) ?((?:pip|pipx|uv tool) install \S+)", document.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert {("README.md", "pip install ."), ("index.md", "pip install ."), ("install.md", "pip install .")} <= commands
    assert [
        (name, command) for name, command in commands if command.split()[-1].strip("'").startswith("neuron-top")
    ] == []


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
