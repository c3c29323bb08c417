"""Panels fill the screen, never overlap, and all that must be there is there at 80×24."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from neuron_top.tui.arrange import Box, SizeRequest, arrange, share_out, width_of_alerts

WISHES = st.fixed_dictionaries(
    {
        name: st.tuples(st.integers(0, 6), st.integers(0, 140), st.booleans()).map(
            lambda it: SizeRequest(it[0], it[0] + it[1], it[1] if it[2] else 0, 26)
        )
        for name in ("cores", "compile", "training", "alerts")
    }
)


@given(st.integers(40, 300), st.integers(10, 120), WISHES)
def test_no_panel_overlaps_another_or_leaves_the_screen(
    width: int, height: int, requests: dict[str, SizeRequest]
) -> None:
    seen: set[tuple[int, int]] = set()
    for box in arrange(width, height, requests).values():
        cells = {(x, y) for x in (box.x, box.x + box.width - 1) for y in range(box.y, box.y + box.height)}
        assert not seen & cells
        assert box.x + box.width <= width
        assert box.y + box.height <= height
        seen |= cells


NO_TITLE = {
    "cores": SizeRequest(0, 0), "compile": SizeRequest(0, 2, 2, 26), "training": SizeRequest(4, 4),
    "alerts": SizeRequest(6, 6)
}  # fmt: skip


@example(40, 15, NO_TITLE)
@given(st.integers(40, 300), st.integers(10, 120), WISHES)
def test_the_last_line_is_always_used(width: int, height: int, requests: dict[str, SizeRequest]) -> None:
    boxes = arrange(width, height, requests).values()
    assert max(box.y + box.height for box in boxes) == height


def test_a_small_screen_shows_every_panel() -> None:
    requests = {
        "cores": SizeRequest(3, 5),
        "compile": SizeRequest(3, 5),
        "training": SizeRequest(2, 3),
        "alerts": SizeRequest(2, 2),
    }
    boxes = arrange(80, 21, requests)
    assert set(boxes) == {"cores", "compile", "training", "alerts", "log"}
    assert boxes["cores"] == Box(0, 0, 80, 5)
    assert boxes["log"].height >= 4


def test_a_log_of_one_line_is_left_out_for_the_panels_above_it() -> None:
    """Its heading stood alone on the last line of a screen of 60×15."""
    requests = {"cores": SizeRequest(2, 2), "compile": SizeRequest(5, 5), "timeline": SizeRequest(3, 3)}
    assert "log" not in arrange(60, 11, requests, ["timeline"])
    assert arrange(60, 11, requests, ["timeline"])["timeline"].height == 4
    assert arrange(60, 12, requests, ["timeline"])["log"].height == 2


def test_minimum_heights_come_before_full_ones() -> None:
    assert share_out(5, [SizeRequest(1, 9), SizeRequest(3, 3)]) == [2, 3]


def test_many_cores_stand_above_both_columns_and_few_in_the_left_one() -> None:
    others = {"compile": SizeRequest(3, 3), "training": SizeRequest(2, 3), "alerts": SizeRequest(1, 1)}
    many = arrange(160, 45, {"cores": SizeRequest(3, 130, 128, 26), **others})
    assert many["cores"].width == 160
    assert (many["cores"].height - 1) * (160 // 26) >= 128
    assert many["compile"].y == many["training"].y == many["cores"].height
    few = arrange(160, 45, {"cores": SizeRequest(3, 18, 16, 26), **others})
    assert few["cores"].width < 100
    assert few["compile"].y == 0


def test_alerts_stand_below_many_cores_where_training_stands_beside_them() -> None:
    requests = {"cores": SizeRequest(3, 18), "training": SizeRequest(3, 16), "alerts": SizeRequest(1, 4)}
    boxes = arrange(200, 57, requests, ["training"])
    assert (boxes["alerts"].x, boxes["alerts"].y) == (0, boxes["cores"].height)
    assert boxes["alerts"].width == width_of_alerts(200, requests, ["training"]) < boxes["training"].x
    few = requests | {"cores": SizeRequest(3, 5)}
    assert arrange(200, 57, few, ["training"])["alerts"].width == width_of_alerts(200, few, ["training"])


PHASE = {
    "cores": SizeRequest(3, 6, 4, 22),
    "compile": SizeRequest(3, 5),
    "timeline": SizeRequest(3, 10),
    "graphs": SizeRequest(3, 13),
    "training": SizeRequest(3, 16),
    "missing": SizeRequest(1, 1),
}


def test_what_matters_most_is_the_largest_panel_and_stands_over_the_whole_width() -> None:
    for main in (["timeline", "graphs", "training"], ["training", "timeline", "graphs"]):
        for size in ((120, 37), (200, 57)):
            boxes = arrange(*size, PHASE, main)
            assert boxes[main[0]] == boxes[main[0]]._replace(width=size[0], height=PHASE[main[0]].full)
            others = [box.height for name, box in boxes.items() if name not in (*main, "log")]
            assert boxes[main[0]].height > max(others)
            assert boxes["missing"].y == size[1] - 1


def test_on_a_small_screen_what_matters_less_goes_first() -> None:
    boxes = arrange(80, 21, PHASE, ["training", "timeline", "graphs"])
    assert "graphs" not in boxes
    assert boxes["training"].height >= 7
    assert boxes["log"].height >= 4
    assert set(arrange(120, 37, {"compile": SizeRequest(3, 5), "log": SizeRequest(0, 0)})) == {"compile", "log"}
