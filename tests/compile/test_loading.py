"""An artifact that does not load: compiled once more, for this process alone where the cache cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("torch")

from neuron_top.cache.model import filenames
from neuron_top.compile.torch import loading
from neuron_top.compile.torch.loading import Runner
from neuron_top.compile.wrapper.compiling import CompiledEntry
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.compile.wrapper.persistent_cache import WritableEntry
from neuron_top.errors import CacheUnusable
from tests.compile.fakes import GRAPH, Copying, wrapper

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compiles")]


@pytest.mark.parametrize("is_read_only", [False, True])
def test_an_artifact_that_does_not_load_is_compiled_once_more(
    own_caches: Path, monkeypatch: pytest.MonkeyPatch, *, is_read_only: bool
) -> None:
    wrapper(own_caches).get_or_compile(GRAPH)
    damaged, compiler = wrapper(own_caches).entry(GRAPH.key).artifact.stat().st_ino, Copying()

    def loaded(compiled: CompiledEntry, digest: str) -> Runner:
        if compiled.entry.artifact.stat().st_ino == damaged:
            raise ValueError("damaged")
        return lambda arguments: [compiled.entry.artifact.read_bytes()]

    def refused(self: Wrapper, entry: WritableEntry, reason: str) -> None:
        raise CacheUnusable("the compile cache cannot be written")

    monkeypatch.setattr(loading, "_loaded", loaded)
    if is_read_only:
        monkeypatch.setattr(Wrapper, "reject", refused)
    run = loading.load(wrapper(own_caches, compiler), GRAPH, [])
    assert run([]) == [b"the graphthe graph"]
    assert compiler.compiled == 1


@pytest.mark.timeout(60)
def test_a_pipe_in_the_place_of_a_description_stops_no_hit(own_caches: Path) -> None:
    compiled = wrapper(own_caches).get_or_compile(GRAPH)
    os.mkfifo(compiled.entry.path / filenames.DESCRIPTION)
    loading._describe_again(wrapper(own_caches), compiled)
