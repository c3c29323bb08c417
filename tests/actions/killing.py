"""A process that forks: each child does one thing to a cache and is killed (-9) at its n-th touch of the disk.

What touches a folder is counted, and each request to a server.
Forking where the tests run would inherit their threads, and a fresh interpreter for each kill would take minutes.
"""

from __future__ import annotations

import functools
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from neuron_top.actions import plan as plans
from neuron_top.actions.backends.base import ExecuteOptions
from neuron_top.actions.execution import copy as copies
from neuron_top.actions.execution import s3 as s3_executor
from neuron_top.actions.execution.compile_now import compile_now
from neuron_top.actions.execution.copy_targets import LocalCopyTarget
from neuron_top.actions.execution.local import execute
from neuron_top.actions.journal import s3_restore
from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.s3_journal import BucketJournal
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.pins import Pins
from neuron_top.actions.plan import Plan
from neuron_top.cache import s3
from neuron_top.compile.compilers.neuronx_cc import NeuronxCC
from neuron_top.compile.parallel.log_lines import ParallelLog
from neuron_top.errors import NeuronTopError
from neuron_top.events.levels import LogLevel

REPOSITORY = Path(__file__).parents[2]
TOUCHES = frozenset(
    {"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.utime", "os.truncate", "http.client.send"}
)
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
def killer(environ: Mapping[str, str] | None = None) -> Iterator[Killer]:
    """The forking process, for a module's tests; `environ` is added to ours."""
    command = [sys.executable, "-m", "tests.actions.killing"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, **(environ or {})},
    ) as process:
        yield Killer(process)


def serve() -> None:
    """Fork for each line that comes in, and say how the child ended."""
    for line in sys.stdin:
        verb, root, plan, touches = json.loads(line)
        if verb.startswith("bucket"):
            _bucket(_read(plan).root)
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
        ACTS[verb](root, plan)
    except NeuronTopError as problem:
        print(problem, file=sys.stderr)
        os._exit(1)
    os._exit(0)


def _execute(root: Path, plan: str) -> None:
    execute(_read(plan), Trash(root), ExecuteOptions(in_use=lambda root: None))


def _purge(root: Path, plan: str) -> None:
    trash = Trash(root)
    with trash.exclusively():
        trash.purge(trash.history_of(plan))


def _copy(root: Path, plan: str) -> None:
    """To the plan's target."""
    target = Path(_read(plan).target)
    copies.copy(_read(plan), LocalCopyTarget(root), LocalCopyTarget(target), Trash(target), lambda progress: True)


def _compile(root: Path, plan: str) -> None:
    """With the compiler that lies beside the plan."""
    one = NeuronxCC(str(Path(plan).with_name("neuronx-cc")))
    log = ParallelLog(level=LogLevel.ERROR, stream=io.StringIO())
    compile_now(_read(plan), Trash(root), {one.graph_name: one}, jobs=1, log=log, watch=lambda progress: True)


def _pin(root: Path, pattern: str) -> None:
    Pins(root).add([pattern])


def _read(plan: str) -> Plan:
    return plans.decode(Path(plan).read_bytes())[0]


_bucket = functools.cache(s3.connect)
"""Made before the fork: a client costs a third of a second, and opens its connection with the first request."""


def _in_bucket(root: Path, plan: str) -> None:
    """`root` is the state folder; the plan says which bucket."""
    bucket = _bucket(_read(plan).root)
    s3_executor.execute(_read(plan), bucket, BucketJournal(bucket.url, root), sleep=lambda seconds: None)


def _back_in_bucket(root: Path, plan: str) -> None:
    bucket = _bucket(_read(plan).root)
    s3_restore.restore(_read(plan).identity, bucket, BucketJournal(bucket.url, root))


ACTS: Mapping[str, Callable[[Path, str], object]] = {
    # what is given the root, and the file of a plan (or what the act is about)
    "execute": _execute,
    "restore": lambda root, plan: restore(plan, Trash(root)),
    "purge": _purge,
    "copy": _copy,
    "compile": _compile,
    "pin": _pin,
    "bucket": _in_bucket,
    "bucket back": _back_in_bucket,
}


if __name__ == "__main__":
    serve()
