"""Whose traceback it is, by what stands in front of each of its lines."""

from __future__ import annotations

import pytest

from neuron_top.ingest.advised import diagnose


@pytest.mark.parametrize(
    ("front", "ranks"),
    [
        ("[Rank 3] ", (3,)),
        ("[rank: 3] ", (3,)),
        ("rank 3: ", (3,)),
        ("[1744] [rank3]: ", (3,)),
        ("2026-05-02T10:00:00.123456+00:00 box-7 wide[99]: ", ()),
    ],
)
def test_the_rank_of_a_traceback_is_what_stands_in_front(front: str, ranks: tuple[int, ...]) -> None:
    lines = ("Traceback (most recent call last):", '  File "/job/wide.py", line 12, in main', "KeyError: 'wide'")
    cause = diagnose("".join(f"{front}{line}\n" for line in lines).encode(), "log:x").cause
    assert cause is not None
    assert (cause.text, cause.ranks) == ("KeyError: 'wide'", ranks)
