"""How the terminal program hangs together: short inheritance, and keys that belong to exactly one owner."""

from __future__ import annotations

import importlib
import pkgutil

from textual.app import App
from textual.screen import Screen

from neuron_top.tui import screens
from neuron_top.tui.app import TopApp
from neuron_top.tui.keys import SCREENS, app_bindings, screen_bindings

MOST_INHERITED = 2
"""Classes of ours that a screen may inherit."""


def test_a_screen_inherits_at_most_two_classes_of_ours_and_the_application_none() -> None:
    for module in pkgutil.iter_modules(screens.__path__, f"{screens.__name__}."):
        for cls in vars(importlib.import_module(module.name)).values():
            if isinstance(cls, type) and issubclass(cls, Screen) and cls.__module__ == module.name:
                inherited = [base for base in cls.__mro__[1:] if base.__module__.startswith("neuron_top")]
                assert len(inherited) <= MOST_INHERITED, (cls, inherited)
    assert TopApp.__bases__ == (App,)


def test_a_key_of_the_application_is_bound_once_and_by_no_screen() -> None:
    of_app = {binding.action for binding in app_bindings()}
    assert {f"app.go('{spec.name}')" for spec in SCREENS} < of_app
    for spec in SCREENS:
        assert not of_app & {binding.action for binding in screen_bindings(spec.name)}
