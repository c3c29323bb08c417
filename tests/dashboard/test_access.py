"""Tokens, sessions and names: who may do what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.dashboard.access import Access, Permission, host_name, rules, same_origin
from neuron_top.dashboard.limits import Rate

BOTH = rules("read-secret-0123456789", "act-secret-0123456789", frozenset({"ops.example.org"}))


def test_reading_and_acting_are_separate_rights() -> None:
    assert BOTH.permission_of_token("read-secret-0123456789") is Permission.READ
    assert BOTH.permission_of_token("act-secret-0123456789") is Permission.ACT
    assert BOTH.permission_of_token("") is Permission.NONE
    assert BOTH.anonymous_permission is Permission.NONE
    assert rules("", "act", frozenset()).anonymous_permission is Permission.READ
    assert rules("", "", frozenset()).permission_of_token("") is Permission.NONE


def test_a_session_holds_until_it_expires_and_ends_when_a_token_is_changed() -> None:
    session = BOTH.session(Permission.ACT, now=1000.0)
    assert BOTH.permission_of_session(session, 1001.0) is Permission.ACT
    assert BOTH.permission_of_session(session, 1000.0 + 13 * 3600) is Permission.NONE
    assert (
        rules("read-secret-0123456789", "another", frozenset()).permission_of_session(session, 1001.0)
        is Permission.NONE
    )
    again = rules("read-secret-0123456789", "act-secret-0123456789", frozenset())
    assert again.permission_of_session(session, 1001.0) is Permission.ACT, "it outlives a restart"


@given(st.text(max_size=80))
def test_no_text_that_we_did_not_sign_is_a_session(text: str) -> None:
    assert BOTH.permission_of_session(text, 0.0) is Permission.NONE


@given(st.integers(0, 200), st.characters(codec="ascii"))
def test_a_session_with_one_character_changed_is_none(place: int, other: str) -> None:
    session = BOTH.session(Permission.READ, now=1000.0)
    place %= len(session)
    changed = session[:place] + other + session[place + 1 :]
    expected = Permission.READ if changed == session else Permission.NONE
    assert BOTH.permission_of_session(changed, 1001.0) is expected


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:8421", True),
        ("localhost:1", True),
        ("[::1]:8421", True),
        ("OPS.example.org", True),
        ("ops.example.org.", True),
        ("evil.example.org", False),
        ("127.0.0.1.evil.org", False),
        ("", False),
        ("[", False),
        ("localhost@evil.org", False),
        ("10.0.0.1", False),
    ],
)
def test_only_names_of_this_server_are_answered(host: str, allowed: bool) -> None:
    assert BOTH.allows_host(host) is allowed


def test_an_origin_must_name_the_host_that_was_asked() -> None:
    assert same_origin("http://127.0.0.1:8421", "127.0.0.1:8421")
    assert same_origin("https://ops.example.org", "ops.example.org")
    for origin in (
        "null",
        "",
        "http://evil.org",
        "http://127.0.0.1:9",
        "file://127.0.0.1:8421",
        "http://[",
        "127.0.0.1:8421",
    ):
        assert not same_origin(origin, "127.0.0.1:8421"), origin


@given(st.text())
def test_any_host_header_can_be_read(text: str) -> None:
    assert isinstance(host_name(text), str)
    assert isinstance(Access().allows_host(text), bool)


def test_a_burst_is_bounded_and_time_refills_it() -> None:
    rate = Rate(per_second=2, burst=3)
    assert [rate.allows("a", 0.0) for _ in range(5)] == [True, True, True, False, False]
    assert rate.allows("b", 0.0)
    assert [rate.allows("a", 1.0) for _ in range(3)] == [True, True, False]
