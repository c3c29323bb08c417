"""A job that is attacked: a process that compiles what it is reported, each time as a new captured graph.

`python -m tests.adversary.victim`: reads the name of a program a line, answers with a JSON line: what it computed, and
what it computes uncompiled, or the error.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.warm_python import warm_python

ROOT = Path(__file__).parents[2]
PROGRAMS = ("sine", "cosine", "training")


class VictimReport(NamedTuple):
    """What one run came to: numbers of the compiled and of the uncompiled program, or an error."""

    compiled: list[float]
    eager: list[float]
    error: str

    @property
    def right(self) -> bool:
        """Whether both gave the same."""
        pairs = zip(self.compiled, self.eager, strict=True)
        return not self.error and all(abs(ours - theirs) < 1e-5 for ours, theirs in pairs)


class Victim:
    """The process, from outside."""

    def __init__(self, process: subprocess.Popen[str], said: Path) -> None:
        self._process, self._said = process, said

    def run(self, program: str) -> VictimReport:
        """Compile and run it once."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(program + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, self.said()[-3000:]
        return VictimReport(**json.loads(line))

    def said(self) -> str:
        """All it wrote to stderr so far."""
        return self._said.read_text(errors="replace")


@contextlib.contextmanager
def started(root: Path, folder: Path, inductor: Path, **environ: str) -> Iterator[Victim]:
    """A victim that uses the cache `root`; `folder` is for its own files, `inductor` is Inductor's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    own = {
        "NEURON_COMPILE_CACHE_URL": str(root),
        "TORCHINDUCTOR_CACHE_DIR": str(inductor),
        "NEURONTOP_STATE_DIR": str(folder / "state"),
        "NEURONTOP_CONFIG": os.devnull,
    }
    dropped = ("NEURON", "TORCHINDUCTOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    said = folder / f"said-{len(list(folder.glob('said-*')))}"
    with (
        said.open("w") as errors,
        subprocess.Popen(
            [*warm_python(), "-m", "tests.adversary.victim"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=ROOT,
            env={**kept, **own, **environ},
        ) as process,
    ):
        try:
            yield Victim(process, said)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.wait(120)


def victim_of(folder: Path) -> contextlib.AbstractContextManager[Victim]:
    return started(folder / "cache", folder, folder / "inductor")


def entries(folder: Path) -> dict[str, Path]:
    """The entries by what they are: `sine`, `cosine`, `forward`, `backward`."""
    found = {}
    for path in (folder / "cache").glob("inductor-*/MODULE_*"):
        reported = json.loads((path / "model.graph.json").read_text())
        counts = reported["operator_counts"]
        operator = next((name for name in ("sin", "cos") if f"aten.{name}.default" in counts), "")
        found[{"sin": "sine", "cos": "cosine"}.get(operator, reported["direction"])] = path
    assert set(found) == {"sine", "cosine", "forward", "backward"}, found
    return found


def _main() -> None:
    import torch

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        torch._dynamo.reset()
        answers.write(json.dumps(_answer(torch, line.strip())) + "\n")
        answers.flush()


def _answer(torch: Any, program: str) -> dict[str, Any]:
    try:
        run = {"sine": _pointwise, "cosine": _pointwise, "training": _training}[program]
        eager, compiled = run(torch, program, lambda f: f), run(torch, program, _compiler(torch))
        return {"compiled": compiled, "eager": eager, "error": ""}
    except Exception as problem:
        return {"compiled": [], "eager": [], "error": f"{type(problem).__name__}: {problem}"}


def _compiler(torch: Any) -> Any:
    return lambda function: torch.compile(function, backend="neurontop", dynamic=False)


def _pointwise(torch: Any, program: str, transformed: Any) -> list[float]:
    operator = torch.sin if program == "sine" else torch.cos
    return transformed(lambda x: operator(x) * 2)(torch.linspace(0, 3, 8)).tolist()


def _training(torch: Any, program: str, transformed: Any) -> list[float]:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2))
    loss = transformed(model)(torch.linspace(-1, 1, 12).reshape(3, 4)).square().sum()
    loss.backward()
    grads = [number for parameter in model.parameters() for number in parameter.grad.flatten().tolist()]
    return [loss.item(), *grads]


if __name__ == "__main__":
    _main()
