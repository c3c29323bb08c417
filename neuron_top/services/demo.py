"""The recording that ships with the package: a real run, for people who have none yet.

`python -m tests.tui.record_demo` makes it: four ranks of the tutorial, with misses, waits, a compile that was killed
and compiled again, and steps to the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree

import msgspec

import neuron_top
from neuron_top.ingest.replay import ReplayFeed
from neuron_top.services.runs import LAST, RunService
from neuron_top.settings import Settings

SECONDS = 60.0
"""About how many seconds the recording is played."""
BEGINS_AT = 0.15
"""The display begins after this share of the recording, as before it processes only start."""


@contextmanager
def demo_settings(settings: Settings) -> Iterator[Settings]:
    """The user's settings with a state folder that holds only the recording, and with changes disabled.

    The folder is a copy, because SQLite cannot follow a database in a folder that cannot be written to.
    """
    with tempfile.TemporaryDirectory(prefix="neurontop-demo-") as folder:
        state = Path(folder) / "state"
        copytree(Path(neuron_top.__file__).parent / "assets" / "demo", state)
        state.chmod(0o700)
        yield msgspec.structs.replace(settings, state_dir=str(state), read_only=True)


def demo_feed(settings: Settings) -> ReplayFeed:
    """The recording, played so fast that it takes about SECONDS. `settings`: the result of `demo_settings`."""
    feed = RunService(settings).replay(LAST)
    length = feed.clock.end - feed.clock.start
    feed.clock.speed = max(1.0, float(round(length / SECONDS)))
    feed.clock.seek(feed.clock.start + BEGINS_AT * length)
    return feed
