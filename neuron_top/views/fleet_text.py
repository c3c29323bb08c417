"""Words the fleet's rows in the same way for all front ends."""

from __future__ import annotations

from neuron_top.store.fleet_records import AgentCount
from neuron_top.units import TO_THE_SECOND, UNKNOWN, bytes_text, count_text, counted, duration_text, moment_text
from neuron_top.views.fleet import FleetPage, JobRow, NodeReporting, NodeRow

_SLOW_NAMED = 5
_BYTES = frozenset({"cache_disk", "cache_free", "device_memory", "memory"})
"""Attributes that are sizes."""


def nodes_text(job: JobRow) -> str:
    """How many nodes, and how many of a running job do not report."""
    return f"{count_text(job.nodes)}{_silent_text(job)}"


def counted_nodes_text(job: JobRow) -> str:
    """The same, with the word `nodes`, if no heading has it."""
    return f"{counted(job.nodes, 'node')}{_silent_text(job)}"


def _silent_text(job: JobRow) -> str:
    missing = 0 if job.finished is not None else job.nodes - job.reporting - job.ended
    return f", {count_text(missing)} silent" if missing > 0 else ""


def slow_nodes_text(job: JobRow) -> str:
    """The slow nodes, five at most by name."""
    more = len(job.slow_nodes) - _SLOW_NAMED
    named = ", ".join(job.slow_nodes[:_SLOW_NAMED])
    return f"{named} and {count_text(more)} more" if more > 0 else named


def attribute_text(name: str, value: object) -> str:
    """An attribute of a node as people write it; "" where it is not known."""
    if value is None:
        return ""
    if name == "booted" and isinstance(value, int):
        return moment_text(value, TO_THE_SECOND)
    if name == "cache_shared" and isinstance(value, int):
        return "yes" if value else "no"
    return bytes_text(value) if name in _BYTES and isinstance(value, int) else str(value)


def phases_text(job: JobRow) -> str:
    """The phases of the nodes: one word where all are in the same, else how many are in each."""
    if len(job.phases) <= 1:
        return job.phase or UNKNOWN
    return " · ".join(f"{phase} {count_text(count)}" for phase, count in job.phases.items())


def steps_text(job: JobRow) -> str:
    """The step; the least and the most advanced node's where they differ."""
    if job.step is None or job.last_step == job.step:
        return count_text(job.step)
    return f"{count_text(job.step)}–{count_text(job.last_step)}"


def wait_text(job: JobRow) -> str:
    """The longest wait and its node."""
    return f"{duration_text(job.worst_wait)} {job.worst_wait_node}".strip() if job.worst_wait else UNKNOWN


def trouble_text(node: NodeRow) -> str:
    """What is wrong with a node; "" if nothing."""
    troubles = []
    if node.state is NodeReporting.SILENT:
        troubles.append(f"silent for {duration_text(node.silent_seconds)}")
    if node.slow:
        troubles.append("slow")
    if node.clock_offset is not None and abs(node.clock_offset) > 1:
        troubles.append(f"clock off by {duration_text(node.clock_offset)}")
    if dropped := sum(node.notes.get(name, 0) for name in (AgentCount.DROPPED_SAMPLES, AgentCount.DROPPED_EVENTS)):
        troubles.append(f"dropped {counted(dropped, 'row')}")
    return " · ".join(troubles)


def node_facts(node: NodeRow) -> tuple[tuple[str, str], ...]:
    """(name, text): what a node's page says of it, besides its attributes."""
    step = count_text(node.step) + (f", {duration_text(node.step_seconds)} each" if node.step_seconds else "")
    return (
        ("state", f"{node.state}{f', {node.phase}' if node.phase else ''}"),
        ("job", jobs_text(node)),
        ("step", step),
        ("graphs left", count_text(node.graphs_left)),
        ("longest wait", duration_text(node.worst_wait)),
        ("heard from", f"{duration_text(node.silent_seconds)} ago"),
        ("clock", UNKNOWN if node.clock_offset is None else f"off by {duration_text(node.clock_offset)}"),
        ("agent", f"{node.version} {node.address}".strip()),
        ("trouble", trouble_text(node) or "none"),
    )


def jobs_text(node: NodeRow) -> str:
    """The job that a node is shown with, and others that it works for now."""
    return ", ".join((node.job, *node.other_jobs))


def fleet_text(page: FleetPage) -> str:
    """The fleet in a line."""
    active = sum(job.goes_on for job in page.jobs)
    words = [counted(len(page.nodes), "node"), f"{counted(active, 'job')} running"]
    words += [f"{count_text(len(page.silent))} silent"] if page.silent else []
    slow = sum(node.slow for node in page.nodes)
    words += [f"{count_text(slow)} slow"] if slow else []
    return " · ".join(words)


def node_words(node: NodeRow) -> str:
    """The text that a search matches: name, job, state, phase, what is wrong, and attributes that are text."""
    texts = (value for value in node.attributes.values() if isinstance(value, str))
    return " ".join((node.node, jobs_text(node), node.cluster, node.state, node.phase, trouble_text(node), *texts))
