"""Patterns that are compiled at their first use: they do what compiled ones do, and all of them can be compiled."""

import importlib
import pkgutil
import re

import pytest

from neuron_top import diagnose, parsers
from neuron_top.late_pattern import late_pattern


def test_it_answers_as_the_compiled_pattern_does() -> None:
    late, now = late_pattern(r"(?P<key>\w+)=(\d+)", re.IGNORECASE), re.compile(r"(?P<key>\w+)=(\d+)", re.IGNORECASE)
    text = "A=1 b=22"
    found, same = late.search(text), now.search(text)
    assert found is not None
    assert same is not None
    assert found.groupdict() == same.groupdict()
    assert late.findall(text) == now.findall(text)
    assert late.sub("-", text) == now.sub("-", text)
    assert [match.span() for match in late.finditer(text)] == [match.span() for match in now.finditer(text)]
    assert (late.pattern, late.flags, late.groups) == (now.pattern, now.flags, now.groups)
    assert late.groupindex == now.groupindex
    assert late.fullmatch(text) is None
    assert late.match(text) is not None


def test_bytes_too() -> None:
    assert late_pattern(rb"\d+").split(b"a1b") == [b"a", b"b"]


def test_it_is_compiled_once_and_not_before_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    compiled = re.compile
    monkeypatch.setattr(re, "compile", lambda *given: made.append(given) or compiled(*given))
    late = late_pattern("x")
    assert not made
    assert late.match("x")
    assert late.search("ax")
    assert len(made) == 1


def test_a_wrong_pattern_is_reported_at_its_first_use() -> None:
    late = late_pattern("(")
    with pytest.raises(re.error):
        late.match("")


@pytest.mark.parametrize("room", [parsers, diagnose])
def test_every_pattern_of_a_reader_of_logs_can_be_compiled(room: object) -> None:
    checked = 0
    for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):  # type: ignore[attr-defined]
        for value in vars(importlib.import_module(module.name)).values():
            if type(value).__module__ == "neuron_top.late_pattern":
                assert value.groups >= 0
                checked += 1
    assert checked > 40
