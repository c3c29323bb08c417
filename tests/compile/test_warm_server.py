"""What a compile server has ready for its forks: nothing is imported, preprocessed or asked of the compiler twice."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compile servers")]

SCRIPT = """
import json, os, subprocess, sys
from neuron_top.compile.graphs.inductor_compile import warm_up
warm_up()
import torch
started = []
def noted(self, command, *rest, real=subprocess.Popen.__init__, **more):
    started.append(os.path.basename(command[0]))
    real(self, command, *rest, **more)
subprocess.Popen.__init__ = noted
threads, before = len(os.listdir("/proc/self/task")), set(sys.modules)
torch.compile(lambda x: torch.softmax(x.sin() * 2, -1).sum(0))(torch.ones(64, 64))
late = [name for name in set(sys.modules) - before if name.startswith("sympy.")]
print(json.dumps([threads, started, late]))
"""


def test_a_fork_starts_the_compiler_for_its_own_code_only() -> None:
    """One thread, so that forks start clean; then one run of the compiler, and no import of a library."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    threads, started, late = json.loads(done.stdout.splitlines()[-1])
    assert threads == 1
    assert started == ["g++"]
    assert late == []
