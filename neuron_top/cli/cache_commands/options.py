"""Options that the commands on caches share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuron_top import settings
from neuron_top.amounts import parse_seconds
from neuron_top.cli.names import named
from neuron_top.cli.setting_options import settings_of
from neuron_top.services.cache_reader import CacheReader

if TYPE_CHECKING:
    from neuron_top.services.caches import CacheService

GRACE_PERIOD = "60s"
"""Default of --grace-period."""


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """Options of every command that changes a cache."""
    add_answers(parser)
    parser.add_argument("--save-plan", metavar="FILE", type=Path, help="write the plan to FILE and change nothing")
    add_read_only(parser)
    add_exclusive(parser)
    add_trash(parser)


def add_answers(parser: argparse.ArgumentParser) -> None:
    """Show only, or do not ask."""
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--dry-run", action="store_true", help="print the whole plan and change nothing")
    answer.add_argument("--yes", action="store_true", help="execute the plan without asking")


def add_read_only(parser: argparse.ArgumentParser) -> None:
    """Refuse every change."""
    parser.add_argument("--read-only", action="store_true", help="refuse to change anything (exit status 4)")


def add_exclusive(parser: argparse.ArgumentParser) -> None:
    """The operator's statement about shared storage."""
    parser.add_argument(
        "--assume-exclusive",
        action="store_true",
        help="state that no other host or container uses this cache (shared file systems, S3)",
    )
    add_alias(parser, "--i-am-alone", "assume_exclusive", action="store_true")


def add_trash(parser: argparse.ArgumentParser) -> None:
    """Where the trash and its journal lie."""
    parser.add_argument(
        "--trash",
        metavar="DIR",
        type=_folder,
        help="folder of the trash, on the cache's file system (default: beside it)",
    )


def _folder(text: str) -> Path:
    return Path(named(text))


def add_alias(parser: argparse.ArgumentParser, old: str, dest: str, **options: Any) -> None:
    """An earlier spelling of an option: still read, named in no help."""
    parser.add_argument(old, dest=dest, default=argparse.SUPPRESS, help=argparse.SUPPRESS, **options)


def reader() -> CacheReader:
    """The caches, to look at them."""
    return CacheReader(settings.load()[0])


def service_of(arguments: argparse.Namespace) -> CacheService:
    """The caches, with what the options state."""
    from neuron_top.services.caches import CacheService  # what only looks needs none of it

    return CacheService(
        settings_of(arguments),
        assume_exclusive=getattr(arguments, "assume_exclusive", False),
        trash=getattr(arguments, "trash", None),
        grace_seconds=parse_seconds(getattr(arguments, "grace_period", GRACE_PERIOD)),
    )
