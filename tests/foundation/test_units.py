"""Numbers into text."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top import units


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KiB"),
        (1024, "1.0 KiB"),
        (1536 * 1024, "1.5 MiB"),
        (24 * 1024**3, "24.0 GiB"),
        (512 * 1024**2, "512 MiB"),
        (-2048, "-2.0 KiB"),
    ],
)
def test_bytes_are_powers_of_1024_and_say_so(value: float | None, text: str) -> None:
    assert units.bytes_text(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "—"), (0.000095, "95 µs"), (0.005083, "5,083 µs"), (0.067, "67 ms"), (2.5, "2.5 s")],
)
def test_an_execution_of_microseconds_took_longer_than_nothing(seconds: float | None, text: str) -> None:
    assert units.latency_text(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (0, "0 ms"),
        (0.35, "350 ms"),
        (4.24, "4.2 s"),
        (59.97, "1 m 00 s"),
        (185, "3 m 05 s"),
        (7620, "2 h 07 m"),
        (86400 * 3 + 4 * 3600, "3 d 04 h"),
        (86400 * 9 + 23 * 3600, "9 d 23 h"),
        (86400 * 10, "10 d"),
        (86400 * 1197 + 4 * 3600, "1,197 d"),
        (-5, "-5.0 s"),
        (-0.00007, "0 ms"),
        (-0.002, "-2 ms"),
    ],
)
def test_durations_read_as_people_say_them(value: float | None, text: str) -> None:
    assert units.duration_text(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (86400, "1 d"),
        (36 * 3600, "36 h"),
        (90, "90 s"),
        (5400, "90 m"),
        (86400 * 1200, "1,200 d"),
        (0, "0 ms"),
        (1.5, "1.5 s"),
    ],
)
def test_a_limit_is_told_in_the_unit_that_it_was_set_in(seconds: float, text: str) -> None:
    assert units.limit_text(seconds) == text


@given(st.floats(min_value=0, max_value=1e12))
def test_any_duration_and_any_size_has_a_short_text(value: float) -> None:
    assert 0 < len(units.duration_text(value)) <= 16
    assert 0 < len(units.bytes_text(value)) <= 9


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (8.2, 12.4, "8–12 s"),
        (0.118, 19.7, "at most 20 s"),
        (0.0, 12.6, "at most 13 s"),
        (0.0, 0.4, "< 1 s"),
        (12.1, 12.4, "~12 s"),
        (50.0, 185.0, "50 s to 3 m 05 s"),
        (65.0, 185.0, "1 m 05 s to 3 m 05 s"),
    ],
)
def test_an_estimate_promises_no_tenths(low: float, high: float, text: str) -> None:
    assert units.range_text(low, high) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (2.3041, 4, "2.304"),
        (999.6, 3, "1,000"),
        (4071.4, 3, "4,071"),
        (123_456.7, 4, "123,457"),
        (-20_000.0, 4, "-20,000"),
        (0.0000123, 3, "1.23e-05"),
        (1.5e12, 4, "1.5e+12"),
        (math.inf, 4, "inf"),
    ],
)
def test_a_large_number_has_no_exponent(value: float, digits: int, text: str) -> None:
    assert units.number_text(value, digits) == text


def test_unknown_is_a_dash_everywhere() -> None:
    assert {units.percent_text(None), units.count_text(None), units.number_text(None)} == {"—"}


def test_small_shares_keep_a_digit() -> None:
    assert [units.percent_text(ratio) for ratio in (0, 0.004, 0.0994, 0.0996, 1)] == [
        "0 %",
        "0.4 %",
        "9.9 %",
        "10 %",
        "100 %",
    ]


def test_changes_have_a_sign_that_machines_read_too() -> None:
    assert [units.signed_percent_text(ratio) for ratio in (None, 0, 0.12, -0.031)] == ["", "+0 %", "+12 %", "-3.1 %"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "<1 m"),
        (59.9, "<1 m"),
        (60.0, "1 m"),
        (3599.0, "59 m"),
        (7260.0, "2 h"),
        (864_000.0, "10 d"),
        (1e8, "1,157 d"),
    ],
)
def test_an_age_is_told_in_its_greatest_unit(seconds: float, text: str) -> None:
    assert units.age_text(seconds) == text


def test_a_moment_is_shown_in_utc_or_unknown() -> None:
    assert units.moment_text(1_795_508_698.0) == "2026-11-24 08:24 UTC"
    assert units.moment_text(1_795_508_698.0, "%H:%M:%S") == "08:24:58"
    for unknown in (None, 1e300, -1e11, float("nan")):
        assert units.moment_text(unknown) == units.UNKNOWN


def test_a_duration_beyond_all_numbers_is_unknown() -> None:
    for seconds in (float("inf"), float("-inf"), float("nan")):
        assert units.duration_text(seconds) == units.whole_seconds_text(seconds) == units.UNKNOWN
