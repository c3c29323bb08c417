"""Every command on a disk that is full, read-only, forbidden or gone: a documented status, a sentence, nothing lost."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_top.actions.journal.restore import restore
from neuron_top.actions.journal.trash import Trash
from neuron_top.actions.pins import Pins
from neuron_top.cache.model.states import State
from neuron_top.cli.main import main
from neuron_top.errors import NothingToShow, RefusedForSafety
from tests.actions import caches, states
from tests.adversary.attacker import STRANGER, as_stranger, give_away, needs_root
from tests.adversary.trees import cache_command, evicted, nobody_about, planned

__all__ = ["nobody_about"]
COMMANDS = {
    "ls": ["ls", "{root}"],
    "ls --full": ["ls", "--full", "{root}"],
    "stats": ["stats", "{root}"],
    "show": ["show", "{root}", "MODULE_00000000000000000003"],
    "verify": ["verify", "--full", "{root}"],
    "quarantine": ["verify", "--quarantine", "--yes", "{root}"],
    "evict": ["evict", "--older-than", "1s", "--yes", "{root}"],
    "slim": ["evict", "--slim", "--older-than", "1s", "--yes", "{root}"],
    "save": ["evict", "--older-than", "1s", "--save-plan", "{root}/plan.json", "{root}"],
    "workdirs": ["evict", "--workdirs", "--yes", "{root}"],
    "retry": ["retry", "--next-run", "--yes", "{root}"],
    "unlock": ["unlock", "--yes", "{root}"],
    "pin": ["pin", "MODULE_*"],
    "unpin": ["unpin", "MODULE_*"],
    "pins": ["pins"],
    "copy from": ["copy", "{root}", "{elsewhere}", "--yes"],
    "copy to": ["copy", "{elsewhere}", "{root}", "--yes"],
    "apply": ["apply", "{plan}", "{root}", "--yes"],
    "journal": ["journal", "{root}"],
    "restore": ["restore", "{plan}", "{root}"],
    "purge": ["purge", "--yes", "{root}"],
    "policy": ["policy", "--max-size", "1KB"],
    "maintain": ["maintain", "{root}"],
}  # fmt: skip
STATUSES = frozenset({0, 1, 2, 3, 4})


@pytest.fixture
def disk(small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nobody_about: None) -> Path:
    """On the small disk: a cache of several states, a plan in its trash, state folder and settings."""
    root = small_disk / "cache"
    (small_disk / "plan").write_text(evicted(root, 1))
    for number, state in enumerate((State.HIT, State.FAILED, State.STALE_LOCK, State.CORRUPT, State.EXTRACTED), 3):
        states.entry_in(root, state, number=number)
    caches.entry(tmp_path / "elsewhere", 20)
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(small_disk / "state"))
    monkeypatch.setenv("NEURONTOP_CONFIG", str(small_disk / "config.toml"))
    (small_disk / "config.toml").write_text('cache_max_size = "1KB"\n')
    Pins(small_disk / "state").add(["MODULE_99*"])
    return small_disk


def words_of(command: str, disk: Path, tmp_path: Path) -> list[str]:
    values = {"root": disk / "cache", "elsewhere": tmp_path / "elsewhere", "plan": (disk / "plan").read_text()}
    return [word.format(**values) for word in COMMANDS[command]]


def holdings(disk: Path) -> list[bytes]:
    """Every artifact that is anywhere on the disk."""
    return sorted(path.read_bytes() for path in disk.rglob("model.neff"))


def fill_up(disk: Path) -> None:
    for reserve in disk.rglob("reserve"):
        reserve.unlink()
    with open(disk / "filler", "ab", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(b"x" * 512):
            pass


def read_only(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def gone(disk: Path) -> None:
    subprocess.run(["rm", "-r", str(disk / "cache")], check=True)


def a_file(disk: Path) -> None:
    gone(disk)
    (disk / "cache").write_text("no folder")


def reported(status: int, said: str) -> None:
    assert status in STATUSES, said
    assert "Traceback" not in said
    assert "was stopped by the disk" not in said, f"only the last net caught it: {said}"
    assert said.strip()


CHANGING = ("quarantine", "evict", "slim", "retry", "unlock", "restore", "purge", "pin", "copy to")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_action_on_a_full_disk_loses_no_file_and_ends_with_a_message(
    disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    words, before = words_of(command, disk, tmp_path), holdings(disk)
    fill_up(disk)
    reported(*cache_command(capsys, *words))
    if command != "purge":
        assert holdings(disk) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_an_action_on_a_read_only_mount_is_refused(
    disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    words, before = words_of(command, disk, tmp_path), holdings(disk)
    read_only(disk)
    status, said = cache_command(capsys, *words)
    reported(status, said)
    if command in CHANGING:
        assert status == 4, said
        assert "Read-only file system" in said
    assert holdings(disk) == before


@pytest.mark.parametrize("what", [gone, a_file], ids=["gone", "a file"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_action_on_a_root_that_is_not_a_folder_makes_no_file(
    disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, what: Callable[[Path], None]
) -> None:
    words = words_of(command, disk, tmp_path)
    what(disk)
    before = holdings(disk)
    reported(*cache_command(capsys, *words))
    assert set(before) <= set(holdings(disk))


@needs_root
@pytest.mark.parametrize("what", ["root", "trash", "entry", "unreadable"])
@pytest.mark.parametrize("command", COMMANDS)
def test_an_action_of_another_user_loses_no_file_and_ends_with_a_message(
    disk: Path, tmp_path: Path, command: str, what: str
) -> None:
    """All is the stranger's but the root, the trash, or the entries; or the stranger may not even look."""
    words, before = words_of(command, disk, tmp_path), holdings(disk)
    root, trash = disk / "cache", Trash(disk / "cache").folder.parent
    trash = trash.rename(trash.with_name(f".neurontop-trash-{STRANGER}"))
    everything = [disk, *disk.rglob("*"), tmp_path / "elsewhere", *(tmp_path / "elsewhere").rglob("*")]
    closed = {
        "root": [root, *root.glob("*")],
        "trash": [trash, *trash.glob("*")],
        "entry": [*root.glob("*/*")],
        "unreadable": [root],
    }[what]
    give_away(*(path for path in everything if path not in closed))
    for folder in (disk, *disk.parents):
        if folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o005)
    for path in closed:
        path.chmod(0o700 if what == "unreadable" else 0o755)
    status, said = json.loads(as_stranger(lambda: spoken_of(words)))
    reported(status, said)
    if command != "purge":
        assert not Counter(before) - Counter(holdings(disk))


