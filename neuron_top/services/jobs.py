"""The jobs that can be shown: those of the logs that were named, and recordings that are being made now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from neuron_top.errors import NothingToShow
from neuron_top.ingest.jobs_feed import JobsFeed
from neuron_top.run.model import Run
from neuron_top.run.state import JobState
from neuron_top.services.feeds import Feed
from neuron_top.views.jobs import JobCard
from neuron_top.views.overview import overview
from neuron_top.views.runs import RunRow
from neuron_top.views.verdict import verdict

PREFIX = "job:"


def named_jobs(feed: Feed) -> list[tuple[str, Feed]]:
    """(id, feed) of each job of a feed of several logs; nothing of any other feed."""
    if not isinstance(feed, JobsFeed):
        return []
    found = ((job.id, feed.job(job.id)) for job in feed.jobs)
    return [(identity, one) for identity, one in found if one is not None]


def job_feed_of(feed: Feed, identity: str) -> Feed:
    """The feed of a job of this feed. Raises NothingToShow."""
    found = feed.job(identity) if isinstance(feed, JobsFeed) else None
    if found is None:
        raise NothingToShow(f"there is no job {identity} among the logs that are read here; the list of jobs names all")
    return found


def log_cards(feed: Feed) -> list[JobCard]:
    """A card for each job of the logs, where they are several."""
    named = named_jobs(feed)
    if len(named) < 2:
        return []
    plain = {job.id: job.name for job in feed.jobs} if isinstance(feed, JobsFeed) else {}
    names = told_apart({identity: (plain[identity], one.read(_first_log)) for identity, one in named})
    cards = []
    for identity, one in named:
        view = one.read(overview)
        cards.append(JobCard(id=identity, name=names[identity], verdict=verdict(view), started=view.header.started))
    return cards


def told_apart(jobs: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """A name for each job of (name, path of its first log), with folders in front where several have the same name.

    As many folders as tell them apart: `bert/train.log`, `llama/train.log`; where none differ the name stays.
    """
    several = {name for name, count in Counter(name for name, _path in jobs.values()).items() if count > 1}
    names = {identity: name for identity, (name, _path) in jobs.items()}
    for name in several:
        folders = {one: PurePath(path).parent.parts for one, (same, path) in jobs.items() if same == name}
        for depth in range(1, max(map(len, folders.values())) + 1):
            tails = {one: PurePath(*parts[-depth:]) for one, parts in folders.items()}
            if len({*tails.values()}) == len(tails):
                names |= {one: str(tail / name) for one, tail in tails.items()}
                break
    return names


def _first_log(run: Run, _now: float) -> str:
    return next(iter(run.job.sources), "")


def running_cards(rows: Iterable[RunRow]) -> list[JobCard]:
    """A card for each recording that is being made now, the newest first."""
    return [
        JobCard(id=row.id, name=row.name or " ".join(row.command)[:60] or row.id, started=row.started)
        for row in rows
        if row.state is JobState.RUNNING
    ]
