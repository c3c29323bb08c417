"""The pictures of the documentation: each state at each size in both themes, each linked, none too heavy."""

from __future__ import annotations

import re
from pathlib import Path

from tests.dashboard import take_pictures as web
from tests.tui import take_pictures as terminal
from tests.tui.picture_states import cases

DOCS = Path(__file__).resolve().parents[2] / "docs"
PICTURES = DOCS / "pictures"
MOST_BYTES = 24 * 1024**2


def test_every_state_is_shown_at_every_size_in_both_themes() -> None:
    wanted = {
        f"{name}-{wide}x{high}-{theme}.svg"
        for name in cases()
        for wide, high in terminal.SIZES
        for theme in terminal.THEMES
    }
    wanted |= {
        f"web/{name}-{case.pages[0] or 'overview'}-{width}-{theme}.webp"
        for name, case in web.CASES.items()
        for width in web.WIDTHS
        for theme in web.THEMES
    }
    assert sorted(name for name in wanted if not (PICTURES / name).is_file()) == []


def test_every_picture_is_linked() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    linked = set(re.findall(r"\]\((?:\.\./)?(pictures/[^)]+)\)", text))
    kept = {str(path.relative_to(DOCS)) for path in PICTURES.rglob("*") if path.is_file()}
    assert sorted(kept - linked) == []
    assert sorted(linked - kept) == []


def test_pictures_do_not_weigh_too_much() -> None:
    assert sum(path.stat().st_size for path in PICTURES.rglob("*") if path.is_file()) <= MOST_BYTES


def test_no_picture_lies_at_the_top_level() -> None:
    """One taken to look at a screen came in with a commit."""
    assert [path.name for path in DOCS.parent.iterdir() if path.suffix in (".png", ".svg", ".webp", ".jpg")] == []
