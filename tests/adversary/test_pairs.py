"""Pairs of programs that differ in one thing, in two processes with one cache: a wrong hit is what is looked for.

Most pairs are judged by their keys: wherever Inductor generates other code for the second program than for the first,
our cache must know the two by different keys (`test_programs_with_different_code_have_different_keys`). That needs no
C++ compiler, so thousands are possible: NEURONTOP_PAIRS=5000 NEURONTOP_PAIRS_REPORT=file runs so many and counts them.
The others are compiled and run, each result is compared with that of `backend="inductor"` on the very same program.
"""

from __future__ import annotations

import collections
import json
import os
import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("torch")

from tests.adversary import attacker
from tests.adversary.pair_programs import Program, changed, program
from tests.inductor_folder import inductor_folder
from tests.warm_python import warm_python

pytestmark = [pytest.mark.torch, pytest.mark.timeout(24 * 3600)]

PAIRS = int(os.environ.get("NEURONTOP_PAIRS", "1000" if attacker.LONG else "15"))
RUN = int(os.environ.get("NEURONTOP_PAIRS_RUN", "60" if attacker.LONG else "1"))
SEED = int(os.environ.get("NEURONTOP_PAIRS_SEED", "11"))
REPORT = os.environ.get("NEURONTOP_PAIRS_REPORT", "")
PER_BASE = 10


class Worker:
    """A process that answers tasks, see `pair_worker`."""

    def __init__(self, root: Path) -> None:
        environ = {
            **os.environ,
            "NEURON_COMPILE_CACHE_URL": str(root / "cache"),
            "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(root / "inductor")),
            "OMP_NUM_THREADS": "2",
        }
        with open(root / "said", "ab") as said:
            self._process = subprocess.Popen(
                [*warm_python(), "-m", "tests.adversary.pair_worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env=environ,
                text=True,
            )

    def ask(self, task: str, program: Program) -> dict[str, str]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"task": task, "program": msgspec.to_builtins(program)}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the process died of {program}"
        return dict(json.loads(answer))

    def end(self) -> None:
        self._process.communicate()


@pytest.fixture
def workers(tmp_path: Path) -> Any:
    pair = [Worker(tmp_path), Worker(tmp_path)]
    yield pair
    for worker in pair:
        worker.end()


class Tally:
    """What came out, written down as it goes where somebody wants to know."""

    def __init__(self) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.wrong: list[dict[str, Any]] = []
        self._began = time.monotonic()

    def add(self, kind: str, verdict: str, base: Program, other: Program, *said: Any) -> None:
        self.counts.update([verdict, f"{verdict}: {kind}"])
        if verdict.startswith("WRONG"):
            self.wrong.append({"kind": kind, "base": base, "other": other, "said": said})
        if REPORT:
            whole = {"seconds": time.monotonic() - self._began, "counts": self.counts, "wrong": self.wrong}
            Path(REPORT).write_bytes(msgspec.json.format(msgspec.json.encode(whole)))


def test_programs_with_different_code_have_different_keys(workers: list[Worker]) -> None:
    tally, dice = Tally(), random.Random(SEED)
    with ThreadPoolExecutor(2) as pool:
        for number in range(0, PAIRS, PER_BASE):
            base = program(dice)
            others = [changed(base, dice) for _ in range(min(PER_BASE, PAIRS - number))]
            here, there = workers if number // PER_BASE % 2 else reversed(workers)
            asked = pool.submit(here.ask, "keys", base)
            answers = [there.ask("keys", other) for _, other in others]
            first = asked.result()
            for (kind, other), second in zip(others, answers, strict=True):
                tally.add(kind, _verdict(first, second), base, other, first, second)
    assert tally.counts["same code, same key"] + tally.counts["other code, other key"]
    assert not tally.wrong, tally.wrong


def _verdict(one: dict[str, str], two: dict[str, str]) -> str:
    for answer in (one, two):
        ours, theirs = (answer[name].startswith("failed") for name in ("keys", "source"))
        if ours and not theirs:
            return "WRONG: it fails with us only"
        if theirs:
            return "Inductor does not compile it"
    same_code, same_key = one["source"] == two["source"], one["keys"] == two["keys"]
    if same_key and not same_code:
        return "WRONG: other code, same key"
    return f"{'same' if same_code else 'other'} code, {'same' if same_key else 'other'} key"


def test_programs_compiled_in_two_processes_give_what_inductor_gives(workers: list[Worker]) -> None:
    dice = random.Random(SEED + 1)
    for _ in range(RUN):
        base = program(dice)
        kind, other = changed(base, dice)
        for worker, one in zip(workers, (base, other), strict=True):
            answer = worker.ask("run", one)
            assert answer["ours"] == answer["theirs"], (kind, base, other)
