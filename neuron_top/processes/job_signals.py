"""Passes signals on to the job: the first to its process group, the second and third to all of its processes.

Ctrl-Z stops the job, then us, so that the shell gets its terminal back; when we are continued (`fg`, `bg`), so is the
job. If only we stopped, the job would block as soon as nobody reads its output.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator

from neuron_top.processes.launch import Job
from neuron_top.processes.self_stop import stop_until_continued


@contextlib.contextmanager
def signals_passed_on(
    job: Job, notify: Callable[[str], None], on_hangup: Callable[[], None], *, resize: bool = True
) -> Iterator[Callable[[], None]]:
    """Within the block, signals to us are passed to the job; a signal that was ignored at our start stays ignored.

    Enter it before the job starts, since a signal in between would end us and leave the job alone. Signals that came
    before the job ran are passed on when the yielded function is called. `resize`: pass a new size of our terminal on
    to the job's (not if a screen of ours is in between). `on_hangup`: called when the terminal may be lost, as writing
    to it must not keep the recording from ending.
    """
    presses = 0
    early: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        nonlocal presses
        if not job.started:
            early.append(number)
            return
        if number == signal.SIGHUP:
            on_hangup()
        presses += number == signal.SIGINT
        if number != signal.SIGINT or presses == 1:
            job.signal(number)
            if number == signal.SIGINT:
                notify("asked the job to stop; Ctrl-C again ends all its processes, once more kills them")
        else:
            job.signal_all(signal.SIGTERM if presses == 2 else signal.SIGKILL)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, _stopping_with(job) if number == signal.SIGTSTP else pass_on)
    if resize:
        before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda _number, _frame: job.copy_window_size())

    def deliver() -> None:
        while early:
            pass_on(early.pop(0), None)

    try:
        yield deliver
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stopping_with(job: Job) -> Callable[[int, object], None]:
    """The handler of Ctrl-Z."""

    def stop(_number: int, _frame: object) -> None:
        with job.stopped() if job.started else contextlib.nullcontext():
            stop_until_continued()

    return stop
