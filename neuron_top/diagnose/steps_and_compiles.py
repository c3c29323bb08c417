"""What shows that a job goes on: steps that it trains, graphs that it compiles. Found in raw bytes, by whole blocks."""

from __future__ import annotations

import ahocorasick_rs

from neuron_top.late_pattern import late_pattern
from neuron_top.parsers import own_lines

_STEPS = (
    b"'loss'", b'"loss"', b"it/s", b"s/it", b"step_loss", b"throughput", b"loss=", b"loss: ",
    b":loss = ", b"] loss = ", b"loss ", b"tokens/s", b'" 200 ', b": success", b"/s]", b"/s, ",
)  # fmt: skip
_NO_STEPS = (b"?it/s", b"?s/it")
"""A progress bar before its first step."""
_RATES = frozenset(number for number, step in enumerate(_STEPS) if step in (b"it/s", b"s/it"))
_BARS = frozenset((_STEPS.index(b"/s]"), _STEPS.index(b"/s, ")))
"""How the rate of a progress bar ends that counts something else than its iterations."""
_BAR = late_pattern(rb"\[[\d:]{4,12}<[\d:?]{1,12}, {0,3}\d[\d.]{0,12}(?![kKMGT]?i?[Bb]/)[A-Za-z]{1,20}/s[\],]")
"""Such a bar up to there; bytes are what is loaded, no work."""
_LOSSES = frozenset(number for number, step in enumerate(_STEPS) if step in (b"loss ", b":loss = ", b"] loss = "))
"""Words that stand in sentences too: in a job's step a number follows. `loss = ` stands in source code, TensorFlow's
steps have its logger's header in front."""
_SUMMARIES = (b"wandb: ", *own_lines.OF_STEPS)
"""In front of a loss that Weights & Biases prints of a run that has ended, or we of the job that we run."""
_ANSWER = _STEPS.index(b": success")
_ROUTER = b"router::server: "
"""Near in front of it, where TGI's router has answered a request."""
_ROUTER_BYTES = 80
_BARS_BYTES = 60
_BEFORE_RATE = b"0123456789. "
_COMPILES = (
    b"compiler status pass", b"successfully completed for", b"using a cached neff", b"autotune benchmarking takes",
)  # fmt: skip


def word_search(words: tuple[bytes, ...]) -> ahocorasick_rs.BytesAhoCorasick:
    """A search for all of these at once; where two begin at one place, the first of them is found."""
    return ahocorasick_rs.BytesAhoCorasick(
        words,
        matchkind=ahocorasick_rs.MatchKind.LeftmostFirst,
        implementation=ahocorasick_rs.Implementation.DFA,
    )


_SEARCH = word_search((*_STEPS, *_COMPILES, *_NO_STEPS))


def found_in(block: bytes) -> tuple[list[int], list[int]]:
    """Where steps and where compiles stand, by the bytes behind each, in order."""
    matches = _SEARCH.find_matches_as_indexes(block.lower())
    return (
        [end for index, start, end in matches if index < len(_STEPS) and _is_step(block, index, start, end)],
        [end for index, _, end in matches if 0 <= index - len(_STEPS) < len(_COMPILES)],
    )


def _is_step(block: bytes, index: int, start: int, end: int) -> bool:
    """Whether it is what it looks like: a rate follows a number, and is no part of a path (`runs/item`); a number
    follows `loss` in a line of the job's, not in a summary; what succeeds is a request to TGI's router."""
    if index in _LOSSES:
        line = block[block.rfind(b"\n", 0, start) + 1 : start]
        return block[end : end + 1].isdigit() and not any(mark in line for mark in _SUMMARIES)
    if index == _ANSWER:
        return _ROUTER in block[max(0, start - _ROUTER_BYTES) : start + 2]
    if index in _BARS:
        return _BAR.search(block, max(0, start - _BARS_BYTES), end) is not None
    return index not in _RATES or (block[start - 1 : start] in _BEFORE_RATE and not block[end : end + 1].isalpha())
