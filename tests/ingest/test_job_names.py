"""Names of several jobs: those of the same name are told apart by folders."""

from __future__ import annotations

import time
from pathlib import Path, PurePath

import pytest

from neuron_top.ingest.job_groups import LogJob, distinct_names
from neuron_top.services.feeds import live_feed
from neuron_top.services.jobs import log_cards, named_jobs
from neuron_top.settings import Settings
from neuron_top.views.overview import overview


@pytest.mark.parametrize(
    ("first_logs", "names"),
    [
        (["/x/train.log"], ["train.log"]),
        (["/x/one.log", "/x/two.log"], ["one.log", "two.log"]),
        (["/jobs/bert/train.log", "/jobs/llama/train.log"], ["bert/train.log", "llama/train.log"]),
        (["/x/bert/out/train.log", "/x/llama/out/train.log"], ["bert/out/train.log", "llama/out/train.log"]),
        (["train.log", "/x/train.log"], ["train.log", "x/train.log"]),
        (["/x/train.log", "/x/train.log"], ["train.log", "train.log"]),
    ],
)
def test_jobs_of_the_same_name_have_as_many_folders_in_front_as_tell_them_apart(
    first_logs: list[str], names: list[str]
) -> None:
    jobs = {LogJob(f"job:{place}", PurePath(path).name): path for place, path in enumerate(first_logs)}
    assert list(distinct_names(jobs).values()) == names


def test_a_job_is_named_where_it_is_shown_as_it_is_in_the_list_of_jobs(tmp_path: Path) -> None:
    logs = [tmp_path / name / "train.log" for name in ("bert", "llama")]
    for log in logs:
        log.parent.mkdir()
        log.write_text("2026-03-01 10:00:00.000001:  4242  INFO ||NEURON_CC_WRAPPER||: Call compiler with cmd: x\n")
    feed = live_feed(Settings(), [str(log) for log in logs])
    feed.start(lambda: None)
    try:
        patience = time.monotonic() + 20
        while len(named_jobs(feed)) < 2 and time.monotonic() < patience:
            time.sleep(0.02)
        shown = [one.read(overview).header.name for _identity, one in named_jobs(feed)]
        assert sorted(shown) == ["bert/train.log", "llama/train.log"]
        assert [card.name for card in log_cards(feed)] == shown
    finally:
        feed.stop()
