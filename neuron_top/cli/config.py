"""Print the effective settings with their origins (flag > environment > file > default), and the names of this node
and its job.

The node is NEURONTOP_NODE, else SLURMD_NODENAME, NODE_NAME (Kubernetes), the EC2 instance id, the host name. The job is
NEURONTOP_JOB, else SLURM_JOB_ID, TORCHELASTIC_RUN_ID, JOB_NAME (in Kubernetes), else a name of our own.

exit status: 0 printed · 2 usage, or a setting is wrong
"""

from __future__ import annotations

import argparse
import contextlib

from neuron_top import settings
from neuron_top.cli.output import print_json, print_text, table
from neuron_top.errors import UsageError
from neuron_top.identity import identity


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop config`."""
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object: name → {value, origin}; `node` and `job` are among them",
    )
    parser.add_argument("--path", action="store_true", help="print only the path of the settings file")


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    if arguments.path:
        print_text(str(settings.config_path()))
        return 0
    current, origins = settings.load()
    values = {name: settings.shown(name, getattr(current, name)) for name in current.__struct_fields__}
    values["state_dir"] = _state_folder(current)
    named = {name: (value, origins[name]) for name, value in values.items()}
    who = identity()
    named |= {"node": (who.node.value, who.node.origin), "job": (who.job.value, who.job.origin)}
    if arguments.json:
        print_json({name: {"value": value, "origin": origin} for name, (value, origin) in named.items()})
    else:
        print_text(
            table(
                ("setting", "value", "origin"), [(name, str(value), origin) for name, (value, origin) in named.items()]
            )
        )
    return 0


def _state_folder(current: settings.Settings) -> str:
    """The state folder in use, also if none is set; "" if it would lie below the home of a user who has none."""
    with contextlib.suppress(UsageError):
        return str(current.state_path)
    return current.state_dir
