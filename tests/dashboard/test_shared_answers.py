"""Many browsers that ask the same at once cost one answer."""

from __future__ import annotations

import asyncio
import threading

import pytest

from neuron_top.dashboard.shared_answers import SharedAnswers


async def test_fifty_who_ask_at_once_get_one_answer_and_other_questions_their_own() -> None:
    worked = list[str]()
    go = threading.Event()

    def work_out(question: str) -> str:
        go.wait(60)
        worked.append(question)
        return f"{question}!"

    answers = SharedAnswers[str](1.0, clock=lambda: 0.0)
    asking = [asyncio.create_task(answers.get(name, lambda name=name: work_out(name))) for name in ["a", "b"] * 25]
    await asyncio.sleep(0)
    go.set()
    assert await asyncio.gather(*asking) == ["a!", "b!"] * 25
    assert sorted(worked) == ["a", "b"]


async def test_an_answer_is_worked_out_again_when_it_is_old_and_not_before() -> None:
    now, made = 0.0, list[int]()

    def work_out() -> int:
        made.append(1)
        return len(made)

    answers = SharedAnswers[int](1.0, clock=lambda: now)
    assert [await answers.get("x", work_out) for _ in range(3)] == [1, 1, 1]
    now = 1.5
    assert await answers.get("x", work_out) == 2


async def test_one_that_goes_away_takes_nothing_from_the_others_and_a_problem_is_everybodys() -> None:
    go = threading.Event()

    def fail() -> str:
        go.wait(60)
        raise ValueError("no database")

    answers = SharedAnswers[str](1.0)
    first, second = (asyncio.create_task(answers.get("x", fail)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    go.set()
    with pytest.raises(ValueError, match="no database"):
        await second
    assert first.cancelled()


async def test_only_so_many_answers_are_kept() -> None:
    answers = SharedAnswers[int](1.0)
    for number in range(200):
        assert await answers.get(number, lambda number=number: number) == number
    assert len(answers._asked) == 64


async def test_nobody_waits_for_a_new_answer_while_the_one_before_is_fresh_enough() -> None:
    now, go, made = 0.0, threading.Event(), list[int]()

    def work_out() -> int:
        if made:
            go.wait(60)
        made.append(1)
        return len(made)

    answers = SharedAnswers[int](1.0, clock=lambda: now, stale=3.0)
    assert await answers.get("x", work_out) == 1
    now = 2.0
    assert [await answers.get("x", work_out) for _ in range(3)] == [1, 1, 1]
    now = 4.0
    waiting = asyncio.create_task(answers.get("x", work_out))
    await asyncio.sleep(0)
    assert not waiting.done(), "the one before is too old"
    go.set()
    assert await waiting == 2


async def test_after_a_problem_everybody_waits_for_the_new_answer() -> None:
    now, problems = 0.0, [ValueError("no database")]

    def work_out() -> str:
        if problems:
            raise problems.pop()
        return "back"

    answers = SharedAnswers[str](1.0, clock=lambda: now, stale=3.0)
    with pytest.raises(ValueError, match="no database"):
        await answers.get("x", work_out)
    now = 2.0
    assert await answers.get("x", work_out) == "back"


async def test_what_is_looked_at_is_worked_out_again_by_itself_until_nobody_asks() -> None:
    now, made = 0.0, list[int]()

    def work_out() -> int:
        made.append(1)
        return len(made)

    answers = SharedAnswers[int](0.01, clock=lambda: now, stale=3.0)
    assert await answers.get("x", work_out) == 1
    async with asyncio.timeout(60):
        while len(made) < 3:
            await asyncio.sleep(0.01)
    now = 3.5
    await answers._asked["x"].task
    known = len(made)
    await asyncio.sleep(0.2)
    assert len(made) == known, "nobody has asked for longer than an answer may be old"


async def test_an_answer_that_is_asked_for_anew_at_the_moment_it_is_made_is_not_begun_a_second_time() -> None:
    now, go, made, problems = 0.0, threading.Event(), list[int](), list[dict[str, object]]()
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: problems.append(context))

    def work_out() -> int:
        made.append(1)
        if len(made) > 1:
            go.wait(60)
        return len(made)

    answers = SharedAnswers[int](0.01, clock=lambda: now, stale=3.0)
    first = asyncio.create_task(answers.get("x", work_out))
    while "x" not in answers._asked or not answers._asked["x"].task.done():
        await asyncio.sleep(0)
    now = 1.0  # it is made, its callbacks have not run, and it is old already
    assert await answers.get("x", work_out) == 1
    second = answers._asked["x"].task
    try:
        await asyncio.sleep(0.1)
        assert not problems
        assert await answers.get("x", work_out) == 1, "nobody waits while the one before is fresh enough"
        assert answers._asked["x"].task is second
    finally:
        go.set()
    assert (await first, await second) == (1, 2)


async def test_an_answer_about_an_earlier_version_is_worked_out_again_one_at_a_time() -> None:
    worked, go = list[int](), threading.Event()

    def work_out(version: int) -> int:
        worked.append(version)
        go.wait(60)
        return version

    answers = SharedAnswers[int](1.0, clock=lambda: 0.0)
    asking = [
        asyncio.create_task(answers.get("x", lambda version=version: work_out(version), version))
        for version in (1, 1, 2, 3, 3, 1)
    ]
    await asyncio.sleep(0.05)
    assert worked == [1]
    go.set()
    first, same, *later = await asyncio.gather(*asking)
    assert (first, same) == (1, 1)
    assert later[0] >= 2
    assert later[1:3] == [3, 3]
    assert len(worked) == len(set(worked))
    assert await answers.get("x", lambda: work_out(2), 2) == 3
