"""Whose traceback it is, by what stands in front of each of its lines."""

from __future__ import annotations

import pytest

from neuron_top.ingest.advised import diagnose

RUNTIME = "2026-Jul-07 10:04:40.396595 288746:288746 ERROR   NRT:nrt_init      Failed to initialize devices, error:2"


@pytest.mark.parametrize(
    ("front", "ranks"),
    [
        ("[Rank 3] ", (3,)),
        ("[rank: 3] ", (3,)),
        ("rank 3: ", (3,)),
        ("[1744] [rank3]: ", (3,)),
        ("2026-05-02T10:00:00.123456+00:00 box-7 wide[99]: ", ()),
    ],
)
def test_the_rank_of_a_traceback_is_what_stands_in_front(front: str, ranks: tuple[int, ...]) -> None:
    lines = ("Traceback (most recent call last):", '  File "/job/wide.py", line 12, in main', "KeyError: 'wide'")
    cause = diagnose("".join(f"{front}{line}\n" for line in lines).encode(), "log:x").cause
    assert cause is not None
    assert (cause.text, cause.ranks) == ("KeyError: 'wide'", ranks)


@pytest.mark.parametrize(
    "front", ["(ActorRolloutWorker pid=288746) ", "\x1b[36m(pid=288746)\x1b[0m ", "(Worker pid=7, ip=10.0.0.7) "]
)
def test_records_that_a_page_has_joined_are_one_failure_without_the_actor_of_the_next(front: str) -> None:
    (cause,) = diagnose(f"{front}{RUNTIME}{front}{RUNTIME}\n{front}{RUNTIME}\n".encode(), "log:x").causes
    assert (cause.text, cause.line, cause.count) == ("Failed to initialize devices, error:2", 1, 3)


def test_a_process_that_a_message_names_at_its_end_stays() -> None:
    (cause,) = diagnose(f"{RUNTIME} (pid=288746)\n".encode(), "log:x").causes
    assert cause.text == "Failed to initialize devices, error:2 (pid=288746)"


def test_an_exception_that_ranks_print_on_one_line_is_shown_once_and_counted() -> None:
    heading, frame = "Traceback (most recent call last):\n", '  File "/job/fit.py", line 9, in <module>\n'
    log = 3 * heading + 3 * frame + 3 * "KeyError: 'kettle'" + "\n\n\n"
    cause = diagnose(log.encode(), "log:x").cause
    assert cause is not None
    assert (cause.text, cause.count, cause.line) == ("KeyError: 'kettle'", 3, 7)


def test_an_exception_whose_words_repeat_is_shown_whole() -> None:
    log = "Traceback (most recent call last):\nValueError: lid ValueError: cup ValueError: lid\n"
    cause = diagnose(log.encode(), "log:x").cause
    assert cause is not None
    assert (cause.text, cause.count) == ("ValueError: lid ValueError: cup ValueError: lid", 1)
