"""The compiler's own lines: in its file, verbose on a console, and of the first generation."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from neuron_top.events import AnyEvent, CompilerExited, CompilerStageFinished, CompilerVersionSeen, LineMarked
from neuron_top.parsers.reader import LogReader

AT = datetime(2026, 1, 21, 17, 40, 13, tzinfo=UTC).timestamp()


@pytest.mark.parametrize("loggers_clocks", [True, False])
@pytest.mark.parametrize("stamp", ["2026-01-21T17:40:13Z", "01/21/2026 05:40:13 PM", "..2026-01-21T17:40:13Z"])
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("INFO 6595 [root]: Subcommand returned with exitcode=70", CompilerExited),
        ("INFO 6595 [root/Tensorizer]: Tensorizer finished after 288.153 seconds", CompilerStageFinished),
        ("INFO 6595 [root]: NeuronX Compiler version 2.99.1.0+abcdef01", CompilerVersionSeen),
        ("ERROR 6595 [root]: no teapot fits", LineMarked),
        ("Wash finished after 0.5 seconds", CompilerStageFinished),
    ],
)
def test_events_have_the_compilers_own_time(text: str, kind: type[AnyEvent], stamp: str, loggers_clocks: bool) -> None:
    reader = LogReader("log:x", loggers_clocks=loggers_clocks)
    events = reader.feed(f"{stamp} {text}\n".encode()) + reader.flush()
    assert [(type(event), event.at) for event in events if isinstance(event, kind)] == [(kind, AT)]
