"""A local job compiles and loads while maintenance takes, restores and purges: no load fails, none is wrong.

The job's processes use the compile component as a training process does (a hit that does not load is rejected and
asked for once more); its compiler is a stand-in that takes milliseconds. `test_real_job.py` does it with real graphs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.actions.maintainer import Maintainer

ROUNDS = 600
PROCESSES = 3
JOB = """
import random, sys, time
from pathlib import Path
from neuron_top.cache.model.keys import module_key
from neuron_top.compile.wrapper.compiling import GraphToCompile
from neuron_top.errors import CompileError
from neuron_top.events.levels import LogLevel
from tests.compile.fakes import Copying, wrapper

root, seed, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
ours = wrapper(root, Copying(delay=0.002), log_level=LogLevel.ERROR)

def load(number):
    data = b"graph %d" % number
    graph = GraphToCompile(key=module_key(f"{number:020x}", []), data=lambda: data)
    for attempt in (1, 2):
        obtained = ours.get_or_compile(graph)
        try:
            found = [path.read_bytes() for path in obtained.entry.artifacts]
        except OSError as problem:
            if attempt == 2:
                raise
            ours.reject(obtained.entry, str(problem))
            continue
        assert found == [data * 2, data * 2], (number, found)
        return obtained.hit

hits = 0
for _ in range(rounds):
    hits += load(chance.randrange(8))
    time.sleep(chance.random() * 0.01)
print(hits, rounds - hits)
"""


def test_a_job_never_fails_and_never_loads_a_wrong_artifact(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    root.mkdir()
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", JOB, str(root), str(seed), str(ROUNDS // PROCESSES)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(PROCESSES)
    ]
    did = Maintainer(root).work_while(jobs)
    answers = [job.communicate() for job in jobs]
    assert [job.returncode for job in jobs] == [0] * PROCESSES, "\n".join(
        errors[-3000:] for _, errors in answers if "Traceback" in errors
    )
    hits, compiles = (sum(int(out.splitlines()[-1].split()[at]) for out, _ in answers) for at in (0, 1))
    assert hits + compiles == ROUNDS >= 500
    assert did["evict"] + did["slim"] > 5, did  # 16 on a machine with three times as much work as processors
    assert compiles > 8, "nothing that was taken away was compiled again"
    print(f"\n{ROUNDS} loads: {hits} hits, {compiles} compiles; maintenance: {dict(did)}")
