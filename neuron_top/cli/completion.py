"""Print a script that completes commands, options and file names in your shell.

    neurontop completion bash > ~/.local/share/bash-completion/completions/neurontop
    neurontop completion zsh > ~/.zfunc/_neurontop          with ~/.zfunc in fpath before compinit
    neurontop completion fish > ~/.config/fish/completions/neurontop.fish

The shell makes the file but not its folder: `mkdir -p` it first. bash reads that folder where the package
bash-completion is installed.

exit status: 0 fine · 2 no such shell
"""

from __future__ import annotations

import argparse
import sys

from neuron_top.cli.names import named

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `completion`."""
    parser.add_argument("shell", choices=SHELLS, help="whose script")


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    import shtab

    from neuron_top.cli.command_tree import whole_parser

    parser = whole_parser()
    _complete_files(parser)
    sys.stdout.write(shtab.complete(parser, shell=arguments.shell))
    return 0


def _complete_files(parser: argparse.ArgumentParser) -> None:
    """Have file names offered for free texts, most of which are or may be files: shtab by itself offers none."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _complete_files(command)
        elif action.nargs != 0 and action.choices is None and action.type in (None, named):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
