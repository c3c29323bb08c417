"""What a run without a name is called."""

from __future__ import annotations

import pytest

from neuron_top.views.states import run_name


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("/opt/venv/bin/python", "-u", "/home/me/train.py", "--lr", "1"), "train.py"),
        (("torchrun", "--nproc_per_node=4", "pretrain.py", "--config", "tp.py"), "pretrain.py"),
        (("srun", "-N", "2", "python", "-m", "pkg.train"), "srun"),
        (("/usr/bin/neuron-bench", "-n", "4"), "neuron-bench"),
        ((), "20261129-003435-268f"),
    ],
)
def test_a_run_is_called_by_its_script_as_launchers_are_called_alike(command: tuple[str, ...], name: str) -> None:
    assert run_name("", command, "20261129-003435-268f") == name
    assert run_name("tp 2", command, "20261129-003435-268f") == "tp 2"
