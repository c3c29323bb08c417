"""A local job compiles and loads while maintenance takes, restores and purges: no load fails, none is wrong.

The job's processes use the compile component as a training process does (a hit that does not load is rejected and
asked for once more); its compiler is a stand-in that takes milliseconds. The maintainer does not look whether somebody
uses the cache, which would stop it at once: what is tested is the layer below, an entry's lock and a step's checks.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec

from neuron_top.actions import journal
from neuron_top.actions.evict import EvictPolicy, plan_eviction
from neuron_top.actions.plan import Plan
from neuron_top.actions.quarantine import plan_quarantine
from neuron_top.actions.restore import restore
from neuron_top.actions.retry import plan_retry
from neuron_top.actions.surroundings import Surroundings
from neuron_top.actions.unlock import plan_unlock
from neuron_top.cache.snapshot import Snapshot
from tests.actions import caches

ROUNDS = 600
PROCESSES = 3
JOB = """
import random, sys, time
from pathlib import Path
from neuron_top.cache.keys import module_key
from neuron_top.compile.wrapper import Graph
from neuron_top.errors import CompileError
from tests.compile.fakes import Copying, wrapper

root, seed, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
ours = wrapper(root, Copying(delay=0.002), log_level="ERROR")

def load(number):
    data = b"graph %d" % number
    graph = Graph(key=module_key(f"{number:020x}", []), data=lambda: data)
    for attempt in (1, 2):
        obtained = ours.obtain(graph)
        try:
            found = [path.read_bytes() for path in obtained.entry.artefacts]
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


def test_a_job_never_fails_and_never_loads_a_wrong_artefact(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    root.mkdir()
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", JOB, str(root), str(seed), str(ROUNDS // PROCESSES)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for seed in range(PROCESSES)
    ]  # fmt: skip
    did = Maintainer(root).work_while(jobs)
    answers = [job.communicate(timeout=60) for job in jobs]
    assert [job.returncode for job in jobs] == [0] * PROCESSES, "\n".join(
        errors[-3000:] for _, errors in answers if "Traceback" in errors
    )
    hits, compiles = (sum(int(out.splitlines()[-1].split()[at]) for out, _ in answers) for at in (0, 1))
    assert hits + compiles == ROUNDS >= 500
    assert did["evict"] > 10, did
    assert compiles > 8, "nothing that was taken away was compiled again"
    print(f"\n{ROUNDS} loads: {hits} hits, {compiles} compiles; maintenance: {dict(did)}")


class Maintainer:
    """Takes random actions as fast as it can; what was written or used within 50 ms is protected (for 24 hours)."""

    def __init__(self, root: Path) -> None:
        self.root, self.trash = root, journal.Trash(root)
        self.chance = random.Random(7)
        self.did: Counter[str] = Counter()

    def work_while(self, jobs: list[subprocess.Popen[str]]) -> Counter[str]:
        while any(job.poll() is None for job in jobs):
            snapshot = caches.looked_at(self.root)
            around = msgspec.structs.replace(caches.around(snapshot), protect_seconds=0.05)
            self.act(snapshot, around)
        return self.did

    def act(self, snapshot: Snapshot, around: Surroundings) -> None:
        verb = self.chance.choice(["evict", "evict", "slim", "quarantine", "retry", "unlock", "restore", "purge"])
        if verb in ("restore", "purge"):
            self.look_back(verb)
            return
        plan = self.planned(verb, snapshot, around)
        time.sleep(self.chance.random() * 0.02)
        outcome = caches.carried_out(plan, self.trash)
        self.did[verb] += outcome.done
        self.did["refused"] += len(outcome.refused)

    def planned(self, verb: str, snapshot: Snapshot, around: Surroundings) -> Plan:
        entries, root = snapshot.entries, str(self.root)
        if verb in ("evict", "slim"):
            return plan_eviction(entries, root, EvictPolicy(older_than=0.0, slim=verb == "slim"), around)
        planner = {"quarantine": plan_quarantine, "retry": plan_retry, "unlock": plan_unlock}[verb]
        return planner(entries, root, around)

    def look_back(self, verb: str) -> None:
        chapters = [chapter for chapter in self.trash.entries() if chapter.state == "done" and chapter.moves]
        if not chapters:
            return
        chapter = self.chance.choice(chapters)
        if verb == "restore":
            self.did[verb] += restore(chapter.begun.plan, self.trash).restored
        else:
            with self.trash.exclusively():
                self.trash.purge(chapter)
            self.did[verb] += 1
