"""What pages say where nothing was seen of their subject: the next command, or that the job is over; no empty boxes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import plotly

from neuron_top import events as ev
from neuron_top.dashboard import figures, memory_figures
from neuron_top.dashboard.chart_colors import LIGHT
from neuron_top.dashboard.idle_panel import idle_panel
from neuron_top.dashboard.layout import run_options
from neuron_top.dashboard.pages import cores
from neuron_top.run.model import Run
from neuron_top.views.memory import memory_kinds, memory_table
from neuron_top.views.overview import overview
from neuron_top.views.welcome import NO_CORE, NO_CORE_YET, NO_GRAPH, NO_GRAPH_YET
from tests.dashboard.browser import Watched
from tests.dashboard.served import serving
from tests.tui import feeds
from tests.tui.feeds import START, StillFeed
from tests.tui.picture_states import no_other_caches

ENDED = (
    ev.RunStarted(run="r", name="broken", at=START),
    ev.RunFinished(run="r", exit_code=1, at=START + 5),
)


def written(component: Any) -> str:
    return json.dumps(component, cls=plotly.utils.PlotlyJSONEncoder, ensure_ascii=False)


def test_the_page_of_compiles_has_no_empty_boxes_and_says_what_to_do(browser: Any, tmp_path: Path) -> None:
    for events, words, others in (((), NO_GRAPH_YET, NO_GRAPH), (ENDED, NO_GRAPH, NO_GRAPH_YET)):
        with serving(StillFeed(list(events), now=START + 10), tmp_path / f"state{len(words)}") as served:
            seen = Watched(browser)
            seen.page.goto(f"{served.address}compile")
            seen.until("#compile-summary", words[-1])
            assert others[-1] not in seen.page.inner_text("#compile-summary")
            assert [one for one in seen.page.query_selector_all("#page .panel") if one.is_visible()] == []
            assert seen.complaints == []


def test_without_a_cache_or_a_fleet_their_pages_have_no_empty_boxes(browser: Any, tmp_path: Path) -> None:
    with no_other_caches(), serving(StillFeed(), tmp_path, roots=(str(tmp_path / "nowhere"),)) as served:
        seen = Watched(browser)
        for page, words in (("cache", "No compile cache was found"), ("fleet", "No fleet is named")):
            seen.page.goto(f"{served.address}{page}")
            seen.until(f"#{page}-summary", words)
            assert [one for one in seen.page.query_selector_all("#page .panel") if one.is_visible()] == [], page


def test_the_page_of_cores_says_what_to_do_and_of_a_job_that_ended_that_nothing_came() -> None:
    assert NO_CORE_YET[-1] in written(cores._summary(memory_table(Run(), 0.0)))
    ended = StillFeed(list(ENDED), now=START + 10)
    assert NO_CORE[1] in written(cores._summary(ended.read(memory_table)))


def test_a_core_without_categories_shows_its_total_in_the_color_of_what_is_unattributed() -> None:
    samples = [
        ev.CoresSampled(kind=ev.CoreKind.LOCAL, cores=(ev.CoreSample(core=0, memory=2**20 + at),), at=START + at)
        for at in range(9)
    ]
    feed = StillFeed(samples, now=START + 10)
    drawn = memory_figures.kinds_over_time(feed.read(memory_kinds), LIGHT)
    assert [line["name"] for line in drawn["data"]] == ["total"]
    assert len(drawn["data"][0]["x"]) > 1
    (row,) = feed.read(memory_table).rows
    assert [bar["name"] for bar in figures.kinds(row, LIGHT)["data"]] == ["unattributed"]


def test_recent_jobs_say_why_they_failed_and_when_they_ran() -> None:
    rows = feeds.recordings()
    failed = msgspec.structs.replace(rows[-1], reason="out of device memory")
    text = written(idle_panel(overview(Run(), START), [*rows[:-1], failed]))
    assert "out of device memory" in text
    assert " ago" in text
    assert run_options(rows, live="")[1]["label"].startswith(rows[0].name), "what somebody called it stands first"
    here = (msgspec.structs.replace(rows[0], name="", command=("/bin/torchrun", "x.py"), node="trn1-a"),)
    assert run_options(here, live="")[1]["label"].startswith(f"x.py · {rows[0].state_text}  ")
    two = (*here, msgspec.structs.replace(here[0], node="trn1-b"))
    assert run_options(two, live="")[2]["label"].startswith("x.py · trn1-b · ")
