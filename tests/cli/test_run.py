"""`neurontop run` as a user and a shell see it: real processes, real signals, a real recording."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.events import RunFinished, RunStarted
from neuron_top.ingest.recordings import find_recording, is_recording, load_run
from neuron_top.processes.launch import processes_of_run
from neuron_top.store.sqlite import SqliteStore

PROGRAM = (sys.executable, "-m", "neuron_top")
PATIENCE = 240.0
"""Seconds; a busy machine takes ten times as long as a quiet one."""
HIT = (
    "2025-03-01 10:00:00.000123:  4242  [INFO]: Using a cached neff at "
    "/c/neuronxcc-2.21.33363.0+82129205/MODULE_12345678901234567890+e30acd3a/model.neff"
)


class Here:
    """The program with a state folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("NEURONTOP_")},
            "NEURONTOP_STATE_DIR": str(self.state),
            "NEURONTOP_CONFIG": os.devnull,
        }

    def __call__(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*PROGRAM, *arguments], env=self.environ, capture_output=True, input=stdin, timeout=PATIENCE, check=False
        )

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*PROGRAM, *arguments], env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def store(self) -> SqliteStore:
        return SqliteStore(self.state / "neurontop.db", read_only=True)


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path)


def python(code: str) -> tuple[str, ...]:
    return ("run", "--", sys.executable, "-c", code)


def test_output_and_exit_status_are_the_commands_own(here: Here) -> None:
    done = here(*python("import sys; sys.stdout.buffer.write(b'a\\x00\\xff\\r'); sys.stderr.write('e'); sys.exit(3)"))
    assert done.returncode == 3
    assert done.stdout == b"a\x00\xff\r"
    assert b"\ne" in b"\n" + done.stderr  # on a slow machine a progress line comes before it


def test_the_exit_status_is_the_commands_own_where_ends_of_children_are_ignored(here: Here) -> None:
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", ignoring, *PROGRAM, *python("raise SystemExit(3)")],
        env=here.environ, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    with here.store() as store:
        assert [run.exit_code for run in store.runs()] == [3]


def test_standard_input_reaches_the_command(here: Here) -> None:
    assert here(*python("print(input()[::-1])"), stdin=b"abc\n").stdout == b"cba\n"


def test_what_a_job_fails_of_is_sent_where_the_settings_say(here: Here, tmp_path: Path) -> None:
    here.environ["NEURONTOP_NOTIFY_ERROR"] = f"tee -a {tmp_path / 'alerts'}"
    done = here(*python("import sys; print('RuntimeError: out of memory NRT_RESOURCE'); sys.exit(1)"))
    assert done.returncode == 1
    assert '"severity":"error"' in (tmp_path / "alerts").read_text()


def test_the_recording_holds_what_happened(here: Here) -> None:
    done = here("run", "--name", "demo", "--", sys.executable, "-c", f"print({HIT!r}); print('step')")
    assert b"1 hit, 0 misses" in done.stderr
    (line,) = [line for line in done.stderr.decode().splitlines() if line.startswith("  next ")]
    for command in line.removeprefix("  next").split("·"):
        program, *words = command.split()
        assert (program, here(*words, "--json").returncode) == ("neurontop", 0)
    with here.store() as store:
        record = find_recording(store, "demo")
        run = load_run(store, record.id)
        events = list(store.replay(record.id))
    assert (record.exit_code, record.pid, run.compiles.totals.hits, run.job.exit_code) == (0, None, 1, 0)
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunFinished)
    assert Path(record.folder, "output.log").read_text() == HIT + "\nstep\n"
    assert json.loads(record.summary)["hits"] == 1
    assert not is_recording(Path(record.folder))


def test_a_line_end_in_a_name_is_made_visible(here: Here) -> None:
    done = here("run", "--name", "a\nb", "--", "true")
    assert "\nneurontop: a⏎b: completed\n" in done.stderr.decode()


def test_death_by_a_signal_is_128_and_the_signal(here: Here) -> None:
    assert here(*python("import os; os.kill(os.getpid(), 15)")).returncode == 143


