"""Prepared graphs and libraries that leave a mark when they run: none of them may ever run."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("torch")

from neuron_top.cache.model import filenames, graph_header
from neuron_top.cache.signing import Keys
from neuron_top.compile.server import server
from tests.adversary.attacker import give_away, needs_root
from tests.adversary.victim import ROOT, entries, victim_of
from tests.compile.parallel import jobs

pytestmark = [pytest.mark.torch, pytest.mark.timeout(1800), pytest.mark.xdist_group("attacked entries")]
MODULE = "MODULE_" + "a" * 20 + "+d7517139"


class Prepared:
    """Runs a command when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.mark}",)


def prepared_graph(mark: Path) -> bytes:
    return graph_header.wrap(pickle.dumps(Prepared(mark)), module=MODULE, graph="a" * 64, keys=Keys())


def prepared_library(folder: Path, mark: Path) -> bytes:
    """A shared library that leaves the mark when it is mapped."""
    source, library = folder / "prepared.c", folder / "prepared.so"
    source.write_text(
        f'#include <stdio.h>\n__attribute__((constructor)) static void run(void) {{ fclose(fopen("{mark}", "w")); }}\n'
    )
    subprocess.run(["g++", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library.read_bytes()


def replace_kernels(entry: Path, library: bytes) -> list[str]:
    """The prepared library in place of each kernel, its digest in the record as the 0.1 attack had it."""
    archive = entry / filenames.INDUCTOR_KERNELS
    with zipfile.ZipFile(archive) as zipped:
        names = zipped.namelist()
    assert names
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as zipped:
        for name in names:
            zipped.writestr(zipfile.ZipInfo(name), library)
    record = json.loads((entry / filenames.STATS).read_text())
    data = archive.read_bytes()
    record["files"][archive.name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    (entry / filenames.STATS).write_text(json.dumps(record))
    return names


@needs_root
def test_a_library_in_a_strangers_root_is_not_mapped_whatever_its_record_says(folder: Path) -> None:
    mark, entry = folder / "mark", entries(folder)["sine"]
    replace_kernels(entry, prepared_library(folder, mark))
    give_away(folder / "cache", entry.parent, entry, *entry.iterdir())
    with victim_of(folder) as victim:
        answer = victim.run("sine")
    assert "NEURONTOP_TRUST_CACHE=1" in answer.error, answer
    assert not mark.exists()


def test_a_library_whose_plain_digest_was_rewritten_is_not_mapped(folder: Path) -> None:
    """In a root of our own, too: its record does not bear its own digest any more."""
    mark = folder / "mark"
    replace_kernels(entries(folder)["sine"], prepared_library(folder, mark))
    with victim_of(folder) as victim:
        assert victim.run("sine").right, victim.said()
    assert not mark.exists()


def test_a_kernel_that_waits_in_inductors_folder_under_the_right_name_is_replaced(folder: Path) -> None:
    mark, library = folder / "mark", prepared_library(folder, folder / "mark")
    with zipfile.ZipFile(entries(folder)["sine"] / filenames.INDUCTOR_KERNELS) as zipped:
        kernels = {name: zipped.read(name) for name in zipped.namelist()}
    for name in kernels:
        place = folder / "inductor" / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(library)
    with victim_of(folder) as victim:
        assert victim.run("sine").right, victim.said()
    assert {name: (folder / "inductor" / name).read_bytes() for name in kernels} == kernels
    assert not mark.exists()


@needs_root
def test_inductors_folder_of_a_stranger_is_not_used(folder: Path) -> None:
    theirs = folder / "torchinductor_somebody"
    theirs.mkdir()
    give_away(theirs)
    (folder / "inductor").unlink()
    (folder / "inductor").symlink_to(theirs)
    with victim_of(folder) as victim:
        answer = victim.run("sine")
    assert "Set TORCHINDUCTOR_CACHE_DIR to a folder of your own" in answer.error, answer
    assert list(theirs.iterdir()) == []


FORK = """
import hashlib, sys, types
from pathlib import Path
from neuron_top.compile.server import server
from neuron_top.compile.graphs import graph_file, inductor_compile

graph_file.load = lambda body: types.SimpleNamespace(gm=None, inputs=[], settings={})
inductor_compile.compile_serialized = lambda *_, **__: inductor_compile.check_work_folder()
request = {"graph": sys.argv[1], "graph_sha256": hashlib.sha256(Path(sys.argv[1]).read_bytes()).hexdigest(),
           "graph_digest": "", "module": "", "outputs": {}, "dump": ""}
sys.exit(server._compile(request, 1))
"""


@needs_root
def test_a_compile_that_inductors_folder_forbids_is_not_the_graphs_fault(tmp_path: Path) -> None:
    """The fork looks, too: a parallel compile has no other look at that folder."""
    graph, theirs = tmp_path / filenames.FX_GRAPH, tmp_path / "theirs"
    graph.write_bytes(prepared_graph(tmp_path / "mark"))
    theirs.mkdir()
    give_away(theirs)
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(graph)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(theirs)},
    )
    assert done.returncode == server.NOT_THE_GRAPHS_FAULT, done.stderr
    assert "Set TORCHINDUCTOR_CACHE_DIR" in done.stderr


PLACES = """
from torch._inductor import codecache
from neuron_top.compile.graphs import inductor_compile
inductor_compile.check_work_folder()
print(codecache._HEADER_DIR, codecache._HEADER_LOCK_DIR, sep="\\n")
"""


@needs_root
@pytest.mark.parametrize("theirs", [False, True])
def test_headers_precompiled_by_a_stranger_are_not_used(tmp_path: Path, theirs: bool) -> None:
    """PyTorch keeps them in its default folder even where TORCHINDUCTOR_CACHE_DIR names another."""
    ours = tmp_path / "ours"
    default = tmp_path / f"torchinductor_{getpass.getuser()}"
    default.mkdir(mode=0o755)
    if theirs:
        give_away(default)
    done = subprocess.run(
        [sys.executable, "-c", PLACES],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(ours), "TMPDIR": str(tmp_path)},
    )
    headers = (ours if theirs else default) / "precompiled_headers"
    assert done.stdout.split() == [str(headers), str(headers / "locks")]


