"""Lines of a live view for each of several jobs, with the name of the job in front."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from neuron_top.cli.plain import PlainProgress
from neuron_top.escapes import visible
from neuron_top.services.feeds import Feed
from neuron_top.services.jobs import named_jobs


class PlainJobs:
    """A `PlainProgress` per job; the lines of the only one have no name in front."""

    def __init__(self, print_line: Callable[[str], bool]) -> None:
        self._print = print_line
        self._progress: dict[str, PlainProgress] = {}
        self._several = False

    def each(self, feed: Feed, act: Callable[[PlainProgress, Feed], None]) -> None:
        """Do something with each job that was seen."""
        jobs = named_jobs(feed) or [("", feed)]
        self._several = self._several or len(jobs) > 1
        for job, one in jobs:
            if job not in self._progress:
                self._progress[job] = PlainProgress(partial(self._said, job))
            act(self._progress[job], one)

    def _said(self, job: str, line: str) -> bool:
        return self._print(f"{visible(job.removeprefix('job:'))}: {line}" if self._several else line)
