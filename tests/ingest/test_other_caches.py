"""PyTorch's own cache beside the catalog: summed up, walked now and then, in no plan."""

from __future__ import annotations

from pathlib import Path

from neuron_top.cache.roots import CacheKind, Root
from neuron_top.services.cache_listing import LEAST_SECONDS, OtherCaches

KEY = "f" + "a1" * 20


def filled(root: Path) -> Path:
    """Two FX graphs (the second larger) and a folder of generated code."""
    for number, size in ((1, 100), (2, 50_000)):
        entry = root / "fxgraph" / "ab" / f"{KEY}{number}"
        entry.mkdir(parents=True)
        (entry / "guards").write_bytes(b"x" * size)
    (root / "zz").mkdir()
    (root / "zz" / "cabc.py").write_text("pass\n")
    return root


def test_it_is_summed_up_by_kind_with_its_largest_entries_first(tmp_path: Path) -> None:
    place = filled(tmp_path / "inductor")
    found = [
        Root(kind=CacheKind.INDUCTOR, path=str(place), origin="TORCHINDUCTOR_CACHE_DIR", exists=True),
        Root(kind=CacheKind.INDUCTOR, path=str(tmp_path / "none"), origin="its default", exists=False),
        Root(kind=CacheKind.NEURON, path=str(tmp_path), origin="the SDK's default", exists=True),
    ]
    (one,) = OtherCaches(lambda: found).look()
    assert (one.root, one.origin, one.entries) == (str(place), "TORCHINDUCTOR_CACHE_DIR", 3)
    assert [(kind.kind, kind.entries) for kind in one.kinds] == [("fx-graph", 2), ("code", 1)]
    assert one.bytes == sum(kind.bytes for kind in one.kinds) == sum(entry.bytes for entry in one.largest)
    assert one.largest[0].key == f"{KEY}2"
    assert all(kind.used is not None for kind in one.kinds)


def test_another_cache_is_walked_at_most_once_in_a_while(tmp_path: Path) -> None:
    place, now = filled(tmp_path / "inductor"), [0.0]
    found = [Root(kind=CacheKind.INDUCTOR, path=str(place), origin="", exists=True)]
    caches = OtherCaches(lambda: found, lambda: now[0])
    assert caches.look()[0].entries == 3
    (place / "yy").mkdir()
    (place / "yy" / "cdef.py").write_text("pass\n")
    now[0] = LEAST_SECONDS - 1
    assert caches.look()[0].entries == 3
    now[0] = LEAST_SECONDS + 1
    assert caches.look()[0].entries == 4
