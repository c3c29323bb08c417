"""Caches below a folder that holds them: of ranks, teams and models."""

from __future__ import annotations

from pathlib import Path

from neuron_top.cache.below import caches_below
from neuron_top.cache.model.entry import is_entry_path
from tests.builders import HLO_NAME, neff, small_hlo, write_entry

HIT = {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}
KEY = "0123456789abcdef0123456789abcdef"


def test_the_nearest_come_first_and_ranks_in_their_order(tmp_path: Path) -> None:
    write_entry(tmp_path / "team" / "model", HIT)
    for rank in (10, 9):
        write_entry(tmp_path / f"rank_{rank}", HIT)
    place = tmp_path / "r0" / KEY[:2] / KEY[2:4]
    place.mkdir(parents=True)
    (place / f"{KEY}.neff").write_bytes(neff())
    found = [path.removeprefix(f"{tmp_path}/") for path in caches_below(str(tmp_path), 10)]
    assert found == ["r0", "rank_9", "rank_10", "team/model"]
    assert len(caches_below(str(tmp_path), 2)) == 2


def test_other_folders_links_and_places_that_are_none_name_nothing(tmp_path: Path) -> None:
    write_entry(tmp_path / "outside", HIT)
    plain = tmp_path / "plain"
    (plain / "data").mkdir(parents=True)
    write_entry(plain / ".neurontop-trash-0", HIT)
    (plain / "link").symlink_to(tmp_path / "outside")
    assert caches_below(str(plain), 10) == []
    assert caches_below("s3://bucket/prefix", 10) == []


def test_an_entry_may_lie_in_the_root_itself_but_not_above_it() -> None:
    module = "MODULE_12345678901234567890+abcd1234"
    assert is_entry_path(module)
    assert is_entry_path(f"neuronxcc-2/{module}")
    assert not is_entry_path(f"/{module}")
