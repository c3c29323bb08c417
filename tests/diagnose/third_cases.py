"""A third set of logs of our own: what stands in front of lines, tools around a job, codes of the runtime."""

from __future__ import annotations

from tests.diagnose.cases import Case

_TRACEBACK = """
Traceback (most recent call last):
  File "/job/fit.py", line 12, in <module>
    run(config)
  File "/job/fit.py", line 7, in run
    shard = shards[rank]
>>>LookupError: no shard for this worker
"""
_FRONTS = {
    "TorchX": "fit/0 [5]:",
    "SageMaker's MPI": "[1,mpirank:5,algo-1]<stderr>:",
    "SageMaker on this machine": "algo-2-q8z1k  | ",
    "pod and container": "fit-worker-5 trainer ",
    "a quotation": "> ",
    "a table with stamps": "| 2026-03-04T05:06:07.890Z | ",
    "a logger in brackets": "[2026-03-04 05:06:07,890] [ERROR] [starter] ",
    "host and rank": "node-5: [rank5]: ",
    "task and rank": " 5: [rank5]: ",
    "a container's runtime without fractions": "2026-03-04T05:06:07Z stderr F ",
}


def _fronted(front: str) -> str:
    return "".join(f"{front}{line}\n" for line in _TRACEBACK.strip("\n").split("\n"))


THIRD_CASES = (
    *(Case(f"a traceback behind {name}", "script_error", _fronted(front), "failed") for name, front in _FRONTS.items()),
    Case(
        "words in front of a traceback's heading alone",
        "script_error",
        """
step 3 of 9 Traceback (most recent call last):
  File "/job/fit.py", line 7, in run
>>>LookupError: no shard for this worker
""",
        "failed",
    ),
    Case(
        "two tracebacks behind names of pods, mixed",
        "script_error",
        """
fit-0 main Traceback (most recent call last):
fit-1 main Traceback (most recent call last):
fit-0 main   File "/job/fit.py", line 7, in run
fit-1 main   File "/job/fit.py", line 8, in run
fit-1 main     check(x)
>>>fit-1 main LookupError: no shard for this worker
fit-0 main     check(x)
fit-0 main BufferError: nothing to read
""",
        "failed",
    ),
)
