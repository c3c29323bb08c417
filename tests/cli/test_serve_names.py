"""What the pages of `neurontop serve` call the run that is watched."""

from __future__ import annotations

import pytest

from neuron_top.cli.serve import shown_name


@pytest.mark.parametrize(
    ("paths", "job", "name"),
    [
        ([], "", "live: this machine, now"),
        (["s3://bucket/prefix"], "", "live: this machine, now"),
        (["/logs/train.log"], "", "train.log"),
        (["logs/", "s3://bucket/prefix", "cache"], "", "logs and 1 more"),
        (["-"], "", "standard input"),
        ([], "pretrain", "job pretrain"),
    ],
)
def test_the_live_run_is_called_by_what_was_named(paths: list[str], job: str, name: str) -> None:
    assert shown_name(paths, job) == name
