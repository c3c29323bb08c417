"""Inductor is imported without what nobody needs, and is the same as if PyTorch had imported it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from neuron_top.compile.graphs.inductor_import import LateTemplate  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compile servers")]

SCRIPT = """
import gc, json, sys
import torch
from neuron_top.compile.graphs import inductor_import, own_code
by_us = sys.argv[1] == "ours"
if by_us:
    passes = []
    gc.callbacks.append(lambda phase, info: passes.append("torch._inductor.compile_fx" not in sys.modules))
    inductor_import.import_inductor()
    assert not any(passes), "looked for garbage in the middle of the import"
import torch._inductor.compile_fx
from torch._inductor.codegen.common import KernelTemplate
from torch._inductor.select_algorithm import TritonTemplate
templates = {name: one.template for name, one in TritonTemplate.all_templates.items()}
late = [name for name, one in templates.items() if isinstance(one, inductor_import.LateTemplate)]
plain = type(KernelTemplate._template_from_string("{{ x }}")).__name__
print(json.dumps([sorted(templates), sorted(late), plain, gc.isenabled(), own_code.tables(), own_code.foreign()]))
"""


def imported(by: str) -> list[object]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, by], capture_output=True, text=True, check=True)
    found: list[object] = json.loads(done.stdout)
    return found


def test_templates_are_parsed_later_and_nothing_else_is_different() -> None:
    """The digest of PyTorch's tables is part of keys: it must not depend on who imported them."""
    templates, late, *ours = imported("ours")
    assert templates
    assert late == templates
    theirs = imported("PyTorch")
    assert [templates, [], *ours] == theirs


def test_a_template_is_parsed_once_when_it_is_used() -> None:
    from torch._inductor.codegen.common import KernelTemplate

    parsed: list[str] = []

    def parse(source: str) -> object:
        parsed.append(source)
        return KernelTemplate._template_from_string(source)

    template = LateTemplate(lambda: parse("{{ x }} plus one"))
    assert parsed == []
    assert bool(template), "as PyTorch asks whether there is one"
    assert [template.render(x=number) for number in (1, 2)] == ["1 plus one", "2 plus one"]
    assert parsed == ["{{ x }} plus one"]
