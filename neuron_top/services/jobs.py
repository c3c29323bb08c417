"""Lists the jobs that can be shown: those of the named logs, and recordings that are being made now."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_top.errors import NothingToShow
from neuron_top.ingest.jobs_feed import JobsFeed
from neuron_top.run.state import JobState
from neuron_top.services.feeds import Feed
from neuron_top.views.jobs import JobCard
from neuron_top.views.overview import overview
from neuron_top.views.runs import RunRow
from neuron_top.views.verdict import unopened_verdict, verdict

PREFIX = "job:"


def named_jobs(feed: Feed) -> list[tuple[str, Feed]]:
    """(id, feed) of each job of a feed of several logs; empty for other feeds."""
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
    """A card for each job of the logs, if there are several."""
    named = named_jobs(feed)
    if len(named) < 2:
        return []
    views = ((identity, one.read(overview)) for identity, one in named)
    return [
        JobCard(id=identity, name=view.header.name, verdict=verdict(view), started=view.header.started)
        for identity, view in views
    ]


def running_cards(rows: Iterable[RunRow]) -> list[JobCard]:
    """A card for each recording that is being made now, the newest first."""
    return [
        JobCard(
            id=row.id, name=row.called, verdict=unopened_verdict(row.called, row.silent_seconds), started=row.started
        )
        for row in rows
        if row.state is JobState.RUNNING
    ]
