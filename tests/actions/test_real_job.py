"""A real local job compiles and loads its graphs while maintenance takes them away and brings them back.

One long-lived worker forgets its graphs and asks for them again, round by round: Dynamo traces, the cache is looked up,
an artifact is loaded or compiled by Inductor, and what it computes is compared with the same function uncompiled. So a
round costs a load, or now and then a compile; `make adversary` has 500 rounds, `NEURONTOP_ROUNDS` asks for more.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.actions.maintainer import Maintainer
from tests.adversary import attacker
from tests.inductor_folder import inductor_folder
from tests.warm_python import warm_python

pytestmark = [pytest.mark.torch, pytest.mark.timeout(3600)]
FEWEST = 500 if attacker.LONG else 120
ROUNDS = max(FEWEST, int(os.environ.get("NEURONTOP_ROUNDS", "0")))
GRAPHS = 4
JOB = """
import random, sys
import torch

def made(number):
    return lambda x: (x * (number + 2)).sin() + number

chance, x = random.Random(int(sys.argv[1])), torch.linspace(0, 1, 64)
for _ in range(int(sys.argv[2])):
    number = chance.randrange(int(sys.argv[3]))
    torch._dynamo.reset()
    got = torch.compile(made(number), backend="neurontop", dynamic=False)(x)
    torch.testing.assert_close(got, made(number)(x))
    print(number, flush=True)
"""


def test_the_job_never_fails_and_never_computes_with_a_wrong_artifact(tmp_path: Path) -> None:
    log, rounds = tmp_path / "log", tmp_path / "rounds"
    with log.open("w") as errors, rounds.open("w") as output:
        job = subprocess.Popen(
            [*warm_python(), "-c", JOB, "3", str(ROUNDS), str(GRAPHS)],
            env=environment(tmp_path),
            stdout=output,
            stderr=errors,
            text=True,
        )
        try:
            did = Maintainer(tmp_path / "cache", pause=1.5, share=0.6, protect_seconds=0.3).work_while([job])
        finally:
            job.kill()
            job.wait()
    said = log.read_text()
    assert job.returncode == 0, said[-5000:]
    assert len(rounds.read_text().split()) == ROUNDS
    compiles, hits = said.count("Compiler status PASS"), said.count("Using a cached neff at")
    evidence = f"{ROUNDS} rounds of a real job: {hits} loads of hits, {compiles} compiles; maintenance: {dict(did)}"
    assert compiles > GRAPHS, f"nothing that was taken away was compiled again: {evidence}"
    assert did["evict"] + did["slim"] > GRAPHS, evidence
    assert hits + compiles >= ROUNDS, evidence
    print(f"\n{evidence}")


def environment(folder: Path) -> dict[str, str]:
    """Caches of this test alone."""
    own = {
        "NEURON_COMPILE_CACHE_URL": str(folder / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(folder / "inductor")),
        "NEURONTOP_STATE_DIR": str(folder / "state"),
    }
    return {name: value for name, value in os.environ.items() if not name.startswith("NEURON")} | own
