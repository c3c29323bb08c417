"""Lets every sentence of modules of views say something else."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType

import pytest

OTHER_WORDS = "quite another sentence"


def change_sentences(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> int:
    """Replace each text of these modules and each text in their tables; how many there were.

    A table is changed in place: whoever has imported it sees the other words too.
    """
    changed = 0
    for module in modules:
        for name in _assigned(module):
            value = getattr(module, name)
            if isinstance(value, str):
                monkeypatch.setattr(module, name, OTHER_WORDS)
                changed += 1
            for code, text in value.items() if isinstance(value, dict) else ():
                if isinstance(text, str):
                    monkeypatch.setitem(value, code, OTHER_WORDS)
                    changed += 1
    return changed


def _assigned(module: ModuleType) -> Iterator[str]:
    """Names that the module itself gives a value, not those that it imports."""
    for statement in ast.parse(inspect.getsource(module)).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name