def test_a_missing_command_is_127_and_records_nothing(here: Here) -> None:
    done = here("run", "--", "no-such-command-anywhere")
    assert (done.returncode, done.stdout) == (127, b"")
    assert b"no-such-command-anywhere" in done.stderr
    assert not here.state.exists()


def test_a_command_is_run_in_a_folder_that_was_deleted_and_what_needs_the_folder_says_so(
    here: Here, tmp_path: Path
) -> None:
    here.environ["PYTHONPATH"] = str(Path(__file__).parents[2])

    def nowhere(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        (tmp_path / "gone").mkdir()
        script = 'cd "$0" && rmdir "$0" && exec "$@"'
        command = ["sh", "-c", script, str(tmp_path / "gone"), *PROGRAM, *arguments]
        return subprocess.run(command, env=here.environ, capture_output=True, timeout=PATIENCE, check=False)

    assert nowhere("run", "--", "sh", "-c", "exit 5").returncode == 5
    with here.store() as store:
        assert load_run(store, find_recording(store, "last").id).job.exit_code == 5
    looked = nowhere("cache", "ls", "relative")
    assert looked.returncode == 2
    assert b"does not exist any more" in looked.stderr


def test_no_command_is_a_usage_error(here: Here) -> None:
    assert here("run").returncode == 2


def test_a_script_that_crashes_is_recorded_with_its_error(here: Here) -> None:
    done = here(*python("print('step 3', flush=True); raise RuntimeError('loss is nan')"))
    assert done.returncode == 1
    assert b"RuntimeError: loss is nan" in done.stderr
    with here.store() as store:
        run = load_run(store, find_recording(store, "last").id)
    assert any("loss is nan" in mark.text for mark in run.job.marks)


def test_a_state_folder_that_cannot_be_written_costs_the_recording_not_the_job(here: Here) -> None:
    here.state.write_text("a file, not a folder")
    done = here(*python("print('trained'); raise SystemExit(4)"))
    assert (done.returncode, done.stdout) == (4, b"trained\n")
    assert f"the output is not recorded any more: {here.state}: it is a file; set state_dir".encode() in done.stderr
    stands = f"events are not recorded any more: {here.state}: a file stands where a folder should be; set state_dir"
    assert stands.encode() in done.stderr
    assert b"Errno" not in done.stderr
    assert b"the end of the run" not in done.stderr
    assert b"None" not in done.stderr
    assert b"\n  recorded     nothing: a warning says why\n" in done.stderr
    assert b"\n  next" not in done.stderr
    for command in (("runs",), ("replay", "last")):
        listed = here(*command)
        assert (listed.returncode, listed.stdout) == (2, b"")
        assert f"{here.state} is a file, so no recordings can be there".encode() in listed.stderr


@pytest.mark.parametrize("fault", ["the state folder is a file", "the database would be reached in the open"])
def test_a_job_runs_where_it_cannot_be_shipped(here: Here, fault: str) -> None:
    here.environ["NEURONTOP_STORE"] = "postgresql://database.invalid/fleet"
    if fault == "the state folder is a file":
        here.state.write_bytes(b"")
    else:
        here.environ["NEURONTOP_STORE"] += "?sslmode=disable"
    done = here(*python("print('trained')"))
    assert (done.returncode, done.stdout) == (0, b"trained\n")
    assert b"; the job is recorded here and not shipped\n" in done.stderr


def test_a_store_that_cannot_be_opened_leaves_the_output_and_says_so(here: Here) -> None:
    (here.state / "neurontop.db").mkdir(parents=True)
    done = here(*python("print('trained')"))
    assert (done.returncode, done.stdout) == (0, b"trained\n")
    assert b" (the output alone: a warning says why)\n" in done.stderr


def test_ctrl_c_reaches_every_process_and_the_end_is_recorded(here: Here) -> None:
    code = (
        "import subprocess, sys, signal\n"
        "subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'], start_new_session=True)\n"
        "print('ready', flush=True); signal.pause()"
    )
    program = here.start(*python(code))
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n"
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=PATIENCE)
    assert program.returncode == 130
    with here.store() as store:
        record = find_recording(store, "last")
        ended = list(store.replay(record.id))[-1]
    assert processes_of_run(record.id) == []
    assert isinstance(ended, RunFinished)
    assert (ended.exit_code, ended.interrupted_by) == (-2, "SIGINT")
    assert not is_recording(Path(record.folder))


