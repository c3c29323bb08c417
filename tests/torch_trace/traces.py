"""Traces in PyTorch's form, written from the format's description (torch/_logging/_internal.py)."""

from __future__ import annotations

import json
from typing import Any

START = 1_775_000_000.0
"""2026-03-31 23:33:20 UTC; the header's clock stands two hours ahead of it."""


def record(fields: dict[str, Any], payload: str | None = None, *, second: int = 20, pid: int = 71) -> str:
    """One record, with its payload behind tabs."""
    if payload is not None:
        fields = {**fields, "has_payload": "0" * 32}
    head = f"V0401 01:33:{second:02}.250000 {pid} torch/_dynamo/utils.py:23] {json.dumps(fields)}\n"
    return head + ("" if payload is None else "".join(f"\t{line}\n" for line in payload.split("\n")))


def context(frame: int = 0, count: int = 0, attempt: int = 0) -> dict[str, Any]:
    """The fields that name a compile."""
    return {"frame_id": frame, "frame_compile_id": count, "attempt": attempt}


def phase(name: str, kind: str, seconds: float, compile_id: str = "0/0") -> str:
    """A phase begins (B) or ends (E), so many seconds after START."""
    event = {"name": name, "ts": (START + seconds) * 1e6, "args": {"compile_id": compile_id}, "ph": kind, "tid": 0}
    return record({"chromium_event": {}, **context()}, json.dumps(event, indent=0), second=20 + int(seconds))


def artifact(name: str, payload: str, **fields: Any) -> str:
    """An artifact with its payload."""
    return record({"artifact": {"name": name, "encoding": "string"}, **(fields or context())}, payload)


BREAK = """Graph break in user code at /home/someone/model.py:31
Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):

Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print`
  Hint: do not print"""

WHOLE = "".join((
    phase("dynamo", "B", 0.25),
    record({"str": ["/home/someone/model.py", 4]}),
    record({"dynamo_start": {"stack": [{"line": 30, "name": "forward", "filename": 4}]}, **context()}),
    artifact("dynamo_graph_break_reason", BREAK),
    record({"dynamo_output_graph": {"sizes": {}}, **context(attempt=1)}, "def forward(self): pass"),
    phase("inductor_compile", "B", 1.0),
    phase("inductor_compile", "E", 3.5),
    artifact("aotautograd_cache_bypass", json.dumps({"cache_bypass_reason": "a custom operator", "key": None})),
    artifact("fx_graph_cache_hit", json.dumps({"key": "fabc", "components": ["x"], "time_saved_ns": 2_500_000_000})),
    artifact("triton_kernel_info", json.dumps({"triton_poi_0": {"us": 5}, "triton_red_1": {"us": 6}})),
    artifact("cudagraph_something_new", "never seen before"),
    record({"compilation_metrics": {"compile_id": "0/0", "co_name": "forward", "co_filename": "/home/someone/model.py",
            "co_firstlineno": 30, "entire_frame_compile_time_s": 4.5, "inductor_compile_time_s": 2.5,
            "graph_op_count": 12, "fail_reason": None}, **context(attempt=1)}),
    artifact("recompile_reasons", "0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6", **context(0, 1)),
    record({"bwd_compilation_metrics": {"compile_id": "0/0", "inductor_compile_time_s": 1.5}, **context()}),
))  # fmt: skip
