"""`neurontop cache` as a script uses it: JSON, exit status, nothing loaded that is not needed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from neuron_top.cli.main import main
from neuron_top.events import CacheHit, RunStarted
from neuron_top.store.records import CompileRecord
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from tests.builders import COMPILER, FAILURE_LOG, HLO_NAME, OLD_COMPILER, neff, small_hlo, write_entry

HIT = {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three entries: a hit, a failure, a broken one."""
    place = tmp_path / "cache"
    write_entry(place, HIT, graph="1" * 20)
    log = FAILURE_LOG.format(message="[TEN404] Internal \x1b[2Jtensorizer error").encode()
    write_entry(place, {HLO_NAME: small_hlo(), "model.log": log}, graph="2" * 20)
    write_entry(place, {HLO_NAME: small_hlo(), "model.neff": b"", "model.done": b""}, graph="3" * 20)
    return place


def neurontop(*arguments: object, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own; the state folder lies beside the cache."""
    state = next((str(Path(str(one)).parent / "state") for one in arguments if str(one).startswith("/")), "")
    env = {**os.environ, "NEURONTOP_STATE_DIR": state or environ.pop("state", ""), **environ}
    command = [sys.executable, "-m", "neuron_top", "cache", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=120)


def answer(*arguments: object, **environ: str) -> Any:
    """Standard output as JSON."""
    return json.loads(neurontop(*arguments, "--json", **environ).stdout)


def test_ls_gives_every_entry_with_its_facts(root: Path) -> None:
    given = answer("ls", root)
    assert given["root"] == str(root)
    states = {entry["module"][7:8]: entry for entry in given["entries"]}
    assert [states[number]["state"] for number in "123"] == ["hit", "failed", "corrupt"]
    hit, failed = states["1"], states["2"]
    assert (hit["neff_bytes"], hit["flags"], hit["flags_hash_ok"]) == (len(neff()), ["--target=trn1"], True)
    assert hit["lock"] is None
    assert hit["failure"] is None
    assert hit["compile_seconds"] is None
    assert failed["failure"]["class"] == "deterministic"
    assert failed["failure"]["at"] == "2026-01-02T03:04:05Z"
    assert failed["neff_bytes"] is None
    assert given["totals"]["entries"] == 3
    assert given["totals"]["bytes"] == sum(entry["bytes"] for entry in given["entries"])


def test_ls_filters_and_sorts(root: Path) -> None:
    assert [one["state"] for one in answer("ls", root, "--state", "failed,corrupt")["entries"]] == ["failed", "corrupt"]
    sizes = [one["bytes"] for one in answer("ls", root, "--sort", "bytes")["entries"]]
    assert sizes == sorted(sizes, reverse=True)
    several = answer("ls", root, "--state", "hit", "--state", "corrupt")
    assert {one["state"] for one in several["entries"]} == {"hit", "corrupt"}
    refused = neurontop("ls", root, "--state", "nonsense")
    assert refused.returncode == 2
    assert "'nonsense'" in refused.stderr
    assert "locked-unknown" in refused.stderr


def test_ls_names_the_only_compiler_once_on_a_terminal(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    main(["cache", "ls", str(root)])
    assert capsys.readouterr().out.count(COMPILER) == 3
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    main(["cache", "ls", str(root)])
    printed = capsys.readouterr()
    assert COMPILER not in printed.out
    assert f"3 entries in {root}, compiled by {COMPILER}\n" in printed.err
    assert max(map(len, printed.out.splitlines())) <= 80
    write_entry(root, HIT, compiler=OLD_COMPILER)
    main(["cache", "ls", str(root)])
    printed = capsys.readouterr()
    assert (printed.out.count(COMPILER), printed.out.count(OLD_COMPILER), "compiled by" in printed.err) == (3, 1, False)


def test_escapes_in_a_log_reach_no_terminal(root: Path) -> None:
    for arguments in (("ls", root), ("show", root, "2222")):
        done = neurontop(*arguments)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout


def test_a_missing_cache_ends_with_status_three_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for action in ("ls", "stats", "verify", "journal", "purge", "maintain"):
        for name, why in (("no", "does not exist|No such file or directory"), ("file", "it is a file")):
            done = neurontop(action, tmp_path / name)
            assert (done.returncode, done.stdout) == (3, ""), action
            assert re.search(why, done.stderr), done.stderr
    assert neurontop("ls", tmp_path / "no").stderr.endswith("; `neurontop cache roots` lists what is here\n")


def test_what_was_taken_from_a_cache_that_is_gone_is_still_listed_and_purged(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    plan = write_entry(root, {**HIT}, age=10 * 86400.0)
    assert neurontop("evict", root, "--module", plan.name, "--yes").returncode == 0
    root.rename(tmp_path / "elsewhere")
    assert [one["state"] for one in answer("journal", root)["plans"]] == ["done"]
    assert "1 plan in the trash" in neurontop("purge", root, "--dry-run").stderr


def test_a_folder_that_holds_other_things_is_questioned_and_an_empty_one_is_not(tmp_path: Path, root: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "hosts").write_text("127.0.0.1")
    (tmp_path / "new").mkdir()
    for action in (["ls"], ["verify"], ["evict", "--older-than", "1d", "--dry-run"]):
        done = neurontop(*action, tmp_path / "etc")
        assert done.returncode == 0
        assert f"{tmp_path}/etc holds files, but no entry of a compile cache" in done.stderr
        for place in (tmp_path / "new", root):
            assert "no entry of a compile cache" not in neurontop(*action, place).stderr


def test_verify_ends_with_status_one_when_something_is_broken(root: Path) -> None:
    done = neurontop("verify", root, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["totals"] == {"entries": 3, "broken": 1, "warnings": 0}
    for line in (neurontop("verify", root).stdout, neurontop("verify", "--help").stdout):
        assert "broken" not in line
        assert "corrupt" in line
    assert neurontop("verify", root, "1" * 20).returncode == 0


def test_full_verification_finds_a_wrong_digest(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    write_entry(place, {**HIT, "model.neff": neff(digest=b"\1" * 32)})
    assert neurontop("verify", place).returncode == 0
    done = neurontop("verify", place, "--full")
    assert done.returncode == 1
    assert "digest" in done.stdout


def test_show_reads_graph_and_archive(root: Path) -> None:
    given = answer("show", root, "1" * 20, "--payload")
    assert given["graph"]["dot_flops"] == 1024
    assert given["graph"]["parameters"] == ["bf16[8,16]", "bf16[16,4]"]
    assert given["neff"]["payload"]["digest_ok"] is True
    assert {file["name"] for file in given["files"]} == {*HIT, "compile_flags.json"}
    rows = dict(
        line.strip().split("  ", 1)
        for line in neurontop("show", root, "1" * 20).stdout.splitlines()
        if "  " in line.strip()
    )
    assert rows["UUID"].strip() == b"u".hex() * 16
    assert rows["NEFF"].strip() == "version 2.0, package version 2, build —"
    assert neurontop("show", root, "MODULE_").returncode == 2
    assert neurontop("show", root, "MODULE_9").returncode == 3


def test_the_root_in_force_follows_flags_then_variable(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_entry(other, HIT)
    state = str(tmp_path / "state")
    variable = answer("stats", state=state, NEURON_CC_FLAGS="", NEURON_COMPILE_CACHE_URL=str(root))
    assert variable["totals"]["entries"] == 3
    flag = answer("stats", state=state, NEURON_CC_FLAGS=f"-O1 --cache_dir={other}", NEURON_COMPILE_CACHE_URL=str(root))
    assert flag["totals"]["entries"] == 1
    nobody = {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_CONFIG_FILE": "/dev/null",
    }
    bucket = neurontop("ls", state=state, NEURON_CC_FLAGS="", NEURON_COMPILE_CACHE_URL="s3://b/p", **nobody)
    assert bucket.returncode == 3
    assert "s3://b/p" in bucket.stderr


def test_stats_loads_nothing_heavy(root: Path) -> None:
    neurontop("ls", root)
    code = (
        "import sys; from neuron_top.cli.main import main;"
        f"main(['cache', 'stats', {str(root)!r}, '--json']);"
        "print(sorted({'textual', 'dash', 'plotly', 'pandas', 'torch', 'watchdog', 'psutil'} & set(sys.modules)))"
    )
    env = {**os.environ, "NEURONTOP_STATE_DIR": str(root.parent / "state")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"


def test_last_use_and_compile_time_come_from_recordings_too(root: Path) -> None:
    entries = {entry["module"][7:8]: entry["module"] for entry in answer("ls", root)["entries"]}
    at = time.time() - 60
    with SqliteStore(root.parent / "state" / FILE_NAME) as store:
        store.begin(RunStarted(source="job", at=at - 50, run="r1"))
        store.append("r1", [CacheHit(source="job", at=at, module=entries["1"])])
        store.remember_compiles([CompileRecord(entries["1"], "node", "r1", "2.20", None, None, 30.0, None, at - 10)])
    (hit,) = answer("ls", root, "--state", "hit")["entries"]
    assert hit["last_used_known_by"] == "a recorded run"
    assert datetime.fromisoformat(hit["last_used"]).timestamp() == int(at)
    assert hit["compile_seconds"] == 30.0
    assert hit["module"][7:20] in neurontop("ls", root, "--sort", "used").stdout.splitlines()[1]
    assert answer("show", root, "1" * 20)["last_used"] == hit["last_used"]


def test_a_path_to_look_for_artifacts_in_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = neurontop("roots", "--no-sizes", tmp_path / "none")
    assert (result.returncode, result.stdout) == (3, "")
    assert f"{tmp_path}/none: no such file or folder" in result.stderr
