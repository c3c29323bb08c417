"""Live view of this machine, or of the given logs and caches. The default command.

    neurontop                          the jobs, devices and compile caches of this machine
    neurontop watch train.log          one log from its beginning, followed as it grows
    neurontop watch logs/              every log in a folder, new ones too (torchrun's --log-dir)
    torchrun train.py 2>&1 | neurontop watch -      a pipe; keys come from the terminal
    torchrun train.py 2>&1 | neurontop watch --plain -
    neurontop watch monitor.jsonl      records of neuron-monitor
    neurontop watch /var/tmp/neuron-compile-cache      a compile cache
    neurontop watch s3://bucket/prefix      a compile cache in S3, on the cache screen
    neurontop watch --store postgresql://db/neurontop --job 4711      a job over all its nodes (see neurontop agent)
    neurontop watch --json train.log   the overview as a stream of JSON lines
    neurontop watch --json --view compile --view cores train.log     other views, as {"view": …, "data": …}

A path need not exist yet: it is watched for. --plain (changes and alerts as lines) and --json continue until Ctrl-C or
the end of standard input. Else, without a terminal, the state is printed once, after all input was read, and a path
must exist. If nothing runs here, it prints what it looked for, where, and what to do next.

exit status: 0 fine · 2 usage, or a file cannot be read · 3 a given path is not found (where it is watched for: nor its
folder) · 130 interrupted while printing lines
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuron_top.cli.names import named
from neuron_top.cli.on_screen import disable_gc, show
from neuron_top.cli.output import log_stderr, print_json_line, print_text
from neuron_top.cli.setting_options import add_store, settings_of
from neuron_top.cli.terminal import can_draw, has_keyboard, move_pipe_aside
from neuron_top.errors import NothingToShow, UsageError
from neuron_top.settings import Settings

if TYPE_CHECKING:  # `--help` needs no run, and what a screen needs is imported with garbage collection off
    from neuron_top.services.feeds import EndingFeed, Run
    from neuron_top.views.overview import Overview

VIEWS = ("overview", "cores", "compile", "timeline")
_ONCE_SECONDS = 3.0
"""How long a look at this machine may take when nobody waits for more."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `watch`."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH|-", help="logs, folders of logs, compile caches, .jsonl files"
    )
    parser.add_argument("--read-only", action="store_true", help="refuse all changes to caches")
    parser.add_argument(
        "--job", type=named, metavar="NAME", help="a job over all its nodes, out of the fleet's database"
    )
    add_store(parser)
    face = parser.add_mutually_exclusive_group()
    face.add_argument("--plain", action="store_true", help="print progress lines instead of opening the screen")
    face.add_argument("--json", action="store_true", help="print the overview as JSON lines, at most one per second")
    parser.add_argument(
        "--view",
        action="append",
        choices=VIEWS,
        metavar="NAME",
        default=[],
        help=f"with --json: view to stream, repeatable: {', '.join(VIEWS)}",
    )


def execute(arguments: argparse.Namespace) -> int:
    """Show it."""
    on_screen = not (arguments.json or arguments.plain) and can_draw()  # keys: a log may be on standard input
    if on_screen:
        disable_gc()
    from neuron_top.services.feeds import bucket_paths, job_feed, live_feed
    from neuron_top.services.notifications import notifying

    settings = settings_of(arguments)
    if arguments.view and not arguments.json:
        raise UsageError("--view needs --json: it selects the views to stream; the screen shows all of them")
    if arguments.job and arguments.paths:
        raise UsageError(
            "specify either --job, which shows what agents shipped, or a PATH, which is read on this machine"
        )
    if not on_screen and (buckets := bucket_paths(arguments.paths)):
        raise UsageError(f"{buckets[0]} can be watched on a screen only; `neurontop cache ls {buckets[0]}` lists it")
    piped = move_pipe_aside() if on_screen and "-" in arguments.paths and not has_keyboard() else None
    on_screen = on_screen and has_keyboard() and (piped is not None or "-" not in arguments.paths)
    missing = [] if on_screen or arguments.json or arguments.plain else _missing(arguments.paths)
    if missing:
        for path in missing:
            log_stderr(f"neurontop: {path}: no such file or folder; --plain and --json wait for it")
        arguments.paths = [path for path in arguments.paths if path not in missing]
        if not arguments.paths:
            return NothingToShow.exit_code
    feed = (
        job_feed(settings, arguments.job)
        if arguments.job
        else live_feed(settings, arguments.paths, piped, stays=on_screen)
    )
    with notifying(lambda: feed, settings, log_stderr, on_screen=on_screen):
        status = _shown(feed, settings, arguments, piped, on_screen=on_screen)
    return status or (NothingToShow.exit_code if missing else 0)


