"""The short way to read an entry gives the record that the long way gives, or none."""

from __future__ import annotations

import os
from itertools import chain, combinations
from pathlib import Path

import pytest

from neuron_top.cache.noatime_reader import NoAtimeReader
from neuron_top.cache.scan.entry_reader import EntryReader
from neuron_top.cache.scan.fast_scan import read_plain
from tests.builders import COMPILER, HLO_NAME, OLD_COMPILER, neff, set_age, small_hlo, write_entry

PLAIN = {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b"", "wrapped_neff.hlo": b"w", "model.hlo.pb": b"g"}
REMARKABLE = {
    "model.log": b"Failed compilation with ['neuronx-cc']: killed",
    f"{HLO_NAME}.lock": b"",
    "notes.txt": b"n",
    "model.inductor": b"a",
}


def subsets(names: dict[str, bytes]) -> list[tuple[str, ...]]:
    """Every selection of the names."""
    return list(chain.from_iterable(combinations(names, count) for count in range(len(names) + 1)))


def both_ways(root: Path, compiler: str, module: str) -> tuple[object, object]:
    """What the short and the long way make of one entry."""
    folder = os.open(root / compiler, os.O_RDONLY)
    entry = os.open(module, os.O_RDONLY, dir_fd=folder)
    try:
        reader = EntryReader(str(root), compiler, folder, NoAtimeReader())
        return read_plain(reader.shared.facts, module, entry), reader.read_any(module, entry)
    finally:
        os.close(entry)
        os.close(folder)


@pytest.mark.parametrize("compiler", [COMPILER, OLD_COMPILER])
def test_every_selection_of_ordinary_files_reads_the_same_both_ways(tmp_path: Path, compiler: str) -> None:
    for number, names in enumerate(subsets(PLAIN)):
        folder = write_entry(tmp_path, {name: PLAIN[name] for name in names}, compiler=compiler, graph=f"{number:020x}")
        short, long = both_ways(tmp_path, compiler, folder.name)
        assert short == long, names


@pytest.mark.parametrize("name", REMARKABLE)
def test_what_is_not_plain_is_left_to_the_long_way(tmp_path: Path, name: str) -> None:
    folder = write_entry(tmp_path, {**PLAIN, name: REMARKABLE[name]})
    short, long = both_ways(tmp_path, COMPILER, folder.name)
    assert short is None
    assert long is not None


def test_an_artifact_that_fails_its_test_and_a_second_name_of_a_file_are_left_to_the_long_way(tmp_path: Path) -> None:
    broken = write_entry(tmp_path, {**PLAIN, "model.neff": b"short"})
    shared = write_entry(tmp_path, PLAIN, graph=f"{7:020x}")
    os.link(shared / "model.neff", tmp_path / "second name")
    assert both_ways(tmp_path, COMPILER, broken.name)[0] is None
    assert both_ways(tmp_path, COMPILER, shared.name)[0] is None


def test_the_access_time_of_an_artifact_read_later_is_known_by_both_ways(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, PLAIN)
    set_age(folder, 1000.0)
    artifact = folder / "model.neff"
    os.utime(artifact, (artifact.stat().st_mtime + 500, artifact.stat().st_mtime))
    short, long = both_ways(tmp_path, COMPILER, folder.name)
    assert short == long
    assert getattr(short, "read_at", None) == artifact.stat().st_mtime + 500
