"""The filter of cache entries: what it asks for, and what is said of a field that there is not."""

from __future__ import annotations

import msgspec
import pytest

from neuron_top.errors import UsageError
from neuron_top.views.entries import EntryRow, entry_filter

ROW = EntryRow(
    key="/c/x/MODULE_1", root="/c", compiler="neuronxcc-2.21", module="MODULE_1+a", state="failed", bytes=2 << 30,
    artifact_bytes=None, used=None, age=40 * 86400.0, compile_seconds=None, flags="--O1",
    lock="", failure="out of memory",
    advice="", problems=(),
)  # fmt: skip


@pytest.mark.parametrize(
    ("query", "keeps"),
    [
        ("state:failed size>1GB used>30d", True),
        ("state:hit", False),
        ("!state:hit memory", True),
        ("size<1GB", False),
        ("MODULE_1", True),
        ("2.21", True),
    ],
)
def test_a_filter_keeps_the_rows_that_match_its_terms(query: str, keeps: bool) -> None:
    assert entry_filter(query)(ROW) is keeps


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("siz>5", "siz> is not a field"),
        ("age:old", "age: is not a field"),
        ("state>3", "state> is not a field"),
        ("size>big", "a number is missing"),
        ("size>5x", "size>5x: x is no unit of size; units: KB, MB, GB, TB"),
        ("used<3y", "used<3y: y is no unit of used"),
        ("state:failed used>", "a number is missing"),
    ],
)
def test_a_field_that_is_none_is_named(query: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        entry_filter(query)


def test_a_path_with_a_colon_is_text() -> None:
    assert entry_filter("/a:b")(msgspec.structs.replace(ROW, failure="no file /a:b"))
