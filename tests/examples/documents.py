"""The commands that a page of docs/ shows, made into commands that a test can run."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
_PROGRAMS = {
    "neurontop": (sys.executable, "-m", "neuron_top"),
    "python": (sys.executable,),
    "torchrun": (sys.executable, "-m", "torch.distributed.run"),
}
_PROMPT = re.compile(r"^\$ (.+)$", re.MULTILINE)


def commands(page: str) -> list[list[str]]:
    """Every line of `docs/<page>` behind a prompt, as words; remarks behind two spaces and `#` are left out."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [shlex.split(line.partition("  #")[0]) for line in _PROMPT.findall(text)]


def runnable(words: list[str]) -> list[str]:
    """The same command with this interpreter's programs and the example scripts where they lie."""
    found: list[str] = []
    for word in words:
        script = ROOT / "assets" / "examples" / word
        found += _PROGRAMS.get(word, (str(script) if word.endswith(".py") else word,))
    return found
