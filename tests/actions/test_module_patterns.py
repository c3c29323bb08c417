"""Patterns of modules: what they match, and that thousands of plain names take no longer than one."""

import time
from pathlib import Path

import pytest

from neuron_top.actions.module_patterns import matcher
from neuron_top.actions.pins import Pins

MODULES = [f"MODULE_{number:020d}+abcdef01" for number in range(5000)]


@pytest.mark.parametrize(
    ("patterns", "name", "matches"),
    [
        ((), "MODULE_1+00000000", False),
        (("MODULE_1+00000000",), "MODULE_1+00000000", True),
        (("MODULE_1+00000000",), "MODULE_1+000000001", False),
        (("MODULE_1",), "MODULE_1+00000000", False),
        (("MODULE_9", "MODULE_1*"), "MODULE_1+00000000", True),
        (("MODULE_1*", "MODULE_[23]+*"), "MODULE_3+00000000", True),
        (("MODULE_1*", "MODULE_[23]+*"), "MODULE_4+00000000", False),
        (("module_1*",), "MODULE_1+00000000", False),
    ],
)
def test_a_name_matches_if_it_is_named_or_fits_a_pattern(patterns: tuple[str, ...], name: str, matches: bool) -> None:
    assert matcher(patterns)(name) is matches


def test_pins_of_a_large_run_are_matched_and_removed_at_once(tmp_path: Path) -> None:
    pins = Pins(tmp_path)
    pins.add([*MODULES, "MODULE_7*", "MODULE_8[0-9]+*"])
    begun = time.process_time()
    is_pinned = matcher(pins.patterns())
    assert sum(map(is_pinned, (f"MODULE_{number:020d}+abcdef01" for number in range(50_000)))) == len(MODULES)
    assert len(pins.remove(MODULES[1:])) == len(MODULES) - 1
    assert time.process_time() - begun < 3.0  # each alone took half a minute when all pins were tried for each name
    assert pins.patterns() == (MODULES[0], "MODULE_7*", "MODULE_8[0-9]+*")
    assert [pin.pattern for pin in pins.remove(["MODULE_8[0-9]+*"])] == ["MODULE_8[0-9]+*"]
    assert [pin.pattern for pin in pins.remove(["MODULE_*"])] == [MODULES[0], "MODULE_7*"]
