"""One change over chosen nodes: what each would do or did, what it leaves alone, and the sum. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from neuron_top.actions.fleet_request import FleetRequest, NodeDone, NodePlan
from neuron_top.store.fleet_records import Intent, IntentState
from neuron_top.units import bytes_text, count_text, counted
from neuron_top.views.plan import LineKind

WAITS = frozenset({IntentState.ASKED, IntentState.CONFIRMED, IntentState.TAKEN, IntentState.UNDO, IntentState.UNDOING})
"""States in which an answer of the node is due."""
NAMED = 3


class NodeChange(msgspec.Struct, frozen=True, kw_only=True):
    """One node's part."""

    intent: int
    node: str
    state: IntentState
    plan: NodePlan | None
    done: NodeDone | None
    text: str
    """Why it was refused, or what became of it."""
    expired: bool

    @property
    def has_steps(self) -> bool:
        """Whether it is planned and has something to do."""
        return self.state is IntentState.PLANNED and self.plan is not None and self.plan.steps > 0

    @property
    def has_begun(self) -> bool:
        """Whether its agent carries it out, or undoes it."""
        return self.state in (IntentState.TAKEN, IntentState.UNDOING)

    @property
    def is_awaited(self) -> bool:
        """Whether its agent will still say something."""
        return self.state in WAITS and (self.has_begun or not self.expired)


class FleetPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All of them. `word`: what must be typed to confirm."""

    batch: str
    asked_by: str
    action: str
    nodes: tuple[NodeChange, ...]
    steps: int
    frees: int
    copies: int
    done: int
    moved_bytes: int
    word: str

    @property
    def planned(self) -> tuple[NodeChange, ...]:
        """Nodes that have something to do and wait for the confirmation."""
        return tuple(node for node in self.nodes if node.has_steps)

    @property
    def awaited(self) -> tuple[NodeChange, ...]:
        """Nodes that will still say something."""
        return tuple(node for node in self.nodes if node.is_awaited)

    @property
    def went_well(self) -> bool:
        """Whether every node did what it was asked for, and nothing was left out at the last look."""
        good = (IntentState.DONE, IntentState.UNDONE)
        return all(node.state in good and not (node.done and node.done.not_done) for node in self.nodes)


def fleet_plan(intents: Sequence[Intent]) -> FleetPlan:
    """The intents of one batch as one plan."""
    nodes = tuple(map(_node, intents))
    planned = [node.plan for node in nodes if node.has_steps and node.plan is not None]
    did = [node.done for node in nodes if node.done is not None]
    return FleetPlan(
        batch=intents[0].batch if intents else "",
        asked_by=intents[0].asked_by if intents else "",
        action=_request(intents[0]).action if intents else "",
        nodes=nodes,
        steps=sum(plan.steps for plan in planned),
        frees=sum(plan.frees for plan in planned),
        copies=sum(plan.copies for plan in planned),
        done=sum(one.done for one in did),
        moved_bytes=sum(one.moved_bytes for one in did),
        word=next((plan.word for plan in planned if plan.word), ""),
    )


def _node(intent: Intent) -> NodeChange:
    state = intent.state
    text = intent.result.get("text", "")
    return NodeChange(
        intent=intent.id,
        node=intent.node,
        state=state,
        plan=_converted(intent, NodePlan) if state in (IntentState.PLANNED, IntentState.CONFIRMED) else None,
        done=_converted(intent, NodeDone) if "done" in intent.result else None,
        text=text if isinstance(text, str) else "",
        expired=intent.expired,
    )


Kind = TypeVar("Kind", NodePlan, NodeDone)


def _converted(intent: Intent, kind: type[Kind]) -> Kind | None:
    try:
        return msgspec.convert(intent.result, kind)
    except msgspec.ValidationError:  # written by another version
        return None


def _request(intent: Intent) -> FleetRequest:
    try:
        return msgspec.convert(intent.plan, FleetRequest)
    except msgspec.ValidationError:
        return FleetRequest(action="")


def state_text(node: NodeChange) -> str:
    """The state of a node's part, in words."""
    if node.expired and node.state in (IntentState.ASKED, IntentState.PLANNED, IntentState.CONFIRMED):
        return f"{node.state}, expired"
    return str(node.state)


