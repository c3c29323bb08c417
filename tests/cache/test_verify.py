"""What a full read of an artifact says of files that cannot be read."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from neuron_top.cache.model import filenames
from neuron_top.cache.model.entry import Entry
from neuron_top.cache.model.record import FileFacts, Stats
from neuron_top.cache.scan import scanner, verify
from neuron_top.cache.scan.verify import FindingLevel
from neuron_top.cache.signing import Keys
from tests.builders import module_name, neff, write_entry

HIT = {filenames.NEFF: neff(), filenames.DONE: b""}
"""An entry of the SDK without its graph."""
DIGEST = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
"""sha256 of `x`."""


def local_entry(root: Path) -> Entry:
    """A compiled entry of the local compiler, as a scan sees it."""
    module = module_name(b"[]")
    one = FileFacts(DIGEST, 1)
    stats = Stats(
        module=module,
        compiler="inductor",
        files={filenames.INDUCTOR_ARTIFACT: one, filenames.INDUCTOR_KERNELS: one},
        graph=module.removeprefix("MODULE_").partition("+")[0],
    ).sealed(Keys())
    files = {filenames.INDUCTOR_ARTIFACT: b"x", filenames.INDUCTOR_KERNELS: b"x", filenames.DONE: b""}
    written = {**files, filenames.STATS: msgspec.json.encode(stats)}
    write_entry(root, written, compiler="inductor-1.0.0+00000000", flags=())
    (entry,) = scanner.scan(str(root)).entries
    return entry


def test_a_sound_entry_has_no_findings(tmp_path: Path) -> None:
    assert list(verify.deep(str(tmp_path), local_entry(tmp_path))) == []


def test_an_entry_that_is_evicted_while_it_is_read_is_not_called_broken(tmp_path: Path) -> None:
    entry = local_entry(tmp_path)
    (tmp_path / entry.path / filenames.INDUCTOR_KERNELS).unlink()
    assert list(verify.deep(str(tmp_path), entry)) == []


def test_a_neff_that_is_evicted_while_it_is_read_is_not_called_broken(tmp_path: Path) -> None:
    folder = write_entry(tmp_path, HIT)
    (entry,) = scanner.scan(str(tmp_path)).entries
    (folder / filenames.NEFF).unlink()
    assert [finding.level for finding in verify.deep(str(tmp_path), entry)] == []


@pytest.mark.parametrize("code", [errno.EACCES, errno.ESTALE])
def test_a_neff_that_may_not_be_read_is_a_warning(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry(tmp_path, HIT)
    (entry,) = scanner.scan(str(tmp_path)).entries
    opened = os.open

    def refusing(path: str | Path, *arguments: Any, **options: Any) -> int:
        if str(path).endswith(filenames.NEFF):
            raise OSError(code, os.strerror(code), str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refusing)
    (finding,) = verify.deep(str(tmp_path), entry)
    assert finding.level is FindingLevel.WARNING
    assert finding.what.startswith("its NEFF cannot be read: ")


def test_kernels_that_may_not_be_read_are_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry, opened = local_entry(tmp_path), os.open

    def refusing(path: str | Path, *arguments: Any, **options: Any) -> int:
        if str(path).endswith(filenames.INDUCTOR_KERNELS):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refusing)
    (finding,) = verify.deep(str(tmp_path), entry)
    assert (finding.level, finding.what) == (FindingLevel.WARNING, "model.kernels: permission denied")
