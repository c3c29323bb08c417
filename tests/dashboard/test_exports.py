"""Tables as Parquet: types as the values have them."""

from __future__ import annotations

import io

import pytest
from pyarrow import parquet

from neuron_top.dashboard import exports
from neuron_top.errors import NothingToShow


def test_a_missing_number_leaves_the_others_whole() -> None:
    rows = [{"name": "a", "bytes": 5, "share": 0.5}, {"name": None, "bytes": None, "share": None}]
    read = parquet.read_table(io.BytesIO(exports.as_parquet(rows)))
    assert read.to_pylist() == rows
    assert [str(kind) for kind in read.schema.types] == ["string", "int64", "double"]


def test_a_table_without_rows_is_a_file() -> None:
    assert parquet.read_table(io.BytesIO(exports.as_parquet([]))).num_rows == 0


def test_without_pyarrow_the_csv_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_can_write_parquet", lambda: False)
    with pytest.raises(NothingToShow, match="take the CSV"):
        exports.as_parquet([])
