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

SHELLS = ("bash", "zsh", "fish")


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `completion`."""
    parser.add_argument("shell", choices=SHELLS, help="whose script")


def execute(arguments: argparse.Namespace) -> int:
    """Print it."""
    import shtab

    from neuron_top.cli.command_tree import whole_parser

    sys.stdout.write(shtab.complete(whole_parser(), shell=arguments.shell))
    return 0
