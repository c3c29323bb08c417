"""What is called an artifact has one size: Inductor's code with its kernels, as compiles report it."""

from __future__ import annotations

from pathlib import Path

from neuron_top.cache.scan import catalog
from neuron_top.views.entries import entry_row
from tests.builders import HLO_NAME, neff, small_hlo, write_entry


def test_the_artifact_of_an_entry_is_all_that_the_compiler_made(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    made = {"model.inductor": b"i" * 300, "model.kernels": b"k" * 50, "model.done": b""}
    write_entry(root, made, compiler="inductor-2.13.0+abcdef01")
    for _look in ("scanned", "from the index"):
        (entry,) = catalog.open_root(str(root), tmp_path / "state").entries
        assert (entry.artifact_bytes, entry.kernels_bytes) == (300, 50)
        assert entry_row(str(root), entry, 0.0).artifact_bytes == 350


def test_a_neff_has_no_kernels(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    program = neff()
    write_entry(root, {HLO_NAME: small_hlo(), "model.neff": program, "model.done": b""})
    (entry,) = catalog.open_root(str(root), tmp_path / "state").entries
    assert entry_row(str(root), entry, 0.0).artifact_bytes == len(program)


def test_of_nothing_compiled_nothing_is_known(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    write_entry(root, {HLO_NAME: small_hlo()})
    (entry,) = catalog.open_root(str(root), tmp_path / "state").entries
    assert entry.output_bytes is None
