"""Sizes and spans of time as people write them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.amounts import parse_bytes, parse_seconds
from neuron_top.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [("200GB", 200 * 10**9), ("1.5GiB", 3 * 2**29), ("4096", 4096), ("0", 0), ("2k", 2000), (" 7 MiB ", 7 * 2**20)],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"), [("30d", 2_592_000), ("1w2d", 777_600), ("90m", 5400), ("0.5h", 1800), ("2D", 172_800)]
)
def test_spans_of_time_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "-1GB", "nan", "inf", "1e9", "5 parsecs", "9" * 60, "99999999PB", "1 000"])
def test_what_is_no_size_is_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError, match=r"not a size|larger than"):
        parse_bytes(text)


@pytest.mark.parametrize("text", ["", "-1d", "30", "nan", "1e9d", "3 moons", "9999y", "d30", "6M", "1y6M"])
def test_what_is_no_span_is_refused_in_words(text: str) -> None:
    with pytest.raises(UsageError, match=r"not a span|longer than"):
        parse_seconds(text)


@given(st.text(max_size=60))
def test_no_text_gets_anything_but_a_number_or_a_refusal(text: str) -> None:
    for parse in (parse_bytes, parse_seconds):
        with contextlib.suppress(UsageError):
            assert parse(text) >= 0
