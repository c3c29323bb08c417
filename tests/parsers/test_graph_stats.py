"""TorchNeuron's table of compile times: the published one, and rows that are broken. The table is a real capture."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.events import AnyEvent, GraphMeasured, LineMalformed, decode, encode
from neuron_top.parsers.graph_stats import GraphTableReader, is_graph_table
from tests.corpus import corpus
from tests.fuzz import invariants
from tests.parsers.logs import only

HEADER = (
    "graph_id,graph_name,model_name,has_collectives,graph_node_count,timestamp,torch_neuronx_fx_passes_us,"
    "torch_neuronx_lower_us,torch_neuronx_compile_us\n"
)


def read(data: bytes, sizes: list[int] | None = None, rank: int | None = 3) -> list[AnyEvent]:
    reader = GraphTableReader("graphs:x", rank)
    events: list[AnyEvent] = []
    position = index = 0
    while position < len(data):
        size = (sizes or [len(data)])[index % len(sizes or [0])]
        events += reader.feed(data[position : position + size])
        position, index = position + size, index + 1
    return events + reader.flush()


def test_the_published_table_is_read_whole() -> None:
    data = corpus("telemetry", "t8_torchneuron_metric_table_graph_stats_rank0.csv").read_bytes()
    expected = json.loads(corpus("telemetry", "t8_torchneuron_metric_table_graph_stats_rank0.expect.json").read_text())
    assert is_graph_table(data)
    rows = only(GraphMeasured, read(data))
    assert len(rows) == expected["graphs"]
    assert [row.compile_seconds for row in rows] == expected["compile_seconds"]
    assert sum(row.compile_seconds for row in rows) == pytest.approx(expected["compile_seconds_total"])
    assert [row.lower_seconds for row in rows] == expected["lower_seconds"]
    assert [row.operators for row in rows] == expected["graph_node_counts"]
    assert [row.at for row in rows] == sorted(row.at or 0.0 for row in rows)
    assert data[rows[1].offset or 0 :].startswith(rows[1].module.encode())


def test_the_name_of_the_file_reports_the_rank() -> None:
    reader = GraphTableReader.of_file("/runs/a/metric_table_graph_stats_rank12.csv")
    (row,) = only(GraphMeasured, reader.feed((HEADER + "g,n,m,True,7,,1,2,3000000\n").encode()))
    assert (row.rank, row.compile_seconds, row.collectives, row.at) == (12, 3.0, True, None)
    assert row.source == "graphs:/runs/a/metric_table_graph_stats_rank12.csv"


def test_columns_are_found_by_name_and_a_broken_row_costs_only_itself() -> None:
    text = "torch_neuronx_compile_us,new_column,graph_id\r\n5000000,x,a\r\nnever,x,b\r\n-1,x,c\r\n7000000,x,d"
    events = read(text.encode())
    assert [(row.module, row.compile_seconds) for row in only(GraphMeasured, events)] == [("a", 5.0), ("d", 7.0)]
    assert len(only(LineMalformed, events)) == 2


@pytest.mark.parametrize("first", [b"", b"a,b\n", b"graph_id,x\n", b"2026-01-01 graph_id torch_neuronx_compile_us\n"])
def test_other_files_are_not_graph_tables(first: bytes) -> None:
    assert not is_graph_table(first)


CELLS = st.one_of(
    st.sampled_from(["a:b", "7", "1e400", "nan", "True", "20260721_073916_015253", '"', "x\x1b[1m"]),
    st.text(max_size=6),
)


@given(st.lists(st.lists(CELLS, max_size=10).map(",".join), max_size=8), st.lists(st.integers(1, 30), min_size=1))
@settings(max_examples=150, deadline=None)
def test_any_rows_give_the_same_events_however_cut(rows: list[str], sizes: list[int]) -> None:
    data = (HEADER + "\n".join(rows)).encode("utf-8", "replace")
    events = read(data)
    assert read(data, sizes) == events
    for event in events:
        line = encode(event)
        assert encode(decode(line)) == line
        invariants.printable(json.loads(line))
        if isinstance(event, GraphMeasured):
            assert event.compile_seconds >= 0.0


def test_a_row_that_is_too_long_gives_the_same_events_in_any_portions() -> None:
    header = b"graph_id,torch_neuronx_compile_us\n"
    for row in (b"x" * 70_000 + b",5\n", b"a,5\r" + b"y" * 140_000 + b"\n", b"z" * 65_536 + b"\n"):
        data = header + row + b"b,6\n"
        assert read(data) == read(data, [1000]) == read(data, [7, 40_000])