def _shown(
    feed: EndingFeed, settings: Settings, arguments: argparse.Namespace, piped: int | None, *, on_screen: bool
) -> int:
    if arguments.json:
        stream = partial(_print_views, _views(settings), arguments.view)
        return _follow(feed, stream, stream, 1.0)
    if arguments.plain:
        from neuron_top.cli.plain import LOOK_SECONDS
        from neuron_top.cli.plain_jobs import PlainJobs

        read = _views(settings)["overview"]
        lines = PlainJobs(print_flushed)
        return _follow(
            feed,
            lambda feed: lines.each(feed, lambda progress, one: progress.show(one.read(read))),
            lambda feed: lines.each(feed, lambda progress, one: progress.close(one.read(read))),
            LOOK_SECONDS,
            lambda feed: (
                None if feed.is_behind else lines.each(feed, lambda progress, one: progress.wait(one.read(read)))
            ),
        )
    if on_screen:
        return _on_screen(feed, settings, arguments.paths)
    return _once(feed, settings, named=bool(arguments.paths or arguments.job))


def _missing(paths: Sequence[str]) -> list[str]:
    """The paths that do not exist: a state that is printed once does not wait for them."""
    return [path for path in paths if path != "-" and _is_missing(path)]


def _is_missing(path: str) -> bool:
    try:
        Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass  # it is there, and reading it will say what is wrong
    return False


def print_flushed(line: str) -> bool:
    """Print a line on stdout, flushed."""
    print_text(line)
    return True


def _on_screen(feed: EndingFeed, settings: Settings, paths: Sequence[str]) -> int:
    from neuron_top.services.feeds import bucket_paths, cache_roots, estimator
    from neuron_top.tui.app import TopApp

    past, caches = partial(estimator, settings), cache_roots(paths)
    first = "cache" if paths and bucket_paths(paths) == list(paths) else ""
    return show(TopApp(feed, settings, first, past=past, state_folder=settings.state_path, caches=caches))


def _views(settings: Settings) -> dict[str, Callable[[Run, float], Any]]:
    """What can be streamed, by name; with this user's past compile times and limits."""
    from neuron_top.services.feeds import estimator
    from neuron_top.views.cores import core_table
    from neuron_top.views.graphs import graph_table
    from neuron_top.views.model import Limits
    from neuron_top.views.overview import overview
    from neuron_top.views.timeline import timeline

    past, limits = estimator(settings), Limits(memory_headroom=settings.memory_headroom)
    views = (
        partial(overview, estimator=past, limits=limits),
        core_table,
        partial(graph_table, estimator=past),
        timeline,
    )
    return dict(zip(VIEWS, views, strict=True))


def _print_views(views: dict[str, Callable[[Run, float], Any]], names: list[str], feed: EndingFeed) -> None:
    """A line for each named view; without a name the overview as it is."""
    from neuron_top.services.jobs import named_jobs

    for job, one in named_jobs(feed) or [("", feed)]:
        if not names:
            print_json_line(one.read(views["overview"]))
        for name in names:
            print_json_line({"view": name, **({"job": job} if job else {}), "data": one.read(views[name])})


def _follow(
    feed: EndingFeed,
    show: Callable[[EndingFeed], None],
    close: Callable[[EndingFeed], None],
    period: float,
    wait: Callable[[EndingFeed], None] = lambda feed: None,
) -> int:
    """Show what has changed, at most once per period, until the sources end or somebody stops us; then the end.

    `wait` is called if nothing changed for a period: that may itself raise an alert.
    """
    changed = threading.Event()
    feed.start(changed.set)
    try:
        while not feed.ended:
            if changed.wait(period):
                changed.clear()
                show(feed)
                time.sleep(period)
            else:
                wait(feed)
    finally:
        feed.stop()
        close(feed)
    return 0


def _once(feed: EndingFeed, settings: Settings, *, named: bool) -> int:
    """Read what there is, and print the state once, of each job; of one whose log cannot be read only why."""
    from neuron_top.cli.plain import print_overview
    from neuron_top.services.feeds import searched_places

    feed.start(lambda: None)
    feed.settle(_ONCE_SECONDS)
    feed.stop()
    view: Overview = feed.read(_views(settings)["overview"])
    if not named and not view.header.run and not view.cores:
        log_stderr(f"neurontop: {searched_places(settings)}")
        for source in view.sources:
            if not source.available and source.name != "jobs":
                log_stderr(f"neurontop: {source.name}: {source.text}")
        return 0
    from neuron_top.services.jobs import named_jobs

    several = [one for _job, one in named_jobs(feed)]
    views = [one.read(_views(settings)["overview"]) for one in several] if len(several) > 1 else [view]
    absent = {each.name: each for job in views for each in job.sources if not each.available and each.is_file}
    for source in absent.values() if named else ():
        log_stderr(f"neurontop: {source.text}")
    shown = [each for each in views if not _is_unread(each)]
    for number, each in enumerate(shown):
        print_overview(each, instead_of_a_screen=number == 0)
    return UsageError.exit_code if any(source.unreadable for source in absent.values()) else 0


def _is_unread(view: Overview) -> bool:
    """Whether there is nothing in it because a file or folder cannot be read."""
    return view.header.last_line is None and not view.cores and any(source.unreadable for source in view.sources)
