"""Tables as Parquet: types as the values have them; and the statuses of errors."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pyarrow import parquet

from neuron_top.dashboard import exports
from neuron_top.dashboard.endpoint import status_of
from neuron_top.dashboard.plan_registry import NotPermitted
from neuron_top.errors import CacheUnusable, LimitReached, NeuronTopError, NothingToShow, ReadOnlyMode, UsageError
from tests.dashboard.served import serving
from tests.tui.feeds import StillFeed, job


def test_a_missing_number_leaves_the_others_whole() -> None:
    rows = [{"name": "a", "bytes": 5, "share": 0.5}, {"name": None, "bytes": None, "share": None}]
    read = parquet.read_table(io.BytesIO(exports.as_parquet(rows)))
    assert read.to_pylist() == rows
    assert [str(kind) for kind in read.schema.types] == ["string", "int64", "double"]


def test_a_table_without_rows_is_a_file() -> None:
    assert parquet.read_table(io.BytesIO(exports.as_parquet([]))).num_rows == 0


def test_without_pyarrow_the_csv_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(exports, "_can_write_parquet", lambda: False)
    with pytest.raises(NothingToShow, match="take the CSV"):
        exports.as_parquet([])
    with serving(StillFeed(job()), tmp_path) as served:
        answer = served.ask("/api/graphs.parquet")
    assert (answer.status, "take the CSV" in answer.json["error"]) == (404, True)


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (UsageError("?"), 400),
        (NotPermitted("sign in"), 403),
        (NothingToShow("gone"), 404),
        (ReadOnlyMode(), 409),
        (LimitReached("too many"), 429),
        (CacheUnusable("the disk is full"), 503),
    ],
)
def test_an_error_has_the_status_of_its_nearest_class(problem: NeuronTopError, status: int) -> None:
    assert status_of(problem) == status