def node_text(node: NodeChange) -> str:
    """What a node would do, or did."""
    if node.plan is not None:
        sizes = [bytes_text(node.plan.frees)] if node.plan.frees else []
        sizes += [f"copies {bytes_text(node.plan.copies)}"] if node.plan.copies else []
        return ", ".join([counted(node.plan.steps, "step"), *sizes, node.plan.root]).rstrip(", ")
    if node.done is not None:
        moved = f", {bytes_text(node.done.moved_bytes)} moved" if node.done.moved_bytes else ""
        refused = max(node.done.refused, len(node.done.not_done))
        left = f", {counted(refused, 'step')} not done" if refused else ""
        return f"{counted(node.done.done, 'step')} done{moved}{left}{f'; {node.text}' if node.text else ''}"
    return node.text or ("its agent has not answered" if node.state is IntentState.ASKED else "")


def skipped_texts(node: NodeChange) -> Iterator[str]:
    """The entries that a node skips, with reasons."""
    for each in node.plan.skipped if node.plan is not None else ():
        yield f"skips {count_text(each.entries)}: {each.reason}"
    if node.done is not None:
        named = node.done.not_done[:NAMED]
        yield from (f"not done: {path}: {reason}" for path, reason in named)
        if more := max(node.done.refused, len(node.done.not_done)) - len(named):
            yield f"and {count_text(more)} more not done"


def sum_text(plan: FleetPlan) -> str:
    """`12 steps on 3 of 4 nodes, 3.4 GiB`."""
    sizes = [bytes_text(plan.frees)] if plan.frees else []
    sizes += [f"copies {bytes_text(plan.copies)}"] if plan.copies else []
    nodes = f"{len(plan.planned)} of {counted(len(plan.nodes), 'node')}"
    return ", ".join([f"{plan.action}: {counted(plan.steps, 'step')} on {nodes}", *sizes])


def done_text(plan: FleetPlan) -> str:
    """`12 steps done on 3 of 4 nodes, 3.4 GiB moved`."""
    well = sum(node.state in (IntentState.DONE, IntentState.UNDONE) for node in plan.nodes)
    nodes = f"{well} of {counted(len(plan.nodes), 'node')} answered well"
    moved = f", {bytes_text(plan.moved_bytes)} moved" if plan.moved_bytes else ""
    return f"{plan.action}: {counted(plan.done, 'step')} done, {nodes}{moved}"


class ChangeLine(msgspec.Struct, frozen=True):
    """One line of a change, as screens and pages draw it."""

    kind: LineKind
    text: str
    node: str = ""
    """Of a heading: whose part begins."""


def change_lines(plan: FleetPlan) -> list[ChangeLine]:
    """The sum, then each node with what it would do or did, what it leaves alone, and what it notes."""
    is_open = any(node.state in (IntentState.ASKED, IntentState.PLANNED) for node in plan.nodes)
    lines = [ChangeLine(LineKind.TOTAL, sum_text(plan) if is_open else done_text(plan))]
    for node in plan.nodes:
        kind = LineKind.REFUSAL if node.state in (IntentState.REFUSED, IntentState.FAILED) else LineKind.HEADING
        lines.append(ChangeLine(kind, f"{node.node}: {state_text(node)}: {node_text(node)}".rstrip(": "), node.node))
        if node.plan is not None:
            lines += [ChangeLine(LineKind.STEP, f"  {text}") for text in node.plan.shown]
            if node.plan.steps > len(node.plan.shown):
                more = counted(node.plan.steps - len(node.plan.shown), "step")
                lines.append(ChangeLine(LineKind.MORE, f"    and {more} more"))
        lines += [ChangeLine(LineKind.EXCLUSION, f"    {text}") for text in skipped_texts(node)]
        lines += [ChangeLine(LineKind.CAVEAT, f"    note: {text}") for text in (node.plan.notes if node.plan else ())]
    return lines


def is_question(plan: FleetPlan) -> bool:
    """Whether the change still waits for a decision."""
    return all(
        node.state in (IntentState.ASKED, IntentState.PLANNED, IntentState.REFUSED) and not node.expired
        for node in plan.nodes
    ) and bool(plan.planned or plan.awaited)


def undoable_nodes(plan: FleetPlan) -> tuple[str, ...]:
    """Nodes that did something that they can undo."""
    done = (IntentState.DONE, IntentState.FAILED)
    return tuple(
        node.node for node in plan.nodes if node.state in done and node.done is not None and node.done.undoable
    )


def confirm_text(plan: FleetPlan) -> str:
    """The text of the button: `Evict: 12 steps on 3 of 4 nodes, 3.4 GiB`."""
    return sum_text(plan)[:1].upper() + sum_text(plan)[1:]


def change_text(plan: FleetPlan) -> str:
    """A change in one line, for the list of changes."""
    states = Counter(state_text(node) for node in plan.nodes)
    return ", ".join(f"{count} {state}" for state, count in states.most_common())
