"""What the API answers is a table for `pandas.read_json` without more being said: every list, and every export."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.dashboard.served import READ, serving
from tests.tui import feeds


@pytest.mark.parametrize("path", ["graphs.json", "cores.json", "runs.json", "cache.json", "lookups", "logs", "runs"])
def test_the_answer_is_a_table_with_a_row_for_each(path: str, tmp_path: Path) -> None:
    with serving(feeds.full(4), tmp_path, read=READ) as served:
        rows = served.ask(f"/api/{path}", token=READ).json
        read = pd.read_json(f"{served.address}api/{path}", storage_options={"Authorization": f"Bearer {READ}"})
    assert len(read) == len(rows)
    assert list(read.columns) == list(dict.fromkeys(name for row in rows for name in row))
    if path in ("graphs.json", "cores.json", "lookups", "logs"):
        assert rows


def test_types_are_those_of_the_values(tmp_path: Path) -> None:
    with serving(feeds.full(4), tmp_path, read=READ) as served:
        read = pd.read_json(f"{served.address}api/cores.json", storage_options={"Authorization": f"Bearer {READ}"})
    assert read["core"].tolist() == [0, 1, 2, 3]
    assert read["memory"].dtype.kind in "if"
