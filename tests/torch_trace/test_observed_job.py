"""A plain PyTorch job under `neurontop run`: cold, then warm. Real compiles by Inductor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from neuron_top.ingest.recordings import load_run
from neuron_top.run.model import Run
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore
from neuron_top.views.report import report
from neuron_top.views.summary import summary
from neuron_top.views.torch_trace import TorchView, torch_view
from tests.inductor_folder import inductor_folder

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("observed job")]

JOB = """
import torch

def talk():
    print("a graph breaks here")

@torch.compile
def work(x):
    y = torch.relu(x) + 1
    talk()
    return y

with torch.no_grad():
    for size in (4, 4, 6):
        work(torch.ones(size, 8))
"""


class Observed(NamedTuple):
    process: subprocess.CompletedProcess[str]
    run: Run
    stored: dict[str, Any]
    folder: Path

    @property
    def view(self) -> TorchView:
        view = torch_view(self.run, self.run.last_time or 0.0)
        assert view is not None, self.process.stderr
        return view


def observe(place: Path, name: str, **environ: str) -> Observed:
    script, state = place / "job.py", place / name
    script.write_text(JOB, encoding="utf-8")
    given = {key: value for key, value in os.environ.items() if key != "TORCH_TRACE"}
    process = subprocess.run(
        [sys.executable, "-m", "neuron_top", "run", "--plain", "--", sys.executable, str(script)],
        env={
            **given,
            "NEURONTOP_STATE_DIR": str(state),
            "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(place / "inductor")),
            "NEURONTOP_CONFIG": os.devnull,
            **environ,
        },
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    with SqliteStore(Settings(state_dir=str(state)).state_path / "neurontop.db", read_only=True) as store:
        (found,) = store.runs(limit=1)
        return Observed(process, load_run(store, found.id), json.loads(found.summary or b"{}"), Path(found.folder))


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    return observe(tmp_path_factory.mktemp("observed"), "cold")


@pytest.fixture(scope="module")
def warm(cold: Observed) -> Observed:
    place = cold.folder.parents[2]
    return observe(place, "warm", TORCH_TRACE=str(place / "the users own"))


def test_graphs_breaks_recompiles_and_misses_of_a_plain_job_are_reported(cold: Observed) -> None:
    view = cold.view
    assert {row.state for row in view.frames} == {"compiled"}
    assert {row.backend for row in view.frames if row.graphs} == {"inductor"}, view.frames
    assert view.summary.graphs >= 2
    assert view.summary.compiles > view.summary.recompiles >= 1
    assert any("print" in row.reason and row.place.endswith("job.py:5") for row in view.breaks), view.breaks
    assert any("size mismatch" in reason for row in view.frames for reason in row.recompiled), view.frames
    caches = {row.cache: row for row in view.summary.caches}
    assert caches["fx-graph"].miss >= 2, caches
    assert caches["aot-autograd"].miss >= 2, caches
    assert caches["fx-graph"].hit == 0
    assert all(row.seconds is not None and row.seconds > 0 for row in view.frames)
    assert {"inductor_compile", "async_compile.wait"} <= {row.phase for row in view.phases}
    assert "graph break" in cold.process.stderr
    assert "misses" in cold.process.stderr


def test_a_second_start_hits_both_caches_and_says_what_that_saved(warm: Observed) -> None:
    caches = {row.cache: row for row in warm.view.summary.caches}
    assert caches["aot-autograd"].hit >= 2, caches
    assert caches["aot-autograd"].miss == 0, caches
    assert caches["fx-graph"].hit >= 2, caches
    assert caches["fx-graph"].miss == 0, caches
    assert caches["aot-autograd"].saved_seconds > 0


def test_the_replay_says_what_was_said_live(cold: Observed) -> None:
    replayed = summary(cold.run, cold.run.job.finished or 0.0)
    assert replayed.torch is not None
    assert cold.stored["torch"]["compiles"] == replayed.torch.compiles
    assert cold.stored["torch"]["seconds"] == pytest.approx(replayed.torch.seconds)
    assert cold.stored["torch"]["caches"][0]["miss"] == replayed.torch.caches[0].miss


def test_the_closing_lines_count_what_pytorch_compiled_just_as_the_report_does(cold: Observed) -> None:
    reported = {one.name: one.value for one in report(cold.run, cold.run.job.finished or 0.0).metrics}
    assert cold.stored["compile_seconds"] == pytest.approx(reported["compile_wall"])
    assert cold.stored["compile_share"] == pytest.approx(reported["compile_share"])
    assert cold.stored["compile_seconds"] >= max(row.seconds or 0.0 for row in cold.view.frames)
    (line,) = [line for line in cold.process.stderr.splitlines() if line.strip().startswith("compile time")]
    assert "0.0 s" not in line, line


def test_each_second_of_the_wall_time_is_shared_out_once(cold: Observed) -> None:
    view = report(cold.run, cold.run.job.finished or 0.0)
    reported = {one.name: one.value for one in view.metrics}
    parts = {part.name: part.seconds for part in view.parts}
    assert sum(parts.values()) == pytest.approx(reported["wall"])
    assert parts["compiling"] == pytest.approx(reported["compile_wall"])


def test_the_trace_stays_in_the_recording_and_where_the_user_wanted_it(cold: Observed, warm: Observed) -> None:
    assert list((cold.folder / "torch_trace").glob("dedicated_log_torch_trace_*.log"))
    assert not (warm.folder / "torch_trace").exists()
    assert list((cold.folder.parents[2] / "the users own").glob("*.log"))


def test_the_report_has_tables_of_it(cold: Observed) -> None:
    from neuron_top.report.html import html
    from neuron_top.report.markdown import markdown

    view = report(cold.run, cold.run.job.finished or 0.0)
    for text in (markdown(view), html(view)):
        assert all(heading in text for heading in ("torch.compile", "Graph breaks", "Recompiles")), text[:2000]
