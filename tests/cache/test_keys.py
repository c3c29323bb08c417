"""Module keys: the documented values, and that every key reads back as itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.cache.model.keys import ModuleKey, flags_data, flags_hash, module_key, parse_key

HEX = st.text("0123456789abcdef", min_size=20, max_size=20)


@pytest.mark.parametrize(
    ("flags", "digits"),
    [
        ([], "d7517139"),
        (["--target=trn1"], "e30acd3a"),
        (["--target=trn2"], "fad94d7c"),
        (["--target=trn1", "--model-type=transformer"], "3cc9a3cb"),
        (["--target=trn1", "--model-type", "transformer"], "f7f529f3"),
        (["--model-type=transformer", "--auto-cast=none", "--execute-repetition=1"], "39f12043"),
    ],
)
def test_the_flags_half_is_what_the_sdk_computes(flags: list[str], digits: str) -> None:
    assert flags_hash(flags_data(flags)) == digits


def test_the_text_form_of_older_clients_is_hashed_byte_for_byte() -> None:
    assert flags_hash(b"") == "d41d8cd9"
    assert flags_hash(b"--model-type=transformer --auto-cast=none") == "2c2d707e"


@given(HEX, st.lists(st.text(max_size=20), max_size=5))
def test_a_key_reads_back_as_itself(graph: str, flags: list[str]) -> None:
    key = module_key(graph, flags)
    assert parse_key(key.name) == key


@pytest.mark.parametrize("name", ["", "lock", "0_REGISTRY", "MODULE_", "MODULE_xyz", "MODULE_12+0a1b2c3", "module_12"])
def test_other_names_are_no_keys(name: str) -> None:
    assert parse_key(name) is None


def test_keys_of_the_oldest_layout_have_no_flags() -> None:
    assert parse_key("MODULE_12345678901234567") == ModuleKey("12345678901234567", None)