def spoken_of(words: list[str]) -> str:
    """[exit status, all that was said] of a command in this (forked) process."""
    said = io.StringIO()
    os.environ["HOME"] = "/nonexistent"
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            status = main(["cache", *words])
        except SystemExit as ended:
            status = int(ended.code or 0)
        except BaseException as problem:
            status, text = 70, f"Traceback: {problem!r}"
            said.write(text)
    return json.dumps([status, said.getvalue()])


def test_undo_on_a_full_disk_is_refused_and_done_when_there_is_room(disk: Path) -> None:
    root, plan = disk / "cache", (disk / "plan").read_text()
    before = holdings(disk)
    fill_up(disk)
    with contextlib.suppress(RefusedForSafety):
        restore(plan, Trash(root))
    assert holdings(disk) == before
    (disk / "filler").unlink()
    restore(plan, Trash(root))
    assert holdings(disk) == before
    assert any(entry.module == caches.module(1) for entry in caches.looked_at(root).entries)


def test_a_resumed_plan_is_still_there_when_the_disk_was_full(disk: Path) -> None:
    """Its file is replaced, never emptied first."""
    root = disk / "cache"
    plan, trash = planned(root, states=frozenset({State.HIT, State.EXTRACTED})), Trash(root)
    caches.carried_out(plan, trash, watch=lambda progress: False)
    fill_up(disk)
    with contextlib.suppress(RefusedForSafety):
        caches.carried_out(plan, trash)
    assert trash.plan(plan.identity) == plan


@pytest.fixture
def swapped(disk: Path) -> tuple[Path, Path]:
    """(a root, another folder that will take its place)."""
    other = disk / "other"
    caches.entry(other, 3)
    return disk / "cache", other


def test_a_root_swapped_between_plan_and_execution_loses_nothing(swapped: tuple[Path, Path]) -> None:
    root, other = swapped
    plan, before = planned(root), caches.everything(other)
    root.rename(root.with_name("moved"))
    other.rename(root)
    outcome = caches.carried_out(plan, Trash(root))
    assert outcome.done == 0
    assert caches.everything(root) == before


def test_a_root_that_goes_between_plan_and_execution_is_reported(disk: Path) -> None:
    plan = planned(disk / "cache")
    gone(disk)
    with pytest.raises(NothingToShow, match="cannot be reached"):
        caches.carried_out(plan, Trash(disk / "cache"))
