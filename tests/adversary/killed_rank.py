"""A process that forks ranks: one is stopped at its n-th touch of the disk and killed (-9) while two others wait.

Forking where the tests run would inherit their threads, and a fresh interpreter for each kill would take minutes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.actions.killing import TOUCHES, WRITES
from tests.compile.fakes import obtain_once

REPOSITORY = Path(__file__).parents[2]
WAITERS = 2
_SETTLE_SECONDS = 0.2
"""How long the others get to come to where they wait."""


class Died(NamedTuple):
    """What became of one attack."""

    killed: bool
    """False: it came to its end before that touch."""
    waiters: list[int]
    """How the others ended."""
    seconds: float
    """From the kill to the last one's end."""


class Ranks:
    """Asks the forking process for attacks, one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def attack(self, root: Path, journal: Path, touches: int) -> Died:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(root), str(journal), touches]) + "\n")
        self._process.stdin.flush()
        return Died(*json.loads(self._process.stdout.readline()))


@contextmanager
def ranks() -> Iterator[Ranks]:
    """The forking process, for a module's tests."""
    command = [sys.executable, "-m", "tests.adversary.killed_rank"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=REPOSITORY
    ) as process:
        yield Ranks(process)


def serve() -> None:
    """Make an attack for each line that comes in, and say what became of it."""
    for line in sys.stdin:
        print(json.dumps(attack(*json.loads(line))), flush=True)


def attack(root: str, journal: str, touches: int) -> Died:
    """See `Ranks.attack`."""
    reader, writer = os.pipe()
    victim = forked(lambda: stop_at(touches, writer, lambda: obtain_once(root, journal, 0.0)))
    os.close(writer)
    stopped = bool(os.read(reader, 1))
    os.close(reader)
    others = [forked(lambda: obtain_once(root, journal, 0.0)) for _ in range(WAITERS)]
    time.sleep(_SETTLE_SECONDS)
    if stopped:
        os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
    began = time.monotonic()
    ended = [os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) for other in others]
    return Died(stopped, ended, time.monotonic() - began)


def stop_at(touches: int, writer: int, work: Callable[[], None]) -> None:
    """Do it, but stop for good before touch number `touches` (from 0) and say so."""
    left = touches

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in TOUCHES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES):
            left -= 1
            if left < 0:
                os.write(writer, b"x")
                while True:
                    signal.pause()

    sys.addaudithook(count)
    work()


def forked(work: Callable[[], None]) -> int:
    """A child that does it; its exit status reports whether it could."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


if __name__ == "__main__":
    serve()
