"""A lock that a node left behind: with claims its graph is compiled on another node, without them it is left alone."""

from __future__ import annotations

from pathlib import Path

import msgspec

from neuron_top.cache.locks import lock_owner
from neuron_top.cache.model.states import State
from neuron_top.compile.parallel.collect import collect
from tests.actions import caches, states


def test_only_a_lock_that_was_taken_under_a_claim_is_left_to_the_claim(tmp_path: Path) -> None:
    for number, claim in ((61, "postgresql://fleet/db"), (62, "")):
        entry = states.entry_in(tmp_path, State.EXTRACTED, number=number)
        elsewhere = msgspec.structs.replace(lock_owner.current(claim), host="another", boot_id="another")
        (entry / "model.hlo_module.pb.lock").write_bytes(msgspec.json.encode(elsewhere))
    with_claims = collect(tmp_path, {caches.COMPILER}, claimed=True)
    assert [graph.module for graph in with_claims.graphs] == [caches.module(61)]
    assert with_claims.counts.locked == 1
    without = collect(tmp_path, {caches.COMPILER})
    assert without.graphs == ()
    assert without.counts.locked == 2
