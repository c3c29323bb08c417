"""vLLM-Neuron's cache: an entry is complete when its marker names the size of its NEFF, and nothing is changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.cache.vllm_neuron import MARKER, VllmState, entries

KEY = "6dcc944f1be638ed5bb225055e4286f1"


def entry(root: Path, key: str = KEY, *, neff: int | None = None, marker: str | None = None, rank: str = "") -> Path:
    """One entry as a compile leaves it."""
    folder = root / key / rank
    folder.mkdir(parents=True)
    (folder / "graph.hlo").write_bytes(b"g" * 100)
    if neff is not None:
        (folder / f"graph_{key}.neff").write_bytes(b"n" * neff)
    if marker is not None:
        (folder / MARKER).write_text(marker)
    return folder


def test_a_marker_with_the_size_of_the_neff_means_complete(tmp_path: Path) -> None:
    entry(tmp_path, neff=5000, marker="completed:2026-06-22T10:00:00\nneff_size:5000\n")
    (one,) = entries(str(tmp_path))
    assert (one.key, one.state, one.neff_bytes, one.files) == (KEY, VllmState.COMPLETE, 5000, 3)
    assert one.bytes >= 5000


def test_marker_and_neff_may_lie_in_the_folder_of_a_rank(tmp_path: Path) -> None:
    entry(tmp_path, neff=70, marker="completed:1\nneff_size:70", rank="dev0_0.rank0")
    assert entries(str(tmp_path))[0].state is VllmState.COMPLETE


def test_no_marker_means_running_or_dead_and_another_size_means_mismatch(tmp_path: Path) -> None:
    entry(tmp_path, "a" * 32, neff=10)
    entry(tmp_path, "b" * 32, neff=10, marker="completed:1\nneff_size:11\n")
    entry(tmp_path, "c" * 32, marker="completed:1\nneff_size:11\n")
    entry(tmp_path, "d" * 32, neff=10, marker="")
    found = {one.key[0]: one.state for one in entries(str(tmp_path))}
    wrong = VllmState.MISMATCH
    assert found == {"a": VllmState.INCOMPLETE, "b": wrong, "c": wrong, "d": wrong}


def test_the_folder_of_kernels_other_names_and_links_are_no_entries(tmp_path: Path) -> None:
    (tmp_path / "nki").mkdir()
    (tmp_path / "notes").write_text("n")
    elsewhere = entry(tmp_path / "elsewhere", neff=1)
    (tmp_path / ("e" * 32)).symlink_to(elsewhere)
    assert entries(str(tmp_path)) == []
    assert entries(str(tmp_path / "no such folder")) == []


@given(text=st.binary(max_size=200))
def test_any_marker_can_be_read(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    root = tmp_path_factory.mktemp("vllm")
    folder = entry(root, neff=10)
    (folder / MARKER).write_bytes(text)
    (one,) = entries(str(root))
    assert one.state in (VllmState.COMPLETE, VllmState.MISMATCH)
