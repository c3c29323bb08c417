"""The commands that change a cache, as a user runs them: processes, exit statuses, a terminal where one is asked."""

from __future__ import annotations

import argparse
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import msgspec
import pytest

from neuron_top.actions.plan import Outcome, Plan, Progress
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction
from neuron_top.cache.model.states import State
from neuron_top.cli.cache_commands.plan_runner import run_plans
from neuron_top.services.caches import CacheService
from tests.actions import caches, states

Run = Callable[..., subprocess.CompletedProcess[str]]
BUSY = "is a Neuron compiler"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Four hits of 40, 30, 20 and 10 days, a failure, and a collected graph."""
    place = tmp_path / "cache"
    for number, age in enumerate((40, 30, 20, 10)):
        caches.entry(place, number, blocks=10, age_days=age)
    states.entry_in(place, State.FAILED, number=8)
    states.entry_in(place, State.EXTRACTED, number=9)
    return place


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """State, settings and work folders of this test alone."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "config.toml").touch()
    own = {
        "NEURONTOP_STATE_DIR": str(tmp_path / "state"),
        "NEURONTOP_CONFIG": str(tmp_path / "config.toml"),
        "TMPDIR": str(tmp_path / "tmp"),
    }
    return {name: value for name, value in os.environ.items() if not name.startswith("NEURON")} | own


@pytest.fixture
def run(environ: dict[str, str]) -> Run:
    """`neurontop cache …` without a terminal; again while a compiler of another test counts as using the cache."""

    def call(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "neuron_top", "cache", *map(str, words)]
        deadline = time.monotonic() + 60
        while True:
            result = subprocess.run(
                command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
            )
            if BUSY not in result.stdout + result.stderr or time.monotonic() > deadline:
                return result

    return call


def entries(root: Path) -> list[str]:
    return sorted(entry.state for entry in caches.looked_at(root).entries)


def test_without_a_terminal_nothing_is_done(root: Path, run: Run) -> None:
    before = caches.everything(root)
    result = run("evict", root, "--older-than", "15d")
    assert result.returncode == 4
    assert "--yes" in result.stderr
    assert caches.everything(root) == before


def test_a_dry_run_changes_nothing_and_names_every_step(root: Path, run: Run) -> None:
    before = caches.everything(root)
    result = run("evict", root, "--older-than", "15d", "--dry-run")
    assert result.returncode == 0
    assert result.stdout.count("  evict ") == 3
    assert "files         21 → 9" in result.stdout, result.stdout
    plan = json.loads(run("evict", root, "--older-than", "15d", "--dry-run", "--json").stdout)["plans"][0]
    assert [step["action"] for step in plan["steps"]] == ["evict"] * 3
    assert caches.everything(root) == before


