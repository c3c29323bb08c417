"""The moving picture of the README, of the demo's recording: `python -m tests.tui.take_moving_picture FILE.svg`.

The recording of the demo is played to a few moments, one screen is drawn at each, and the screens are laid over each
other in one SVG that shows them in turn. Whoever asks for less motion gets the last one alone.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path
from typing import NamedTuple

from neuron_top import settings as configuration
from neuron_top.services.demo import demo_feed, demo_settings
from neuron_top.services.feeds import estimator
from neuron_top.tui.app import TopApp
from tests.tui.take_pictures import at_rest

SIZE = (112, 30)
SECONDS = 2.0
"""How long each screen stands."""


class Moment(NamedTuple):
    """A screen, by its key, at a share of the recording."""

    screen: str
    share: float


MOMENTS = (
    Moment("1", 0.20), Moment("1", 0.30), Moment("1", 0.40), Moment("3", 0.45), Moment("3", 0.60), Moment("2", 0.80),
    Moment("1", 0.85), Moment("1", 0.97),
)  # fmt: skip


async def drawn() -> list[str]:
    """The screens of MOMENTS, an SVG each."""
    with demo_settings(configuration.load()[0]) as settings:
        feed = demo_feed(settings)
        app = TopApp(feed, settings, past=lambda: estimator(settings))
        pictures = []
        async with app.run_test(size=SIZE) as pilot:
            feed.clock.pause()
            for moment in MOMENTS:
                feed.clock.seek(feed.clock.start + (feed.clock.end - feed.clock.start) * moment.share)
                await pilot.press(moment.screen)
                await at_rest(app, pilot)
                pictures.append(app.export_screenshot(title="neurontop demo"))
        return pictures


def moving(pictures: list[str]) -> str:
    """One SVG that shows the pictures in turn, without a script."""
    size = pictures[0].partition("viewBox=")[2].split('"')[1]
    part = 100 / len(pictures)
    delays = "\n".join(
        f"#shown-{number} {{ animation-delay: {number * SECONDS:g}s }}" for number in range(len(pictures))
    )
    style = f"""
    .shown {{ visibility: hidden; animation: shown {len(pictures) * SECONDS:g}s step-end infinite }}
    @keyframes shown {{ 0% {{ visibility: visible }} {part:g}%, 100% {{ visibility: hidden }} }}
    {delays}
    @media (prefers-reduced-motion: reduce) {{
        .shown {{ animation: none }}
        #shown-{len(pictures) - 1} {{ visibility: visible }}
    }}"""
    groups = "\n".join(f'<g class="shown" id="shown-{number}">{each}</g>' for number, each in enumerate(pictures))
    return f'<svg viewBox="{size}" xmlns="http://www.w3.org/2000/svg"><style>{style}</style>\n{groups}\n</svg>\n'


def main() -> None:
    """Take it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    os.environ["COLORTERM"] = "truecolor"  # not the palette of the terminal that they are taken in
    file.write_text(moving(asyncio.run(drawn())), encoding="utf-8")
    print(f"{file}: {len(MOMENTS)} screens, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
