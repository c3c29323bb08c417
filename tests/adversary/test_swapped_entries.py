"""Files of an entry cut, flipped, swapped, removed, and whole entries copied over others: right numbers or an error."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.adversary.attacker import LONG
from tests.adversary.victim import ROOT, entries, victim_of

pytestmark = [pytest.mark.torch, pytest.mark.timeout(1800), pytest.mark.xdist_group("attacked entries")]
FILES = (
    "model.fxgraph", "model.inductor", "model.kernels", "model.stats.json", "compile_flags.json", "model.done",
    "model.graph.json",
)  # fmt: skip


def clear(entry: Path) -> None:
    for path in entry.iterdir():
        path.unlink()
    entry.rmdir()


def cut(path: Path, other: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def flipped(path: Path, other: Path) -> None:
    data = bytearray(path.read_bytes() or b"\0")
    data[len(data) // 2] ^= 0x04
    path.write_bytes(bytes(data))


def swapped(path: Path, other: Path) -> None:
    shutil.copy(other, path)


def removed(path: Path, other: Path) -> None:
    path.unlink()


MEANS: tuple[Callable[[Path, Path], None], ...] = (cut, flipped, swapped, removed)
SINGLE = [{name: means} for name in FILES for means in MEANS]
PAIRS = [
    {first: one, second: two}
    for (first, second), one, two in itertools.product(itertools.combinations(FILES[:5], 2), MEANS, MEANS)
]
SAMPLE = [
    {"model.fxgraph": swapped, "model.inductor": cut},
    {"model.fxgraph": swapped, "model.stats.json": removed},
    {"model.inductor": swapped, "model.kernels": swapped},
    {"model.fxgraph": swapped, "model.done": removed},
    {"model.stats.json": flipped},
    {"compile_flags.json": flipped, "model.kernels": flipped},
]


def attack(entry: Path, other: Path, means: dict[str, Callable[[Path, Path], None]]) -> None:
    for name, change in means.items():
        change(entry / name, other / name)


def test_what_is_compiled_again_is_the_graph_of_the_job_whatever_lies_in_its_entry(folder: Path) -> None:
    found = entries(folder)
    attack(found["sine"], found["cosine"], {"model.fxgraph": swapped, "model.inductor": cut})
    with victim_of(folder) as victim:
        first = victim.run("sine")
        assert first.right, (first, victim.said())
        assert "recompiling" in victim.said()
    with victim_of(folder) as later:
        assert later.run("sine").right
        assert "recompiling" not in later.said()
    left = {path.name.split(".2")[0] for path in found["sine"].glob("*.broken")}
    assert left >= {"model.fxgraph", "model.inductor", "model.stats.json", "compile_flags.json", "model.graph.json"}


@pytest.mark.parametrize(
    ("over", "copied", "program"),
    [("sine", "cosine", "sine"), ("forward", "backward", "training"), ("backward", "forward", "training")],
)
def test_an_entry_copied_over_another_is_not_believed(folder: Path, over: str, copied: str, program: str) -> None:
    found = entries(folder)
    clear(found[over])
    shutil.copytree(found[copied], found[over])
    with victim_of(folder) as victim:
        answers = [victim.run(program), victim.run(program)]
        assert all(answer.right for answer in answers), (answers, victim.said())


def test_the_copied_entry_is_not_believed_when_its_artifact_is_cut_or_its_name_mended(folder: Path) -> None:
    found = entries(folder)
    clear(found["sine"])
    shutil.copytree(found["cosine"], found["sine"])
    record = json.loads((found["sine"] / "model.stats.json").read_text())
    record["module"] = found["sine"].name
    (found["sine"] / "model.stats.json").write_text(json.dumps(record))
    with victim_of(folder) as victim:
        assert victim.run("sine").right, victim.said()
    shutil.copytree(found["cosine"], found["sine"], dirs_exist_ok=True)
    cut(found["sine"] / "model.inductor", found["cosine"])
    with victim_of(folder) as victim:
        assert victim.run("sine").right, victim.said()


@pytest.mark.parametrize(
    "means",
    [*SINGLE, *PAIRS] if LONG else SAMPLE,
    ids=lambda means: " ".join(f"{name.removeprefix('model.')}-{change.__name__}" for name, change in means.items()),
)
def test_every_combination_of_damage_gives_right_numbers_or_an_error(
    folder: Path, means: dict[str, Callable[[Path, Path], None]]
) -> None:
    found = entries(folder)
    attack(found["sine"], found["cosine"], means)
    with victim_of(folder) as victim:
        answers = [victim.run("sine"), victim.run("sine"), victim.run("cosine")]
        for answer in answers:
            assert answer.right or answer.error, (answers, victim.said())


def test_parallel_compile_never_compiles_a_graph_into_another_ones_entry(folder: Path) -> None:
    found = entries(folder)
    for name in ("model.done", "model.stats.json", "model.inductor", "model.kernels"):
        for entry in found.values():
            (entry / name).unlink()
    attack(found["sine"], found["cosine"], {"model.fxgraph": swapped})
    done = compile_all(folder)
    assert done.returncode != 0
    assert found["sine"].name in done.stderr
    assert not (found["sine"] / "model.done").exists()
    assert (found["cosine"] / "model.done").exists(), done.stderr
    with victim_of(folder) as victim:
        assert victim.run("sine").right, victim.said()
        assert victim.run("cosine").right, victim.said()


def test_a_graph_whose_header_was_forged_for_another_key_is_not_compiled_into_it(folder: Path) -> None:
    """The forger knows the format; the graph itself still says which key it has."""
    found = entries(folder)
    for name in ("model.done", "model.stats.json", "model.inductor", "model.kernels"):
        (found["sine"] / name).unlink()
    head, body = (found["cosine"] / "model.fxgraph").read_bytes().split(b"\n", 2)[1:]
    forged = json.loads(head)
    ours = json.loads((found["sine"] / "model.fxgraph").read_bytes().split(b"\n", 2)[1])
    forged |= {"module": ours["module"], "graph": ours["graph"], "signature": {"key": "", "digest": ""}}
    assert hashlib.sha256(body).hexdigest() == forged["sha256"]
    magic = (found["sine"] / "model.fxgraph").read_bytes().split(b"\n", 1)[0]
    (found["sine"] / "model.fxgraph").write_bytes(b"\n".join((magic, json.dumps(forged).encode(), body)))
    done = compile_all(folder)
    assert done.returncode != 0
    assert not (found["sine"] / "model.done").exists()
    with victim_of(folder) as victim:
        assert victim.run("sine").right, victim.said()


def compile_all(folder: Path) -> subprocess.CompletedProcess[str]:
    """`neurontop compile --compile-only` on the attacked cache."""
    from tests.compile.parallel import jobs

    environ = jobs.environment(folder, PYTHONPATH=str(ROOT))
    return subprocess.run(
        [sys.executable, "-m", "neuron_top", "compile", "--compile-only"],
        env=environ,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=jobs.TIMEOUT,
        check=False,
    )
