"""One row in the registry of actions is enough: commands, keys, buttons, permissions and help come from it."""

import importlib
import json
import subprocess
import sys

import pytest

from neuron_top.actions.registry import ACTIONS, CacheAction
from neuron_top.cli.cache_commands import SUBCOMMANDS
from neuron_top.cli.output import Parser

NEW_ROW = """
import json
from neuron_top.actions import registry
from neuron_top.actions.verb import Verb

new = registry.CacheAction(
    verb=Verb.SWEEP, title="defragment", help="defragment the marked entries", key="D", label="defrag",
    button="Defragment", planner=lambda given: None, permission=registry.ActionPermission.READ,
    commands={"defragment": "lay entries beside each other"},
    fleet="defragment", fleet_help="defragment caches of chosen nodes",
)
registry.ACTIONS = tuple(new if row.verb is new.verb else row for row in registry.ACTIONS)
registry._ROWS = {row.verb: row for row in registry.ACTIONS}
registry.FLEET_ACTIONS = {row.fleet: row for row in registry.ACTIONS if row.fleet}

from neuron_top.cli.cache_commands import SUBCOMMANDS
from neuron_top.cli.fleet_commands import SUBCOMMANDS as FLEET
from neuron_top.dashboard.caches import BUTTONS
from neuron_top.dashboard.fleet_change_panel import FLEET_ACTIONS as FORMS
from neuron_top.dashboard.permissions import action_permission
from neuron_top.services.plan_execution import action_of
from neuron_top.tui.keys import keys_for
from neuron_top.tui.screens.fleet_request import FLEET_ACTIONS as ASKED

print(json.dumps({
    "command": [row for row in SUBCOMMANDS if row.name == "defragment"],
    "fleet": [row for row in FLEET if row.name == "defragment"],
    "key": [(row.keys, row.action, row.label, row.text) for row in keys_for("cache") if row.keys == "D"],
    "button": [row.button for row in BUTTONS if row.verb is Verb.SWEEP],
    "permission": action_permission(Verb.SWEEP).name,
    "title": action_of(Verb.SWEEP).title,
    "forms": [FORMS["defragment"].help, ASKED["defragment"].help],
}))
"""


def test_a_new_row_appears_in_every_front_end() -> None:
    result = subprocess.run([sys.executable, "-c", NEW_ROW], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {
        "command": [["defragment", "defragment", "lay entries beside each other"]],
        "fleet": [["defragment", "act", "defragment caches of chosen nodes"]],
        "key": [["D", "plan('sweep')", "defrag", "plan to defragment the marked entries"]],
        "button": ["Defragment"],
        "permission": "READ",
        "title": "defragment",
        "forms": ["defragment the marked entries"] * 2,
    }


@pytest.mark.parametrize("row", ACTIONS, ids=lambda row: row.verb)
def test_each_action_can_be_asked_for_on_the_command_line(row: CacheAction) -> None:
    assert bool(row.commands) != bool(row.option), "a command of its own, or an option of another's"
    if not row.option:
        return
    command, option = row.option.split()
    module = importlib.import_module(f"neuron_top.cli.cache_commands.{command}")
    parser = Parser(prog=command)
    module.configure(parser)
    assert option in parser.format_help()


def test_each_command_of_a_cache_stands_once_and_can_be_loaded() -> None:
    names = [row.name for row in SUBCOMMANDS]
    assert len(set(names)) == len(names)
    for row in SUBCOMMANDS:
        module = importlib.import_module(f"neuron_top.cli.cache_commands.{row.module}")
        assert callable(module.configure)
        assert callable(module.execute)
