"""docs/regional-compilation.md: its commands run, and what it says of graphs holds for any number of blocks."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.compile.parallel import jobs
from tests.examples import documents

pytestmark = [pytest.mark.torch, pytest.mark.e2e, pytest.mark.timeout(1500), pytest.mark.xdist_group("regions")]
SMALL = [
    *("--backend", "aot_eager", "--blocks", "3", "--hidden", "16", "--heads", "2"),
    *("--sequence", "8", "--batch_size", "2", "--steps", "120"),
]
"""Traced and captured as ever, but no C++ compiler runs; the last of an option counts. Steps take milliseconds: how
long one took is known of those that are read a tenth of a second apart."""
Shown = dict[str, subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Every command of the page, run in its order, by what follows `neurontop`."""
    folder = tmp_path_factory.mktemp("regions")
    environ = jobs.environment(folder, OMP_NUM_THREADS="1")
    done: Shown = {}
    for words in documents.commands("regional-compilation.md"):
        small = SMALL if "regional_compile.py" in words else []
        ran = subprocess.run(
            [*documents.runnable(words), *small],
            env=environ,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=jobs.TIMEOUT,
            check=False,
        )
        assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
        done[" ".join(words[1:4])] = ran
    return done


def _told(ran: subprocess.CompletedProcess[str]) -> dict[str, float | str]:
    """The example's own last line."""
    return json.loads(ran.stdout.splitlines()[-1])


def test_every_way_trains_alike_and_regions_are_a_graph_each(shown: Shown) -> None:
    reported = {name: _told(shown[f"run --name {name}"]) for name in ("full", "regions", "blocks", "plugin")}
    assert {name: one["how"] for name, one in reported.items()} == {name: name for name in reported}
    assert len({one["loss"] for one in reported.values()}) == 1, reported
    # three equal blocks are one graph; embedding, norm and head have one each
    assert [one["graphs"] for one in reported.values()] == [1, 4, 1, 4], reported


def test_the_comparison_has_graphs_compile_time_and_step_time_of_both(shown: Shown) -> None:
    text = shown["compare full regions"].stdout
    assert "| graphs of PyTorch's other back ends | 1 | 4 |" in text, text
    for figure in ("compiling, on the wall clock", "PyTorch's compiles added up", "step time", "throughput"):
        assert f"| {figure} |" in text, text


def test_what_the_page_names_of_accelerate_is_what_the_example_uses() -> None:
    page = (documents.ROOT / "docs" / "regional-compilation.md").read_text(encoding="utf-8")
    script = (documents.ROOT / "assets" / "examples" / "regional_compile.py").read_text(encoding="utf-8")
    assert all(name in page and name in script for name in ("use_regional_compilation=True", "compile_regions"))
