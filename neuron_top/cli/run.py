"""Run a training command transparently, record it and show it live: same output, same exit status, same signals.

    neurontop run -- torchrun --nproc_per_node=4 train.py --steps 100
    neurontop run --name baseline -- python train.py
    neurontop run --plain -- ./train.sh 2>progress.txt      output on stdout, progress on stderr

On a terminal the live view opens (q or Ctrl-C closes it, the job goes on with its output on the terminal); elsewhere
the output passes through and progress lines go to stderr. At the end a summary is printed: why the command failed if
it did, wall time, compile time and its share, cache hits, misses and failures, lock waits, peak memory per core.
`neurontop runs` lists recordings, `neurontop replay last` plays one back.

Without the live view, or once it is closed, Ctrl-C is passed to the job; a second one terminates all its processes, a
third kills them. Ctrl-Z stops the job, too; `fg` and `bg` carry it on.
If neurontop itself is killed (kill -9), the job continues; its output still goes where it went before and to the
recording's output.log. Nothing else is recorded then, and the recording is listed as `cut off`.
Processes that the command leaves behind go on and print to where they did; they are not waited for, and a warning says
that what they print is not recorded.

exit status: the command's own, as a shell gives it (128+n for a signal); 127 command not found, 126 not executable;
2 usage, before the command starts
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from functools import partial

from neuron_top.cli.on_screen import show
from neuron_top.cli.output import log_stderr
from neuron_top.cli.plain import LOOK_SECONDS, PlainProgress, fitted, summary_text
from neuron_top.cli.setting_options import settings_of
from neuron_top.cli.terminal import has_screen, release_lost, standard_terminals, watched_terminal
from neuron_top.errors import UsageError
from neuron_top.services.feeds import estimator
from neuron_top.services.notifications import notifying
from neuron_top.services.record import Recording, new_recording, screen_feed, shell_status, signals_passed_on
from neuron_top.settings import Settings
from neuron_top.views.overview import overview
from neuron_top.views.states import JobState
from neuron_top.views.summary import Summary

TAIL_LINES = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `run`."""
    parser.usage = "neurontop run [--name N] [--on-miss error] [--store URL] [--plain | --screen] -- <command>"
    parser.add_argument("--name", default="", help="name of the recording")
    parser.add_argument(
        "--on-miss",
        choices=("compile", "error"),
        help="at a graph that the cache lacks: compile it, or end the job with an error (NEURONTOP_ON_MISS)",
    )
    parser.add_argument(
        "--store", metavar="URL", help="also ship what is recorded to the database of a fleet (see neurontop agent)"
    )
    face = parser.add_mutually_exclusive_group()
    face.add_argument("--plain", action="store_true", help="pass the output through, print progress lines on stderr")
    face.add_argument("--screen", action="store_true", help="open the live view (the default on a terminal)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command, after --")


def execute(arguments: argparse.Namespace) -> int:
    """Run the command; its exit status is ours."""
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise UsageError("specify a command: neurontop run -- <command>")
    if arguments.on_miss is not None:
        os.environ["NEURONTOP_ON_MISS"] = arguments.on_miss
    settings = settings_of(arguments)
    screen = _wants_screen(arguments)
    recording = new_recording(
        command,
        settings,
        name=arguments.name,
        shown=not screen,
        warn=lambda text: log_stderr(f"neurontop: warning: {text}"),
    )
    lost = watched_terminal()
    hung_up = partial(release_lost, standard_terminals())
    with (
        notifying(lambda: recording.feed, settings, log_stderr, on_screen=screen),
        signals_passed_on(recording.job, log_stderr, hung_up, resize=not screen) as deliver_early,
    ):
        recording.start()
        deliver_early()
        if screen:
            _on_screen(recording, settings, lost)
        code, closing = _in_lines(recording)
    _print_summary(summary_text(closing, recording.kept, _reason(closing), is_replayable=recording.is_replayable))
    return shell_status(code)


def _wants_screen(arguments: argparse.Namespace) -> bool:
    """Whether to open the screen; it needs a keyboard and a terminal to draw on."""
    if arguments.screen and not has_screen():
        raise UsageError("--screen needs a terminal on standard input and output, with this in its foreground")
    return has_screen() and not arguments.plain


def _on_screen(recording: Recording, settings: Settings, lost: threading.Event) -> None:
    """Show the screen until the job ends, the user leaves or the terminal is lost; leaving does not touch the job."""
    from neuron_top.tui.app import TopApp

    app = TopApp(screen_feed(recording), settings, past=partial(estimator, settings))

    def end_of_the_job() -> None:
        recording.job.wait()
        recording.feed.wait_for("job")

    app.while_stopped = recording.job.stopped
    show(app, end_of_the_job, lost.wait)
    for line in recording.feed.log_tail(TAIL_LINES):  # what the screen hid
        print(line.text, flush=True)
    if recording.job.running and not lost.is_set():
        log_stderr("neurontop: the job goes on; Ctrl-C stops it")
    recording.job.show_output()


def _in_lines(recording: Recording) -> tuple[int, Summary]:
    """Progress lines on stderr until the end."""
    progress = PlainProgress(partial(_print_between_lines, recording))
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(LOOK_SECONDS):
            progress.show(recording.feed.read(overview))

    reporter = threading.Thread(target=report, name="progress lines", daemon=True)
    reporter.start()
    try:
        return recording.finish()
    finally:
        ended.set()
        reporter.join()


def _reason(closing: Summary) -> str:
    """Why the command failed, on one line; "" if it did not, or if a person stopped it."""
    if closing.state not in (JobState.FAILED, JobState.KILLED):
        return ""
    from neuron_top.views.diagnosis import headline

    cause = headline(closing.diagnosis, over=True)
    return cause.text if cause is not None else ""


def _print_summary(text: str) -> None:
    """Print the summary in lines that are recognized as ours in a log of the job (`parsers.own_lines`).

    On a terminal, which is no log, its long lines are broken.
    """
    lines = [line if line.startswith(" ") else f"neurontop: {line}" for line in text.splitlines()]
    if os.isatty(2):  # a closed one is none
        lines = fitted(lines)
    log_stderr("\n" + "\n".join(lines))


def _print_between_lines(recording: Recording, line: str) -> bool:
    """Print a line without splitting one of the job's; False if that is not possible now."""
    with recording.job.between_lines(sys.stderr.fileno()) as before:
        if before is not None:
            log_stderr(f"{before}neurontop: {line}")
    return before is not None
