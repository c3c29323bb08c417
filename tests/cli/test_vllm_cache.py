"""vLLM-Neuron's cache on the command line, laid out as documented and as in the published failure report."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from neuron_top.cli.main import main
from neuron_top.events import CompilerStageFinished, GraphMeasured
from neuron_top.services.vllm_cache import VllmCache, VllmState, is_vllm_cache
from tests.parsers.logs import only, read

DONE, CRASHED, OTHER = "a" * 32, "b" * 32, "c" * 32


def complete(root: Path, key: str) -> None:
    (root / key).mkdir(parents=True)
    (root / key / f"graph_{key}.neff").write_bytes(b"x" * 5000)
    (root / key / "graph.hlo").write_bytes(b"x")
    (root / key / ".compilation_complete").write_text("completed:1\nneff_size:5000\n")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two complete entries of which the remote tier has one, and one of a compile that crashed."""
    place, remote = tmp_path / "local", tmp_path / "remote"
    complete(place, DONE)
    complete(place, OTHER)
    complete(remote, DONE)
    (place / CRASHED / "dev0_0.rank0").mkdir(parents=True)
    (place / CRASHED / "dev0_0.rank0" / "graph.hlo").write_bytes(b"x" * 9000)
    (place / "nki").mkdir()
    monkeypatch.setenv("NEURON_LIBTORCH_REMOTE_CACHE", str(remote))
    return place


@pytest.mark.parametrize("option", [["--state", "hit"], ["--sort", "bytes"]])
def test_what_selects_entries_of_neuron_caches_is_not_ignored(
    root: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "ls", str(root), *option]) == 2
    printed = capsys.readouterr()
    assert (printed.out, "are for Neuron caches" in printed.err) == ("", True)


def test_entries_have_their_state_and_whether_they_were_promoted(root: Path) -> None:
    assert [(each.entry.key, each.entry.state, each.promoted) for each in VllmCache(str(root)).entries()] == [
        (DONE, VllmState.COMPLETE, True),
        (CRASHED, VllmState.INCOMPLETE, False),
        (OTHER, VllmState.COMPLETE, False),
    ]
    remote = VllmCache(os.environ["NEURON_LIBTORCH_REMOTE_CACHE"])
    assert [each.promoted for each in remote.entries()] == [None]
    assert [each.promoted for each in VllmCache(str(root), {}).entries()] == [None] * 3


def test_ls_stats_and_show_read_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "ls", str(root), "--json"]) == 0
    assert [entry["state"] for entry in json.loads(capsys.readouterr().out)["entries"]] == [
        "complete", "incomplete", "complete",
    ]  # fmt: skip
    assert main(["cache", "stats", str(root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["totals"]["complete"]["entries"] == 2
    assert main(["cache", "show", str(root), "bbbb", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["promoted"] is False
    for words in (["ls", str(root)], ["stats", str(root)], ["show", str(root), "cccc"]):
        assert main(["cache", *words]) == 0
    assert "save_cache() was not called" in capsys.readouterr().out


def test_other_folders_are_not_vllm_caches(tmp_path: Path) -> None:
    (tmp_path / DONE).mkdir()
    assert not is_vllm_cache(str(tmp_path))
    assert not is_vllm_cache(str(tmp_path / "gone"))


def test_a_compile_that_the_log_reports_has_its_time() -> None:
    """In the words of the published report."""
    text = f"11:31:30  Compiled HLO {DONE} in 28.3s\nCompiled HLO files in 3s\n"
    assert [(event.module, event.compile_seconds) for event in only(GraphMeasured, read(text))] == [(DONE, 28.3)]


def test_the_gauge_of_saved_metrics_reports_what_was_added_to_it_by_bucket() -> None:
    """As documented; no page of a real server was at hand."""
    name = 'vllm_neuron:compilation_time_seconds{bucket_name="prefill_s1024",model_name="m"}'
    text = f"# HELP vllm_neuron:compilation_time_seconds Time\n{name} 12.5\n{name} 12.5\n{name} 20.0\n{name} 3.0\n"
    stages = only(CompilerStageFinished, read(text))
    assert [stage.seconds for stage in stages] == [12.5, 7.5, 3.0]
    assert {stage.stage for stage in stages} == {"prefill_s1024 (vLLM, compiled or loaded)"}
