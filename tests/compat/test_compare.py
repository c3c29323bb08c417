"""The comparison itself: what counts as the same, and what the page says of it."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.compat import page  # noqa: E402
from tests.compat.__main__ import ROOT, arguments_of  # noqa: E402
from tests.compat.compare import Likeness, likeness  # noqa: E402

ONE = torch.tensor([1.0, 2.0, float("nan")])


def _judged(ours: Any, inductor: Any = ONE, again: Any = ONE, eager: Any = ONE) -> Likeness:
    return likeness([ours], [inductor], [again], [eager])[0]


def test_a_comparison_does_not_write_over_the_documentation() -> None:
    docs = ROOT / "docs"
    for given in ([], ["--suite", "vision"], ["--device", "cuda"]):
        assert docs not in arguments_of(given).page.parents
    assert arguments_of(["--page", str(docs / "x.md")]).page == docs / "x.md"


def test_equal_bits_are_the_same_also_where_they_are_no_numbers() -> None:
    assert _judged(ONE.clone()) is Likeness.SAME


def test_no_farther_than_inductor_is_from_eager_is_within() -> None:
    assert _judged(ONE + 1e-6, eager=ONE + 2e-6) is Likeness.WITHIN
    assert _judged(ONE + 3e-6, eager=ONE + 1e-6) is Likeness.DIFFERS
    assert _judged(ONE + 1e-6) is Likeness.DIFFERS


def test_no_farther_from_eager_than_inductor_is_near() -> None:
    assert _judged(ONE + 3e-6, eager=ONE + 2e-6) is Likeness.NEAR
    assert _judged(ONE[:2], torch.zeros(2), torch.zeros(2), ONE[:2] + 1e-6) is Likeness.NEAR, "Inductor is wrong"


def test_another_type_shape_or_place_of_nan_differs() -> None:
    assert _judged(ONE.double()) is Likeness.DIFFERS
    assert _judged(ONE[:2]) is Likeness.DIFFERS
    assert _judged(torch.tensor([1.0, float("nan"), 2.0]), eager=ONE + 1) is Likeness.DIFFERS
    assert likeness([], [ONE], [ONE], [ONE])[0] is Likeness.DIFFERS


def test_what_two_runs_of_inductor_do_not_agree_on_is_compared_by_form() -> None:
    assert _judged(ONE + 5, again=ONE + 1) is Likeness.FORM
    assert _judged(ONE[:2], again=ONE + 1) is Likeness.DIFFERS


def test_the_page_counts_what_fails_as_a_defect() -> None:
    """Also where only the run from the cache fails; what Inductor fails at, too, is none."""
    lines = [
        {"program": "a", "mode": "cold", "result": "same", "words": ""},
        {"program": "a", "mode": "warm", "result": "differs", "words": "result 0: 1 from Inductor"},
        {"program": "b", "mode": "cold", "we_fail": "ValueError: x"},
        {"program": "c", "mode": "cold", "inductor_fails": "TypeError: y", "we_fail": "TypeError: y"},
        {"program": "d", "mode": "cold", "result": "same", "words": "", "not_cached": ["a reason"]},
        {"program": "d", "mode": "warm", "result": "same", "words": "", "not_cached": ["a reason"]},
        {"program": "f", "mode": "cold", "result": "same", "words": ""},
        {"program": "e", "mode": "cold", "left_out": "fails without a compiler: z"},
    ]
    wrong = page.defects({"features": lines})
    assert wrong == {"a": "from the cache: result 0: 1 from Inductor", "b": "cold: ValueError: x"}
    text = page.page({"features": lines}, {"features": ["a", "b", "c", "d", "e", "f"]})
    assert "| 6 | 1 | 3 | 1 | 0 | 0 | 0 | 2 | 1 | 1 |" in text
    assert "a reason" in text


def test_the_page_names_the_programs_of_a_suite_that_is_not_finished() -> None:
    lines = [
        {"program": "a", "mode": "cold", "result": "same", "words": ""},
        {"program": "a", "mode": "warm", "result": "same", "words": ""},
        {"program": "b", "mode": "cold", "left_out": "took longer than 900 s"},
        {"program": "c", "mode": "cold", "result": "same", "words": ""},
    ]
    assert "Run of **vision** so far: `a`, `b`.\n" in page.page({"vision": lines}, {"vision": ["a", "b", "c"]})
    assert "so far" not in page.page({"vision": lines}, {"vision": ["a", "b"]})
