"""A job whose graphs a trial run has collected and nobody has compiled, against the same without compiling ahead.

Its graphs have one kernel each, so that a compile keeps one core busy, and the job waits between them, as one does
that reads data: what idle cores are good for shows only where there are some.
"""

from __future__ import annotations

import shutil
import sys

from tests.bench.figures import Figure, Timed, own_folders, report, timed

JOB = """
import sys, time, torch
for number in range(int(sys.argv[1])):
    torch._dynamo.reset()
    x = torch.arange(64.0)
    torch.compile(lambda x, number=number: (x * (number + 1.5)).relu().cumsum(0), backend="neurontop")(x)
    time.sleep(0.5)
"""
COLLECT = (sys.executable, "-m", "neuron_top", "compile", "--collect-only", "--")
PEER = "NEURONTOP_COMPILE_AHEAD=0"


def measure(repeats: int = 3, *, graphs: int = 12) -> list[Figure]:
    """Collect once, then run the job on copies of the cache, turn by turn with and without."""
    job = (sys.executable, "job.py", str(graphs))
    taken: dict[str, list[Timed]] = {"ours": [], PEER: []}
    with own_folders() as (folder, environ):
        (folder / "job.py").write_text(JOB)
        timed([*COLLECT, *job], environ, folder)
        shutil.move(folder / "cache", folder / "collected")
        for _ in range(repeats):
            for name in taken:
                with own_folders() as (fresh, own):
                    shutil.copytree(folder / "collected", fresh / "cache")
                    shutil.copy(folder / "job.py", fresh)
                    more = dict([PEER.split("=")]) if name == PEER else {}
                    taken[name].append(timed(job, {**own, **more}, fresh))
    wall = {name: [one.seconds for one in all_] for name, all_ in taken.items()}
    used = {name: [one.cpu_seconds for one in all_] for name, all_ in taken.items()}
    what = f"a job of {graphs} collected graphs, compiled ahead"
    return [Figure(what, PEER, wall["ours"], wall[PEER], 1.0, used["ours"], used[PEER])]


if __name__ == "__main__":
    sys.exit(report(measure()))
