"""A process that forks: each child does one thing to a cache and is killed (-9) at its n-th touch of the disk.

Forking where the tests run would inherit their threads, and a fresh interpreter for each kill would take minutes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neuron_top.actions import plan as plans
from neuron_top.actions.execute import execute
from neuron_top.actions.journal import Trash
from neuron_top.actions.restore import restore
from neuron_top.errors import NeuronTopError

REPOSITORY = Path(__file__).parents[2]
TOUCHES = frozenset({"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.utime", "os.truncate"})
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Killer:
    """Asks the forking process for children, one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def killed(self, verb: str, root: Path, plan: str, touches: int) -> bool:
        """Do it, to be killed before touch number `touches` (from 0); False when it lived to the end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([verb, str(root), plan, touches]) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        assert status in (0, -signal.SIGKILL), f"{verb} at touch {touches} ended with {status}"
        return status != 0


@contextmanager
def killer() -> Iterator[Killer]:
    """The forking process, for a module's tests."""
    command = [sys.executable, "-m", "tests.actions.killing"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        yield Killer(process)


def serve() -> None:
    """Fork for each line that comes in, and say how the child ended."""
    for line in sys.stdin:
        verb, root, plan, touches = json.loads(line)
        child = os.fork()
        if child == 0:
            _live(verb, Path(root), plan, touches)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _live(verb: str, root: Path, plan: str, touches: int) -> None:
    left = touches

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in TOUCHES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.addaudithook(count)
        _do(verb, Trash(root), plan)
    except NeuronTopError as problem:
        print(problem, file=sys.stderr)
        os._exit(1)
    os._exit(0)


def _do(verb: str, trash: Trash, plan: str) -> None:
    if verb == "execute":
        execute(plans.decode(Path(plan).read_bytes())[0], trash, in_use=lambda root: None)
    elif verb == "restore":
        restore(plan, trash)
    else:
        with trash.exclusively():
            trash.purge(trash.chapter(plan))


if __name__ == "__main__":
    serve()
