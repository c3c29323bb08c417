"""A job whose graphs a trial run has collected and nobody has compiled, against the same without compiling ahead.

Its graphs have one kernel each, so that a compile keeps one core busy, and the job waits between them, as one does
that reads data: what idle cores are good for shows only where there are some.
"""

from __future__ import annotations

import sys

from tests.bench.collected_graphs import JOB, Run, cpu_seconds, seconds, timed_in_turns
from tests.bench.figures import Figure, report

SCRIPT = """
import sys, time, torch
for number in range(int(sys.argv[1])):
    torch._dynamo.reset()
    x = torch.arange(64.0)
    torch.compile(lambda x, number=number: (x * (number + 1.5)).relu().cumsum(0), backend="neurontop")(x)
    time.sleep(0.5)
"""
PEER = "NEURONTOP_COMPILE_AHEAD=0"


def measure(repeats: int = 3, *, graphs: int = 12) -> list[Figure]:
    """Collect once, then run the job on copies of the cache, turn by turn with and without."""
    job = (sys.executable, JOB, str(graphs))
    runs = {"ours": Run(job), PEER: Run(job, dict([PEER.split("=")]))}
    taken = timed_in_turns(SCRIPT, job, runs, repeats)
    wall, used = seconds(taken), cpu_seconds(taken)
    what = f"a job of {graphs} collected graphs, compiled ahead"
    return [Figure(what, PEER, wall["ours"], wall[PEER], 1.0, used["ours"], used[PEER])]


if __name__ == "__main__":
    sys.exit(report(measure()))
