"""The page of environment variables: it names each one of ours, and none that nothing reads."""

from __future__ import annotations

import re
from pathlib import Path

from neuron_top.settings import Settings
from neuron_top.telemetry.doctor_variables import OWN

PAGE = (Path(__file__).resolve().parents[2] / "docs/environment.md").read_text(encoding="utf-8")
SETTINGS = {f"NEURONTOP_{field.upper()}" for field in Settings.__struct_fields__}
BETWEEN_OUR_PROCESSES = {"NEURONTOP_CHILD"}


def test_every_variable_that_is_no_setting_is_on_the_page() -> None:
    missing = [name for name in OWN if name not in SETTINGS | BETWEEN_OUR_PROCESSES and f"`{name}" not in PAGE]
    assert missing == []


def test_every_variable_on_the_page_is_one_of_ours() -> None:
    named = set(re.findall(r"`(NEURONTOP_[A-Z_]+)", PAGE)) - {"NEURONTOP_"}
    assert named - set(OWN) == set()
