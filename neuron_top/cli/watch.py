"""The live screen: what runs on this machine now, or the logs that are named. The default command.

    neurontop                          jobs of this machine as they come and go, its devices and caches
    neurontop watch train.log          one log from its beginning, and on while it grows
    neurontop watch logs/              every log in a folder, new ones too (torchrun's --log-dir)
    torchrun train.py 2>&1 | neurontop watch -      a pipe, with the terminal for keys; kept on a disk to scroll back
    torchrun train.py 2>&1 | neurontop watch --plain -
    neurontop watch monitor.jsonl      what neuron-monitor wrote
    neurontop watch /var/tmp/neuron-compile-cache      a compile cache: entries as they come and change
    neurontop watch --json train.log   the overview as a stream of JSON lines
    neurontop watch --json --view compile --view cores train.log     other views: {"view": …, "data": …} a line

A path may be named before it exists. Without a terminal the state is printed once, after everything there is was read;
--plain (changes and alerts as lines) and --json go on until Ctrl-C, or until the end of standard input. With nothing
running it says what it looked for, where, and what to do next.

exit status: 0 fine · 3 a named path cannot exist · 130 interrupted while printing lines
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from neuron_top import settings as configuration
from neuron_top.cli.on_screen import disable_gc, show
from neuron_top.cli.output import log_stderr, print_json_line, print_text
from neuron_top.cli.terminal import move_pipe_aside
from neuron_top.errors import UsageError
from neuron_top.services.feeds import LiveFeed, Run, estimator
from neuron_top.settings import Settings
from neuron_top.views.overview import Overview, overview

VIEWS = ("overview", "cores", "compile", "timeline")
_ONCE_SECONDS = 3.0
"""How long a look at this machine may take when nobody waits for more."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `watch`."""
    parser.add_argument(
        "paths", nargs="*", metavar="PATH|-", help="logs, folders of logs, compile caches, .jsonl files"
    )
    parser.add_argument("--read-only", action="store_true", help="refuse every change of a cache from the screen")
    face = parser.add_mutually_exclusive_group()
    face.add_argument("--plain", action="store_true", help="progress lines instead of the screen")
    face.add_argument("--json", action="store_true", help="the overview as JSON lines, one per change and second")
    parser.add_argument("--view", action="append", choices=VIEWS, metavar="NAME", default=[],
                        help=f"with --json: which views to stream, repeatable: {', '.join(VIEWS)}")  # fmt: skip


def execute(arguments: argparse.Namespace) -> int:
    """Show it."""
    on_screen = not (arguments.json or arguments.plain) and _has_screen()
    if on_screen:
        disable_gc()
    from neuron_top.services.feeds import live_feed

    settings, _ = configuration.load({"read_only": arguments.read_only or None})
    piped = move_pipe_aside() if on_screen and "-" in arguments.paths and not sys.stdin.isatty() else None
    feed = live_feed(settings, arguments.paths, piped)
    if arguments.view and not arguments.json:
        raise UsageError("--view needs --json: it selects the views to stream; the screen shows all of them")
    if arguments.json:
        stream = partial(_print_views, _views(settings), arguments.view)
        return _follow(feed, stream, stream, 1.0)
    if arguments.plain:
        from neuron_top.cli.plain import LOOK_SECONDS, PlainProgress

        read, progress = _views(settings)["overview"], PlainProgress(print_flushed)
        return _follow(feed, lambda feed: progress.show(feed.read(read)), lambda feed: progress.close(feed.read(read)),
                       LOOK_SECONDS)  # fmt: skip
    if on_screen and sys.stdin.isatty() and (piped is not None or "-" not in arguments.paths):
        return _on_screen(feed, settings, arguments.paths)
    return _once(feed, settings, named=bool(arguments.paths))


def print_flushed(line: str) -> bool:
    """A line on stdout, at once."""
    print_text(line)
    return True


def _has_screen() -> bool:
    """Whether a terminal shows what we print. Its keyboard is another question: a log may be on standard input."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _on_screen(feed: LiveFeed, settings: Settings, paths: Sequence[str]) -> int:
    from neuron_top.services.feeds import cache_roots
    from neuron_top.tui.app import TopApp

    past, caches = partial(estimator, settings), cache_roots(paths)
    return show(TopApp(feed, settings, past=past, memory=settings.state_path, caches=caches))


def _views(settings: Settings) -> dict[str, Callable[[Run, float], Any]]:
    """What can be streamed, by name; with this user's past compile times and limits."""
    from neuron_top.views.cores import core_table
    from neuron_top.views.graphs import graph_table
    from neuron_top.views.model import Limits
    from neuron_top.views.timeline import timeline

    past, limits = estimator(settings), Limits(memory_headroom=settings.memory_headroom)
    views = (
        partial(overview, estimator=past, limits=limits),
        core_table,
        partial(graph_table, estimator=past),
        timeline,
    )
    return dict(zip(VIEWS, views, strict=True))


def _print_views(views: dict[str, Callable[[Run, float], Any]], names: list[str], feed: LiveFeed) -> None:
    """A line for each named view; without a name the overview as it is."""
    if not names:
        print_json_line(feed.read(views["overview"]))
    for name in names:
        print_json_line({"view": name, "data": feed.read(views[name])})


def _follow(feed: LiveFeed, show: Callable[[LiveFeed], None], close: Callable[[LiveFeed], None], period: float) -> int:
    """Show what has changed, at most once per period, until the sources end or somebody stops us; then the end."""
    changed = threading.Event()
    feed.start(changed.set)
    try:
        while not feed.ended:
            if changed.wait(period):
                changed.clear()
                show(feed)
                threading.Event().wait(period)
    finally:
        feed.stop()
        close(feed)
    return 0


def _once(feed: LiveFeed, settings: Settings, *, named: bool) -> int:
    """Read what there is, print where it stands."""
    from neuron_top.cli.plain import overview_text
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
    for source in view.sources:
        if named and not source.available and source.name.startswith("log:"):
            log_stderr(f"neurontop: {source.text}")
    print_text(overview_text(view))
    return 0
