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
from neuron_top.events import RunStarted
from neuron_top.ingest.recordings import store_path
from neuron_top.settings import Settings
from neuron_top.store.sqlite import SqliteStore
from tests.actions.caches import entry
from tests.dashboard.served import serving
from tests.tui.feeds import StillFeed, full, job


def test_a_missing_number_leaves_the_others_whole() -> None:
    rows = [{"name": "a", "bytes": 5, "share": 0.5}, {"name": None, "bytes": None, "share": None}]
    read = parquet.read_table(io.BytesIO(exports.as_parquet(rows)))
    assert read.to_pylist() == rows
    assert [str(kind) for kind in read.schema.types] == ["string", "int64", "double"]


@pytest.mark.parametrize("table", exports.COLUMNS)
def test_a_table_without_rows_has_the_columns_of_one_with_rows(tmp_path: Path, table: str) -> None:
    settings = Settings(state_dir=str(tmp_path / "full"))
    started = RunStarted(run="20260101-000000-aaaa", at=1.0)
    with SqliteStore(store_path(settings)) as store:
        store.begin(started)
    entry(tmp_path / "cache", 1)
    headers = []
    with serving(full(), tmp_path / "full", roots=(str(tmp_path / "cache"),)) as served:
        headers.append(served.ask(f"/api/{table}.csv").body.splitlines())
    with serving(StillFeed([]), tmp_path / "empty", roots=(str(tmp_path / "none"),)) as served:
        headers.append(served.ask(f"/api/{table}.csv").body.splitlines())
        columns = parquet.read_table(io.BytesIO(served.ask(f"/api/{table}.parquet").body)).column_names
    (header, *rows), (alone,) = headers
    assert rows
    assert header == alone == ",".join(columns).encode()


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
