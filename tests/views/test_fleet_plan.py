"""What a change on nodes of a fleet says of each node."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top.actions.fleet_request import NodeDone
from neuron_top.store.fleet_records import Intent, IntentState
from neuron_top.views.fleet_plan import fleet_plan, node_text, skipped_texts


def answered(done: NodeDone) -> Intent:
    """The intent of a node that has carried it out."""
    result = msgspec.convert(msgspec.to_builtins(done), dict[str, object])
    return Intent(id=1, node="n1", plan={}, asked_by="me", asked=1.0, state=IntentState.DONE, result=result)


@pytest.mark.parametrize(
    ("sent", "refused", "left", "more"),
    [(50, 1200, "1,200 steps", "1,197"), (1, 1, "1 step", ""), (5, 0, "5 steps", "2")],
)
def test_all_steps_that_a_node_did_not_do_are_counted_also_those_that_it_did_not_name(
    sent: int, refused: int, left: str, more: str
) -> None:
    not_done = tuple((f"compiler/MODULE_{number}", "it is locked") for number in range(sent))
    done = NodeDone(identity="0123456789", root="/cache", done=7, not_done=not_done, refused=refused)
    (node,) = fleet_plan([answered(done)]).nodes
    assert node_text(node) == f"7 steps done, {left} not done"
    texts = list(skipped_texts(node))
    assert texts[0] == "not done: compiler/MODULE_0: it is locked"
    assert texts[3:] == ([f"and {more} more not done"] if more else [])


@pytest.mark.parametrize(
    ("state", "awaited"),
    [(IntentState.ASKED, 0), (IntentState.UNDO, 0), (IntentState.TAKEN, 1), (IntentState.UNDOING, 1)],
)
def test_what_a_node_has_begun_is_awaited_though_it_may_not_be_begun_any_more(state: IntentState, awaited: int) -> None:
    late = msgspec.structs.replace(answered(NodeDone(identity="", root="", done=1)), state=state, expired=True)
    assert len(fleet_plan([late]).awaited) == awaited
