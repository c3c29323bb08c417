"""A real training job, recorded and shown in a real terminal: what the screens say is what the store holds."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top.cache.scan import catalog
from neuron_top.ingest.recordings import find_recording, load_run
from neuron_top.run.model import Run
from neuron_top.store.sqlite import SqliteStore
from neuron_top.tui.panels.graphs import active_first
from neuron_top.views.graphs import graph_table
from tests.inductor_folder import inductor_folder
from tests.tui.test_terminal import NEURONTOP, Tmux

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.torch,
    pytest.mark.timeout(1500),
    pytest.mark.xdist_group("terminal job"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: apt-get install tmux"),
]
SCRIPT = Path(__file__).parents[2] / "assets" / "examples" / "train_bert_tp.py"
JOB = (
    f"{sys.executable} -m torch.distributed.run --nproc_per_node=2 {SCRIPT} --tensor_parallel_size 2 --hidden 32 "
    "--layers 1 --heads 2 --sequence 16 --batch_size 4 --steps_this_run 100000 --max_steps 100000"
)
SCREENS = {
    "1": ("Training", "seq/s"),
    "2": ("Last minute", " r1 "),
    "3": ("Timeline", "rank 1"),
    "4": ("Compile cache", "✓ hit"),
    "5": ("following", "step_loss"),
    "6": ("Result", "▶ running"),
}
"""Words that each screen shows once its rows have come."""


class Walked:
    """What every screen showed while the job trained, and where its facts lie."""

    def __init__(self, state: Path, cache: Path) -> None:
        self.state, self.cache = state, cache
        self.screens: dict[str, str] = {}

    def run(self) -> Run:
        """The recording, added up again from the store."""
        with SqliteStore(self.state / "neurontop.db", read_only=True) as store:
            return load_run(store, find_recording(store, "last").id, 3600.0)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walked]:
    """Start the job under the program in tmux, walk all screens once it trains, stop the job, leave."""
    folder = tmp_path_factory.mktemp("job")
    facts = Walked(folder / "state", folder / "cache")
    tmux = Tmux(folder)
    try:
        tmux.open(
            f"{NEURONTOP} run --screen --name e2e -- {JOB}",
            NEURON_COMPILE_CACHE_URL=str(facts.cache),
            TORCHINDUCTOR_CACHE_DIR=str(inductor_folder(folder / "inductor")),
            NEURONTOP_STATE_DIR=str(facts.state),
            OMP_NUM_THREADS="1",
        )
        tmux.until("● TRAINING", "2 of 2 workers", "seq/s", patience=800.0)
        for key, words in SCREENS.items():
            tmux.press(key)
            facts.screens[key] = tmux.until(*words)
        tmux.press("1", "q")  # the job goes on, with its output on the terminal
        tmux.until("\nLOG ")
        tmux.press("C-c")
        tmux.until("left with")
        yield facts
    finally:
        tmux("kill-server")


def test_graphs_hits_and_misses_shown_are_those_of_the_store(walked: Walked) -> None:
    compiles = walked.run().compiles
    shown = walked.screens["3"]
    assert f"{len(compiles.graphs)} graph" in shown, shown
    asked = compiles.totals.graphs_hit + compiles.totals.graphs_missed
    assert f"({compiles.totals.graphs_hit} of {asked} graphs)" in shown, shown
    assert f"{compiles.totals.misses} compiled" in shown, shown
    rows = re.findall(r"^\s+[✓✗▶◷]\s(?:hit|compiled|failed|compiling|waiting)\s", shown, re.MULTILINE)
    assert len(rows) == len(compiles.graphs), shown
    for rank in (0, 1):
        assert f"rank {rank}" in shown, shown


def test_each_graphs_row_is_that_of_the_store(walked: Walked) -> None:
    shown = re.findall(
        r"^\s+[✓✗▶◷]\s(\w+)\s.*?\s(\d+)\s+(\d+)\s+(?:MODULE_)?([0-9a-f]+)\S*\s*$", walked.screens["3"], re.MULTILINE
    )
    rows = active_first(graph_table(walked.run(), 0.0).rows)
    assert len(shown) == len(rows), (walked.screens["3"], rows)
    for (state, hits, attempts, start), row in zip(shown, rows, strict=True):
        assert (state, int(attempts)) == (row.state, row.attempts), (walked.screens["3"], row)
        assert int(hits) <= row.hits, (walked.screens["3"], row)  # the other worker may load it a moment later
        assert row.module is not None
        assert row.module.removeprefix("MODULE_").startswith(start), (walked.screens["3"], row)


def test_cores_shown_are_the_two_workers(walked: Walked) -> None:
    shown = walked.screens["2"]
    assert re.findall(r"^\s+(\d)\s+r(\d)\s", shown, re.MULTILINE) == [("0", "0"), ("1", "1")], shown
    for core in walked.run().cores.cores.values():
        assert str(core.sample.pid) in shown, shown


def test_the_step_shown_is_one_that_was_printed_before_the_end(walked: Walked) -> None:
    found = re.search(r"^step (\d+)", walked.screens["1"], re.MULTILINE)
    assert found is not None, walked.screens["1"]
    last = walked.run().training.step
    assert last is not None
    assert int(found[1]) <= last  # steps are counted from 0
    lines = [int(step) for step in re.findall(r"\(0, (\d+)\) step_loss", walked.screens["5"])]
    assert lines, walked.screens["5"]
    assert max(lines) <= last


def test_entries_shown_are_those_on_the_disk(walked: Walked) -> None:
    entries = catalog.open_root(str(walked.cache), walked.state).entries
    assert f"{len(entries)} entries" in walked.screens["4"], walked.screens["4"]


def test_the_recording_is_listed_as_running_and_its_store_as_interrupted_afterwards(walked: Walked) -> None:
    assert re.search(r"▶ running .* e2e", walked.screens["6"]), walked.screens["6"]
    job = walked.run().job
    assert job.finished is not None
    assert job.exit_code != 0
