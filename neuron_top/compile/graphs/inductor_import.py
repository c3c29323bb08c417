"""Imports Inductor's compiler in half the time: every rank does it before its first graph, and every compile server.

Half of the usual time is wasted: the garbage collector walks again and again through objects that stay, and templates
of GPU kernels are parsed that only flexible attention, or a matrix product tuned for a GPU, needs.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from neuron_top.without_gc import without_gc

_COMPILER = "torch._inductor.compile_fx"


class LateTemplate:
    """A template that is parsed when it is first used; errors in it are raised then."""

    def __init__(self, parse: Callable[[], Any]) -> None:
        self._parse = parse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copying and comparing ask for these
            raise AttributeError(name)
        parsed = self._parse()
        self.__dict__.update(render=parsed.render)
        return getattr(parsed, name)


def import_inductor() -> None:
    """Import `torch._inductor.compile_fx`, unless this process has done so."""
    if _COMPILER in sys.modules:
        return
    with without_gc(for_good=True), _templates_parsed_late():
        import torch._inductor.compile_fx  # noqa: F401 (for those who ask for it next)


@contextlib.contextmanager
def _templates_parsed_late() -> Iterator[None]:
    """Within the block, PyTorch's templates are parsed later; no effect on a version that parses them differently."""
    from torch._inductor.codegen import common

    parse = getattr(common.KernelTemplate, "_template_from_string", None)
    if parse is None or importlib.util.find_spec("jinja2") is None:
        yield
        return

    def parse_late(*source: Any, **how: Any) -> LateTemplate:
        return LateTemplate(functools.partial(parse, *source, **how))

    with mock.patch.object(common.KernelTemplate, "_template_from_string", staticmethod(parse_late)):
        yield
