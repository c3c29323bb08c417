"""Rows keep their place while the eye is on them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neuron_top.filters import words_filter
from neuron_top.tui.widgets.order import Order

Row = tuple[str, int | None]


def order(*rows: Row) -> Order[Row]:
    made: Order[Row] = Order(lambda row: row[0])
    made.take(rows)
    return made


def names(made: Order[Row]) -> str:
    return "".join(row[0] for row in made.rows)


def test_rows_are_sorted_and_unknown_values_stand_last() -> None:
    made = order(("a", 2), ("b", None), ("c", 9))
    made.sort_by(lambda row: row[1], reverse=True)
    assert names(made) == "cab"
    made.sort_by(lambda row: row[1], reverse=False)
    assert names(made) == "acb"


def test_while_a_row_is_chosen_nothing_moves_and_new_rows_come_at_the_end() -> None:
    made = order(("a", 1), ("b", 2))
    made.sort_by(lambda row: row[1], reverse=True)
    made.move(1)
    assert made.current == ("b", 2)
    made.take([("new", 99), ("a", 50), ("b", 3)])
    assert names(made) == "banew"
    assert made.current == ("b", 3)
    assert made.release()
    assert names(made) == "newab"


def test_a_chosen_row_that_goes_away_leaves_no_cursor() -> None:
    made = order(("a", 1), ("b", 2))
    made.choose(1)
    made.take([("a", 1)])
    assert made.current is None
    assert made.index is None


def test_the_cursor_stays_with_its_row_when_the_order_changes() -> None:
    made = order(("a", 1), ("b", 2), ("c", 3))
    made.choose(0)
    made.sort_by(lambda row: row[1], reverse=True)
    assert made.index == 2
    assert made.current == ("a", 1)


def test_a_filter_hides_rows_and_the_cursor_of_a_hidden_row() -> None:
    made = order(("apple", 1), ("bread", 2))
    made.choose(0)
    made.filter_by(lambda row: row[0].startswith("b"))
    assert names(made) == "bread"
    assert made.current is None
    assert made.total == 2


def test_moving_beyond_the_ends_stays_on_the_last_row() -> None:
    made = order(("a", 1), ("b", 2))
    made.move(-1)
    assert made.index == 1
    made.move(5)
    assert made.index == 1
    made.move(-9)
    assert made.index == 0


@given(
    st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9)), min_size=2, max_size=6),
    st.integers(0, 5),
)
def test_no_row_is_lost_or_doubled(views: list[dict[str, int]], chosen: int) -> None:
    made: Order[Row] = Order(lambda row: row[0])
    made.sort_by(lambda row: row[1], reverse=False)
    for view in views:
        made.take(view.items())
        made.choose(chosen)
        assert sorted(row[0] for row in made.rows) == sorted(view)


def test_words_must_all_occur_and_banned_words_must_not() -> None:
    keep = words_filter("Compile !failed")
    assert keep("compile done")
    assert not keep("compile failed")
    assert not keep("load")
    assert words_filter("!")("anything")
