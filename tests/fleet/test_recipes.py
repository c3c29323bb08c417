"""The recipes of docs/compile-on-many-machines.md, run as they stand there: as a prolog of Slurm, and in a shell."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top.services.fleet import FleetService
from neuron_top.settings import Settings
from neuron_top.store.fleet_records import NodeKey, NodeRecord
from neuron_top.store.postgres.fleet import FleetStore
from tests.actions.caches import entry, module
from tests.servers.slurm import NO_PROLOG, SlurmCluster, write_program

PAGE = Path(__file__).parents[2] / "docs" / "compile-on-many-machines.md"
SECONDS = 300.0
PRESENT, MISSING = 7_310_046_181, 7_310_046_182
"""Graphs that no other test names, nor counts up to: a node also reports caches that other processes here use."""
_NEURONTOP = f'#!/bin/sh\nexec {sys.executable} -m neuron_top "$@"\n'
_LOGGER = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/logged"\n'


def recipe(first: str) -> str:
    """The indented block of the page that begins with this line."""
    lines = PAGE.read_text().splitlines()
    begin = lines.index(f"    {first}")
    block = []
    for line in lines[begin:]:
        if not line.startswith("    "):
            break
        block.append(line[4:])
    return "\n".join(block) + "\n"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with `neurontop`, and a `logger` that writes beside itself."""
    folder = tmp_path / "bin"
    folder.mkdir()
    write_program(folder / "neurontop", _NEURONTOP)
    write_program(folder / "logger", _LOGGER)
    return folder


@pytest.fixture
def prolog(slurm: SlurmCluster, postgres_url: str, tmp_path: Path, programs: Path) -> Iterator[Path]:
    """The recipe as the prolog of every node; the folder of its cache."""
    text = recipe("#!/bin/bash").replace("/opt/neurontop/bin", str(programs))
    text = text.replace("postgresql://fleet-db/neurontop", postgres_url).replace("/fsx", str(tmp_path))
    text = text.replace("/dev/null", f"{tmp_path}/printed")
    own = f"export NEURONTOP_STATE_DIR={tmp_path}/state NEURONTOP_CONFIG=/dev/null\n"
    write_program(slurm.prolog, text.replace("#!/bin/bash\n", f"#!/bin/bash\n{own}"))
    yield tmp_path / "cache"
    write_program(slurm.prolog, NO_PROLOG)


def test_the_prolog_reports_the_nodes_cache_names_what_is_missing_and_drains_nothing(
    slurm: SlurmCluster, prolog: Path, postgres_url: str, programs: Path, tmp_path: Path
) -> None:
    entry(prolog, PRESENT)
    (tmp_path / "graphs.txt").write_text(module(PRESENT))
    slurm.run("srun", "--nodelist=n3", "true", timeout=SECONDS)
    with FleetService(Settings(store=postgres_url)) as fleet:
        assert [node.node for node in fleet.page().nodes] == ["n3"]
    assert not (programs / "logged").exists()
    (tmp_path / "graphs.txt").write_text(f"{module(PRESENT)} {module(MISSING)}")
    end = time.monotonic() + SECONDS
    while not (programs / "logged").exists() and time.monotonic() < end:  # Slurm may end a prolog with a short job
        _wait_until_idle(slurm, "n3")
        slurm.run("srun", "--nodelist=n3", "true", timeout=SECONDS)
        _wait_until_there(programs / "logged")
    assert (programs / "logged").exists(), f"{(tmp_path / 'printed').read_text()}\n{slurm.log('n3')}"
    assert (programs / "logged").read_text() == "graphs are missing on n3\n"


def _wait_until_idle(slurm: SlurmCluster, node: str) -> None:
    end = time.monotonic() + SECONDS
    while slurm.run("sinfo", "--noheader", f"--nodes={node}", "--format=%t").strip() != "idle":
        assert time.monotonic() < end
        time.sleep(0.1)


def _wait_until_there(path: Path) -> None:
    """A prolog may end after the step that it was started for; some seconds, for it may also have been ended."""
    end = time.monotonic() + 40.0
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.1)


def test_the_recipe_of_ci_stops_where_a_graph_is_missing_and_says_what_it_costs(
    postgres_url: str, tmp_path: Path, programs: Path
) -> None:
    if shutil.which("jq") is None:
        pytest.skip("no jq on this machine (Debian: apt-get install jq)")
    with FleetStore(postgres_url) as store:
        store.register(NodeRecord(node="n1", machine_id="m1", attributes={"cores": 32, "compiler": "2.21"}))
        store.register(NodeRecord(node="n2", machine_id="m2", attributes={"cores": 32, "compiler": "2.20"}))
        keys = [NodeKey(root="/c", key=module(1), node=node, state="hit", seen=100.0) for node in ("n1", "n2")]
        store.put_keys(keys)
    script = recipe("neurontop fleet check --graphs graphs.txt --json > check.json")
    environ = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "NEURONTOP_STORE": postgres_url}

    def run() -> subprocess.CompletedProcess[str]:
        command = ["bash", "-e", "-c", script]
        return subprocess.run(
            command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False
        )

    (tmp_path / "graphs.txt").write_text(module(1))
    fine = run()
    assert (fine.returncode, '"compiler"' in fine.stdout) == (0, True), fine.stderr
    (tmp_path / "graphs.txt").write_text(f"{module(1)} {module(2)}")
    assert run().returncode == 1, "a shell of CI ends with the check"
    assert json.loads((tmp_path / "check.json").read_text())["cost"]["unknown_graphs"] == [module(2)]
