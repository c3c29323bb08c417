"""What is imported before the first frame, and by commands that scripts wait for: what grows here, everybody pays."""

import subprocess
import sys
from pathlib import Path

import pytest

FOREIGN = {"dash", "plotly", "pandas", "numpy", "torch", "boto3", "psycopg", "ray", "submitit", "fastapi", "sqlite3"}
"""None of these is loaded."""
FIRST_FRAME_PACKAGES = {"cli", "tui", "views", "run", "events", "assets"}
FIRST_FRAME_MODULES = {
    "amounts",
    "cache.location",
    "cache.model.states",
    "database_address",
    "decoders",
    "errors",
    "escapes",
    "filters",
    "identity",
    "ingest.assembly",
    "ingest.feed",
    "ingest.live",
    "ingest.log_buffer",
    "ingest.log_file_map",
    "ingest.log_line",
    "ingest.log_query",
    "late_pattern",
    "calendar_bounds",
    "parsers.lines",
    "parsers.wide",
    "plain_files",
    "private_files",
    "services.feeds",
    "services.notifications",
    "settings",
    "telemetry.source",
    "units",
}
"""Of other packages: a feed without its sources, and the names of states."""
FIRST_FRAME_SCREENS = {"base", "detail", "overview", "table_screen"}
FIRST_FRAME = """
import sys
from neuron_top import settings
from neuron_top.cli import watch
from neuron_top.services.feeds import live_feed
from neuron_top.tui.app import TopApp
def first_frame(app):
    print("loaded", *sys.modules, file=sys.stderr)
    app.exit(0)
TopApp._begin = first_frame
effective, _ = settings.load({})
TopApp(live_feed(effective, [sys.argv[1]]), effective).run(headless=True)
"""
HELP_MODULES = {
    "amounts",
    "cli.command",
    "cli.help_layout",
    "cli.main",
    "cli.names",
    "cli.on_screen",
    "cli.output",
    "cli.setting_options",
    "cli.terminal",
    "cli.watch",
    "database_address",
    "errors",
    "escapes",
    "calendar_bounds",
    "plain_files",
    "settings",
}
"""All that `watch --help` may load: no run, no event, no view."""
HELP = """
import sys
from neuron_top.cli.main import main
try:
    main(["watch", "--help"])
finally:
    print("loaded", *sys.modules, file=sys.stderr)
"""
SUMS_PACKAGES = {"actions", "cache", "cli", "services"}
SUMS_MODULES = {
    "amounts",
    "database_address",
    "decoders",
    "errors",
    "escapes",
    "folders",
    "late_pattern",
    "calendar_bounds",
    "parsers.failure_signs",
    "parsers.neff",
    "plain_files",
    "private_files",
    "settings",
    "units",
    "without_gc",
}
NOT_FOR_SUMS = ("cache.signing", "cache.locks.", "cache.s3", "actions.plan", "actions.journal", "services.caches")
SLOW_HELPERS = {"typing_extensions", "inspect", "ast", "dis", "bz2", "lzma"}
"""What msgspec would load for three names that `typing` has, and argparse to ask how wide a terminal is."""
COMMAND = """
import sys
from neuron_top.cli.main import main
status = main(sys.argv[1:])
print("loaded", *sys.modules, file=sys.stderr)
sys.exit(status)
"""


def modules_of(code: str, *arguments: str) -> set[str]:
    """Everything that a process has imported at the end."""
    command = [sys.executable, "-c", code, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return set(result.stderr.rpartition("loaded ")[2].split())


def own(modules: set[str]) -> set[str]:
    """Those of the product, by their names in it; packages are not named apart from what is in them."""
    names = {name.removeprefix("neuron_top.") for name in modules if name.startswith("neuron_top.")}
    return {name for name in names if not any(other.startswith(f"{name}.") for other in names)}


def package_of(name: str) -> str:
    """`tui.screens.base` → `tui`."""
    return name.partition(".")[0]


def test_the_first_frame_loads_what_it_draws_and_nothing_that_reads_or_changes(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("starting\n")
    loaded = modules_of(FIRST_FRAME, str(log))
    names = own(loaded)
    assert "tui.screens.overview" in names, "nothing was drawn"
    assert not loaded & FOREIGN
    other = (
        {name for name in names if package_of(name) not in FIRST_FRAME_PACKAGES} - FIRST_FRAME_MODULES - {"diagnose"}
    )
    assert not other, "import these where they are used"
    screens = {name.rpartition(".")[2] for name in names if name.startswith("tui.screens.")}
    assert screens <= FIRST_FRAME_SCREENS


def test_the_sums_of_a_cache_load_neither_keys_nor_locks_nor_what_changes_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))  # without recordings, which report entries too
    (tmp_path / "neuronxcc-2.99.1.0+abcdef01" / "MODULE_77+0a1b2c3d").mkdir(parents=True)
    loaded = modules_of(COMMAND, "cache", "stats", "--json", str(tmp_path))
    names = own(loaded)
    assert "services.cache_reader" in names
    assert not loaded & (FOREIGN | SLOW_HELPERS | {"textual"})
    assert not {name for name in names if package_of(name) not in SUMS_PACKAGES} - SUMS_MODULES
    assert not {name for name in names if name.startswith(NOT_FOR_SUMS)}


def test_a_tally_loads_neither_the_run_nor_what_helps_msgspec(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("Compiler status PASS\n")
    loaded = modules_of(COMMAND, "tally", str(log))
    names = own(loaded)
    assert "services.tally" in names
    assert not loaded & (FOREIGN | SLOW_HELPERS | {"textual"})
    of_the_run = {name.partition(".")[2] for name in names if package_of(name) == "run"}
    assert of_the_run <= {"advice", "exhausted", "log_totals", "severity"}


def test_reading_logs_compiles_no_pattern_before_a_line_asks_for_it() -> None:
    """There are two hundred of them, and a short log needs ten: compiling all took a third of its tally."""
    code = (
        "import re, sys, neuron_top.events, neuron_top.escapes, ahocorasick_rs\n"
        "def refused(pattern, flags=0):\n"
        "    by = sys._getframe(1).f_globals['__name__']\n"
        "    assert not by.startswith(('neuron_top.parsers', 'neuron_top.diagnose', 'neuron_top.late_pattern')), by\n"
        "    return compiled(pattern, flags)\n"
        "compiled, re.compile = re.compile, refused\n"
        "import neuron_top.parsers.reader, neuron_top.parsers.counting, neuron_top.diagnose.diagnoser\n"
        "print('loaded', *sys.modules, file=sys.stderr)\n"
    )
    assert "neuron_top.diagnose.general" in modules_of(code)


def test_the_help_of_the_live_view_loads_its_options_alone() -> None:
    loaded = modules_of(HELP)
    names = own(loaded)
    assert not loaded & SLOW_HELPERS
    assert "cli.watch" in names
    assert names <= HELP_MODULES


def test_importing_the_events_makes_no_decoder_of_them() -> None:
    """That takes as long as importing them, and neither the first frame nor `--help` decodes one."""
    code = (
        "import sys, msgspec\n"
        "msgspec.json.Decoder = None\n"
        "import neuron_top.events\n"
        "print('loaded', *sys.modules, file=sys.stderr)\n"
    )
    assert "neuron_top.events" in modules_of(code)
