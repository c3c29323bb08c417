"""A kernel that a killed compile left half written costs the next one a moment, not the job."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.timeout(900), pytest.mark.xdist_group("compiles")]

from neuron_top.compile.graphs import broken_kernels  # noqa: E402
from tests.inductor_folder import inductor_folder  # noqa: E402
from tests.warm_python import warm_python  # noqa: E402

TRAIN = """
import torch
weight = torch.nn.Parameter(torch.ones(4, 4))
loss = torch.compile(lambda x: torch.tanh(x @ weight).square().sum(), backend="neurontop")
loss(torch.ones(3, 4)).backward()
print("trained", weight.grad.shape)
"""


def run(folder: Path, work: Path) -> str:
    """What a job says that has a cache of its own in `folder`, and Inductor's folder `work`."""
    places = {"NEURON_COMPILE_CACHE_URL": str(folder / "cache"), "TORCHINDUCTOR_CACHE_DIR": str(work)}
    environ = {**os.environ, **places, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*warm_python(), "-c", TRAIN], capture_output=True, text=True, check=False, env=environ)
    assert "trained" in done.stdout, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inductor's folder after a job."""
    folder = tmp_path_factory.mktemp("compiled")
    run(folder, inductor_folder(folder / "inductor"))
    return folder / "inductor"


@pytest.mark.parametrize("left", [b"", b"\x7fELF", b"not a library" * 100], ids=["nothing", "a beginning", "noise"])
def test_a_kernel_that_cannot_be_loaded_is_written_anew(left: bytes, compiled: Path, tmp_path: Path) -> None:
    work = tmp_path / "inductor"
    shutil.copytree(compiled, work)
    kernels = list(work.glob("*/*.main.so"))
    assert kernels
    for kernel in kernels:
        kernel.write_bytes(left)
    assert run(tmp_path, work).count("Compilation Successfully Completed") == 2
    assert all(kernel.read_bytes().startswith(b"\x7fELF\x02") for kernel in kernels)


def test_what_does_not_load_for_another_reason_is_an_error_and_no_file_elsewhere_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    (tmp_path / "inductor").mkdir()
    inside, outside = tmp_path / "inductor" / "kernel.so", tmp_path / "library.so"
    tries: list[str] = []

    def failing(words: str) -> None:
        tries.append(words)
        raise ImportError(words)

    for path in (inside, outside):
        path.write_bytes(b"")
    for words in (f"{outside}: file too short", f"{tmp_path}/inductor/../library.so: file too short", "no module"):
        with pytest.raises(ImportError):
            broken_kernels.written_anew(lambda words=words: failing(words))
    assert len(tries) == 3
    assert inside.exists()
    assert outside.exists()
    with pytest.raises(ImportError):
        broken_kernels.written_anew(lambda: failing(f"{inside}: undefined symbol: x"))
    assert len(tries) == 5
    assert not inside.exists()
