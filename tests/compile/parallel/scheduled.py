"""Collected graphs and a compiler in a script, for compiles that a scheduler's nodes do."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from neuron_top.cache.model.entry import State
from neuron_top.compile.parallel.compile_queue import CompileResult
from neuron_top.compile.parallel.on_node import NodeResult
from tests.actions import caches, states
from tests.compile.parallel.jobs import NEURONTOP, until

COMPILED = msgspec.json.encode(NodeResult(result=CompileResult(ok=True, seconds=1.0)))
"""What a task says that went well."""
FIRST = 161
"""Of no other test: a module that the command of a live process names is left alone, also in another cache."""
_VERSION = caches.COMPILER.removeprefix("neuronxcc-")
_COMPILER = """#!/bin/sh
node=${SLURMD_NODENAME:-${NEURONTOP_NODE:-here}}
[ -e "$FOLDER/no-compiler-on-$node" ] && exit 127
if [ "$1" = --version ]; then echo "version VERSION"; exit 0; fi
number=$(basename "$(dirname "$3")" | cut -c8-27 | sed 's/^0*//')
echo "$number $node $PPID" >> "$FOLDER/begun"
echo "target:$NEURON_PLATFORM_TARGET_OVERRIDE account:$SLURM_JOB_ACCOUNT" >> "$FOLDER/environment"
if [ -e "$FOLDER/kill-$number" ]; then rm "$FOLDER/kill-$number"; kill -9 $PPID; exit 1; fi
while [ -e "$FOLDER/wait" ]; do sleep 0.1; done
if [ -e "$FOLDER/full-on-$node" ]; then echo "No space left on device"; exit 1; fi
[ -e "$FOLDER/seconds" ] && sleep "$(cat "$FOLDER/seconds")"
cat "$3" "$3" > "$5" && echo "$number $node" >> "$FOLDER/compiled"
"""


class Site:
    """A folder with collected graphs and a compiler that every node sees; files in it report the compiler what to do.

    `no-compiler-on-NODE`: it does not start there. `kill-NUMBER`: it kills, once, the process that called it.
    `wait`: it waits while the file is there. `full-on-NODE`: it finds no room there. `seconds`: how long it takes.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str], graphs: int = 3) -> None:
        self.folder, self.root = folder, folder / "cache"
        self.numbers = range(FIRST, FIRST + graphs)
        for number in self.numbers:
            states.entry_in(self.root, State.EXTRACTED, number=number)
        program = folder / "bin" / "neuronx-cc"
        program.parent.mkdir()
        program.write_text(_COMPILER.replace("VERSION", _VERSION).replace("$FOLDER", str(folder)))
        program.chmod(0o755)
        kept = {name: value for name, value in environ.items() if not name.startswith("NEURON")}
        self.environ = {
            **kept,
            "PATH": f"{program.parent}{os.pathsep}{environ['PATH']}",
            "NEURON_COMPILE_CACHE_URL": str(self.root),
            "NEURON_PLATFORM_TARGET_OVERRIDE": "trn2",
            "NEURONTOP_STATE_DIR": str(folder / "state"),
            "NEURONTOP_CONFIG": os.devnull,
        }

    def mark(self, name: str) -> Path:
        """Make one of the files that report the compiler what to do."""
        path = self.folder / name
        path.touch()
        return path

    def compile(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`neurontop compile --compile-only …` to its end."""
        command = [*NEURONTOP, "compile", "--compile-only", *arguments]
        return subprocess.run(
            command, env=self.environ, cwd=self.folder, capture_output=True, text=True, timeout=600, check=False
        )

    def interrupt(self, *arguments: str, mark: str) -> tuple[int, str]:
        """The same, interrupted when its output matches `mark`: exit status and output."""
        said = self.folder / "said"
        with said.open("wb") as output:
            process = subprocess.Popen(
                [*NEURONTOP, "compile", "--compile-only", *arguments],
                env=self.environ,
                cwd=self.folder,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            until(lambda: process.poll() is not None or re.search(mark, said.read_text()) is not None)
            assert process.poll() is None, said.read_text()
            process.send_signal(signal.SIGINT)
            return process.wait(600), said.read_text()

    def lines(self, name: str) -> list[list[str]]:
        """What the compiler noted in `begun` or `compiled` (graph, node), or in `environment` (target, account)."""
        path = self.folder / name
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def logs(self) -> list[str]:
        """What tasks wrote, of all calls so far."""
        return [path.read_text() for path in self.folder.glob(".neurontop-jobs-*/**/*_log.err")]

    def check_each_compiled_once(self) -> None:
        """Every graph has the artifact that a compile here would give, was compiled once, and no lock is left."""
        compiled = Counter(int(graph) for graph, _ in self.lines("compiled"))
        assert compiled == dict.fromkeys(self.numbers, 1), (self.lines("begun"), self.logs())
        for number in self.numbers:
            entry = self.root / caches.COMPILER / caches.module(number)
            assert (entry / "model.neff").read_bytes() == 2 * (entry / "model.hlo_module.pb").read_bytes()
            assert (entry / "model.done").exists()
        assert list(self.root.rglob("*.lock")) == []


class NoLibrary:
    """A medium that cannot tell whether an artifact has arrived."""

    shows_locks = True

    def task(self, graph: Path, retries: int) -> bytes:
        return b""

    def arrived(self, graph: Path, result: NodeResult) -> str:
        raise ImportError("no library for it")
