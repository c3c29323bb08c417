"""Plan files that somebody edited: refused with a sentence, or every step refused; nothing outside is touched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neuron_top.actions import plan as plans
from neuron_top.actions.journal.trash import Trash
from tests.actions import caches
from tests.adversary.attacker import LONG
from tests.adversary.trees import cache_command, nobody_about, planned

__all__ = ["nobody_about"]
Edit = Callable[[dict[str, Any]], object]
HUGE, DEEPER = 10**400, "a/" * 5000


def step(**changes: Any) -> Edit:
    def edit(plan: dict[str, Any]) -> None:
        plan["steps"][0].update(changes)

    return edit


def fingerprint(**changes: Any) -> Edit:
    def edit(plan: dict[str, Any]) -> None:
        plan["steps"][0]["fingerprint"].update(changes)

    return edit


def field(**changes: Any) -> Edit:
    def edit(plan: dict[str, Any]) -> None:
        plan.update(changes)

    return edit


MODULE = caches.module(1)
EDITS: dict[str, Edit] = {
    "absolute": step(path=f"/{caches.COMPILER}/{MODULE}"),
    "upwards": step(path=f"../outside/{MODULE}"),
    "upwards inside": step(path=f"{caches.COMPILER}/../../outside/{MODULE}"),
    "a dot": step(path=f"./{MODULE}"),
    "not an entry": step(path="precious"),
    "a zero": step(path=f"a\0b/{MODULE}"),
    "a link": step(path=f"link/{MODULE}"),
    "through a link in the root": step(path=f"{caches.COMPILER}/link/{MODULE}"),
    "very deep": step(path=DEEPER + MODULE),
    "a very long name": step(path="a" * 5000 + "/" + MODULE),
    "half a character": step(path=f"\ud800/{MODULE}"),
    "no path": step(path=None),
    "a list as path": step(path=["a"]),
    "unknown action": step(action="destroy"),
    "sweep": step(action="sweep", path=caches.COMPILER),
    "sweep of a link": step(action="sweep", path="link"),
    "unlock": step(action="unlock"),
    "copy": step(action="copy"),
    "compile": step(action="compile"),
    "negative": step(frees=-1),
    "negative files": step(files=-5),
    "huge": step(frees=HUGE),
    "float": step(frees=1e300),
    "huge copies": step(copies=HUGE),
    "huge time": step(last_used=1e308, rebuild_seconds=1e308),
    "text as number": step(frees="many"),
    "null": step(frees=None),
    "another inode": fingerprint(folder_inode=1),
    "huge inode": fingerprint(folder_inode=HUGE),
    "negative inode": fingerprint(folder_inode=-1),
    "huge time of the folder": fingerprint(folder_mtime_ns=10**30),
    "another root": field(root="{outside}"),
    "relative root": field(root="outside"),
    "empty root": field(root=""),
    "root with a zero": field(root="a\0b"),
    "root of all": field(root="/"),
    "root upwards": field(root="{root}/../outside"),
    "root that is a link": field(root="{root}/link"),
    "bucket": field(root="s3://"),
    "identity upwards": field(identity="../../../x"),
    "identity too short": field(identity="ab"),
    "identity with a line": field(identity="0123456789\n"),
    "another schema": field(schema=99),
    "schema as text": field(schema="1"),
    "long ago": field(made_at=-1e300),
    "in the future": field(made_at=1e300),
    "verb of another hand": field(verb="copy", target="{outside}"),
    "compile verb": field(verb="compile"),
    "verb with escapes": field(verb="\x1b[2Jevict"),
    "steps as text": field(steps="all"),
    "no steps": field(steps=[]),
    "totals": field(before={"entries": -1, "files": HUGE, "size": -HUGE}),
    "refused lifted": field(refused=""),
}


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Path, Path, dict[str, Any]]:
    """(root, the plan's file, what stands in it); beside the root something precious, and a link to it in the root."""
    root, outside = tmp_path / "cache", tmp_path / "outside"
    for number in (1, 2):
        caches.entry(root, number)
        caches.entry(outside, number)
    (outside / MODULE).mkdir()
    (outside / "precious").write_text("precious")
    (root / "link").symlink_to(outside)
    (root / caches.COMPILER / "link").symlink_to(outside)
    document = json.loads(plans.encode(planned(root)))
    return root, tmp_path / "plan.json", document


@pytest.mark.parametrize("how", EDITS)
def test_an_edited_plan_touches_nothing_that_it_must_not(
    saved: tuple[Path, Path, dict[str, Any]], capsys: pytest.CaptureFixture[str], nobody_about: None, how: str
) -> None:
    root, file, document = saved
    outside = root.parent / "outside"
    before = caches.everything(outside)
    EDITS[how](document["plans"][0])
    text = json.dumps(document).replace("{outside}", str(outside)).replace("{root}", str(root))
    file.write_text(text)
    for words in (["apply", file, "--dry-run"], ["apply", file, "--yes"]):
        status, said = cache_command(capsys, *words)
        assert status in (0, 1, 2, 4), said
        assert "stopped by the disk" not in said, said
        assert "\x1b" not in said
        assert said.strip()
    assert caches.everything(outside) == before
    assert {path.name for path in root.iterdir()} <= {"link", caches.COMPILER}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        "[" * 100_000,
        '{"plans": []}',
        "\x00",
        '{"plans": [{}]}',
        '{"schema": 1, "plans": 7}',
        "\ufeff{}",
    ],
)
def test_what_is_no_plan_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(text)
    status, said = cache_command(capsys, "apply", file, "--yes")
    assert status in (0, 1, 2), said
    assert said.strip() or text == '{"plans": []}'


def test_thousands_of_steps_are_refused_one_by_one(
    saved: tuple[Path, Path, dict[str, Any]], capsys: pytest.CaptureFixture[str], nobody_about: None
) -> None:
    root, file, document = saved
    plan = document["plans"][0]
    count = 100_000 if LONG else 3000
    plan["steps"] = [{**plan["steps"][0], "path": f"{number}/{caches.module(number)}"} for number in range(count)]
    file.write_text(json.dumps(document))
    before = caches.everything(root)
    status, said = cache_command(capsys, "apply", file, "--yes")
    assert status == 1, said[:300]
    assert caches.everything(root) == before


def test_a_plan_in_the_trash_that_names_another_root_is_refused(
    saved: tuple[Path, Path, dict[str, Any]], capsys: pytest.CaptureFixture[str], nobody_about: None
) -> None:
    root, outside = saved[0], saved[0].parent / "outside"
    plan, trash = planned(root), Trash(root)
    caches.carried_out(plan, trash, watch=lambda progress: False)
    file = trash.folder / plan.identity / "plan.json"
    before = caches.everything(outside)
    file.write_bytes(file.read_bytes().replace(str(root).encode(), str(outside).encode()))
    status, said = cache_command(capsys, "apply", plan.identity, root, "--yes")
    assert status == 4, said
    assert str(outside) in said
    file.write_bytes(b"{")
    assert cache_command(capsys, "apply", plan.identity, root, "--yes")[0] == 1
    assert caches.everything(outside) == before
    assert cache_command(capsys, "restore", plan.identity, root)[0] == 0