@pytest.mark.parametrize(
    ("on_interrupt", "lines_shown"),
    [("signal.SIG_DFL", []), ("signal.default_int_handler", ["KeyboardInterrupt"]), ("lambda *_: sys.exit(3)", [])],
    ids=["it dies of the signal", "it raises KeyboardInterrupt", "it ends with a status of its own"],
)
def test_a_job_that_ctrl_c_ended_has_one_verdict_everywhere(
    here: Here, on_interrupt: str, lines_shown: list[str]
) -> None:
    code = f"import signal, sys; signal.signal(signal.SIGINT, {on_interrupt}); print('x', flush=True); signal.pause()"
    program = here.start("run", "--name", "loop", "--", sys.executable, "-c", code)
    assert program.stdout is not None
    assert program.stdout.readline() == b"x\n"
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=PATIENCE)
    assert b"  interrupted (SIGINT)  " in here("runs").stdout
    diagnosed, checked, status = here("diagnose", "loop"), here("check", "loop"), here("status", "loop")
    first, *rest = diagnosed.stdout.decode().splitlines()
    assert first == "loop: interrupted (SIGINT)"
    assert [line.strip() for line in rest[2:3]] == lines_shown, "a traceback shows where it was; any other line nothing"
    assert checked.stdout.decode().splitlines()[0] == "the job: interrupted (SIGINT)"
    assert status.stdout.startswith(b"INTERRUPTED loop \xc2\xb7 by SIGINT \xc2\xb7 after ")
    report = here("report", "--format", "md", "loop").stdout.decode()
    assert "**interrupted (SIGINT)**" in report
    assert "- The run was interrupted (SIGINT) after" in report
    assert ("**cause**" in report) is bool(lines_shown)
    assert not {b"next", b"next:", b"**Next:**"} & {
        *diagnosed.stdout.split(),
        *status.stdout.split(),
        *report.encode().split(),
    }
    assert [done.returncode for done in (diagnosed, checked, status)] == [1, 1, 1]
    document = json.loads(here("diagnose", "--json", "loop").stdout)
    assert (document["failed"], document["causes"][0]["class"], document["interrupted_by"]) == (
        True,
        "interrupted",
        "SIGINT",
    )


def test_a_job_that_ignores_ctrl_c_ends_at_the_second(here: Here) -> None:
    code = (
        "import signal\n"
        "signal.signal(signal.SIGINT, lambda *_: print('saving', flush=True))\n"
        "print('ready', flush=True)\n"
        "while True: signal.pause()"
    )
    program = here.start(*python(code))
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n"
    program.send_signal(signal.SIGINT)
    assert program.stdout.readline() == b"saving\n"
    program.send_signal(signal.SIGINT)
    program.communicate(timeout=PATIENCE)
    assert program.returncode == 143


def test_when_our_reader_goes_away_so_does_the_jobs(here: Here) -> None:
    program = here.start(*python("import time\nwhile True: print('line', flush=True)"))
    assert program.stdout is not None
    assert program.stdout.readline() == b"line\n"
    program.stdout.close()
    program.communicate(timeout=PATIENCE)
    assert program.returncode != 0


def test_status_runs_and_replay_report_the_recording(here: Here) -> None:
    assert here("status", "last").returncode == 3
    here("run", "--name", "demo", "--", sys.executable, "-c", f"print({HIT!r})")
    status = here("status", "last", "--json")
    assert (status.returncode, json.loads(status.stdout)["cache"]["hits"]) == (0, 1)
    rows = json.loads(here("runs", "--json").stdout)["runs"]
    assert [(row["name"], row["state"], row["exit_code"]) for row in rows] == [("demo", "finished", 0)]
    replayed = json.loads(here("replay", "demo", "--json").stdout)
    assert replayed["header"]["exit_code"] == 0
    assert here("replay", "nothing").returncode == 3


