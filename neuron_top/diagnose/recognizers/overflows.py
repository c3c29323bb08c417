"""Numbers that overflowed, as programs report them."""

from __future__ import annotations

from neuron_top.diagnose.recognizers.row import Recognizer, Weight, words
from neuron_top.events.diagnosis import CauseClass

OVERFLOWS: tuple[Recognizer, ...] = (
    Recognizer(
        "numbers overflow",
        CauseClass.SCRIPT_ERROR,
        Weight.STATEMENT,
        words(
            "loss scale|floatingpointerror|loss is nan|loss is inf|gradients are nan|terminateonnan: |inf/nan during"
            "|invalid loss, terminating"
        ),
        (
            r"(?i:loss scale (?:is )?(?:already )?(?:at minimum|reached)|minimum loss scale reached)"
            r"|\bFloatingPointError: |(?i:loss is (?:nan|inf)\w*[,.]? (?:stopping|aborting|exiting|training))"
            r"|\bTerminateOnNan: Output '|^Detected inf/nan during batch_number=\d"
            r"|\bBatch \d{1,9}: Invalid loss, terminating training\b"
        ),
        any_level=True,
    ),
)