@needs_root
def test_a_compile_server_runs_nothing_from_inductors_folder_of_a_stranger(tmp_path: Path) -> None:
    """What is done before the first fork tries vector instructions by libraries that lie there."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    give_away(theirs)
    done = subprocess.run(
        [sys.executable, "-c", "from neuron_top.compile.server import server; server._get_ready()"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(theirs)},
    )
    assert list(theirs.iterdir()) == [], done.stderr


@pytest.mark.parametrize("mode", [0o777, 0o1777])
def test_a_prepared_graph_in_a_root_that_others_can_write_to_is_not_unpickled(tmp_path: Path, mode: int) -> None:
    root, mark = tmp_path / "cache", tmp_path / "mark"
    ask = [
        sys.executable,
        "-c",
        "from neuron_top.compile.compilers.inductor import directory_name as d; print(d())",
    ]
    compiler = subprocess.run(ask, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()[-1]
    entry = root / compiler / MODULE
    entry.mkdir(parents=True)
    (entry / filenames.FX_GRAPH).write_bytes(prepared_graph(mark))
    (entry / filenames.FLAGS_NAMES[0]).write_bytes(b"[]")
    root.chmod(mode)
    if mode == 0o1777:
        if os.geteuid() != 0:
            pytest.skip("only root can give a file to another user")
        give_away(entry, *entry.iterdir())
    done = subprocess.run(
        [sys.executable, "-m", "neuron_top", "compile", "--compile-only"],
        env=jobs.environment(tmp_path, PYTHONPATH=str(ROOT)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=jobs.TIMEOUT,
        check=False,
    )
    assert done.returncode == (4 if mode == 0o777 else 1), done.stderr
    assert "NEURONTOP_TRUST_CACHE=1" in done.stderr
    assert not mark.exists()


def test_a_compile_process_unpickles_no_other_bytes_than_its_job_sent_the_digest_of(tmp_path: Path) -> None:
    graph, mark = tmp_path / filenames.FX_GRAPH, tmp_path / "mark"
    graph.write_bytes(prepared_graph(mark))
    request = {"graph": str(graph), "graph_sha256": "0" * 64, "graph_digest": "", "outputs": {}, "dump": ""}
    assert server._compile(request, tmp_path / "result") == server.NOT_THE_GRAPHS_FAULT
    assert not mark.exists()
