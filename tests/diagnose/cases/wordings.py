"""Beginnings of lines, and lines, that cases of several files share."""

from __future__ import annotations

XLA = "2026-03-04 05:06:07.123456: E tensorflow/compiler/xla/xla_client/xla_util.cc:90]"
SERVICE = "2026-03-04 05:06:07.123456: W tensorflow/core/framework/op_kernel.cc:1830] OP_REQUIRES failed at"
CCOM = "2026-Mar-04 05:06:07.0089 11:22"


def waits(*minutes: float) -> str:
    """Lines of a process that waits for another one's compile."""
    return "".join(
        f"2026-05-02 10:00:00.000100:  4711  [INFO]: Another process must be compiling /cache/neuronxcc-2.23/MODULE_1+2/"
        f"model.hlo_module.pb, been waiting for: {waited} minutes\n"
        for waited in minutes
    )
