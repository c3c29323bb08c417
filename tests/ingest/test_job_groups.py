"""Several logs are several jobs, unless there is evidence that they are one."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest

from neuron_top.ingest import assembly
from neuron_top.ingest.assembly import paths_feed
from neuron_top.ingest.job_groups import JobGroups, LogHead, head_of
from neuron_top.ingest.jobs_feed import JobsFeed
from neuron_top.settings import Settings
from neuron_top.views.overview import overview


def jobs_of(*paths: str, heads: dict[str, LogHead] | None = None) -> list[list[str]]:
    groups = JobGroups(lambda path: (heads or {}).get(path, LogHead()))
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(groups.of(path).id, []).append(path)
    return list(found.values())


@pytest.mark.parametrize(
    "paths",
    [
        ("/l/rank0.log", "/l/rank1.log", "/l/rank10.log"),
        ("/l/train_rank_0.log", "/l/train_rank_1.log"),
        ("/l/rank0/train.log", "/l/rank1/train.log", "/l/rank10/train.log"),
        ("/l/node-0/stdout.log", "/l/node-0/stderr.log", "/l/node-1/stdout.log"),
        ("/l/slurm-812.out", "/l/slurm-812.err"),
        ("/l/job-812-0.out", "/l/job-812-1.out", "/l/job-812-1.err"),
        ("/l/4711_0_0_log.out", "/l/4711_0_1_log.out", "/l/4711_0_0_log.err"),
        ("/d/none_x1/attempt_0/0/stdout.log", "/d/none_x1/attempt_0/1/stderr.log", "/d/none_x1/attempt_1/0/stdout.log"),
        ("/d/0/3/stdout.log", "/d/1/0/stderr.log"),
        ("/l/train.stdout.log", "/l/train.stderr.log"),
        ("/l/stdout.log", "/l/stderr.log"),
        ("/l/train.log.2.gz", "/l/train.log.1.zst", "/l/train.log"),
        ("/l/slurm-812.out.gz", "/l/slurm-812.err"),
        ("/l/rank0.log.1.gz", "/l/rank0.log", "/l/rank1.log"),
    ],
)
def test_logs_with_common_evidence_are_one_job(paths: tuple[str, ...]) -> None:
    assert jobs_of(*paths) == [list(paths)]


@pytest.mark.parametrize(
    "paths",
    [
        ("/l/a.log", "/l/b.log"),
        ("/l/rank0.log", "/m/rank0.log"),
        ("/l/a/rank0/train.log", "/l/b/rank0/train.log"),
        ("/l/rank0/train.log", "/l/rank0/eval.log"),
        ("/l/task1/train.log", "/l/task2/train.log"),
        ("/l/train-2023-02.log", "/l/train-2023-03.log"),
        ("/l/train-20230201.log", "/l/train-20230302.log"),
        ("/l/slurm-812.out", "/l/slurm-813.out"),
        ("/l/slurm-812_1.out", "/l/slurm-812_2.out"),
        ("/l/11-gpt.log", "/l/12-gpt.log"),
        ("/l/train.1", "/l/train.2"),
        ("/l/a.log.gz", "/l/b.log.gz"),
        ("/d/run_a/attempt_0/0/stdout.log", "/d/run_b/attempt_0/0/stdout.log"),
    ],
)
def test_logs_without_common_evidence_are_several_jobs(paths: tuple[str, ...]) -> None:
    assert jobs_of(*paths) == [[path] for path in paths]


def test_a_rotated_log_is_one_job_however_long_it_took(tmp_path: Path) -> None:
    (tmp_path / "train.log").touch()
    paths = [str(tmp_path / name) for name in ("train.log.9", "train.log.3.gz", "train.log")]
    heads = {path: LogHead(began=number * 5 * 86_400.0) for number, path in enumerate(paths)}
    assert jobs_of(*paths, heads=heads) == [paths]


def test_a_log_that_cannot_be_looked_at_takes_no_rotated_one(tmp_path: Path) -> None:
    (tmp_path / "train.log").symlink_to("x" * 256)  # a name that no disk takes
    path = str(tmp_path / "train.log.1")
    assert jobs_of(path) == [[path]]


def test_a_compressed_log_says_of_which_batch_job_it_is(tmp_path: Path) -> None:
    path = tmp_path / "train.log.1.gz"
    path.write_bytes(gzip.compress(b"2026-01-01 00:00:00 begun\nSLURM_JOB_ID=812\n"))
    assert assembly._head(str(path)) == LogHead(began=1767225600.0, slurm_job="812")
    path.write_bytes(path.read_bytes()[:20] + b"junk")
    assert assembly._head(str(path)) == LogHead()


def test_what_the_first_lines_say_counts() -> None:
    said = {path: head_of(b"launching\nexport SLURM_JOB_ID=99\n") for path in ("/l/a.log", "/l/b.log")}
    assert jobs_of("/l/a.log", "/l/b.log", heads=said) == [["/l/a.log", "/l/b.log"]]
    march, may = (head_of(f"2026-0{month}-01 10:00:00.000 begins\n".encode()) for month in (3, 5))
    assert march.began is not None
    apart = {"/l/rank0.log": march, "/l/rank1.log": may}
    assert jobs_of("/l/rank0.log", "/l/rank1.log", heads=apart) == [["/l/rank0.log"], ["/l/rank1.log"]]


def log(month: int, step: int) -> str:
    lines = (f"2026-{month:02d}-01 10:{minute:02d}:00.000  step {minute} of {step}: loss 2.5" for minute in range(20))
    return "\n".join(lines) + "\n"


def settled(feed: JobsFeed, jobs: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and len(feed.jobs) < jobs:
        time.sleep(0.02)
    feed.settle(3600)


def test_four_logs_of_different_months_are_four_jobs_with_their_own_times_and_lines(tmp_path: Path) -> None:
    for month in range(1, 5):
        (tmp_path / f"job{month}.log").write_text(log(month, 100 * month))
    (tmp_path / "rank0.log").write_text(log(6, 100))
    (tmp_path / "rank1.log").write_text(log(6, 100))
    feed = paths_feed(Settings(state_dir=str(tmp_path / "state")), [str(tmp_path)])
    assert isinstance(feed, JobsFeed)
    feed.start(lambda: None)
    try:
        settled(feed, 5)
        assert sorted(job.name for job in feed.jobs) == ["job1.log", "job2.log", "job3.log", "job4.log", "rank*"]
        for named in feed.jobs:
            one = feed.job(named.id)
            assert one is not None
            elapsed = one.read(overview).header.elapsed
            assert elapsed is None or elapsed <= 20 * 60
            sources = {line.source for line in one.log_tail(100)}
            assert len(sources) == (2 if named.name == "rank*" else 1)
            assert {line.source for line in one.log_older({}, 100).lines} == sources
        assert feed.job("job:none") is None
    finally:
        feed.stop()
