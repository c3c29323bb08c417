"""A node's agent: what `watch` does, without a screen, shipped to the fleet's database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from neuron_top.agent.agent import Agent
from neuron_top.agent.sink import SpoolSink
from neuron_top.errors import UsageError
from neuron_top.identity import Identity, Named, identity
from neuron_top.ingest import assembly
from neuron_top.ingest.live import LiveFeed
from neuron_top.settings import Settings
from neuron_top.telemetry import instance_metadata

__all__ = ["Agent", "attached_agent", "new_agent", "run_once", "who_am_i"]


def who_am_i(job: str = "") -> Identity:
    """This node and its job; `job` is the one of the command line. Asks EC2 for the instance's id where only that
    names the node, for a third of a second at most."""
    who = identity()
    if who.node.origin == "host name" and instance_metadata.on_ec2():
        who = identity(instance=instance_metadata.ask().get("instance_id", ""))
    return msgspec.structs.replace(who, job=Named(job, "command line")) if job else who


def new_agent(
    settings: Settings, paths: Sequence[str], job: str, warn: Callable[[str], None]
) -> tuple[Agent, Identity]:
    """An agent of this node, not started. Raises UsageError without a database, NothingToShow for a path."""
    who = _with_database(settings, job)
    agent = Agent(settings, who, who.job.value, partial(assembly.node_feed, settings, paths, who.node.value), warn)
    return agent, who


def attached_agent(
    settings: Settings, warn: Callable[[str], None], make_feed: Callable[[Callable[[], SpoolSink]], LiveFeed]
) -> Agent:
    """An agent of a feed that somebody else starts and stops: of a job that is run and recorded here."""
    who = _with_database(settings, "")
    return Agent(settings, who, who.job.value, make_feed, warn)


def run_once(agent: Agent, seconds: float) -> bool:
    """One snapshot of the node, shipped; whether it arrived."""
    agent.start()
    agent.snapshot()
    arrived = agent.stop(seconds)
    if agent.shipper.refused is not None:
        raise agent.shipper.refused
    return arrived


def _with_database(settings: Settings, job: str) -> Identity:
    if not settings.store:
        raise UsageError(
            "an agent ships to a database: name it with --store or NEURONTOP_STORE (postgresql://host/database); "
            "`neurontop watch` shows this machine without one"
        )
    return who_am_i(job)
