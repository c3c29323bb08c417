"""One table of keys: the bindings, the key bar at the bottom and the help page all come from it.

The keys are those of other programs of this kind: arrows and hjkl, digits for screens, `/` to filter, `n` and `N`,
`s` to sort, space to pause, enter to open, escape to go back, `?` for help, `q` to quit. No key ends the watched job.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from textual.binding import Binding, BindingType


class ScreenSpec(NamedTuple):
    """A screen: its digit, its name, which is that of its module in `screens/`, and its title."""

    key: str
    name: str
    title: str


SCREENS = (
    ScreenSpec("1", "overview", "Overview"),
    ScreenSpec("2", "cores", "Cores"),
    ScreenSpec("3", "compile", "Compile"),
    ScreenSpec("4", "cache", "Cache"),
    ScreenSpec("5", "logs", "Logs"),
    ScreenSpec("6", "runs", "Runs"),
)

FLEET = ScreenSpec("7", "fleet", "Fleet")
"""Shown where there is a fleet: see `Host.screens`."""

PAGES = ("detail", "alerts")
"""A page in front of a screen until escape; the page of alerts has keys of its own."""
QUESTION = "question"
"""A page that must be answered or left before other keys do anything."""
EVERYWHERE = ("overview", "cores", "compile", "cache", "logs", "runs", "fleet", *PAGES)
TABLES = ("cores", "compile", "cache", "runs", "fleet")
MOVING = (*TABLES, "logs", *PAGES, QUESTION)


class Key(NamedTuple):
    """A row: `keys` as Textual names them, `shown` as a person does; `footer` ones stand on the bottom line.

    An `action` that begins with `app.` is the application's, any other one is the screen's.
    """

    keys: str
    shown: str
    action: str
    label: str
    text: str
    screens: tuple[str, ...] = EVERYWHERE
    footer: bool = False


_UNPLANNED = {"pin": "pin", "restore": "undo"}
"""Actions of the cache screen for verbs that need no plan."""
_NOT_IN_FOOTER = ("keep graph", "undo")
"""Labels of cache actions that only the help page shows, as the bottom line has no room for all."""

KEYS = (
    *(Key(spec.key, spec.key, f"app.go('{spec.name}')", spec.title, f"the {spec.title.lower()} screen")
      for spec in SCREENS),
    Key(FLEET.key, FLEET.key, f"app.go('{FLEET.name}')", FLEET.title, "the screen of the fleet", (FLEET.name,)),
    Key("tab", "tab", "app.next_screen(1)", "next screen", "the next screen; shift+tab the one before"),
    Key("shift+tab", "shift+tab", "app.next_screen(-1)", "previous screen", "the screen before"),
    Key("left,h,shift+tab", "← h", "shift(-1)", "before", "select the button before, or another answer", (QUESTION,)),
    Key("right,l,tab", "→ tab", "shift(1)", "next", "select the next button, or another answer; in a form tab goes to "
        "the next field", (QUESTION,)),
    Key("enter", "enter", "open", "do it", "do what is selected", (QUESTION,)),
    Key("up,k", "↑ k", "move(-1)", "up", "a row up", MOVING),
    Key("down,j", "↓ j", "move(1)", "down", "a row down", MOVING),
    Key("left,h", "← h", "shift(-8)", "left", "to the left in long lines", ("logs",)),
    Key("right,l", "→ l", "shift(8)", "right", "to the right in long lines", ("logs",)),
    Key("left,h", "← h", "shift(-8)", "left", "on the page of a node's core: the core before", ("detail",)),
    Key("right,l", "→ l", "shift(8)", "right", "on the page of a node's core: the next core", ("detail",)),
    Key("pageup,ctrl+b", "pgup", "page(-1)", "page up", "a page up", MOVING),
    Key("pagedown,ctrl+f", "pgdn", "page(1)", "page down", "a page down", MOVING),
    Key("home,g", "g", "edge(-1)", "first", "the first row", MOVING),
    Key("end,G", "G", "edge(1)", "last", "the last row; in logs: follow", MOVING),
    Key("enter", "enter", "open", "open", "the page of the row under the cursor", TABLES, True),
    Key("enter", "enter", "open", "its graph", "the page of the graph that the line is about", ("logs",)),
    Key("enter", "enter", "open", "open", "the page below this one: a node's least busy core, the job under the cursor",
        ("detail",), True),
    Key("enter", "enter", "open", "open", "the page of the graph or core that the alert is about", ("alerts",), True),
    Key("L", "L", "log_lines", "log lines", "the log lines of the graph or core; escape comes back",
        ("cores", "compile")),
    Key("L", "L", "log_lines", "log lines", "the log lines of the graph, core or node; escape comes back", ("detail",),
        True),
    Key("L", "L", "log_lines", "log lines", "the log lines of the alert; escape comes back", ("alerts",), True),
    Key("L", "L", "log_lines", "logs", "the log lines of the node under the cursor, from its agent", ("fleet",), True),
    Key("w", "w", "why", "why", "why the graph missed: what differs from what the cache holds", ("compile",), True),
    Key("w", "w", "why", "why", "why graphs missed: every miss of the run (of the recording under the cursor)",
        ("overview", "runs")),
    Key("w", "w", "why", "why it missed", "on a line, a page or an alert of a graph, or an entry's page: why it missed",
        ("logs", *PAGES)),
    Key("w", "w", "why", "why it missed", "why the entry's graph was not found when it was looked up", ("cache",)),
    Key("d,delete", "d", "delete", "delete", "delete the recording under the cursor, after asking", ("runs",), True),
    Key("c", "c", "compare", "compare", "put the marked recordings side by side, or the marked one and the one under "
        "the cursor", ("runs",), True),
    Key("o", "o", "overlay", "overlay", "loss and throughput of the marked recordings over one axis", ("runs",), True),
    Key("asterisk", "*", "star", "star", "give the recording a star, or take it away", ("runs",)),
    Key("r", "r", "rename", "name", "give the recording another name; an empty one is the one it was recorded under",
        ("runs",), True),
    Key("T", "T", "tags", "tags", "the recording's tags, with blanks between them", ("runs",)),
    Key("n", "n", "note", "note", "a note on the recording", ("runs",)),
    Key("slash", "/", "filter", "filter", "show the rows that contain a text; !word excludes rows",
        (*TABLES, "logs"), True),
    Key("n", "n", "next_match(1)", "next", "the next line that the filter finds; without one, the next marked line",
        ("logs",), True),
    Key("N", "N", "next_match(-1)", "previous", "the one before", ("logs",)),
    Key("e", "e", "next_error(1)", "next error", "the next error line", ("logs",), True),
    Key("E", "E", "next_error(-1)", "previous error", "the error line before", ("logs",)),
    Key("f,ctrl+t", "f", "follow", "follow", "follow the end of the log, or stop following", ("logs",), True),
    Key("m", "m", "marked_only", "marked", "only the lines that matter: errors, warnings, events", ("logs",), True),
    Key("x", "x", "group", "group", "equal lines as one row, or every line by itself", ("logs",), True),
    Key("s", "s", "sort", "sort", "sort by the next column; S reverses the order", TABLES, True),
    Key("o", "o", "order", "order", "active graphs first, then the slowest, then the largest", ("compile",), True),
    Key("S", "S", "reverse", "reverse", "reverse the order", TABLES),
    Key("space", "space", "app.pause", "pause", "pause the screen (in a replay: its clock); again to continue",
        tuple(name for name in EVERYWHERE if name not in ("cache", "runs", "fleet", *PAGES)), True),
    Key("M", "M", "map_metric", "map by", "draw the map of devices by the next metric: utilization, memory, power",
        ("cores",)),
    Key("m", "m", "metric", "metric", "color and sort nodes by the next metric", ("fleet",), True),
    Key("space", "space", "mark", "mark", "mark the node under the cursor, or remove its mark", ("fleet",), True),
    Key("b", "b", "blame", "blame", "who compiled the graphs of the node's job, who waited, and what it cost",
        ("fleet",), True),
    Key("r", "r", "ranks", "steps", "step times of every rank, ranks × steps, with the ones that stand out",
        ("fleet",), True),
    Key("r", "r", "ranks", "steps", "step times of every rank, ranks × steps, with the ones that stand out",
        ("overview", "cores")),
    Key("p", "p", "phases", "phases", "what each node of the job did from when to when", ("fleet",), True),
    Key("A", "A", "plan_change", "act", "ask the marked nodes, else the one under the cursor, for a change of their "
        "caches: evict, retry, unlock, verify, pin, pull", ("fleet",), True),
    Key("A", "A", "plan_change", "act on nodes", "ask nodes of the fleet to evict, retry, verify, pin or pull the "
        "modules of the marked entries", ("cache",)),
    Key("C", "C", "changes", "changes", "the changes that were asked of nodes: outcomes, undo", ("fleet",), True),
    Key("D", "D", "different", "different", "what is different about the marked nodes, else about the slow ones",
        ("fleet",), True),
    Key("space", "space", "mark", "mark", "mark a recording to compare it (eight at most), or remove its mark",
        ("runs",), True),
    Key("space", "space", "mark", "mark", "mark the entry (or a whole version) under the cursor, or remove its mark",
        ("cache",), True),
    Key("x", "x", "tree", "tree or flat", "entries below their compiler version, or all in one table", ("cache",)),
    Key("X", "X", "fold_all", "fold all", "fold all compiler versions, or open them all; enter folds one", ("cache",)),
    Key("M", "M", "mark_shown", "mark shown", "mark all rows that the filter shows; again removes the marks",
        ("cache",)),
    Key("V", "V", "mark_range", "mark range", "mark from the last marked row to the cursor", ("cache",)),
    Key("b", "b", "space_used", "space", "where caches are, budget, free disk, growth, what could be removed, "
        "the trash", ("cache",)),
    Key("Z", "Z", "bring_back", "from trash", "bring back what a plan put into the trash, any of those that b lists",
        ("cache",)),
    Key("R", "R", "room", "make room", "plan to evict until so much of the disk is free", ("cache",)),
    Key("o", "o", "outcome", "outcome", "show the outcome of the last plan again", ("cache",)),
    Key("left_square_bracket", "[", "app.seek(-10)", "back 10 s", "in a replay: ten seconds back"),
    Key("right_square_bracket", "]", "app.seek(10)", "on 10 s", "in a replay: ten seconds on"),
    Key("minus", "-", "app.speed(-1)", "slower", "in a replay: half the speed"),
    Key("plus,equals_sign", "+", "app.speed(1)", "faster", "in a replay: twice the speed"),
    Key("J", "J", "app.jobs", "jobs", "the list of jobs: of several logs, and being recorded here"),
    Key("m", "m", "mute", "mute", "mute the alert for this job, or show it again", ("alerts",), True),
    Key("a", "a", "acknowledge", "acknowledge", "the alert is known: it stays here and no longer counts; again: undo",
        ("alerts",), True),
    Key("space", "space", "app.pause", "pause", "pause the page (in a replay: its clock); again to continue", PAGES,
        True),
    Key("a", "a", "app.alerts", "alerts", "all alerts with their evidence and what to do",
        tuple(name for name in EVERYWHERE if name != "alerts"), True),
    Key("y", "y", "copy", "copy", "copy the row under the cursor to the clipboard", MOVING),
    Key("t", "t", "app.next_theme", "theme", "the next theme: dark, light, high contrast", (*EVERYWHERE, QUESTION)),
    Key("question_mark,f1", "?", "app.help", "help", "this page", (*EVERYWHERE, QUESTION), footer=True),
    Key("escape", "esc", "back", "back", "leave it without an answer; stop what is being carried out before its next "
        "step", (QUESTION,)),
    Key("escape", "esc", "back", "back", "close a page; drop the filter, then the marks, then the cursor; "
        "with none of these to the overview, and from there out of a replay"),
    Key("ctrl+p", "ctrl+p", "app.command_palette", "palette", "command palette: all actions by name, and jobs, "
        "graphs, cores, ranks, recordings, cache entries"),
    Key("ctrl+z", "ctrl+z", "app.suspend_process", "suspend", "suspend the program, and the job of neurontop run; fg "
        "carries on", (*EVERYWHERE, QUESTION)),
    Key("q,ctrl+c,ctrl+q", "q", "app.quit", "quit", "quit, as ctrl+c does; what is watched continues",
        (*EVERYWHERE, QUESTION), True),
)  # fmt: skip


TYPING = (
    Key("enter", "enter", "app.simulate_key('enter')", "accept", "accept the text"),
    Key("escape", "esc", "back", "cancel", "leave it without the text"),
    Key("ctrl+c", "ctrl+c", "app.quit", "quit", "quit"),
)
"""What the bottom line offers while letters are text: none of them is a command then."""


def keys_for(screen: str) -> list[Key]:
    """The rows that work on a screen, in the order of the table; on the cache screen with those of cache actions."""
    rows = [key for key in KEYS if screen in key.screens]
    if screen != "cache":
        return rows
    index = next(index for index, key in enumerate(rows) if key.action == "outcome")
    return [*rows[:index], *_cache_action_keys(), *rows[index:]]


@cache
def _cache_action_keys() -> tuple[Key, ...]:
    """A row for each cache action that has a key, from the registry of actions; not imported before the first frame."""
    from neuron_top.services.cache_actions import ACTIONS

    return tuple(
        Key(
            action.key,
            action.key,
            f"plan('{action.verb}')" if action.planner is not None else _UNPLANNED.get(action.verb, ""),
            action.label,
            f"plan to {action.help}" if action.planner is not None else action.help,
            ("cache",),
            action.label not in _NOT_IN_FOOTER,
        )
        for action in ACTIONS
        if action.key
    )


def screen_bindings(screen: str) -> list[BindingType]:
    """The rows of a screen that the screen itself carries out."""
    return [_binding(key) for key in keys_for(screen) if not key.action.startswith("app.")]


def app_bindings() -> list[BindingType]:
    """The rows that the application carries out, whichever screen is in front."""
    return [_binding(key) for key in KEYS if key.action.startswith("app.")]


def _binding(key: Key) -> Binding:
    """A row as Textual wants it.

    Actions that decide where the next keys go have priority, so that they run before those keys are handled: otherwise
    keys queue at the screen in front, and the letters of a filter that is typed fast would be taken for its keys.
    """
    first = key.action.startswith(("app.go(", "app.command_palette", "filter"))
    return Binding(key.keys, key.action, key.label, show=False, priority=first)