def test_status_of_a_failed_job_is_1(here: Here) -> None:
    here(*python("raise SystemExit(9)"))
    assert here("status", "last").returncode == 1


def test_a_job_that_runs_is_followed_from_another_terminal(here: Here) -> None:
    program = here.start(*python(f"import signal; print({HIT!r}, flush=True); signal.pause()"))
    watcher = here.start("watch", "--json")
    assert watcher.stdout is not None
    for line in watcher.stdout:
        view = json.loads(line)
        if view["cache"]["hits"] == 1:
            break
    assert view["header"]["command"][0] == sys.executable
    watcher.send_signal(signal.SIGINT)
    watcher.communicate(timeout=PATIENCE)
    assert b"no failure so far; the job goes on" in here("diagnose", "last").stdout
    assert b"**no failure so far; the job goes on**" in here("report", "last").stdout
    program.terminate()
    program.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("of", [["last"], []], ids=["a recording", "workers found"])
def test_status_imports_nothing_heavy(here: Here, of: list[str]) -> None:
    code = (
        f"import sys; from neuron_top.cli.main import main; main(['status', '--json', *{of}]);"
        "heavy = {'textual', 'dash', 'plotly', 'pandas', 'torch', 'rich', 'watchdog', 'numpy'} & set(sys.modules);"
        "print(sorted(heavy), file=sys.stderr)"
    )
    here("run", "--", "true")
    worker = subprocess.Popen(["sleep", "1000"], env={**here.environ, "LOCAL_RANK": "0"})
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], env=here.environ, capture_output=True, timeout=PATIENCE, check=False
        )
    finally:
        worker.kill()
        worker.wait()
    assert bool(json.loads(done.stdout)["header"]["run"]) is bool(of)
    assert done.stderr.decode().splitlines()[-1] == "[]"


def test_with_nothing_running_watch_says_what_it_looked_for(here: Here) -> None:
    done = here("watch")
    assert done.returncode == 0
    assert b"neurontop run --" in done.stderr or b"core" in done.stdout


def test_a_log_on_standard_input_is_read_to_its_end(here: Here) -> None:
    done = here("watch", "--json", "-", stdin=(HIT + "\n").encode())
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[-1])["cache"]["hits"] == 1


@pytest.mark.parametrize("streams", ["<&- 2>/dev/null", "2>&-", ">/dev/full 2>/dev/full", "<&- 2>&-"])
def test_the_exit_status_is_the_commands_whatever_became_of_our_own_streams(here: Here, streams: str) -> None:
    command = f"{sys.executable} -m neuron_top run -- sh -c 'echo said; echo why >&2; exit 7' {streams}"
    done = subprocess.run(["sh", "-c", command], env=here.environ, timeout=PATIENCE, check=False)
    assert done.returncode == 7
    with here.store() as store:
        assert [run.exit_code for run in store.runs()] == [7]


def test_a_reader_of_the_messages_that_goes_away_does_not_change_the_exit_status(here: Here) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*PROGRAM, *python("import time; time.sleep(1.2); raise SystemExit(7)")],
            env=here.environ, stdin=subprocess.DEVNULL, stderr=writing, timeout=PATIENCE, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert done.returncode == 7


def test_what_a_command_leaves_behind_goes_on_and_prints_to_where_it_would(here: Here, tmp_path: Path) -> None:
    go, went = tmp_path / "go", tmp_path / "went"
    late = f"while [ ! -e {go} ]; do sleep 0.1; done; echo late && touch {went}"
    started = here.start("run", "--", "sh", "-c", f"({late}) & echo done")
    assert started.wait(PATIENCE) == 0
    go.touch()
    assert started.stdout is not None
    assert started.stderr is not None
    assert started.stdout.read() == b"done\nlate\n"
    assert b"left processes that go on" in started.stderr.read()
    assert went.exists()
    with here.store() as store:
        (run,) = store.runs()
    assert (Path(run.folder) / "output.log").read_bytes() == b"done\n"
    started.stdout.close()
    started.stderr.close()
