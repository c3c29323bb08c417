"""Names of several jobs: those of the same name are told apart by folders."""

from __future__ import annotations

import pytest

from neuron_top.services.jobs import told_apart


@pytest.mark.parametrize(
    ("jobs", "names"),
    [
        ({"a": ("train.log", "/x/train.log")}, ["train.log"]),
        ({"a": ("one.log", "/x/one.log"), "b": ("two.log", "/x/two.log")}, ["one.log", "two.log"]),
        (
            {"a": ("train.log", "/jobs/bert/train.log"), "b": ("train.log", "/jobs/llama/train.log")},
            ["bert/train.log", "llama/train.log"],
        ),
        (
            {"a": ("train.log", "/x/bert/out/train.log"), "b": ("train.log", "/x/llama/out/train.log")},
            ["bert/out/train.log", "llama/out/train.log"],
        ),
        ({"a": ("train.log", "train.log"), "b": ("train.log", "/x/train.log")}, ["train.log", "x/train.log"]),
        ({"a": ("train.log", "/x/train.log"), "b": ("train.log", "/x/train.log")}, ["train.log", "train.log"]),
        ({"a": ("job", ""), "b": ("job", "")}, ["job", "job"]),
    ],
)
def test_jobs_of_the_same_name_have_as_many_folders_in_front_as_tell_them_apart(
    jobs: dict[str, tuple[str, str]], names: list[str]
) -> None:
    assert list(told_apart(jobs).values()) == names
