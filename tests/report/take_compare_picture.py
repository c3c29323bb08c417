"""The picture of docs/tensor-parallel.md: `python -m tests.report.take_compare_picture FILE.png`.

Draws what was measured with the report's own page; the page of the documentation has the same numbers as a table.
"""

from __future__ import annotations

import sys
from pathlib import Path

from neuron_top.report import multi_compare as report
from neuron_top.units import bytes_text, signed_percent_text
from neuron_top.views.multi_compare import ComparedRun, MultiComparison
from tests.dashboard.browser import chromium

_MIB = 1024**2
_WIDTH = 1000
KINDS = ("parameters", "gradients", "optimizer", "activations", "rest")
MEASURED = {
    "tp1": ((33.2, 33.2, 66.4, 8.5, 342), 464, 11.71),
    "tp2": ((21.2, 21.2, 42.4, 11.1, 352), 422, 13.53),
    "tp4": ((15.2, 15.2, 30.3, 16.1, 340), 396, 9.11),
}
"""Run → MiB of each kind per core, MiB of all at once, sequences a second."""


def comparison() -> MultiComparison:
    """The measured runs as `neurontop compare` puts them together."""
    _, memory, throughput = MEASURED["tp1"]
    rows = []
    for title, (kinds, peak, speed) in MEASURED.items():
        is_first = title == "tp1"
        rows.append(
            ComparedRun(
                title=title,
                cores=4,
                memory=float(peak * _MIB),
                memory_of="the host",
                kinds={kind: size * _MIB for kind, size in zip(KINDS, kinds, strict=True)},
                throughput=speed,
                throughput_unit="seq/s",
                step_seconds=None,
                compile_seconds=None,
                graphs=None,
                loss=None,
                memory_change=None if is_first else peak / memory - 1,
                throughput_change=None if is_first else speed / throughput - 1,
            )
        )
    answer = tuple(
        f"{row.title} against tp1: memory per core {bytes_text(row.memory)} ({signed_percent_text(row.memory_change)}),"
        f" throughput {row.throughput} seq/s ({signed_percent_text(row.throughput_change)})."
        for row in rows[1:]
    )
    return MultiComparison(answer=answer, rows=tuple(rows))


def main() -> None:
    """Photograph the page down to its chart."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": _WIDTH, "height": 700}, color_scheme="dark", device_scale_factor=2)
        page.set_content(report.html(comparison()))
        below = page.eval_on_selector("svg", "drawn => drawn.getBoundingClientRect().bottom")
        page.screenshot(path=Path(sys.argv[1]), clip={"x": 0, "y": 0, "width": _WIDTH, "height": below + 12})


if __name__ == "__main__":
    main()
