"""Show and edit the budget of the compile caches; `neurontop cache maintain` keeps it.

  neurontop cache policy                                       what is in force, and where each value comes from
  neurontop cache policy --max-size 200GB --older-than 30d     write these to the settings file
  neurontop cache policy --state empty,failed,corrupt          classes that go as soon as they are a day old
  neurontop cache policy --free none                           no such goal any more

Values are kept in config.toml (`neurontop config --path`); its comments stay. exit status: 0 · 2 a value is wrong
"""

from __future__ import annotations

import argparse

from neuron_top import settings
from neuron_top.actions.planners.maintain import NEVER, policy_of
from neuron_top.cli.output import log_stderr, print_json, table
from neuron_top.errors import FileMalformed, RefusedForSafety, UsageError

FIELDS = {
    "max_size": "cache_max_size",
    "free": "cache_min_free",
    "older_than": "cache_older_than",
    "state": "cache_states",
    "pins": "cache_pins",
    "grace": "trash_grace",
}
"""Option → setting."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache policy`."""
    parser.add_argument("--max-size", metavar="SIZE", help="a cache takes at most so much, as 200GB")
    parser.add_argument("--free", metavar="SIZE", help="so much of its disk stays free, as 50GB")
    parser.add_argument("--older-than", metavar="AGE", help="what was not used for so long goes, as 30d")
    parser.add_argument("--state", metavar="S", help="entries in these states go, comma-separated")
    parser.add_argument("--pins", metavar="PATTERNS", help="modules that never go, comma-separated patterns")
    parser.add_argument("--grace", metavar="AGE", help="how long the trash is kept, as 7d")
    parser.add_argument("--json", action="store_true", help="one JSON object: name → {value, origin}")
    parser.add_argument("--read-only", action="store_true", help="refuse to change anything (exit status 4)")


def execute(arguments: argparse.Namespace) -> int:
    """Edit what is given, then print all."""
    given = {field: getattr(arguments, option) for option, field in FIELDS.items()}
    changes = {field: "" if value == "none" else value for field, value in given.items() if value is not None}
    if changes:
        if arguments.read_only:
            raise RefusedForSafety("read-only mode: nothing is changed")
        _edit(changes)
    current, origins = settings.load()
    values = {field: getattr(current, field) for field in FIELDS.values()}
    if arguments.json:
        print_json({name: {"value": value, "origin": origins[name]} for name, value in values.items()})
    else:
        print(
            table(
                ("setting", "value", "origin"), [(name, value or "—", origins[name]) for name, value in values.items()]
            )
        )
    return 0


def _edit(changes: dict[str, str]) -> None:
    """Write the settings file. Nothing is written when one of the values is wrong."""
    import tomlkit
    from tomlkit.exceptions import ParseError

    current = settings.load(changes)[0]
    policy_of(current)
    path = settings.config_path()
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    except ParseError as problem:
        raise FileMalformed(path, f"TOML ({problem})") from None
    for name, value in changes.items():
        if value:
            document[name] = value
        else:
            document.pop(name, None)
    temporary = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(tomlkit.dumps(document), encoding="utf-8")
        temporary.chmod(0o600 if not path.exists() else path.stat().st_mode & 0o777)
        temporary.replace(path)
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror}") from None
    log_stderr(f"neurontop: written to {path}")
    for state in sorted(set(changes.get("cache_states", "").replace(" ", "").split(",")) & set(NEVER)):
        log_stderr(f"neurontop: {state} may be somebody's work: maintain leaves it alone; evict --state {state} asks")
