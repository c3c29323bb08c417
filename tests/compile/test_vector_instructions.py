"""PyTorch's tests of vector instructions on demand: its own answers, from as few test programs as they need."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compile servers")]

SCRIPT = """
import json, sys
import torch
from torch._inductor import config, cpu_vec_isa
from neuron_top.compile.graphs import vector_instructions
from neuron_top.compile.wrapper.scratch import forget_probes
tried, refused = [], sys.argv[2:]
def try_it(kind):
    tried.append(str(kind))
    return str(kind) not in refused
for kind in cpu_vec_isa.supported_vec_isa_list:
    type(kind).__bool__ = try_it
cpu_vec_isa.x86_isa_checker = lambda: ["avx2", "avx512", "avx512_vnni"]  # a processor without amx_tile
if sys.argv[1] == "on demand":
    vector_instructions.try_on_demand()
    vector_instructions.try_on_demand()
answers = [str(cpu_vec_isa.pick_vec_isa())]
needed = list(tried)
for bits in (128, 256, 512):
    with config.patch({"cpp.simdlen": bits}):
        answers.append(str(cpu_vec_isa.pick_vec_isa()))
for name in ("avx2", "avx512", "default"):
    torch._inductor.cpu_vec_isa.os.environ["ATEN_CPU_CAPABILITY"] = name
    answers.append(str(cpu_vec_isa.pick_vec_isa()))
everything = list(map(str, cpu_vec_isa.valid_vec_isa_list()))
repeated = len(tried)
cpu_vec_isa.pick_vec_isa()
assert len(tried) == repeated
refused[:] = ["avx2", "avx512", "avx512 avx512_vnni"]
forget_probes()
del torch._inductor.cpu_vec_isa.os.environ["ATEN_CPU_CAPABILITY"]
answers.append(str(cpu_vec_isa.pick_vec_isa()))
print(json.dumps([answers, everything, needed]))
"""
X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="elsewhere PyTorch knows one kind of instructions")


def answers_of(how: str, refused: list[str]) -> tuple[list[str], list[str], list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, how, *refused],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
    )
    answers, everything, needed = json.loads(done.stdout.splitlines()[-1])
    return answers, everything, needed


@X86
@pytest.mark.parametrize("refused", [[], ["avx512 avx512_vnni"], ["avx2"], ["avx2", "avx512", "avx512 avx512_vnni"]])
def test_every_answer_is_that_of_pytorch(refused: list[str]) -> None:
    """Whatever is asked for by settings, and whichever tests fail; none is run before it is needed."""
    theirs, ours = answers_of("all at once", refused), answers_of("on demand", refused)
    assert ours[:2] == theirs[:2]
    kinds = ["avx512 avx512_vnni", "avx512", "avx2"]
    assert theirs[2] == kinds
    passed = [place for place, kind in enumerate(kinds) if kind not in refused]
    assert ours[2] == (kinds[: passed[0] + 1] if passed else kinds)


REST = """
import os, sys
import torch
from torch._inductor import cpu_vec_isa
from neuron_top.compile.graphs import vector_instructions
from pathlib import Path
built = []
def check_build(self, code):
    built.append(code)
    return bool(self._probe_load(sys.argv[1]))
cpu_vec_isa.VecISA.check_build = check_build
vector_instructions.try_on_demand()
getattr(vector_instructions, sys.argv[2])()
print(cpu_vec_isa.VecISA._avx_code in built, len(built), Path(sys.argv[1] + ".loads").exists())
"""


@X86
@pytest.mark.parametrize(("work", "tries_the_largest"), [("try_here", True), ("try_all_but_the_largest", False)])
def test_a_process_made_for_it_loads_the_programs_itself_and_notes_it(
    tmp_path: Path, work: str, tries_the_largest: bool
) -> None:
    """Where a program does not load, nothing is noted; no other process is started for either."""
    library, junk = tmp_path / "program.so", tmp_path / "junk.so"
    subprocess.run(["gcc", "-shared", "-o", library, "-x", "c", os.devnull], check=True)
    junk.write_bytes(b"no library")
    for program, loads in ((library, True), (junk, False)):
        done = subprocess.run(
            [sys.executable, "-c", REST, str(program), work], capture_output=True, text=True, check=True
        )
        largest, built, noted = done.stdout.split()
        assert (largest, noted) == (str(tries_the_largest), str(loads and int(built) > 0))
