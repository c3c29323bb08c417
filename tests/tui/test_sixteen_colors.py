"""On a terminal of sixteen colors: nothing else is sent, and no two states differ by their color alone."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from neuron_top.tui.panels.alerts import alert_line
from neuron_top.tui.theme import ASCII, NO_COLOR, THEMES, UNICODE, Theme, palette_for
from neuron_top.views.alerts import SEVERITIES, Alert, AlertKind, Severity

PATIENCE = 240.0
_STYLES = re.compile(rb"\x1b\[([\d;]*)m")
LOG = "INFO: the first line\nWARNING: disk is slow\nTraceback (most recent call last):\nValueError: shapes differ\n"


def alert_of(severity: Severity) -> Alert:
    return Alert(
        key="k", kind=AlertKind.FALLBACK, severity=severity, since=None, title="t", evidence="e", next_step="n"
    )


@contextmanager
def shown(log: Path, **environ: str) -> Iterator[int]:
    """The real program on a log, in a pseudo terminal: the descriptor of its other side."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("COLORTERM", "NO_COLOR", "COLUMNS", "LINES")
    }
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    program = subprocess.Popen(
        [sys.executable, "-m", "neuron_top", "watch", str(log)],
        env=kept | environ,
        stdin=side,
        stdout=side,
        stderr=side,
        start_new_session=True,
    )
    os.close(side)
    try:
        yield terminal
    finally:
        program.kill()
        program.wait()
        os.close(terminal)


def read_until(terminal: int, text: bytes) -> bytes:
    """What was sent until this text was."""
    sent, deadline = b"", time.monotonic() + PATIENCE
    while text not in sent:
        assert time.monotonic() < deadline, sent[-2000:]
        if select.select([terminal], [], [], 1.0)[0]:
            sent += os.read(terminal, 1 << 16)
    return sent


@pytest.mark.e2e
def test_a_terminal_of_sixteen_colors_is_sent_no_others(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOG)
    with shown(log, TERM="xterm-16color", LC_ALL="C.UTF-8") as terminal:
        sent = read_until(terminal, b"ValueError: shapes differ")
    styles = {style for style in _STYLES.findall(sent) if style}
    assert styles, sent
    wide = [style for style in styles if re.search(rb"(?:^|;)[34]8;[25]", style)]
    assert not wide
    colors = {int(number) for style in styles for number in style.split(b";")}
    assert colors & {*range(30, 38), *range(90, 98)}, colors
    assert colors <= {
        *range(10),
        *range(21, 30),
        *range(30, 38),
        39,
        *range(40, 48),
        49,
        *range(90, 98),
        *range(100, 108),
    }


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_what_differs_by_color_differs_by_a_sign_or_a_word_too(glyphs: object) -> None:
    theme = Theme(NO_COLOR, glyphs)
    assert all(
        style.color is None and style.bgcolor is None
        for style in (theme.bad, theme.warn, theme.good, *theme.hues.values())
    )
    signs = [glyphs.done, glyphs.failed, glyphs.running, glyphs.waiting, glyphs.queued, glyphs.warn, glyphs.note]
    assert len(set(signs)) == len(signs)
    assert len({glyphs.bar, glyphs.hollow, glyphs.track}) == 3
    kinds = ("parameters", "gradients", "optimizer", "activations", "compiled_code", "rest", "unattributed")
    assert len({theme.memory_glyph(kind) for kind in kinds}) == len(kinds), "they stand in one bar"
    lines = [alert_line(theme, alert_of(severity), 0.0, 60) for severity in SEVERITIES]
    assert len({line.text.split(":")[0] for line in lines}) == len(SEVERITIES)


@pytest.mark.parametrize("name", THEMES)
def test_in_sixteen_colors_no_text_has_the_color_of_its_background_or_of_what_it_is_told_from(name: str) -> None:
    from rich.color import Color, ColorSystem

    palette = palette_for(name, "standard")

    def nearest(role: str) -> int | None:
        return Color.parse(getattr(palette, role)).downgrade(ColorSystem.STANDARD).number

    for role in ("text", "quiet", "accent", "good", "warn", "bad"):
        assert nearest(role) not in (nearest("background"), nearest("selected")), role
    assert nearest("selected") != nearest("background")
    assert len({nearest(role) for role in ("text", "quiet", "faint", "accent")}) == 4


@pytest.mark.parametrize(("name", "shared"), [("dark", 0), ("light", 1), ("high-contrast", 0)])
def test_in_sixteen_colors_hues_stay_apart(name: str, shared: int) -> None:
    """On white, orange and yellow share the one color between red and green that can be read there."""
    from rich.color import Color, ColorSystem

    palette = palette_for(name, "standard")
    nearest = {
        hue: Color.parse(color).downgrade(ColorSystem.STANDARD).number
        for hue, color in palette.hues.items()
        if color is not None
    }
    assert len(set(nearest.values())) == len(nearest) - shared, nearest