def test_evict_journal_restore_and_purge(root: Path, run: Run) -> None:
    before = caches.everything(root)
    done = run("evict", root, "--older-than", "15d", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcomes"][0]["done"] == 3
    listed = json.loads(run("journal", root, "--json").stdout)["plans"]
    assert [(each["state"], each["done"]) for each in listed] == [("done", 3)]
    assert run("restore", listed[0]["plan"][:5], root).returncode == 0
    assert caches.everything(root) == before
    assert run("evict", root, "--state", "failed", "--yes").returncode == 0
    purged = json.loads(run("purge", root, "--yes", "--json").stdout)
    assert purged["freed_bytes"] > 0
    nothing = {"root": purged["root"], "plans": [], "freed_bytes": 0, "files": 0, "failed": []}
    assert json.loads(run("purge", root, "--yes", "--json").stdout) == nothing
    states_now = [each["state"] for each in json.loads(run("journal", root, "--json").stdout)["plans"]]
    assert states_now == ["restored", "purged"]
    assert run("restore", purged["plans"][0], root).returncode == 4


def test_a_plan_that_is_named_is_purged_only_if_it_is_old_enough(root: Path, run: Run) -> None:
    assert run("evict", root, "--older-than", "25d", "--yes").returncode == 0
    [plan] = (each["plan"] for each in json.loads(run("journal", root, "--json").stdout)["plans"])
    young = run("purge", root, "--plan", plan, "--older-than", "7d", "--yes")
    assert young.returncode == 0
    assert f"holds nothing of plan {plan} that was executed at least 7d ago" in young.stderr
    assert run("restore", root, plan).returncode == 0, "the words may stand in either order"


@pytest.mark.parametrize(
    "words",
    [
        ("apply", ""),
        ("copy", ""),
        ("copy", "{root}", "other", "--compiler", ""),
        ("copy", "{root}", "other", "--module", ""),
        ("evict", "{root}", "--module", ""),
        ("evict", "{root}", "--older-than", "5d", "--trash", ""),
        ("pin", "--run", ""),
        ("policy", "--max-size", ""),
        ("policy", "--pins", ""),
        ("pull", ""),
        ("pull", "{root}", "--to", ""),
        ("push", ""),
        ("push", "other", "--from", ""),
        ("retry", "{root}", "--module", ""),
    ],
)
def test_a_variable_of_the_shell_that_is_empty_names_nothing(root: Path, run: Run, words: tuple[str, ...]) -> None:
    refused = run(*(word.format(root=root) for word in words))
    assert refused.returncode == 2
    assert "'' names nothing; is a variable of the shell empty?" in refused.stderr


def test_the_help_names_what_does_not_ask(root: Path, run: Run) -> None:
    assert run("evict", root, "--older-than", "15d", "--yes").returncode == 0
    [done] = json.loads(run("journal", root, "--json").stdout)["plans"]
    for words in (("restore", root), ("purge", root), ("evict", root, "--state", "failed")):
        assert "--yes" in run(*words).stderr, "without a terminal, who asks says what answers"
    for words, name in ((("restore", done["plan"], root), "`restore PLAN`"), (("maintain", root), "`maintain`")):
        assert run(*words).returncode == 0
        assert name in run("--help").stdout.partition("exit status")[0]


def test_restore_without_a_plan_undoes_the_newest_after_showing_it(
    root: Path, run: Run, environ: dict[str, str]
) -> None:
    before = caches.everything(root)
    assert run("restore", root).returncode == 3, "nothing was done yet"
    assert run("evict", root, "--state", "failed", "--yes").returncode == 0
    between = caches.everything(root)
    assert run("evict", root, "--older-than", "15d", "--yes").returncode == 0
    after = caches.everything(root)
    newest = json.loads(run("journal", root, "--json").stdout)["plans"][-1]["plan"]
    shown = run("restore", root, "--dry-run")
    assert (shown.returncode, newest in shown.stdout) == (0, True)
    assert json.loads(run("restore", root, "--dry-run", "--json").stdout) == {"plan": newest}
    assert run("restore", root).returncode == 4, "nobody confirmed it"
    assert run("restore", root, "--yes", "--read-only").returncode == 4
    status, reported = on_a_terminal(["restore", str(root)], environ, "n\n")
    assert (status, newest in reported) == (4, True)
    assert caches.everything(root) == after
    status, reported = on_a_terminal(["restore", str(root)], environ, "y\n")
    assert status == 0, reported
    assert caches.everything(root) == between
    assert run("restore", root, "--yes").returncode == 0, "the one before is the newest now"
    assert caches.everything(root) == before
    own = {**environ, "NEURON_COMPILE_CACHE_URL": str(root)}
    words = [sys.executable, "-m", "neuron_top", "cache", "restore", "--yes"]
    assert subprocess.run(words, env=own, capture_output=True, check=False).returncode == 3, "of the cache in force"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("evict", "--free", "1KB", "--slim"), ("evict", "--min-free", "1KB", "--keep-graph")),
        (
            ("evict", "--state", "hit", "--i-am-alone", "--drain", "1s"),
            ("evict", "--state", "hit", "--assume-exclusive", "--grace-period", "1s"),
        ),
        (("retry", "--next-run", "--deterministic"), ("retry", "--next-run", "--include-deterministic")),
        (("ls", "--full"), ("ls", "--rescan")),
        (("stats", "--fresh"), ("stats", "--rescan")),
        (("verify", "--full"), ("verify", "--deep")),
        (("maintain", "--i-am-alone"), ("maintain", "--assume-exclusive")),
    ],
    ids=lambda words: " ".join(words),
)
def test_earlier_spellings_of_options_mean_the_same_and_stand_in_no_help(
    root: Path, run: Run, old: tuple[str, ...], new: tuple[str, ...]
) -> None:
    dry = ("--dry-run",) if old[0] in ("evict", "retry", "maintain") else ()
    reported = [run(words[0], root, *words[1:], *dry, "--json") for words in (old, new)]
    assert [result.returncode for result in reported] == [reported[1].returncode] * 2, reported[0].stderr
    assert shape(json.loads(reported[0].stdout)) == shape(json.loads(reported[1].stdout))
    text = run(old[0], "--help").stdout
    for word in set(old) - set(new):
        assert f"{word} " not in text, f"{word} is shown"
    for word in set(new) - set(old):
        assert word in text


