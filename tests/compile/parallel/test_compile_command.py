"""`neurontop compile` as a user runs it: real jobs, real compiles, real interrupts."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.compile.parallel import jobs
from tests.warm_python import warm_python

pytestmark = [pytest.mark.torch, pytest.mark.e2e, pytest.mark.timeout(900), pytest.mark.xdist_group("collected")]


def test_the_trial_run_stores_graphs_computes_nothing_and_says_so(collected):
    text = (collected / "output.txt").read_text()
    assert "INVALID" in text
    assert text.count("No compilation was done.") == 3
    assert len(jobs.files(collected, "model.fxgraph")) == 3
    assert jobs.files(collected, "model.done") == []


def test_collected_graphs_are_counted_whatever_the_users_flags_log(tmp_path):
    environ = jobs.environment(tmp_path, NEURON_CC_FLAGS="--log_level ERROR")
    done = jobs.compile_command(["--collect-only", "--", *warm_python(), jobs.script(tmp_path)], environ, tmp_path)
    assert "neurontop: 3 graphs collected" in done.stderr


def test_all_collected_graphs_are_compiled_and_the_job_then_hits_every_one(collected, tmp_path):
    environ = jobs.copied(collected, tmp_path)
    environ["NEURON_PARALLEL_COMPILE_DUMP_RESULTS"] = "1"
    done = jobs.compile_command(["-j", "2", "--compile-only"], environ, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Compilation summary - Total graphs: 3, Success: 3, Failed: 0" in done.stderr
    assert "3 of 3 graphs: 3 done" in done.stderr
    (results,) = tmp_path.glob("neuron_parallel_compile_results_*.json")
    assert json.loads(results.read_text())["compilation_summary"] == {"true": 3}
    job = jobs.subprocess.run(
        [*warm_python(), jobs.script(tmp_path)], env=environ, capture_output=True, text=True, check=True
    )
    assert job.stderr.count("Using a cached neff at") == 3
    assert "Compilation Successfully Completed" not in job.stderr
    again = jobs.compile_command(["--compile-only"], environ, tmp_path)
    assert again.returncode == 0
    assert "nothing to compile" in again.stderr


def test_a_script_that_crashes_stops_the_compile_unless_told_otherwise(tmp_path):
    environ, job = jobs.environment(tmp_path), jobs.script(tmp_path, crashes=True)
    stopped = jobs.compile_command(["--", *warm_python(), job], environ, tmp_path)
    assert stopped.returncode == 1
    assert "the script gave up at its third step" in stopped.stderr
    assert "nothing was compiled" in stopped.stderr
    assert "NEURON_IGNORE_TRAINING_SCRIPT_ERROR_AND_COMPILE" in stopped.stderr
    assert jobs.files(tmp_path, "model.done") == []
    environ["NEURON_IGNORE_TRAINING_SCRIPT_ERROR_AND_COMPILE"] = "1"
    reported = jobs.compile_command(["--", *warm_python(), job], environ, tmp_path)
    assert reported.returncode == 0, reported.stderr
    assert len(jobs.files(tmp_path, "model.done")) == 2


def test_interrupted_or_killed_it_leaves_no_process_and_no_lock_and_goes_on_next_time(collected, tmp_path):
    environ = jobs.copied(collected, tmp_path)
    arguments = ["-j", "2", "--compile-only"]
    status, family = jobs.interrupted(arguments, environ, tmp_path, "[12] running", signal.SIGINT)
    assert status == 130
    jobs.until(lambda: jobs.gone(family))
    assert jobs.files(tmp_path, "*.lock") + jobs.files(tmp_path, "model.log") + jobs.files(tmp_path, "*.tmp") == []
    status, family = jobs.interrupted(arguments, environ, tmp_path, "[12] running", signal.SIGKILL)
    assert status == -signal.SIGKILL
    jobs.until(lambda: jobs.gone(family))
    done = jobs.compile_command(arguments, environ, tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(jobs.files(tmp_path, "model.done")) == 3
    assert jobs.files(tmp_path, "*.lock") == []


def test_a_graph_that_fails_is_retried_counted_and_reported(collected, tmp_path):
    environ = jobs.copied(collected, tmp_path)
    environ |= {"NEURON_PARALLEL_COMPILE_DUMP_RESULTS": "1", "NEURON_PARALLEL_COMPILE_MAX_RETRIES": "1"}
    broken, *rest = jobs.files(tmp_path, "model.fxgraph")
    broken.write_bytes(b"no graph")
    for graph in rest:
        jobs.shutil.rmtree(graph.parent)
    done = jobs.compile_command(["--compile-only"], environ, tmp_path)
    assert done.returncode == 1
    assert f"Compilation failed for {broken} after 1 retries." in done.stderr
    (results,) = tmp_path.glob("neuron_parallel_compile_results_*.json")
    (entry,) = json.loads(results.read_text())["compilation_report"].values()
    assert (entry["status"], entry["retry"]) == (False, 1)


def test_results_that_cannot_be_written_hide_no_failure(collected, tmp_path):
    environ = jobs.copied(collected, tmp_path) | {"NEURON_PARALLEL_COMPILE_DUMP_RESULTS": "1"}
    broken, *rest = jobs.files(tmp_path, "model.fxgraph")
    broken.write_bytes(b"no graph")
    for graph in rest:
        jobs.shutil.rmtree(graph.parent)
    done = jobs.compile_command(["--compile-only"], environ, Path("/proc"))
    assert done.returncode == 1
    assert "the results cannot be written to neuron_parallel_compile_results_" in done.stderr
    assert f"{broken.parent.name} failed: " in done.stderr


@pytest.mark.parametrize(
    ("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_an_interrupted_or_killed_trial_run_leaves_no_process_of_the_job_behind(number, expected, tmp_path):
    job = tmp_path / "launcher.py"
    job.write_text(
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "print('workers are up', flush=True)\ntime.sleep(600)\n"
    )
    status, family = jobs.interrupted(
        ["--", sys.executable, job], jobs.environment(tmp_path), tmp_path, "workers are up", number
    )
    assert status == expected
    assert len(family) == 3, family  # the launcher, its worker, the guard beside them
    jobs.until(lambda: jobs.gone(family))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "specify a training command"),
        (["--", "no-such-command-anywhere"], "no such command: no-such-command-anywhere"),
        (["--compile-only", "--", "true"], "--compile-only takes no command"),
    ],
)
def test_bad_usage_ends_with_status_2_and_a_sentence(arguments, complaint, tmp_path):
    done = jobs.compile_command(arguments, jobs.environment(tmp_path), tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_in_place_of_the_root_is_reported_before_the_trial_run(tmp_path):
    file = tmp_path / "cache"
    file.touch()
    done = jobs.compile_command(["--", "echo", "the trial run"], jobs.environment(tmp_path), tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{file} is not a directory: a file is in its place" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_sdks_tool_is_run_instead_with_the_same_screen(tmp_path):
    tool = tmp_path / "bin" / "neuron_parallel_compile"
    tool.parent.mkdir()
    key = "MODULE_1234567890123456789+e30acd3a"
    tool.write_text(
        f"#!{sys.executable}\n"
        "import os, sys\n"
        "print('arguments', sys.argv[1:], os.environ['NEURON_PARALLEL_COMPILE_MAX_RETRIES'])\n"
        "head = '2026-07-29 17:25:16.000035:  10451  [INFO]: '\n"
        "say = lambda text: print(head + text, file=sys.stderr, flush=True)\n"
        "say('Worker 0/None starting dynamic scheduling for 2 HLOs')\n"
        "say('Current remaining items are 1, locked are 0, failed are 0, done are 0, total is 2')\n"
        f"say('Compilation Successfully Completed for model.{key}.hlo_module.pb')\n"
        "say('Compilation summary - Total graphs: 2, Success: 1, Failed: 1')\n"
        "raise SystemExit(1)\n"
    )
    tool.chmod(0o755)
    environ = jobs.environment(tmp_path, PATH=f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    done = jobs.compile_command(["-j", "3", "--retries", "2", "--", "python", "train.py"], environ, tmp_path)
    assert done.returncode == 1
    assert "arguments ['--num_parallel', '3', 'python', 'train.py'] 2" in done.stdout
    assert "neurontop: 2 of 2 graphs: 1 done, 0 running, 1 failed, 0 left" in done.stderr
