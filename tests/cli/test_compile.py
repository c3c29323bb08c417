"""`neurontop compile` where nothing can be compiled: without the compiler, or without what submits to a scheduler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import HLO_NAME, small_hlo, write_entry


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a cache in force; no compiler, and no tool of the SDK or of Slurm, is on the PATH."""
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(tmp_path / "cache"))
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "touch").symlink_to("/usr/bin/touch")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path / "cache"


def compiled(*words: str, without: str = "") -> subprocess.CompletedProcess[str]:
    """What `neurontop compile` prints; the package `without` is not installed."""
    code = (
        f"import sys; sys.modules.update({dict.fromkeys(filter(None, [without]))!r})\n"
        f"from neuron_top.cli.main import main; sys.exit(main({['compile', *words]}))"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)


def test_graphs_of_a_compiler_that_is_missing_do_wait(root: Path) -> None:
    write_entry(root, {HLO_NAME: small_hlo()}, compiler="neuronxcc-2.20.1")
    done = compiled("--compile-only")
    assert "neurontop: 1 graph of neuronxcc-2.20.1 is left for that compiler\n" in done.stderr
    assert "neurontop: nothing to compile: all graphs that wait are left for other compilers\n" in done.stderr
    assert "no graph waits" not in done.stderr


@pytest.mark.parametrize(
    ("executor", "without", "said"),
    [
        ("slurm", "submitit", "compiling through Slurm needs submitit: pip install 'neuron-top[slurm]'"),
        ("slurm", "", "no sbatch, srun, squeue, scancel on the PATH"),
        ("ray", "ray", "compiling through Ray needs its package: pip install 'neuron-top[ray]'"),
    ],
)
def test_what_submits_to_a_scheduler_is_missed_before_the_trial_run(
    executor: str, without: str, said: str, root: Path, tmp_path: Path
) -> None:
    if not without:
        pytest.importorskip("submitit")
    trial = tmp_path / "trial"
    done = compiled("--on", executor, "--", "touch", str(trial), without=without)
    assert (done.returncode, trial.exists()) == (2, False)
    assert said in done.stderr
