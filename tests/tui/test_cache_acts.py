"""Marking, planning, confirming and undoing on the cache screen, with a real cache on a real disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from neuron_top.cache.model.states import State
from neuron_top.services.caches import CacheService, Verb
from neuron_top.services.plan_execution import PlanExecution, PlanState
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp
from neuron_top.tui.screens.cache import CacheScreen
from neuron_top.tui.screens.plan import PlanPage
from neuron_top.tui.widgets.keybar import KeyBar
from neuron_top.tui.widgets.page import Page
from neuron_top.tui.widgets.prompt import Prompt
from neuron_top.tui.widgets.render_widget import RenderWidget
from neuron_top.views import plan
from neuron_top.views.entries import EntryRow, EntryTable, entry_row
from neuron_top.views.plan import warning_text
from tests.actions import caches, states
from tests.actions.test_compile_now import sdk_compiler
from tests.tui import feeds


class OneCache(feeds.StillServices):
    """One real root, or several, looked at each time; nobody else uses it, whatever runs beside the tests."""

    def __init__(self, root: Path, settings: Settings, *others: Path) -> None:
        super().__init__()
        self.caches = CacheService(settings, in_use=lambda root: None)
        self.cache_listing = self
        self._roots = [str(root), *map(str, others)]

    def also(self, named: Iterable[str]) -> bool:
        return False

    def entries(self, *, refresh: bool = False) -> EntryTable:
        rows: tuple[EntryRow, ...] = ()
        for root in self._roots:
            snapshot = caches.looked_at(Path(root))
            rows += tuple(entry_row(root, entry, snapshot.taken_at) for entry in snapshot.entries)
        return EntryTable(roots=tuple((root, "a test", True) for root in self._roots), rows=rows)


@asynccontextmanager
async def cache_screen(root: Path, *others: Path, **options: object) -> AsyncIterator[tuple[TopApp, Pilot[int]]]:
    settings = Settings(state_dir=str(root.parent / "state"), **options)  # type: ignore[arg-type]
    app = TopApp(feeds.full(), settings, first="cache", services=OneCache(root, settings, *others))
    async with app.run_test(size=(140, 40)) as pilot:
        await settled(app, pilot)
        yield app, pilot


async def settled(app: TopApp, pilot: Pilot[int]) -> None:
    app.draw()
    await app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


async def press(app: TopApp, pilot: Pilot[int], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(app, pilot)


def screen(app: TopApp) -> CacheScreen:
    found = app.screen
    assert isinstance(found, CacheScreen)
    return found


def page(app: TopApp) -> PlanPage:
    found = app.screen
    assert isinstance(found, PlanPage), found
    return found


def about(app: TopApp) -> str:
    table = screen(app).table
    assert table.about is not None
    return "".join(text for text, _style in table.about(None, app.render_theme))


def title(app: TopApp) -> str:
    return screen(app).query_one("#title", RenderWidget).render_line(0).text


def said(app: TopApp) -> str:
    return app.screen.query_one(KeyBar).render_line(0).text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "cache"
    for number, age in enumerate((40, 30, 20)):
        caches.entry(place, number, blocks=10**number, age_days=age)
    states.entry_in(place, State.FAILED, number=8)
    return place


async def test_what_is_no_hit_comes_first(root: Path) -> None:
    async with cache_screen(root) as (app, _pilot):
        states_shown = [row.state for row in screen(app).table.order.rows if isinstance(row, EntryRow)]
        assert states_shown == ["failed", "hit", "hit", "hit"]


async def test_marks_add_up_in_the_title(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "down", "space", "space")
        assert len(screen(app).marked) == 2
        assert "2 marked" in title(app)
        await press(app, pilot, "g", "space")
        assert len(screen(app).marked) == 1
        await press(app, pilot, "M")
        # The failure was never compiled: it has no compile time that could be unknown.
        assert "4 marked" in title(app)
        assert "3 of unknown compile time" in title(app)


async def test_a_range_and_all_that_the_filter_shows_can_be_marked(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "down", "space", "G", "V")
        assert len(screen(app).marked) == 4
        await press(app, pilot, "M")
        assert not screen(app).marked
        screen(app).apply_filter("state:failed")
        await press(app, pilot, "M")
        assert [row.state for row in screen(app).marked.values()] == ["failed"]


async def test_states_are_counted_among_what_the_filter_shows(root: Path) -> None:
    async with cache_screen(root) as (app, _pilot):
        assert "hit" in about(app)
        screen(app).apply_filter("state:failed")
        assert "1 failed" in about(app)
        assert "hit" not in about(app)


async def test_the_preview_stands_on_cancel_and_enter_does_nothing(root: Path) -> None:
    before = caches.everything(root)
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "down", "space", "e")
        assert (page(app).execution.state, page(app).chosen) == (PlanState.PLANNED, 0)
        assert any("MODULE_" in line.text for line in page(app).lines)
        await press(app, pilot, "enter")
        assert isinstance(app.screen, CacheScreen)
    assert caches.everything(root) == before


async def test_a_key_that_is_pressed_again_while_it_is_planned_asks_once(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "down", "space")
        for verb in ("verify", "evict", "evict"):
            screen(app).action_plan(verb)
            await asyncio.sleep(0)  # its thread begins
        while not isinstance(app.screen, PlanPage):
            await pilot.pause(0.05)
        await pilot.pause(0.5)
        assert page(app).execution.plan.verb is Verb.EVICT
        await press(app, pilot, "escape")
        assert isinstance(app.screen, CacheScreen)


async def test_a_plan_in_which_nothing_is_to_be_done_says_how_it_is_left(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "down", "down", "p", "e")
        assert not page(app).can_act
        shown = app.screen.query_one(Page).text
        assert "esc closes" in shown
        assert "nothing is done yet" not in shown


async def test_a_confirmed_plan_is_carried_out_reported_reopened_and_undone(root: Path) -> None:
    before = caches.everything(root)
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "down", "space", "space", "e", "right", "enter")
        assert page(app).execution.state is PlanState.DONE
        assert "done: 2 steps" in page(app).lines[0].text
        assert len(caches.looked_at(root).entries) == 2
        await press(app, pilot, "enter", "o")
        assert "done: 2 steps" in page(app).lines[0].text
        await press(app, pilot, "escape", "U")
        assert "U again undoes plan" in said(app)
        app.screen.query_one(KeyBar).withdraw(app.screen.query_one(KeyBar).noticed)  # as after some seconds
        await press(app, pilot, "U")
        assert "U again undoes plan" in said(app), "what is no longer asked is not answered"
        assert len(caches.looked_at(root).entries) == 2
        await press(app, pilot, "U")
        await press(app, pilot, "o")
        assert [line.text for line in page(app).lines] == ["undone: 2 brought back"]
    assert caches.everything(root) == before


async def test_every_button_of_a_plan_is_whole_at_any_width(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "M", "e")
        button = plan.choice_text(page(app).execution.plan)
        executions = [page(app).execution] * 3
        app.open(PlanPage(executions, app.services.caches, lambda _execution: None))
        await settled(app, pilot)
        for width in (140, 60, 40):
            await pilot.resize_terminal(width, 24)
            await settled(app, pilot)
            choice = app.screen.query_one("#choice", RenderWidget)
            shown = [choice.render_line(y).text for y in range(choice.size.height)]
            assert sum(line.count(button) for line in shown) == 3, shown
            assert "esc cancels" in " ".join(" ".join(shown).split())
        last = next(y for y in reversed(range(len(shown))) if button in shown[y])
        await pilot.click("#choice", offset=(6, last))
        assert page(app).chosen == 3


async def test_a_plan_for_the_row_under_the_cursor_does_not_call_it_marked(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "down", "down", "e")
        assert page(app).lines[0].text.endswith(f"evict in {root}: 1 selected entry")
        await press(app, pilot, "escape", "M", "e")
        assert page(app).lines[0].text.endswith(": 4 selected entries")


async def test_a_click_selects_a_button_of_a_plan_and_a_second_one_presses_it(root: Path) -> None:
    async def click(app: TopApp, pilot: Pilot[int], text: str) -> None:
        line = app.screen.query_one("#choice", RenderWidget).render_line(0).text
        await pilot.click("#choice", offset=(line.index(text), 0))
        await settled(app, pilot)

    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "down", "space", "space", "e")
        await click(app, pilot, "Evict")
        assert page(app).chosen == 1
        assert page(app).is_question, "nothing is done before its plan was seen"
        await click(app, pilot, "Cancel")
        assert isinstance(app.screen, CacheScreen)
        await press(app, pilot, "e")
        await click(app, pilot, "Evict")
        await click(app, pilot, "Evict")
        assert page(app).execution.state is PlanState.DONE
        await click(app, pilot, "Close")
        assert isinstance(app.screen, CacheScreen)


async def test_undo_goes_on_with_the_plan_before_also_in_another_cache(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "second"
    caches.entry(other, 7)
    before = caches.everything(root), caches.everything(other)
    async with cache_screen(root, other) as (app, pilot):
        for query in ("root:second", "state:failed"):
            screen(app).apply_filter(query)
            await press(app, pilot, "M", "e", "right")
            await press(app, pilot, *page(app).word, "enter", "enter")
        screen(app).apply_filter("")
        await press(app, pilot, "U", "U")
        assert caches.everything(root) == before[0]
        await press(app, pilot, "U", "U")
        assert caches.everything(other) == before[1]


async def test_undo_finds_the_newest_plan_of_all_caches_also_after_a_restart(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "second"
    caches.entry(other, 7)
    before = caches.everything(other)
    async with cache_screen(root, other) as (app, pilot):
        screen(app).apply_filter("root:second")
        await press(app, pilot, "M", "e", "right", *"evict", "enter")
        assert page(app).execution.state is PlanState.DONE
    assert caches.everything(other) != before
    async with cache_screen(root, other) as (app, pilot):
        await press(app, pilot, "U")
        assert f"evict in {other}" in screen(app).noticed
        await press(app, pilot, "U")
    assert caches.everything(other) == before


async def test_a_plan_says_first_what_it_comes_to_and_that_it_misses_its_aim(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "R")
        screen(app).query_one(Prompt).value = "900TB"
        await press(app, pilot, "enter")
        _plan, total, missed, first, *_rest = [line.text for line in page(app).lines]
        count = len(page(app).execution.plan.steps)
        assert count > 1
        assert total.startswith(f"{count} entries · ")
        assert "free once purged" in total
        assert missed.startswith("only ")
        assert missed.endswith("the rest is protected or outside this cache")
        assert first.startswith("  evict ")


async def test_a_whole_compiler_version_needs_the_word_typed(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "M", "e")
        assert "q quit" in said(app)
        await press(app, pilot, "right")
        assert said(app).split() == ["enter", "accept", "esc", "cancel", "ctrl+c", "quit"], "q types a letter here"
        await press(app, pilot, "enter")
        assert page(app).execution.state is PlanState.PLANNED
        assert "type evict first" in said(app)
        await press(app, pilot, *"evict", "enter")
        assert page(app).execution.state is PlanState.DONE
        assert "type evict first" not in said(app)
        await press(app, pilot, "enter")
        assert "planning for" not in said(app)
    assert caches.looked_at(root).entries == ()


async def test_a_failure_can_be_forgotten(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        screen(app).apply_filter("state:failed")
        await press(app, pilot, "M", "r", "right", "enter")
        assert page(app).execution.state is PlanState.DONE
    assert sorted(entry.state for entry in caches.looked_at(root).entries) == ["extracted", "hit", "hit", "hit"]


async def test_a_failure_can_be_compiled_now_or_forgotten_as_one_chooses(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdk_compiler(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    async with cache_screen(root) as (app, pilot):
        screen(app).apply_filter("state:failed")
        await press(app, pilot, "M", "r")
        buttons = page(app).query_one("#choice", RenderWidget)
        assert "[ Cancel ]" in buttons.render_line(0).text
        assert "Compile now: 1 graph" in buttons.render_line(0).text
        await press(app, pilot, "right", "right")
        assert "[ Retry on the next run: 1 failure ]" in buttons.render_line(0).text
        assert page(app).execution.plan.verb == "retry"
        await press(app, pilot, "left", "enter")
        assert (page(app).execution.state, page(app).execution.plan.verb) == (PlanState.DONE, "compile")
        assert page(app).lines[0].text == "done: 1 step"
    entries = caches.looked_at(root).entries
    assert State.FAILED not in {entry.state for entry in entries}
    assert len(list(root.rglob("model.done"))) == 4


@pytest.mark.parametrize(
    ("key", "state", "after"),
    [
        ("z", State.HIT, State.EXTRACTED),
        ("u", State.STALE_LOCK, State.EXTRACTED),
        ("v", State.CORRUPT, State.EXTRACTED),
        ("r", State.FAILED, State.EXTRACTED),
    ],
)
async def test_each_key_plans_and_carries_out_its_act(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, state: State, after: State
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    place = tmp_path / "cache"
    states.entry_in(place, state)
    before = caches.everything(place)
    async with cache_screen(place) as (app, pilot):
        await press(app, pilot, "M", key, "enter")
        assert caches.everything(place) == before, "enter alone cancels"
        await press(app, pilot, key, "right", "enter")
        assert page(app).execution.state is PlanState.DONE, [line.text for line in page(app).lines]
        assert [entry.state for entry in caches.looked_at(place).entries] == [after]
        await press(app, pilot, "enter", "U", "U")
    assert caches.everything(place) == before


async def test_an_eviction_that_keeps_the_graphs_is_called_so_and_its_end_names_the_key_that_undoes_it(
    tmp_path: Path,
) -> None:
    place = tmp_path / "cache"
    states.entry_in(place, State.HIT)
    async with cache_screen(place) as (app, pilot):
        await press(app, pilot, "M", "z")
        text = "\n".join(line.text for line in page(app).lines)
        assert f": evict artifacts in {place}" in text
        assert "  keep graph " in text
        assert "Evict artifacts: 1 step" in page(app).query_one("#choice", RenderWidget).render_line(0).text
        await press(app, pilot, "right", "enter")
        assert "undo: U on the Cache screen, or neurontop cache restore" in page(app).lines[-1].text


@pytest.mark.parametrize(
    ("there", "found"),
    [
        ([State.EXTRACTED], "1 entry read in full: 0 corrupt, 0 with a warning"),
        ([State.EXTRACTED, State.CORRUPT], "2 entries read in full: 1 corrupt, 0 with a warning"),
    ],
)
async def test_a_verification_says_what_was_read_and_found(tmp_path: Path, there: list[State], found: str) -> None:
    place = tmp_path / "cache"
    for number, state in enumerate(there):
        states.entry_in(place, state, number=number + 1)
    async with cache_screen(place) as (app, pilot):
        await press(app, pilot, "M", "v")
        assert found in app.screen.query_one(Page).text
        assert page(app).can_act is (State.CORRUPT in there)


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("r", "nothing to do: none of these entries is a stored failure"),
        ("u", "nothing to do: none of these entries is locked"),
        ("v", "nothing to do: none of these entries was found corrupt"),
    ],
)
async def test_a_plan_without_steps_says_why(tmp_path: Path, key: str, why: str) -> None:
    place = tmp_path / "cache"
    states.entry_in(place, State.EXTRACTED)
    async with cache_screen(place) as (app, pilot):
        await press(app, pilot, "M", key)
        assert why in [line.text for line in page(app).lines]
        assert bottom(app).strip() == "[ Close ]"
        await press(app, pilot, "enter")
        assert screen(app)


@pytest.mark.parametrize(("key", "word"), [("u", "unlock"), ("r", "retry")])
async def test_what_nothing_proves_is_offered_with_a_warning_and_needs_the_word_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, word: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    place = tmp_path / "cache"
    if key == "u":
        states.entry_in(place, State.LOCKED_UNKNOWN, number=os.getpid())
    else:
        rejected = states.entry_in(place, State.FAILED)
        (rejected / "model.log").write_text("Failed compilation with ['neuronx-cc']: [NCC_EOOM002] too large")
        caches.grow_old(rejected, 10)
    async with cache_screen(place) as (app, pilot):
        await press(app, pilot, "M", key)
        warning = warning_text(page(app).execution.plan.steps[0])
        assert warning
        assert any(warning[:20] in line.text for line in page(app).lines)
        await press(app, pilot, "right", word[0], "enter")
        assert page(app).execution.state is PlanState.PLANNED, "the word is incomplete"
        await press(app, pilot, *word[1:], "enter")
        assert page(app).execution.state is PlanState.DONE
    assert [entry.state for entry in caches.looked_at(place).entries] == [State.EXTRACTED]


async def test_each_forced_lock_is_named_and_asked_for_on_its_own(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    locked = [states.entry_in(place, State.LOCKED_UNKNOWN, number=os.getpid() + number) for number in range(3)]
    async with cache_screen(place) as (app, pilot):
        await press(app, pilot, "M", "u", "right")
        asked = [bottom(app)]
        await press(app, pilot, *"unlock", "enter")
        asked.append(bottom(app))
        await press(app, pilot, "enter")
        asked.append(bottom(app))
        assert page(app).execution.state is PlanState.PLANNED
        await press(app, pilot, *"unlock", "enter")
        assert page(app).execution.state is PlanState.DONE
        named = [f"{number} of 3: {caches.COMPILER}/{one.name}" for number, one in enumerate(locked, 1)]
        assert [text.strip() for text in asked] == named
    assert [bool(list(one.glob("*.lock"))) for one in locked] == [False, True, False]


async def test_where_no_forced_lock_is_confirmed_nothing_is_done(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    states.entry_in(place, State.LOCKED_UNKNOWN, number=os.getpid())
    before = caches.everything(place)
    async with cache_screen(place) as (app, pilot):
        await press(app, pilot, "M", "u", "right", "enter")
        assert (page(app).execution.state, page(app).chosen) == (PlanState.PLANNED, 0)
        assert "nothing is done" in said(app)
    assert caches.everything(place) == before


def bottom(app: TopApp) -> str:
    """What is chosen, or asked, below the plan."""
    return page(app).query_one("#choice", RenderWidget).render_line(0).text


async def test_pins_protect_and_say_so_in_the_preview(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "down", "space", "p")
        assert "1 pinned" in said(app)
        await press(app, pilot, "e")
        assert not page(app).can_act
        assert any("pinned" in line.text for line in page(app).lines)


async def test_read_only_refuses_at_the_key_at_the_dialog_and_in_the_executor(root: Path) -> None:
    before = caches.everything(root)
    async with cache_screen(root, read_only=True) as (app, pilot):
        for key in ("e", "r", "u", "v", "p", "U", "R", "Z"):
            screen(app).notice("")
            await press(app, pilot, "down", key)
            assert "read-only" in said(app), key
            assert app.screen.focused is None, "nothing is asked that would be refused"
            assert isinstance(app.screen, CacheScreen)
        row = screen(app).selected_entries()[0]
        plan = app.services.caches.plan(Verb.EVICT, row.root, [f"{row.compiler}/{row.module}"])
        app.push_screen(PlanPage([PlanExecution(plan=plan)], app.services.caches, lambda execution: None))
        await press(app, pilot, "right", "enter")
        assert not isinstance(app.screen, PlanPage) or page(app).execution.state is PlanState.PLANNED
        with pytest.raises(Exception, match="read-only"):
            app.services.caches.execute(plan)
    assert caches.everything(root) == before


async def test_room_is_made_in_one_step_and_what_could_go_is_reported_with_its_price(root: Path) -> None:
    async with cache_screen(root, cache_max_size="1GB") as (app, pilot):
        await press(app, pilot, "b")
        shown = app.screen.query_one(Page).text
        assert str(root) in shown
        assert "no use known for 7 days" in shown
        assert "to compile again" in shown
        await press(app, pilot, "escape", "R", *"lots", "enter")
        assert "lots" in said(app)
        await press(app, pilot, "R", *["backspace"] * 4, *"1KB", "enter")
        assert "1KB are free already" in said(app)
        await press(app, pilot, "R", *["backspace"] * 3, *"900TB", "enter")
        assert len(page(app).execution.plan.steps) == 4
        assert page(app).chosen == 0
        before = sorted(root.rglob("*"))
        await press(app, pilot, "escape")
        assert sorted(root.rglob("*")) == before


async def test_no_price_free_space_or_reason_is_cut_on_a_narrow_page_of_space(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "g", "down", "space", "e", "right", "enter", "escape", "b")
        (plan,) = app.services.caches.trash.restorable([str(root)])
        for width in (200, 80, 60):
            await pilot.resize_terminal(width, 40)
            await settled(app, pilot)
            shown = app.screen.query_one(Page).text.splitlines()
            for words in ("to compile again: ", "of the disk free", f", by {plan.begun.user}"):
                found = [line for line in shown if words in line]
                assert found, (width, words)
                assert not any(line.rstrip().endswith("…") for line in found), (width, found)


async def test_any_plan_in_the_trash_is_listed_and_can_be_brought_back(root: Path) -> None:
    before = caches.everything(root)
    async with cache_screen(root) as (app, pilot):
        for _ in range(2):
            await press(app, pilot, "g", "down", "space", "e", "right", "enter")
            await app.workers.wait_for_complete()
            await press(app, pilot, "escape")
        plans = sorted(app.services.caches.trash.restorable([str(root)]), key=lambda plan: plan.begun.at)
        assert len(plans) == 2
        await press(app, pilot, "b")
        shown = app.screen.query_one(Page).text
        assert all(plan.begun.plan in shown for plan in plans)
        assert "in the last 24 hours" in shown
        await press(app, pilot, "escape", "Z", *"nonsense", "enter")
        assert "no plans in the trash begin with nonsense" in said(app)
        for plan in plans:  # the older one first
            await press(app, pilot, "Z", *["backspace"] * 30, *plan.begun.plan, "enter")
            await app.workers.wait_for_complete()
        assert not app.services.caches.trash.restorable([str(root)])
    assert caches.everything(root) == before


async def test_an_empty_trash_is_reported_instead_of_asking_for_a_plan(root: Path) -> None:
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "Z")
        assert "nothing is in the trash" in said(app)
        assert app.screen.focused is None
        await press(app, pilot, "g", "down", "space", "e", "right", "enter")
        await app.workers.wait_for_complete()
        await press(app, pilot, "escape", "Z")
        (plan,) = app.services.caches.trash.restorable([str(root)])
        assert plan.begun.plan in app.screen.query_one(Prompt).placeholder


async def test_a_cache_that_was_emptied_can_still_be_brought_back(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    caches.entry(root, 1, blocks=8, age_days=40)
    before = caches.everything(root)
    async with cache_screen(root) as (app, pilot):
        await press(app, pilot, "g", "space", "e", "right", "enter", *"evict", "enter")
        await app.workers.wait_for_complete()
        await press(app, pilot, "escape")
        (plan,) = app.services.caches.trash.restorable([str(root)])
        assert not app.services.entries().rows
        await press(app, pilot, "b")
        assert plan.begun.plan in app.screen.query_one(Page).text
        await press(app, pilot, "escape", "Z", *plan.begun.plan, "enter")
        await app.workers.wait_for_complete()
    assert caches.everything(root) == before
