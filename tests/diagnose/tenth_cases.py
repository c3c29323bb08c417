"""More logs of our own: what ends a program first, what only follows, and what a program helps itself out of."""

from __future__ import annotations

from tests.diagnose.cases import Case

COMPILER = (
    Case(
        "a code of the compiler whose reason stands on the next lines",
        "compile_error",
        """
>>>Module nc03/sg01: [NLA007] Unhandled exception with message:
tensorizer(output tensor: float32<3 x 5> $17[row_2]): Shape of the wide copy
""",
    ),
    Case(
        "whom to ask is no reason, the assertion above it is",
        "compile_error",
        """
>>>wide_sched: /opt/build/neuroncc/wide/spill/Wide.cpp:12: void Wide::Check(): Assertion `live' failed.
Aborted (core dumped)
05/02/2026 10:00:00 PM ERROR [neuron-cc]: ***************************************************************
05/02/2026 10:00:00 PM ERROR [neuron-cc]:  An Internal Compiler Error has occurred
05/02/2026 10:00:00 PM ERROR [neuron-cc]: ***************************************************************
05/02/2026 10:00:00 PM ERROR [neuron-cc]:
05/02/2026 10:00:00 PM ERROR [neuron-cc]: Please contact Wide Support and tell it the following.
""",
    ),
    Case(
        "what the compiler ends with comes before what it went on from",
        "compile_error",
        """
2026-05-02T10:00:00Z ERROR 3449 [WidePart]:   ERROR: No part takes the lone wire
2026-05-02T10:24:00Z INFO 3468 (sg02) [WideAllocator::Rep]:   linearize and check
>>>2026-05-02T10:24:00Z FATAL 3468 (sg02) [WideAllocator::Rep]: Wide input, 3 names have no value
""",
    ),
    Case(
        "MLIR is a compiler's",
        "compile_error",
        """
>>>loc("custom-call.7"("wide.py":12:0)): error: 'wide.copy' op failed to verify that both sides are alike
Subcommand returned with exitcode=1
""",
    ),
)
TENTH_CASES = COMPILER
