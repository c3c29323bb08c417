"""Tables of compile times beside logs and in the metrics folder of a command. The rows are made up."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from neuron_top.events import AnyEvent, GraphMeasured
from neuron_top.ingest.graph_tables import GraphTables, beside, metrics_folder, tables_in
from neuron_top.ingest.run_loader import read_logs
from neuron_top.run.graph import Precision
from neuron_top.services.tally import TallyService
from tests.parsers.test_graph_stats import HEADER

KEY, GRAPH = "0123456789abcdef0123456789abcdef", "a" * 64 + ":" + "b" * 64
LOG = (
    f"[Neuron] [DEBUG] [a.cpp:1] Persistent cache miss key= {GRAPH} persistent_key= {KEY}\n"
    f"[Neuron] [DEBUG] [a.cpp:2] Compiling IR to NEFF stream_id= 0 cache_key= {GRAPH}\n"
    f"[Neuron] [DEBUG] [a.cpp:3] IR compilation complete cache_key= {GRAPH}\n"
)
ROW = f"{GRAPH},n,m,False,7,20260721_073916_015253,1,2000000,36000000\n"
OTHER = f"{'c' * 64}:d,n2,m,False,8,20260721_074016_000000,1,2000000,4000000\n"


def table(folder: Path, rank: int, *rows: str) -> Path:
    path = folder / f"metric_table_graph_stats_rank{rank}.csv"
    path.write_text(HEADER + "".join(rows))
    return path


def test_a_table_beside_a_log_measures_the_compile_that_the_log_reported_and_adds_the_others(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOG)
    table(tmp_path, 0, ROW, OTHER)
    reported: list[str] = []
    run = read_logs([str(log)], 3600.0, notify=reported.append)
    graph = run.compiles.graphs[KEY]
    assert (graph.duration.seconds, graph.duration.precision) == (36.0, Precision.MEASURED)
    assert (graph.misses, graph.operators) == (1, 7)
    assert run.compiles.totals.misses == 2
    assert run.compiles.counts.stage_seconds["lowering"] == 4.0
    assert len(reported) == 1
    assert "metric_table_graph_stats_rank0.csv is read too" in reported[0]


def test_a_named_table_is_read_once_and_alone(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOG)
    path = table(tmp_path, 0, ROW)
    reported: list[str] = []
    run = read_logs([str(log), str(path)], 3600.0, notify=reported.append)
    assert (run.compiles.totals.misses, reported) == (1, [])
    alone = read_logs([str(path)], 3600.0)
    assert alone.compiles.graphs[GRAPH].duration.seconds == 36.0


def test_ranks_that_compiled_the_same_graph_count_each_and_one_that_did_not_counts_nothing(tmp_path: Path) -> None:
    paths = [table(tmp_path, rank, ROW if rank < 2 else ROW.replace("36000000", "0")) for rank in range(3)]
    run = read_logs([str(path) for path in paths], 3600.0)
    assert run.compiles.graphs[GRAPH].misses == 2


def test_tally_counts_tables_beside_a_log_and_named_ones(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOG)
    path = table(tmp_path, 0, ROW, OTHER)
    service = TallyService(lambda remark: None)
    native = service.counts(str(log))["native"]
    assert native["compile_seconds"][GRAPH] == 36.0
    assert (native["compile_starts"], native["measured"]) == (1, 2)
    assert service.counts(str(path))["native"]["measured"] == 2
    rows = service.rows(str(log))
    assert {graph.module: graph.compile_seconds for graph in rows.graphs}[KEY] == 36.0
    assert rows.compiles == 2
    assert service.rows(str(path)).unknown_lines == 0


def test_a_table_that_is_older_than_the_log_is_another_runs(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("2026-07-21 10:00:00.000123:  7  [INFO]: Using a cached neff at /c/x/MODULE_1+2/model.neff\n")
    path = table(tmp_path, 0, ROW)
    assert beside(log) == [path]
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert beside(log) == []
    assert tables_in(tmp_path) == [path]


def test_beside_a_log_that_cannot_be_looked_at_there_are_no_tables(tmp_path: Path) -> None:
    table(tmp_path, 0, ROW)
    (tmp_path / "train.log").symlink_to("x" * 256)  # a name that no disk takes
    assert beside(tmp_path / "train.log") == []


def test_links_and_what_only_has_the_name_are_not_read(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOG)
    secret = tmp_path / "secret"
    secret.write_text(HEADER + ROW)
    (tmp_path / "metric_table_graph_stats_rank0.csv").symlink_to(secret)
    os.mkfifo(tmp_path / "metric_table_graph_stats_rank1.csv")
    (tmp_path / "metric_table_graph_stats_rank2.csv").write_text("hello\n")
    (tmp_path / "metric_table_graph_stats_rank3.csv").mkdir()
    assert read_logs([str(log)], 3600.0).compiles.totals.misses == 1


@pytest.mark.parametrize("enabled", ["graph_stats", ""])
def test_where_a_command_writes_its_tables(enabled: str) -> None:
    environ = {"TORCH_NEURONX_ENABLED_METRIC_TABLES": enabled, "TORCH_NEURONX_METRICS_DIR": "/m"}
    assert metrics_folder(environ) == (Path("/m") if enabled else None)


def test_a_followed_folder_gives_each_row_once_and_nothing_that_was_there_before(tmp_path: Path) -> None:
    old = table(tmp_path, 7, OTHER)
    os.utime(old, (1_700_000_000, 1_700_000_000))
    events: list[AnyEvent] = []
    source = GraphTables(lambda: tables_in(tmp_path), since=time.time() - 60)
    thread = threading.Thread(target=source.start, args=(events.append,))
    thread.start()
    table(tmp_path, 0, ROW)
    while not events and thread.is_alive():
        time.sleep(0.01)
    table(tmp_path, 0, ROW, OTHER)
    source.stop()
    thread.join()
    rows = [event for event in events if isinstance(event, GraphMeasured)]
    assert [row.module for row in rows] == [GRAPH, f"{'c' * 64}:d"]
