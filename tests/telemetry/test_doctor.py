"""The doctor: each check on facts of our making, the gatherer on folders of our making, the command as a process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import neuron_top
from neuron_top.cache.roots import CacheKind
from neuron_top.identity import identity
from neuron_top.services.doctor import flag_warnings, warned_variables
from neuron_top.telemetry import doctor_facts
from neuron_top.telemetry.devices import Listing
from neuron_top.telemetry.doctor_checks import examine
from neuron_top.telemetry.doctor_facts import DeviceNode, MachineFacts, RootFacts, RootKind, RunningJob, Terminal
from neuron_top.telemetry.doctor_variables import NAMES, known, nearest
from neuron_top.views.doctor_sentences import DoctorFinding, worded
from tests.telemetry import trees
from tests.telemetry.executables import executable

GIB = 1024**3
ROOT = RootFacts(
    path="/cache", cache=CacheKind.NEURON, origin="default", found=RootKind.FOLDER, owner="me", mode=0o755,
    writable=True, filesystem="ext4", free=50 * GIB, total=100 * GIB, free_inodes=10**6,
)  # fmt: skip
SOUND = MachineFacts(
    system="Linux 6", python="3.11", identity=identity({}), instance_type="", cpus=2,
    memory=8 * GIB, driver=None, counted_devices=0,
    unreadable=(), listing=Listing(reason="neuron-ls is not here"), nodes=(), tools={}, on_path={},
    compilers={"g++": "/usr/bin/g++"}, packages={"torch": "2.13.0"}, system_packages={}, root_in_force="/cache",
    roots=(ROOT,), jobs=(), variables={}, warnings=(), state=msgspec.structs.replace(ROOT, path="/state"),
    terminal=Terminal(is_terminal=True, kind="xterm", colors="truecolor", encoding="utf-8", columns=120, lines=40),
    open_files=65536, watches=524288,
)  # fmt: skip


def findings(facts: MachineFacts, warned: frozenset[str] = frozenset()) -> list[DoctorFinding]:
    return [worded(finding) for finding in examine(facts, warned)]


def problems(**changes: Any) -> list[DoctorFinding]:
    return [finding for finding in findings(msgspec.structs.replace(SOUND, **changes)) if finding.level == "problem"]


def test_a_machine_without_neuron_devices_is_no_problem() -> None:
    assert problems() == []
    assert any("trained locally" in finding.text for finding in findings(SOUND))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"instance_type": "trn1.2xlarge"}, "should have Neuron devices"),
        ({"nodes": (DeviceNode(path="/dev/neuron0", mode=0o600, usable=False),)}, "no permission"),
        ({"counted_devices": 1, "tools": {"neuron-ls": "/x/neuron-ls"}, "listing": Listing(reason="boom")}, "boom"),
        ({"counted_devices": 1, "tools": {"neuron-ls": "/x/neuron-ls"}}, "neuron-monitor is not installed"),
        ({"compilers": {"g++": None}}, "C++ compiler"),
        ({"warnings": ("NEURON_CC_CACHE is not read",)}, "NEURON_CC_CACHE"),
        ({"jobs": (RunningJob(pid=7, name="t.py", user="me", variables={}, warnings=("odd",)),)}, "7 t.py (me): odd"),
        ({"state": msgspec.structs.replace(ROOT, writable=False)}, "recordings cannot be kept"),
    ],
)
def test_each_trouble_is_a_problem_with_a_next_step(changes: dict[str, Any], word: str) -> None:
    found = problems(**changes)
    assert any(word in finding.text for finding in found), found
    assert all(finding.next_step for finding in found)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"found": RootKind.FILE}, "a file is in the place"),
        ({"found": RootKind.MISSING, "writable": False}, "this user may not create it"),
        ({"writable": False}, "may not be written"),
        ({"owner": "eve", "mode": 0o755, "untrusted": "/cache belongs to user 7 (eve)"}, "belongs to user 7 (eve)"),
        ({"filesystem": "tmpfs"}, "in memory"),
        ({"free": GIB}, "only 1.0 GiB"),
        ({"free_inodes": 3}, "only 3 more files"),
    ],
)
def test_each_trouble_of_a_cache_root_is_a_problem_with_a_next_step(changes: dict[str, Any], word: str) -> None:
    (found,) = problems(roots=(msgspec.structs.replace(ROOT, **changes),))
    assert word in found.text
    assert found.next_step


@pytest.mark.parametrize("changes", [{"encoding": "ascii"}, {"kind": "dumb"}])
def test_a_terminal_that_cannot_draw_is_a_problem(changes: dict[str, Any]) -> None:
    (found,) = problems(terminal=msgspec.structs.replace(SOUND.terminal, **changes))
    assert found.check == "terminal"


def test_a_job_with_another_cache_is_noted() -> None:
    job = RunningJob(pid=7, name="t.py", user="me", variables={}, root="/other")
    notes = [finding for finding in findings(msgspec.structs.replace(SOUND, jobs=(job,))) if finding.level == "note"]
    assert any("/other" in finding.text and "/cache" in finding.text for finding in notes)


def test_an_unknown_variable_is_noted_with_the_nearest_that_exists() -> None:
    facts = msgspec.structs.replace(
        SOUND, variables={"NEURON_RT_VISIBLE_CORE": "0", "NEURON_RT_LOG_LEVEL_TDRV": "INFO"}
    )
    notes = [finding for finding in findings(facts) if finding.check == "environment"]
    assert [finding.next_step for finding in notes] == ["did you mean NEURON_RT_VISIBLE_CORES?"]
    assert nearest("COMPLETELY_DIFFERENT") is None


def test_a_variable_with_a_warning_is_not_noted_as_unknown_besides() -> None:
    variables = {"NEURON_CC_CACHE": "/x", "NEURON_CC_CACHES": "/x"}
    facts = msgspec.structs.replace(SOUND, variables=variables, warnings=flag_warnings(variables))
    warned = warned_variables(variables)
    assert warned == {"NEURON_CC_CACHE"}
    assert warned_variables({**variables, "NEURON_CC_FLAGS": '"open'}) == frozenset(), (
        "the flags alone are warned about"
    )
    said = [finding.text for finding in findings(facts, warned) if finding.check == "environment"]
    assert [text.partition(" is not ")[0] for text in said] == [
        "environment variable NEURON_CC_CACHE",
        "NEURON_CC_CACHES",
    ]


def test_look_alikes_are_warned_about_and_broken_flags_are_no_crash() -> None:
    assert any("--no_cache" in warning for warning in flag_warnings({"NEURON_CC_FLAGS": "--no-cache"}))
    assert len(flag_warnings({"NEURON_CC_FLAGS": '"open'})) == 1
    assert flag_warnings({}) == ()


def test_the_sdks_system_packages_are_found_in_dpkgs_own_file() -> None:
    status = (
        "Package: bash\nStatus: ok\nVersion: 5\n\n"
        "Package: aws-neuronx-tools\nStatus: ok\nDepends: x\nVersion: 2.31.13.0-a9\n\n"
        "Package: aws-neuronx-dkms\nStatus: ok\n\nPackage: zip\nVersion: 3\n"
    )
    assert doctor_facts.system_packages(status) == {"aws-neuronx-tools": "2.31.13.0-a9"}


def test_a_root_is_looked_at_without_being_made(tmp_path: Path) -> None:
    found = doctor_facts.look_at_root(str(tmp_path / "a" / "b"), cache=CacheKind.NEURON, origin="x")
    assert (found.found, found.writable) == (RootKind.MISSING, True)
    assert list(tmp_path.iterdir()) == []
    assert found.free


def test_a_root_below_a_folder_that_cannot_be_looked_at_is_missing(tmp_path: Path) -> None:
    below = tmp_path / ("x" * 256) / "b" / "c"  # a name that no disk takes
    found = doctor_facts.look_at_root(str(below), cache=CacheKind.NEURON, origin="x")
    assert (found.found, found.writable) == (RootKind.MISSING, True)
    (tmp_path / "file").touch()
    assert doctor_facts.look_at_root(str(tmp_path / "file"), cache=CacheKind.NEURON, origin="x").found is RootKind.FILE
    assert (
        doctor_facts.look_at_root("s3://b/p", cache=CacheKind.NEURON, origin="x", remote=True).found is RootKind.REMOTE
    )


def doctor(tmp_path: Path, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("NEURON")}
    own |= {"NEURONTOP_STATE_DIR": str(tmp_path / "state"), "NEURONTOP_CONFIG": os.devnull}
    command = [sys.executable, "-m", "neuron_top", "doctor", *options]
    return subprocess.run(command, env=own | environ, capture_output=True, text=True, check=False, timeout=120)


def test_the_command_finds_devices_and_trouble_and_ends_with_1(tmp_path: Path) -> None:
    trees.device(tmp_path / "sys", 0, 2)
    trees.put(tmp_path / "sys/module/neuron/version", "2.26.5.0\n")
    listing = json.dumps([{"neuron_device": 0, "bdf": "0000:00:1e.0", "nc_count": 2, "neuron_processes": []}])
    executable(tmp_path / "bin", "neuron-ls", f"print({listing!r})")
    (tmp_path / "afile").touch()
    result = doctor(
        tmp_path,
        "--json",
        "--sysfs-root",
        str(tmp_path / "sys"),
        PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        NEURON_COMPILE_CACHE_URL=str(tmp_path / "afile"),
    )
    assert result.returncode == 1, result.stderr
    reported = json.loads(result.stdout)
    assert reported["facts"]["driver"] == [2, 26, 5, 0]
    assert reported["facts"]["root_in_force"] == str(tmp_path / "afile")
    texts = {finding["text"]: finding for finding in reported["findings"]}
    assert any("1 Neuron device" in text for text in texts)
    assert any(str(tmp_path / "bin/neuron-ls") in text for text in texts)
    broken = [text for text, finding in texts.items() if finding["level"] == "problem"]
    assert reported["problems"] == len(broken)
    assert any("a file is in the place of the cache" in text for text in broken)


def test_a_folder_of_the_driver_that_is_not_there_is_no_machine_without_problems(tmp_path: Path) -> None:
    result = doctor(tmp_path, "--json", "--sysfs-root", str(tmp_path / "nosuch"))
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"neurontop: --sysfs-root {tmp_path / 'nosuch'}: no such folder\n"


def test_a_running_job_is_listed_with_its_cache_and_its_misspelt_variable(tmp_path: Path) -> None:
    job = [sys.executable, "-c", "print('up', flush=True); input()"]
    environ = os.environ | {"NEURON_COMPILE_CACHE_URL": str(tmp_path / "shared"), "NEURON_CC_CACHE": "/x"}
    with subprocess.Popen(job, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        running.stdout.readline()
        reported = json.loads(doctor(tmp_path, "--json").stdout)
        running.communicate("\n")
    (seen,) = [job for job in reported["facts"]["jobs"] if job["pid"] == running.pid]
    assert seen["root"] == str(tmp_path / "shared")
    assert any("NEURON_CC_CACHE" in warning for warning in seen["warnings"])
    users = {root["path"]: root["used_by"] for root in reported["facts"]["roots"]}
    assert users[str(tmp_path / "shared")] == [running.pid]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"VLLM_NEURON_CPU_COMPILE": "1"}, "set NEURON_PLATFORM_TARGET_OVERRIDE"),
        ({"VLLM_NEURON_CPU_COMPILE": "1", "NEURON_PLATFORM_TARGET_OVERRIDE": "trn2"}, ""),
        ({"VLLM_NEURON_DISABLE_WARMUP_COMPILE": "1", "NEURON_LIBTORCH_DISABLE_COMPILE_CACHE": "1"}, "unset one"),
        ({"VLLM_NEURON_SOMETHING_NEW": "1"}, ""),
        ({"TORCH_NEURONX_NEFF_CACHE_DIRS": "/x"}, "did you mean TORCH_NEURONX_NEFF_CACHE_DIR?"),
    ],
)
def test_variables_of_torchneuron_and_vllm_are_judged(variables: dict[str, str], words: str) -> None:
    facts = msgspec.structs.replace(SOUND, variables=variables)
    steps = [
        finding.next_step for finding in findings(facts) if finding.check == "environment" and finding.level != "ok"
    ]
    assert [step for step in steps if words in step] == ([] if not words else steps)
    assert bool(steps) is bool(words)


def test_every_variable_of_torchneuron_that_the_specification_names_has_its_effect() -> None:
    for name in ("NEFF_CACHE_DIR", "NEFF_LOCAL_CACHE_DIR", "NEFF_CACHE_LOCK_TIMEOUT", "NEFF_DISABLE_CACHE", "LOG_FILE",
                 "LOG_LEVEL", "DEBUG_DIR", "DISABLE_FALLBACK_EXECUTION", "METRICS_ENABLED"):  # fmt: skip
        assert f"TORCH_NEURONX_{name}" in NAMES


@pytest.mark.parametrize(("script", "counts"), [("neurontop", False), ("train.py", True)])
def test_a_viewer_of_ours_is_no_job_that_uses_a_cache(tmp_path: Path, script: str, counts: bool) -> None:
    (tmp_path / script).write_text("print(flush=True); input()")
    environ = {**os.environ, "NEURON_COMPILE_CACHE_URL": str(tmp_path)}
    command = [sys.executable, str(tmp_path / script), "serve"]
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        jobs = list(doctor_facts.running_jobs(lambda environ: (), ()))
        used = {root.path: root.used_by for root in doctor_facts.cache_roots({}, jobs)}
        process.communicate(b"\n")
    assert (process.pid in {job.pid for job in jobs}) is counts
    assert used[str(tmp_path)] == ((process.pid,) if counts else ())


@pytest.mark.parametrize(
    ("written", "meant"),
    [("NEURONTOP_STATE_DR", "NEURONTOP_STATE_DIR"), ("NEURONTOP_KEEP_RUN", "NEURONTOP_KEEP_RUNS")],
)
def test_a_misspelled_variable_of_our_own_is_found(written: str, meant: str) -> None:
    assert (known(written), nearest(written), known(meant)) == (False, meant, True)


def test_every_variable_of_our_own_is_known() -> None:
    sources = Path(neuron_top.__file__).parent.rglob("*.py")
    named = {name for source in sources for name in re.findall(r"[\"\']NEURONTOP_[A-Z_]*[A-Z]\b", source.read_text())}
    assert {name[1:] for name in named if not known(name[1:])} == set()
