"""Compiles failed graphs again in a child process, for front ends that draw a screen: compilers may write to the
child's streams, and it can be ended.

The parent writes a `ChildJob` as one JSON line to its stdin; it answers with JSON lines, `ChildProgress` of the plan
and at last a `ChildOutcome` or a `ChildRefusal`. An interrupt (SIGINT) stops it before its next step; the kernel
ends it with its parent.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import msgspec

from neuron_top.actions import plan as plans
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.plan import Plan
from neuron_top.compile.child_processes import die_with_parent
from neuron_top.decoders import MALFORMED
from neuron_top.errors import NeuronTopError, RefusedForSafety
from neuron_top.events.levels import LogLevel


class ChildJob(msgspec.Struct, frozen=True, kw_only=True):
    """What the child is to do."""

    plan: Plan
    jobs: int
    read_only: bool = False


class ChildProgress(plans.Progress, frozen=True, tag=True):
    """Where it stands."""


class ChildOutcome(plans.Outcome, frozen=True, kw_only=True, tag=True):
    """What happened."""


class ChildRefusal(msgspec.Struct, frozen=True, tag=True):
    """Nothing was done."""

    why: str


_answers: msgspec.json.Decoder[ChildProgress | ChildOutcome | ChildRefusal] = msgspec.json.Decoder(
    ChildProgress | ChildOutcome | ChildRefusal
)


def compile_apart(plan: Plan, *, jobs: int, read_only: bool, watch: Callable[[plans.Progress], bool]) -> plans.Outcome:
    """Execute a plan to compile now in a child process; stop when `watch` returns False. Raises RefusedForSafety."""
    job = ChildJob(plan=plan, jobs=jobs, read_only=read_only)
    with subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],  # -P: nothing is imported from the folder we are in
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=die_with_parent(),
    ) as child:
        if child.stdin is None or child.stdout is None:
            raise AssertionError("both are pipes")
        with contextlib.suppress(BrokenPipeError):  # it ended before it read its job: no answer follows
            child.stdin.write(msgspec.json.encode(job) + b"\n")
            child.stdin.close()
        stopped = False
        for line in child.stdout:
            try:
                answer = _answers.decode(line)
            except MALFORMED:  # the child was killed while it wrote the line
                break
            if isinstance(answer, ChildRefusal):
                raise RefusedForSafety(answer.why)
            if isinstance(answer, plans.Outcome):
                return answer
            if not watch(answer) and not stopped:
                stopped = True
                child.send_signal(signal.SIGINT)
    raise RefusedForSafety(
        f"the compile process ended before its work was done (status {child.returncode}); what it finished is "
        "kept, and nothing is stored as a failure: make the plan again"
    )


def main() -> None:
    """The child's end."""
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=ChildJob)
    stopped = False

    def stop(number: int, frame: object) -> None:
        nonlocal stopped
        stopped = True

    signal.signal(signal.SIGINT, stop)
    try:
        _send(msgspec.convert(_compiled(job, lambda: stopped), ChildOutcome, from_attributes=True))
    except NeuronTopError as problem:
        _send(ChildRefusal(str(problem)))


def _compiled(job: ChildJob, stopped: Callable[[], bool]) -> plans.Outcome:
    from neuron_top.actions.execution.compile_now import compile_now
    from neuron_top.actions.execution.compilers import compilers_for
    from neuron_top.compile.parallel.compile_queue import QueueProgress
    from neuron_top.compile.parallel.log_lines import ParallelLog

    def watch(now: QueueProgress) -> bool:
        first = now.running[0].module if now.running else ""
        _send(
            ChildProgress(
                now.done,
                now.failed,
                now.total or 0,
                0,
                first,
                running=now.running_count,
                remaining=now.remaining,
                held_back=now.held_back,
            )
        )
        return not stopped()

    compilers, _ = compilers_for(job.plan.root, (step.path for step in job.plan.steps), soon=True)
    log = ParallelLog(level=LogLevel.ERROR, stream=io.StringIO())
    return compile_now(
        job.plan, Trash(job.plan.root), compilers, jobs=job.jobs, log=log, watch=watch, read_only=job.read_only
    )


def _send(answer: ChildProgress | ChildOutcome | ChildRefusal) -> None:
    rest = memoryview(msgspec.json.encode(answer) + b"\n")
    while rest:  # an interrupt may cut a long write short
        rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    main()
