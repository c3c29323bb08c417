"""Finds what shows that a job goes on, training steps and compiled graphs, in whole blocks of raw bytes."""

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
"""How the rate ends in a progress bar that counts something other than iterations."""
_BAR = late_pattern(rb"\[[\d:]{4,12}<[\d:?]{1,12}, {0,3}\d[\d.]{0,12}(?![kKMGT]?i?[Bb]/)[A-Za-z]{1,20}/s[\],]")
"""Such a bar up to its rate; one in bytes shows a download, not work."""
_LOSSES = frozenset(number for number, step in enumerate(_STEPS) if step in (b"loss ", b":loss = ", b"] loss = "))
"""Words that also occur in sentences: in a training step a number follows. `loss = ` alone also occurs in source code,
but TensorFlow's steps have its logger's header before it."""
_SUMMARIES = (b"wandb: ", *own_lines.OF_STEPS)
"""In a line before a loss that Weights & Biases prints for a run that has ended, or we for the job that we run."""
_ANSWER = _STEPS.index(b": success")
_ROUTER = b"router::server: "
"""Shortly before it, if TGI's router has answered a request."""
_ROUTER_BYTES = 80
_BARS_BYTES = 60
_BEFORE_RATE = b"0123456789. "
_COMPILES = (
    b"compiler status pass", b"successfully completed for", b"using a cached neff", b"autotune benchmarking takes",
)  # fmt: skip


def word_search(words: tuple[bytes, ...]) -> ahocorasick_rs.BytesAhoCorasick:
    """A search for all of these at once; of two that begin at the same place, the first in this order is found."""
    return ahocorasick_rs.BytesAhoCorasick(
        words,
        matchkind=ahocorasick_rs.MatchKind.LeftmostFirst,
        implementation=ahocorasick_rs.Implementation.DFA,
    )


_SEARCH = word_search((*_STEPS, *_COMPILES, *_NO_STEPS))


def found_in(block: bytes) -> tuple[list[int], list[int]]:
    """The positions at which steps and at which compiles end, in order."""
    matches = _SEARCH.find_matches_as_indexes(block.lower())
    return (
        [end for index, start, end in matches if index < len(_STEPS) and _is_step(block, index, start, end)],
        [end for index, _, end in matches if 0 <= index - len(_STEPS) < len(_COMPILES)],
    )


def _is_step(block: bytes, index: int, start: int, end: int) -> bool:
    """Whether a match is a step: a rate follows a number and is no part of a path (`runs/item`); a number follows
    `loss`, and the line is the job's own, not a summary; `success` is that of a request to TGI's router."""
    if index in _LOSSES:
        line = block[block.rfind(b"\n", 0, start) + 1 : start]
        return block[end : end + 1].isdigit() and not any(mark in line for mark in _SUMMARIES)
    if index == _ANSWER:
        return _ROUTER in block[max(0, start - _ROUTER_BYTES) : start + 2]
    if index in _BARS:
        return _BAR.search(block, max(0, start - _BARS_BYTES), end) is not None
    return index not in _RATES or (block[start - 1 : start] in _BEFORE_RATE and not block[end : end + 1].isalpha())
