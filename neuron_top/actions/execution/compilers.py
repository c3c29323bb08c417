"""The compilers that can be started on this machine for graphs that lie in a cache, by the graph files they read."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from neuron_top.actions.reasons import Caveat, CaveatCode
from neuron_top.compile.compiler import Compiler
from neuron_top.compile.compilers.by_graph import compiler_for
from neuron_top.compile.compilers.inductor import Inductor
from neuron_top.compile.parallel.collect import graph_file
from neuron_top.errors import CompilerMissing

_ASK = "from neuron_top.compile.compilers.inductor import directory_name; print(directory_name())"
_ASK_SECONDS = 600.0
"""How long importing PyTorch may take, even from a network file system with nothing cached."""


class LocalCompiler(Inductor):
    """Inductor, whose version another process finds out: a program that draws a screen must not import PyTorch."""

    def directory(self) -> str:
        """`inductor-<version>+<platform facts>`. Raises CompilerMissing."""
        return _local_directory()


@functools.cache
def _local_directory() -> str:
    command = [sys.executable, "-P", "-c", _ASK]  # -P: nothing is imported from the folder we are in
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_ASK_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise CompilerMissing(f"the version of PyTorch cannot be read: {problem}") from None
    if answer.returncode != 0:
        last = answer.stderr.strip().rpartition("\n")[2] or f"exit status {answer.returncode}"
        raise CompilerMissing(f"PyTorch cannot be imported: {last}")
    return answer.stdout.split()[-1]


def compilers_for(
    root: str | Path, paths: Iterable[str], *, soon: bool = False
) -> tuple[dict[str, Compiler], list[Caveat]]:
    """(compiler by graph file name, why others cannot be started) for the entries at `paths` below `root`.

    `soon`: they will be used right away, so each starts up while its version is found out.
    """
    found: dict[str, Compiler] = {}
    missing: list[Caveat] = []
    for name in sorted({graph.name for path in paths if (graph := graph_file(Path(root, path)))}):
        compiler = LocalCompiler() if name == LocalCompiler.graph_name else compiler_for(name)
        try:
            if soon:
                compiler.start()
            compiler.directory()
            found[name] = compiler
        except CompilerMissing as problem:
            missing.append(Caveat(CaveatCode.COMPILER_MISSING, detail=str(problem), graph=name))
    return found, missing
