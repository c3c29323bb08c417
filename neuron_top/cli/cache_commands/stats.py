"""Sum up a cache: entries and bytes by state and by compiler version, free disk space.

Bytes are allocated disk blocks, each file counted once however many names it has. Sums of entries that nothing has
touched for a while come from the stored index; `as of` says when those were seen last, and `--rescan` asks all again.

  neurontop cache stats --json | jq .totals.bytes

exit status: 0 printed · 2 usage · 3 no such cache
"""

from __future__ import annotations

import argparse

from neuron_top.cli.cache_commands import common, inductor, options, vllm
from neuron_top.cli.output import print_json, table
from neuron_top.escapes import name_text, visible
from neuron_top.services.cache_reader import EntryTally, State
from neuron_top.units import UNKNOWN, bytes_text, count_text, counted, duration_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `neurontop cache stats`."""
    common.add_root(parser)
    inductor.add_option(parser)
    parser.add_argument("--rescan", action="store_true", help="look at every entry's folder again")
    options.add_alias(parser, "--fresh", "rescan", action="store_true")


def execute(arguments: argparse.Namespace) -> int:
    """Print them."""
    if inductor.is_asked_for(arguments):
        return inductor.stats(arguments)
    if vllm.is_asked_for(arguments):
        return vllm.stats(arguments)
    service = options.reader()
    root = service.resolve(arguments.root)
    sums, disk = service.sums(root, rescan=arguments.rescan)
    if arguments.json:
        totals = common.totals_json(sums.totals, disk)
        print_json(
            {
                "root": name_text(sums.root),
                "as_of": common.instant(sums.as_of),
                "totals": {**totals, "other_bytes": sums.other_bytes, "other_files": sums.other_files},
            }
        )
        return 0
    print(f"{visible(name_text(sums.root))}  ({common.disk_text(disk)})\n")
    print(_part("state", sums.totals.states, meanings=True))
    print("\n" + _part("compiler", sums.totals.compilers, meanings=False))
    if sums.other_files:
        print(f"\nbeside the entries: {counted(sums.other_files, 'file')}, {bytes_text(sums.other_bytes)}")
    print(f"as of {common.instant(sums.as_of)}")
    common.name_others(root)
    return 0


def _part(name: str, tallies: dict[str, EntryTally], *, meanings: bool) -> str:
    from neuron_top.views.entry_states import MEANINGS  # --json needs no words

    rows = [(*_row(key, tally), MEANINGS[State(key)] if meanings else "") for key, tally in tallies.items()]
    whole = sum(tallies.values(), EntryTally())
    return table((name, "entries", "size", "compile", ""), [*rows, (*_row("all", whole), "")], right=(1, 2, 3))


def _row(name: str, tally: EntryTally) -> tuple[str, str, str, str]:
    return name or UNKNOWN, count_text(tally.entries), bytes_text(tally.bytes), duration_text(tally.compile_seconds)
