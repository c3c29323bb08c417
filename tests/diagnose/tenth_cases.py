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
RUNTIME = (
    Case(
        "what the runtime cannot give back was never taken",
        "runtime_init",
        """
2026-May-02 10:00:00.123456   512:512   ERROR  TDRV:wide_notification_destroy    Wide rings not initialized!
2026-May-02 10:00:00.123460   512:512   ERROR  TDRV:tdrv_destroy                 TDRV not initialized
>>>2026-May-02 10:00:00.123470   512:512   ERROR   NRT:nrt_init                  Failed to initialize devices, error:7
""",
    ),
    Case(
        "a stamp of the runtime without parts of a second",
        "runtime_oom",
        ">>>2026-May-02 10:00:00 ERROR  TDRV:wide_mem  Failed to allocate wide rings, no memory is left\n",
    ),
    Case(
        "one core that does not start",
        "runtime_init",
        """
Traceback (most recent call last):
  File "/job/wide.py", line 12, in <module>
    device = xla_device()
>>>RuntimeError: Bad StatusOr access: INTERNAL: NC6 init failed: NRT_FAILURE (1)
""",
    ),
    Case(
        "no device on a node",
        "runtime_init",
        ">>>neuron-device-plugin: 2026/05/02 10:00:00 Could not find any Neuron devices on this node: exit status 1\n",
    ),
    Case(
        "no way between two devices",
        "collective",
        """
>>>2026-May-02 10:00:00.0924 512:514 [3] wide.cc:36 CCOM WARN No transport found between devices 3 and 4. Wide groups?
2026-May-02 10:00:00.0925 512:514 ERROR   ENC:wide_init          failed wide request to NCCL
""",
    ),
)
TENTH_CASES = (*COMPILER, *RUNTIME)
