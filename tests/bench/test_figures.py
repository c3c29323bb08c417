"""What the table of all benchmarks says: ratios, aims that were met or missed, peers and spreads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.figures import SUMMARY, Figure, Row, kept_rows, report, summary


def test_a_ratio_is_that_of_the_medians_and_its_spread_the_widest_that_the_measurements_allow() -> None:
    figure = Figure("warm start", "Inductor", (3.0, 2.0, 10.0), (2.0, 1.0, 4.0), bound=1.5)
    assert figure.ratio == 1.5
    assert figure.spread == "0.5–10, n=3"
    assert "(bound 1.5, kept)" in figure.line()
    assert "(bound 1.4, MISSED)" in figure._replace(bound=1.4).line()


@pytest.mark.parametrize(
    ("ours", "at_least", "met"), [(0.9, False, True), (1.1, False, False), (0.9, True, False), (1.1, True, True)]
)
def test_an_aim_is_met_from_its_side(ours: float, at_least: bool, met: bool) -> None:
    row = Row("evict", ours, "×", 1.0, at_least=at_least)
    assert row.met is met
    assert ("MISSED" in summary([row])) is not met


def test_what_is_reported_stands_in_the_table_with_its_peer_and_is_counted_where_it_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "summary.jsonl"
    monkeypatch.setenv(SUMMARY, str(kept))
    figures = [Figure("cold", "Inductor", (1.0,), (2.0,), 0.7), Figure("warm", "Inductor", (2.0,), (1.0,), 1.0)]
    assert report(figures) == 1
    assert capsys.readouterr().out.count("Inductor") == 2
    rows = kept_rows(kept.read_text(encoding="utf-8").splitlines())
    assert [(row.what, row.ours, row.met) for row in rows] == [("cold", 0.5, True), ("warm", 2.0, False)]
    head, cold, warm = summary(rows).splitlines()
    assert "peer, in the same run" in head
    assert cold.split()[:4] == ["cold", "0.5", "×", "0.7"]
    assert warm.split()[-5:] == ["1", "×", "Inductor", "2–2,", "n=1"]
