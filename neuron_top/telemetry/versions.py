"""Collects what a run ran with: versions of the packages that affect graphs, the relevant environment variables, the
revision of the user's code. Read from files beside the job's interpreter, because starting it again takes longer than
the first step of many jobs.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from neuron_top import programs
from neuron_top.parsers.secrets import is_secret_name, without_secrets

PACKAGES = (
    "torch", "torch_xla", "torch_neuronx", "neuronx_cc", "libneuronxla", "neuronx_distributed", "optimum_neuron",
    "transformers", "accelerate", "vllm", "jax", "jax_neuronx",
)  # fmt: skip
_MATTERS = re.compile(
    r"(NEURON|NEURONTOP|XLA|PJRT|TORCH|PYTORCH|NCCL|GLOO|FI|VLLM|JAX|HF)_|(OMP|MKL)_NUM_THREADS$"
    r"|(WORLD_SIZE|RANK|LOCAL_RANK|MASTER_ADDR|MASTER_PORT|CUDA_VISIBLE_DEVICES|SLURM_JOB_ID|SLURM_NTASKS)$"
)
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY|ACCESS_KEY", re.IGNORECASE)
_GIT_SECONDS = 2.0


def environment_that_matters(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that change what is compiled or where, without secrets; values that look like one are blanked."""
    return {
        name: without_secrets(value)
        for name, value in sorted(environ.items())
        if _MATTERS.match(name) and not _SECRET.search(name) and not is_secret_name(name)
    }


def package_versions(command: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Versions of PACKAGES in the environment the command runs in; those that are not installed are left out."""
    versions: dict[str, str] = {}
    for folder in _site_packages(command, environ):
        for info in sorted(folder.glob("*.dist-info")):
            name, _, version = info.name.removesuffix(".dist-info").partition("-")
            name = re.sub(r"[-_.]+", "_", name).lower()
            if name in PACKAGES:
                versions.setdefault(name, version)
    return versions


def git_revision(directory: Path) -> str:
    """Short hash of the commit checked out in `directory`; "" outside a repository or without git."""
    git = programs.find("git")
    if git is None:
        return ""
    try:
        answer = programs.ask([git, "-C", directory, "rev-parse", "--short=12", "HEAD"], seconds=_GIT_SECONDS)
    except (OSError, programs.NoAnswer):
        return ""
    return answer.out.decode("ascii", "replace").strip() if answer.status == 0 else ""


def _site_packages(command: Sequence[str], environ: Mapping[str, str]) -> list[Path]:
    """Package folders of the interpreter behind a command: the prefix its program lies in, else that of `python3`."""
    search = environ.get("PATH", os.defpath)
    interpreters = [shutil.which(name, path=search) for name in (*command[:1], "python3", "python")]
    prefixes = dict.fromkeys(Path(program).absolute().parent.parent for program in interpreters if program)
    patterns = (
        "lib/python3*/site-packages",
        "lib64/python3*/site-packages",
        "lib/python3*/dist-packages",
        "local/lib/python3*/dist-packages",
    )
    for prefix in prefixes:
        folders = [folder for pattern in patterns for folder in prefix.glob(pattern)]
        if folders:
            return folders
    return []
