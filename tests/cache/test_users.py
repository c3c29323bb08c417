"""Which processes may use a root, by the variables in their environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.cache.processes import CacheProcess
from neuron_top.cache.users import users_of


def is_user(cwd: Path, root: Path, **environ: str) -> bool:
    """Whether a job with this environment counts as a user of the root."""
    job = CacheProcess(pid=2**22 + 1, command=("python", "train.py"), environ=environ, cwd=str(cwd))
    return users_of(str(root), [], [job], boot=None).use is not None


@pytest.mark.parametrize(
    "environ",
    [
        {"NEURON_COMPILE_CACHE_URL": "{0}/cache"},
        {"NEURON_COMPILE_CACHE_URL": "file://{0}/cache/"},
        {"NEURON_COMPILE_CACHE_URL": "link"},
        {"NEURON_CC_FLAGS": "-O1 --cache_dir={0}/cache"},
        {"NEURON_CC_FLAGS": "--cache_dir {0}/link --model-type=transformer"},
        {"NEURON_CC_FLAGS": "--cache_dir=cache"},
        {"TORCH_NEURONX_NEFF_CACHE_DIR": "{0}/cache"},
        {"TORCH_NEURONX_NEFF_CACHE_DIR": "{0}"},
        {"NEURON_COMPILE_CACHE_URL": "{0}/cache/neuron-compile-cache"},
        {"NEURON_COMPILE_CACHE_URL": "{0}/cache/neuronxcc-2.21.1.0+ab"},
    ],
)
def test_a_job_that_names_the_cache_or_a_folder_above_it_or_a_part_of_it_may_use_it(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "link").symlink_to("cache")
    assert is_user(tmp_path, tmp_path / "cache", **{name: text.format(tmp_path) for name, text in environ.items()})


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"NEURON_COMPILE_CACHE_URL": "s3://bucket/cache"},
        {"NEURON_CC_FLAGS": "--cache_dir={0}/cache-of-another"},
        {"NEURON_COMPILE_CACHE_URL": "{0}/cache/below"},
    ],
)
def test_a_job_that_names_another_cache_does_not(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "cache").mkdir()
    assert not is_user(tmp_path, tmp_path / "cache", **{name: text.format(tmp_path) for name, text in environ.items()})