def shape(value: object) -> object:
    """A document without what differs from run to run."""
    if isinstance(value, dict):
        moving = {
            "made_at",
            "identity",
            "as_of",
            "seconds",
            "free",
            "free_bytes",
            "free_inodes",
            "goal_met",
            "goal",
            "reason",
            "notes",
            "caveats",  # who else is at work on the machine, other tests too
        }
        return {name: shape(each) for name, each in value.items() if name not in moving}
    return [shape(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("evict",), 2),
        (("evict", "--max-size", "-3"), 2),
        (("evict", "--older-than", "soon"), 2),
        (("evict", "--compiler", "<new"), 2),
        (("evict", "--state", "sleepy"), 2),
        (("evict", "--older-than", "15d", "--yes", "--read-only"), 4),
        (("restore", "abcdef"), 3),
        (("unlock", "MODULE_nowhere"), 3),
        (("unlock", "--dry-run"), 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_refused_commands_change_nothing_and_end_with_their_status(
    root: Path, run: Run, words: tuple[str, ...], status: int
) -> None:
    before = caches.everything(root)
    result = run(words[0], *words[1:2], root, *words[2:]) if words[0] == "restore" else run(words[0], root, *words[1:])
    assert result.returncode == status, result.stderr
    assert "Traceback" not in result.stderr
    assert caches.everything(root) == before


def test_a_policy_is_written_into_the_file_that_the_settings_link_to(run: Run, environ: dict[str, str]) -> None:
    settings = Path(environ["NEURONTOP_CONFIG"])
    kept = settings.parent / "dotfiles" / "neuron-top.toml"
    kept.parent.mkdir()
    kept.write_text("# mine\nascii = true\n")
    kept.chmod(0o640)
    settings.unlink()
    settings.symlink_to(kept)
    assert run("policy", "--max-size", "1GB").returncode == 0
    assert kept.read_text() == '# mine\nascii = true\ncache_max_size = "1GB"\n'
    assert (settings.is_symlink(), kept.stat().st_mode & 0o777) == (True, 0o640)
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_the_setting_read_only_refuses_what_the_option_refuses(root: Path, run: Run, environ: dict[str, str]) -> None:
    assert run("evict", root, "--older-than", "35d", "--yes").returncode == 0
    saved = root.parent / "plan.json"
    assert run("evict", root, "--older-than", "15d", "--save-plan", saved).returncode == 0
    environ.update(NEURONTOP_READ_ONLY="true", NEURONTOP_CACHE_MAX_SIZE="1KB")
    before = _without_indexes(root.parent)
    changes: tuple[tuple[object, ...], ...] = (
        ("evict", root, "--older-than", "15d", "--yes"),
        ("retry", root, "--next-run", "--yes"),
        ("unlock", root, "--yes"),
        ("verify", root, "--deep", "--quarantine", "--yes"),
        ("apply", saved, "--yes"),
        ("restore", root, "--yes"),
        ("purge", root, "--yes"),
        ("pin", "MODULE_1*"),
        ("unpin", "MODULE_1*"),
        ("policy", "--max-size", "1GB"),
        ("maintain", root),
        ("pull", root, "--to", root.parent / "other"),
    )
    for words in changes:
        result = run(*words)
        assert (result.returncode, "read-only mode" in result.stderr) == (4, True), (words, result.stderr)
    assert _without_indexes(root.parent) == before


def _without_indexes(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """All files of a test but what is remembered of a listing."""
    return {name: each for name, each in caches.everything(folder).items() if "/cache-index/" not in name}


def test_a_folder_that_was_taken_for_a_plan_is_named(root: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root.parent)
    root.rename("cafe")
    refused = run("restore", "cafe")
    assert refused.returncode == 3
    assert "cafe was taken for the name of a plan: for the folder, write ./cafe" in refused.stderr


def test_a_wrong_name_of_a_plan_is_answered_with_where_names_are(root: Path, run: Run) -> None:
    assert "nothing was done to this cache" in run("restore", "c1", root).stderr
    for criteria in (("--state", "failed"), ("--older-than", "15d")):
        assert run("evict", root, *criteria, "--yes").returncode == 0
    plans = [each["plan"] for each in json.loads(run("journal", root, "--json").stdout)["plans"]]
    wrong = next(letter for letter in "0123456789abcdef" if not any(plan.startswith(letter) for plan in plans))
    assert "`neurontop cache journal` lists the names of all 2" in run("restore", wrong, root).stderr
    unclear = run("restore", "xyz")
    assert unclear.returncode == 3
    assert "'xyz' is no name of a plan" in unclear.stderr
    assert "no folder of a cache" in unclear.stderr
    gone = run("apply", "tonight.json", root)
    assert (gone.returncode, "'tonight.json' is no file, and no name of a plan" in gone.stderr) == (3, True)


def test_a_dry_run_of_pull_is_json_where_json_is_asked_for(root: Path, run: Run, tmp_path: Path) -> None:
    there = tmp_path / "there"
    shown = run("pull", root, "--to", there, "--dry-run", "--json")
    assert shown.returncode == 0
    told = json.loads(shown.stdout)
    assert (told["copied"], told["there"], told["missing"], len(told["plan"]["steps"])) == (0, 0, [], 4)
    assert set(told) == {*json.loads(run("pull", root, "--to", there, "--json").stdout), "plan"}
    assert run("pull", root, "--to", there, "--dry-run", "--read-only").returncode == 4


def test_the_command_that_executes_a_saved_plan_can_be_pasted(root: Path, run: Run, tmp_path: Path) -> None:
    options = ("--older-than", "25d", "--trash", tmp_path / "my trash", "--save-plan", tmp_path / "my plan.json")
    told = run("evict", root, *options).stderr.partition("execute it with: neurontop cache ")[2]
    assert run(*shlex.split(told), "--yes").returncode == 0
    assert list((tmp_path / "my trash").glob("*/*/plan.json"))


def test_the_way_back_names_the_trash_that_was_named(root: Path, run: Run, tmp_path: Path) -> None:
    before = entries(root)
    done = run("evict", root, "--older-than", "25d", "--trash", tmp_path / "my trash", "--yes")
    [undo] = (line for line in done.stdout.splitlines() if line.startswith("undo: "))
    assert entries(root) != before
    assert run(*shlex.split(undo.removeprefix("undo: neurontop cache "))).returncode == 0
    assert entries(root) == before


def test_a_plan_can_be_saved_and_applied_later(root: Path, run: Run, tmp_path: Path) -> None:
    assert run("evict", root, "--older-than", "15d", "--save-plan", tmp_path / "plan.json").returncode == 0
    assert len(entries(root)) == 6
    assert run("apply", tmp_path / "plan.json").returncode == 4
    assert run("apply", tmp_path / "plan.json", "--yes").returncode == 0
    assert len(entries(root)) == 3
    (tmp_path / "plan.json").write_text("{}")
    assert run("apply", tmp_path / "plan.json", "--yes").returncode == 2


def test_an_undone_plan_cannot_be_resumed_by_its_name(root: Path, run: Run) -> None:
    done = json.loads(run("evict", root, "--older-than", "25d", "--yes", "--json").stdout)
    plan = done["outcomes"][0]["plan"]
    assert run("restore", root, plan).returncode == 0, "the words may stand in either order"
    again = run("apply", plan, root, "--yes")
    assert (again.returncode, again.stderr) == (3, f"neurontop: plan {plan} was restored: make a new one\n")


def test_a_failure_is_forgotten_for_the_next_run(root: Path, run: Run) -> None:
    assert run("retry", root, "--next-run", "--yes").returncode == 0
    assert entries(root) == ["extracted"] * 2 + ["hit"] * 4


def test_pins_protect_by_pattern_and_can_be_taken_back(root: Path, run: Run) -> None:
    useless = run("pin", "MODULE_0")
    assert (useless.returncode, "matches no module" in useless.stderr) == (2, True)
    assert run("pin", "MODULE_*0+*", "--note", "serving").returncode == 0
    plan = json.loads(run("evict", root, "--older-than", "35d", "--dry-run", "--json").stdout)["plans"][0]
    reasons = [each["reason"] for each in plan["exclusions"]]
    assert (plan["steps"], reasons) == ([], ["pinned; unpin it first (neurontop cache unpin)"])
    assert json.loads(run("pins", "--json").stdout)["pins"][0]["why"] == "serving"
    assert run("unpin", "MODULE_*0+*").returncode == 0
    assert json.loads(run("pins", "--json").stdout)["pins"] == []
    assert run("unpin", "MODULE_1").stderr == (
        "neurontop: 0 unpinned\nneurontop: no pin has such a pattern; `neurontop cache pins` lists the pins\n"
    )


def test_the_policy_is_written_without_losing_comments_and_kept_by_maintain(
    root: Path, run: Run, environ: dict[str, str]
) -> None:
    config = Path(environ["NEURONTOP_CONFIG"])
    config.write_text("# mine\nkeep_runs = 7  # enough\n")
    assert run("policy", "--state", "failed,todo", "--older-than", "25d", "--grace", "1s").returncode == 0
    assert "# mine" in config.read_text()
    assert "# enough" in config.read_text()
    assert run("policy", "--max-size", "many").returncode == 2
    refused = run("policy", "--state", "failed,broken")
    assert (refused.returncode, "cache_states: no state is called 'broken'; the states are" in refused.stderr) == (
        2,
        True,
    )
    shown = json.loads(run("policy", "--json").stdout)
    assert shown["cache_older_than"]["value"] == "25d"
    assert run("maintain", root, "--dry-run").returncode == 0
    assert len(entries(root)) == 6
    done = run("maintain", root, "--json")
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)["outcomes"][0]
    assert outcome["undo"].startswith("undo: neurontop cache restore "), "as of `evict --json`"
    assert entries(root) == ["extracted", "hit", "hit"], "collected graphs are nobody's to take by a timer"
    assert run("maintain", root).returncode == 0
    assert run("policy", "--state", "none", "--older-than", "none").returncode == 0
    assert "cache_states" not in config.read_text()


def test_a_dry_run_of_maintain_plans_what_the_run_then_does(root: Path, run: Run) -> None:
    def planned(*words: str) -> list[tuple[list[str], int, int]]:
        plans = json.loads(run("maintain", root, "--json", *words).stdout)["plans"]
        return [
            ([step["path"] for step in plan["steps"]], plan["before"]["entries"], plan["before"]["size"])
            for plan in plans
        ]

    run("policy", "--older-than", "25d")
    [(old, _, size)] = planned("--dry-run")
    # What is older than that goes; for the size, one more of more than 40 KiB has to.
    run("policy", "--max-size", f"{size // 1024 - 100}KiB")
    reported = planned("--dry-run")
    assert [(len(paths), entries) for paths, entries, _ in reported] == [(2, 6), (1, 4)]
    assert reported[0][0] == old
    assert reported == planned()


def test_a_dry_run_of_maintain_names_what_the_run_then_purges_for_ever(root: Path, run: Run) -> None:
    run("policy", "--grace", "1s")
    empty = f"neurontop: nothing to purge: the trash of {root} holds no plan\n"
    assert (run("purge", root, "--dry-run").stderr, run("purge", root, "--yes").stderr) == (empty, empty)
    plan = json.loads(run("evict", root, "--older-than", "25d", "--yes", "--json").stdout)["plans"][0]["identity"]
    time.sleep(1.1)
    foreseen = run("maintain", root, "--dry-run")
    assert f"purge from the trash, for ever: plan {plan}: evict, no use known for 25 d" in foreseen.stdout
    assert json.loads(run("maintain", root, "--dry-run", "--json").stdout)["expired"] == [plan]
    assert "1 plan purged from the trash" in run("maintain", root).stderr
    assert plan not in run("maintain", root, "--dry-run").stdout


def test_a_dry_run_of_maintain_names_each_plan_on_its_own_also_where_nothing_goes(root: Path, run: Run) -> None:
    run("policy", "--state", "empty", "--older-than", "9999d", "--max-size", "9TB")
    plans = json.loads(run("maintain", root, "--dry-run", "--json").stdout)["plans"]
    assert [plan["steps"] for plan in plans] == [[], [], []]
    assert len({plan["identity"] for plan in plans}) == 3


def test_work_folders_of_dead_compiles_go_and_come_back(root: Path, run: Run, environ: dict[str, str]) -> None:
    assert "no work folder of a compile was found" in run("evict", root, "--workdirs", "--dry-run").stderr
    place = Path(environ["TMPDIR"]) / "somebody" / "neuroncc_compile_workdir"
    old, young = place / "1111", place / "2222"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "model.hlo_module.pb").write_bytes(b"x" * 5000)
    caches.grow_old(old, 3)
    done = run("evict", root, "--workdirs", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)["plans"][0]
    assert not old.exists()
    assert young.exists()
    assert run("restore", plan["identity"], plan["root"]).returncode == 0
    assert (old / "model.hlo_module.pb").read_bytes() == b"x" * 5000


def test_what_one_plan_did_is_reported_although_the_next_cannot_be_carried_out(
    root: Path, run: Run, environ: dict[str, str]
) -> None:
    place = Path(environ["TMPDIR"]) / "somebody" / "neuroncc_compile_workdir"
    (place / "1111").mkdir(parents=True)
    caches.grow_old(place / "1111", 3)
    (place.parent / f".neurontop-trash-{os.getuid()}").write_bytes(b"no folder")
    done = run("evict", root, "--older-than", "25d", "--workdirs", "--yes", "--json")
    assert done.returncode == 4
    assert "no trash can be made" in done.stderr
    [outcome] = json.loads(done.stdout)["outcomes"]
    assert outcome["done"] == 2
    assert (place / "1111").exists()


def test_after_an_interrupt_no_further_plan_begins(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot = caches.looked_at(root)
    context = caches.context(snapshot)
    plan = plan_eviction(snapshot.entries, str(root), EvictCriteria(older_than=25 * caches.DAY), context)
    begun: list[str] = []

    class InterruptedService:
        def waits_for_readers(self, plan: Plan) -> bool:
            return False

        def execute(self, plan: Plan, watch: Callable[[Progress], bool], notify: Callable[[str], None]) -> Outcome:
            begun.append(plan.identity)
            os.kill(os.getpid(), signal.SIGINT)
            assert not watch(Progress(1, 0, len(plan.steps), 0, ""))
            return Outcome(plan=plan.identity, done=1, refused=(), moved_bytes=0, interrupted=True)

    arguments = argparse.Namespace(save_plan=None, dry_run=False, yes=True, json=False)
    second = msgspec.structs.replace(plan, identity="0123456789")
    assert run_plans([plan, second], arguments, cast("CacheService", InterruptedService())) == 130
    assert begun == [plan.identity]
    assert "interrupted after 1 step" in capsys.readouterr().out


def test_copies_are_hits_at_their_destination(root: Path, run: Run, tmp_path: Path) -> None:
    assert run("copy", root, tmp_path / "other", "--yes").returncode == 0
    assert entries(tmp_path / "other") == ["hit"] * 4
    again = json.loads(run("copy", root, tmp_path / "other", "--yes", "--json").stdout)
    assert again["plans"][0]["steps"] == []


def test_no_cache_is_copied_into_a_folder_of_itself_nor_out_of_one_nor_into_a_file(root: Path, run: Run) -> None:
    (file := root.parent / "a-file").touch()
    for words in ((root, root), (root, root / "below"), (root / next(root.iterdir()).name, root), (root, file)):
        refused = run("copy", *words, "--dry-run")
        assert (refused.returncode, refused.stdout) == (2, ""), words
    assert run("copy", root, f"{root}-beside", "--dry-run").returncode == 0


def test_a_saved_copy_is_carried_out_and_journalled_at_its_destination(root: Path, run: Run, tmp_path: Path) -> None:
    other, saved = tmp_path / "other", tmp_path / "plan.json"
    assert run("copy", root, other, "--save-plan", saved).returncode == 0
    assert not other.exists()
    assert run("apply", saved, "--yes", "--read-only").returncode == 4
    assert run("apply", saved, "--yes").returncode == 0
    assert entries(other) == ["hit"] * 4
    listed = json.loads(run("journal", other, "--json").stdout)["plans"]
    assert [(each["verb"], each["state"], each["done"]) for each in listed] == [("copy", "done", 4)]
    refused = run("restore", listed[0]["plan"], other)
    assert refused.returncode == 3
    assert "removed nothing" in refused.stderr


def test_a_hubs_local_copy_is_read_and_copied_but_never_evicted(root: Path, run: Run, tmp_path: Path) -> None:
    hub = tmp_path / "models--aws-neuron--optimum-neuron-cache"
    source = next(root.glob("*/MODULE_*"))
    there = hub / "snapshots" / "0123abcd" / source.parent.name / source.name
    there.mkdir(parents=True)
    (hub / "blobs").mkdir()
    for path in source.iterdir():
        (hub / "blobs" / path.name).write_bytes(path.read_bytes())
        (there / path.name).symlink_to(Path("../../../../blobs") / path.name)
    lengths = {
        each["name"]: each["bytes"] for each in json.loads(run("show", hub, source.name, "--json").stdout)["files"]
    }
    assert lengths == {path.name: path.stat().st_size for path in source.iterdir()}, "of the blobs, not of the links"
    assert run("evict", hub, "--state", "hit", "--yes").returncode == 4
    assert run("copy", hub, tmp_path / "local", "--yes").returncode == 0
    found = tmp_path / "local" / source.parent.name / source.name / "model.neff"
    assert found.read_bytes() == (source / "model.neff").read_bytes()
    assert not found.is_symlink()


def test_a_broken_artifact_is_moved_aside(root: Path, run: Run) -> None:
    broken = states.entry_in(root, State.CORRUPT, number=7)
    assert run("verify", root).returncode == 1
    assert run("verify", root, "--quarantine", "--yes").returncode == 0
    assert not (broken / "model.done").exists()
    assert run("verify", root).returncode == 0


@pytest.mark.parametrize(("answer", "left"), [("y\n", 5), ("\n", 6), ("n\n", 6), ("", 6)])
def test_on_a_terminal_the_answer_is_no_unless_somebody_types_yes(
    root: Path, environ: dict[str, str], answer: str, left: int
) -> None:
    status, shown = on_a_terminal(["evict", str(root), "--state", "failed"], environ, answer)
    assert "[y/N]" in shown
    assert len(entries(root)) == left
    assert status == (0 if left == 5 else 4)


def test_a_whole_compiler_version_needs_its_word(root: Path, environ: dict[str, str]) -> None:
    caches.entry(root, 1, compiler="neuronxcc-2.10.1.0+aaaaaaaa", age_days=90)
    status, shown = on_a_terminal(["evict", str(root), "--compiler", "<2.15"], environ, "y\n")
    assert "Type evict" in shown
    assert (status, len(entries(root))) == (4, 7)
    status, _ = on_a_terminal(["evict", str(root), "--compiler", "<2.15"], environ, "evict\n")
    assert (status, len(entries(root))) == (0, 6)


def test_a_lock_without_proof_is_named_and_asked_for_each_time(root: Path, run: Run, environ: dict[str, str]) -> None:
    place = states.entry_in(root, State.LOCKED_UNKNOWN, number=7)
    assert run("unlock", root, "--yes").returncode == 4
    assert run("unlock", root, "--force", "--yes").returncode == 4
    status, shown = on_a_terminal(["unlock", str(root), "--force", "--yes"], environ, "unlock\n")
    assert place.name in shown
    assert status == 0
    assert not (place / "model.hlo_module.pb.lock").exists()


def on_a_terminal(words: list[str], environ: dict[str, str], answer: str) -> tuple[int, str]:
    """(exit status, what was shown) of a command in a terminal where somebody types `answer`, or hangs up."""
    pid, master = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "neuron_top", "cache", *words], environ)
    shown = b""
    try:
        while chunk := os.read(master, 4096):
            shown += chunk
            if shown.rstrip().endswith((b"[y/N]", b"go on:", b"to keep it:")):
                os.write(master, answer.encode() or b"\x04")
                answer = answer or "\n"
    except OSError:
        pass
    os.close(master)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode(errors="replace")
