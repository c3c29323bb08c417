"""Tables and figures for notebooks: of a recording, of a log, of a cache; typed also where there is nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import pytest

import neuron_top
from neuron_top import events as ev
from neuron_top.errors import NothingToShow, UsageError
from neuron_top.notebook import RunTables
from neuron_top.store.fleet_records import NodeKey, NodeNow
from neuron_top.store.postgres.fleet import FleetStore
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from tests.builders import neff, write_entry
from tests.corpus import CORPUS, corpus
from tests.fleet.test_blame import ship
from tests.report.samples import T0, A, B, compiled, hit, stepped

RUN = "20260214-093011-7f3a"
TABLES = ("graphs", "lookups", "compiles", "waits", "samples", "memory_kinds", "steps", "alerts")
EXAMPLE = Path(__file__).resolve().parents[2] / "assets" / "examples" / "notebook.ipynb"
LOGS = sorted(path.name for path in CORPUS.glob("logs/*.log"))


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two compiles of rank 0, a hit of rank 1, three steps and two samples."""
    state = tmp_path / "state"
    state.mkdir()
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(state))
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(tmp_path / "cache"))
    started = ev.RunStarted(run=RUN, name="sample", command=("python", "train.py"), at=T0)
    ranks = [ev.ProcessSeen(pid=pid, rank=rank, at=T0) for rank, pid in enumerate((10, 11))]
    samples = [
        ev.CoresSampled(
            kind=ev.CoreKind.LOCAL,
            at=T0 + 30 + second,
            cores=(
                ev.CoreSample(core=0, utilization=0.5, memory=3 << 20, kinds={"parameters": 1 << 20, "inputs": 5}),
                ev.CoreSample(core=1),
            ),
        )
        for second in range(2)
    ]
    events: list[ev.AnyEvent] = [started, *ranks, *compiled(A, 10, 1.0, 9.0), *compiled(B, 10, 9.0, 11.5, ok=False)]
    events += [*hit(A, 11, 10.0), *hit(A, 11, 12.0), *samples]
    events += [each for step in range(3) for each in stepped(step, 40.0 + step, loss=2.0 - step)]
    with SqliteStore(state / FILE_NAME) as store:
        store.begin(started)
        store.append(RUN, [*events, ev.RunFinished(run=RUN, exit_code=0, at=T0 + 60)])
        store.finish(RUN, 0, T0 + 60)
    return RUN


def test_a_recording_as_tables(recording: str) -> None:
    run = neuron_top.open_run("last")
    assert run.graphs.set_index("module").loc[A, "state"] == "compiled"
    assert run.graphs["seconds"].tolist() == [8.0, 2.5]
    compiles = run.compiles
    assert compiles["outcome"].tolist() == ["done", "failed"]
    assert compiles["start"].tolist() == [
        pd.Timestamp(T0 + 1, unit="s", tz="UTC"),
        pd.Timestamp(T0 + 9, unit="s", tz="UTC"),
    ]
    assert compiles["rank"].tolist() == [0, 0]
    lookups = run.lookups.groupby("result")["count"].sum().to_dict()
    assert lookups == {"hit": 2, "miss": 2}
    samples = run.samples
    assert samples["core"].tolist() == [0, 1, 0, 1]
    assert samples["memory"].isna().tolist() == [False, True, False, True]
    assert samples["utilization"].iloc[0] == 0.5
    assert run.memory_kinds.groupby("kind")["bytes"].sum().to_dict() == {"inputs": 10, "parameters": 2 << 20}
    assert run.steps["loss"].tolist() == [2.0, 1.0, 0.0]
    assert not run.steps["extracting"].any()
    assert "compile" in " ".join(run.alerts["title"])
    assert run.waits.empty


def test_columns_have_the_same_types_with_and_without_rows(recording: str, tmp_path: Path) -> None:
    log = tmp_path / "empty.log"
    log.write_text("nothing that anybody counts\n")
    full, empty = neuron_top.open_run(recording), neuron_top.open_run(log)
    for name in TABLES:
        assert dict(getattr(full, name).dtypes) == dict(getattr(empty, name).dtypes), name
        assert not [column for column, dtype in getattr(full, name).dtypes.items() if str(dtype) == "object"], name
    for column in ("start", "end"):
        assert str(full.compiles.dtypes[column]) == "datetime64[ns, UTC]"


