"""One process of the comparison: `worker cold|warm SUITE FOLDER DEVICE`, names of programs on standard input.

`cold` runs each program eagerly, with Inductor and with our back end on an empty cache, and keeps the results; `warm`
runs ours again in another process, with another folder of Inductor and the cache that `cold` filled, and compares with
what was kept. A line of JSON per program goes to standard output, what programs print to standard error.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import re
import signal
import sys
import time
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

OURS, INDUCTOR = "neurontop", "inductor"
PATIENCE_SECONDS = 240
LONGER_SECONDS = {"vision": 1800}
"""By suite: deep models are compiled for minutes each time."""


class TooLong(BaseException):
    """A program took longer than we wait."""


def main() -> None:
    """Run what standard input names."""
    mode, suite_name, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    signal.signal(signal.SIGALRM, _too_long)
    warnings.simplefilter("ignore")
    import torch
    import torch._inductor.config

    from tests.compat import programs

    torch.set_num_threads(1)
    programs.compute_on(sys.argv[4])
    if programs.device() != "cpu":
        # By rule, not by measuring: else two compiles of one graph may choose different kernels, and round differently.
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch._inductor.config.deterministic = True  # whether to pad matrices is decided by this one
    patience = LONGER_SECONDS.get(suite_name, PATIENCE_SECONDS)
    suite = importlib.import_module(f"tests.compat.suite_{suite_name}")
    for name in sys.stdin.read().split("\n"):
        if not name:
            continue
        began = time.monotonic()
        signal.alarm(patience)
        try:
            found = (_cold if mode == "cold" else _warm)(suite.build(name), _kept(folder, name))
        except LookupError as reason:
            found = {"left_out": str(reason)}
        except TooLong:
            found = {"left_out": f"took longer than {patience} s"}
        finally:
            signal.alarm(0)
        answers.write(json.dumps({"program": name, "mode": mode, **found, "seconds": _since(began)}) + "\n")


def _kept(folder: Path, name: str) -> Path:
    return folder / "results" / f"{hashlib.sha256(name.encode()).hexdigest()[:20]}.pt"


def _too_long(_: int, __: FrameType | None) -> None:
    raise TooLong


def _since(began: float) -> float:
    return round(time.monotonic() - began, 2)


def _cold(program: Any, kept: Path) -> dict[str, Any]:
    import torch

    from tests.compat import programs

    eager, problem = _attempt(program, programs.EAGER)
    if problem:
        return {"left_out": f"fails without a compiler: {problem}"}
    inductor, inductor_fails = _attempt(program, INDUCTOR)
    before = _events()
    ours, we_fail = _attempt(program, OURS)
    reported = _told(before)
    if inductor_fails:
        return {"inductor_fails": inductor_fails, "we_fail": we_fail} | reported
    if we_fail:
        return {"we_fail": we_fail} | reported
    kept.parent.mkdir(parents=True, exist_ok=True)
    torch.save((inductor, eager), kept)
    return _compared(program, ours, inductor, eager) | reported


def _warm(program: Any, kept: Path) -> dict[str, Any]:
    import torch

    inductor, eager = torch.load(kept, weights_only=True)
    before = _events()
    ours, we_fail = _attempt(program, OURS)
    reported = _told(before)
    kept.unlink()
    return ({"we_fail": we_fail} if we_fail else _compared(program, ours, inductor, eager)) | reported


def _compared(program: Any, ours: Any, inductor: Any, eager: Any) -> dict[str, Any]:
    """Inductor runs a second time only where the results are not the same bit by bit."""
    from tests.compat.compare import Likeness, likeness

    found, words = likeness(ours, inductor, inductor, eager)
    if found is not Likeness.SAME:
        again, _ = _attempt(program, INDUCTOR)
        found, words = likeness(ours, inductor, again, eager)
    return {"result": found.value, "words": words}


def _attempt(program: Any, backend: str) -> tuple[Any, str]:
    """What the program gives, or what went wrong."""
    from tests.compat.programs import run

    try:
        return run(program, backend), ""
    except Exception as problem:
        return None, f"{type(problem).__name__}: {_first_lines(str(problem))}"


def _first_lines(text: str) -> str:
    text = re.sub(r"0x[0-9a-f]+", "0x…", text).strip()
    return " / ".join(line.strip() for line in text.splitlines() if line.strip())[:600]


def _events() -> dict[str, int]:
    """How far the files of events are read."""
    return {path.name: path.stat().st_size for path in Path(os.environ["NEURONTOP_EVENTS_DIR"]).glob("*.jsonl")}


def _told(before: dict[str, int]) -> dict[str, Any]:
    """What our back end said about the program: graphs compiled, loaded, kept out of the cache and why."""
    compiled, loaded, reasons = 0, 0, []
    for path in Path(os.environ["NEURONTOP_EVENTS_DIR"]).glob("*.jsonl"):
        data = path.read_bytes()[before.get(path.name, 0) :]
        for line in data.splitlines():
            event = json.loads(line)
            kind = event.get("type")
            compiled += kind == "CompileEnded" and event.get("ok", False)
            loaded += kind == "ArtifactLoaded"
            if kind == "CompileFellBack":
                reasons.append(event["reason"])
    return {"compiled": compiled, "loaded": loaded, "not_cached": reasons}


if __name__ == "__main__":
    main()