def test_figures_are_drawn_of_anything(recording: str, tmp_path: Path) -> None:
    log = tmp_path / "empty.log"
    log.write_text("nothing\n")
    for run in (neuron_top.open_run(recording), neuron_top.open_run(str(log))):
        for figure in (run.plot_compiles(), run.plot_memory(theme="dark"), run.plot_loss()):
            assert isinstance(figure, go.Figure)
    losses = neuron_top.open_run(recording).plot_loss().data[0]
    assert (list(losses.x), list(losses.y)) == ([0, 1, 2], [2.0, 1.0, 0.0])


def test_a_cache_as_a_table(tmp_path: Path) -> None:
    write_entry(tmp_path, {"model.neff": neff(), "model.done": b""})
    write_entry(tmp_path, {"model.log": b"Failed compilation"}, graph="ffffffffffffffffffff", age=3600.0)
    cache = neuron_top.open_cache(tmp_path)
    assert cache.entries["module"].is_unique
    assert cache.entries["state"].nunique() == 2
    assert cache.entries["bytes"].dtype == "Int64"
    assert str(cache.entries["used"].dtype) == "datetime64[ns, UTC]"
    assert isinstance(cache.plot_sizes(), go.Figure)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NothingToShow, match="no such run"):
        neuron_top.open_run("no such run")
    with pytest.raises(NothingToShow):
        neuron_top.open_cache(tmp_path / "gone")


def test_the_package_loads_pandas_for_tables_only() -> None:
    code = "import sys, neuron_top; neuron_top.open_run; assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_pandas_figures_are_drawn_and_tables_say_what_to_install(
    recording: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    run = neuron_top.open_run(recording)
    assert repr(run) == f"<run {RUN}: 2 graphs, 4 samples>"
    for figure in (run.plot_compiles(), run.plot_memory(), run.plot_loss()):
        assert isinstance(figure, go.Figure)
    with pytest.raises(UsageError, match=re.escape("pip install 'neuron-top[notebook]'")):
        _ = run.graphs


@pytest.mark.parametrize("name", LOGS or ["-"])
def test_counts_of_lookups_are_those_of_the_graphs(name: str) -> None:
    run = neuron_top.open_run(corpus("logs", name))
    for result, column in (("hit", "hits"), ("miss", "misses")):
        lookups = run.lookups
        assert lookups[lookups["result"] == result]["count"].sum() == run.graphs[column].sum()


def test_the_example_notebook_runs(recording: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_entry(tmp_path / "cache", {"model.neff": neff(), "model.done": b""})
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    cells = [cell for cell in json.loads(EXAMPLE.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 4
    for cell in cells:
        assert not cell["outputs"]
        exec(compile("".join(cell["source"]), EXAMPLE.name, "exec"), names)
    assert isinstance(names["run"], RunTables)


def test_a_fleet_as_tables(postgres_url: str) -> None:
    ship(postgres_url)
    with FleetStore(postgres_url) as store:
        store.beat(NodeNow(node="n1", at=0.0, job="4711", step=7))
        store.put_keys([NodeKey(root="/c", key=A, node="n1", state="hit", bytes=5, seen=T0)])
    fleet = neuron_top.open_fleet(postgres_url)
    assert len(fleet.jobs) == 1
    assert fleet.nodes.set_index("node").loc["n1", "step"] == 7
    assert set(fleet.nodes["node"]) == {"n1", "n2", "n3"}
    assert str(fleet.nodes["seen"].dtype) == "datetime64[ns, UTC]"
    assert fleet.entries[["node", "key", "bytes"]].values.tolist() == [["n1", A, 5]]
    run = fleet.open_run(fleet.jobs["job"].iloc[0])
    assert set(run.compiles["node"]) == {"n1", "n3"}
    assert run.graphs["module"].nunique() == 4
    with pytest.raises(NothingToShow):
        fleet.open_run("no such job")
    with pytest.raises(UsageError, match="no database is named"):
        neuron_top.open_fleet()
