"""Bad input to every command that reads: a sentence with the name of the file and a documented status, no traceback.

Each case is a process of its own. `make adversary` walks the whole table; otherwise every bad thing meets one command,
and every command one bad thing.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from neuron_top.processes.log_input import portions
from tests.adversary import bad_input
from tests.adversary.attacker import LONG, as_stranger, needs_root
from tests.builders import write_entry

DOCUMENTED = (0, 1, 2, 3, 4)
RECORDINGS = {
    "runs": ["runs"],
    "runs as JSON": ["runs", "--json"],
    "replay": ["replay", "last", "--json"],
    "report": ["report", "last"],
    "compare": ["compare", "last~", "last"],
    "check": ["check", "last"],
    "explain": ["explain", "last"],
    "status": ["status", "last"],
    "status as JSON": ["status", "last", "--json"],
    "pin": ["cache", "pin", "--run", "last", "{folder}"],
}
LOGS = {
    "tally": ["tally", "{log}"],
    "tally as JSON": ["tally", "--json", "{log}"],
    "report": ["report", "{log}"],
    "check": ["check", "{log}"],
    "compare": ["compare", "{log}", "{folder}/sound.log"],
    "explain": ["explain", "{log}"],
    "watch": ["watch", "{log}"],
    "telemetry": ["telemetry", "--once", "--source", "{log}"],
}
FOLDERS = ("compare", "watch")
"""Commands for which a folder means something: two caches, or a folder of logs."""


def _some(things: Sequence[str], commands: Sequence[str]) -> list[tuple[str, str]]:
    """Every pair, or as many as it takes to have each of both once."""
    if LONG:
        return list(itertools.product(things, commands))
    count = max(len(things), len(commands))
    return [(things[number % len(things)], commands[number % len(commands)]) for number in range(count)]


def _environment(state: Path) -> dict[str, str]:
    given = {name: value for name, value in os.environ.items() if not name.startswith(("NEURONTOP_", "NEURON_"))}
    return given | {
        "NEURONTOP_STATE_DIR": str(state),
        "XDG_CONFIG_HOME": str(state / "config"),
        "NEURON_COMPILE_CACHE_URL": str(state / "cache"),
    }


def _neurontop(words: Sequence[str], state: Path, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "neuron_top", *words]
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.run(
        command, env=_environment(state), text=True, errors="replace", timeout=300, check=False, **options
    )  # type: ignore[call-overload,no-any-return]


def _judge(ended: subprocess.CompletedProcess[str], name: str, *, statuses: Sequence[int] = DOCUMENTED) -> None:
    assert "Traceback" not in ended.stderr, ended.stderr
    assert ended.returncode in statuses, (ended.returncode, ended.stderr)
    if ended.returncode:
        assert name in ended.stderr, ended.stderr
        assert ended.stderr.startswith("neurontop: ")


@pytest.mark.parametrize(("thing", "command"), _some(list(bad_input.STORES), list(RECORDINGS)))
def test_a_broken_store_is_reported_in_a_sentence(tmp_path: Path, thing: str, command: str) -> None:
    state = tmp_path / "state"
    store = bad_input.recorded(state)
    words = [word.format(folder=tmp_path) for word in RECORDINGS[command]]
    with contextlib.ExitStack() as hold:
        bad_input.STORES[thing](store, hold)
        ended = _neurontop(words, state)
    if thing == "sealed" or (thing == "dangling" and command == "compare"):
        _judge(ended, "")  # a folder without the right to write is read; a link to nothing is no recording
    elif thing == "bad rows":
        _judge(ended, store.name, statuses=(1,))
    else:
        _judge(ended, str(state), statuses=(1, 3))
    if thing in ("zero bytes", "dangling"):
        assert ended.returncode == 3


@needs_root
@pytest.mark.parametrize("command", RECORDINGS if LONG else ["runs", "status", "report"])
@pytest.mark.parametrize("sealed", ["store", "folder"])
def test_a_store_that_this_user_may_not_read_is_reported_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, sealed: str
) -> None:
    state = tmp_path / "state"
    store = bad_input.recorded(state)
    words = [word.format(folder=tmp_path) for word in RECORDINGS[command]]
    (store if sealed == "store" else state).chmod(0)
    status, errors = _as_stranger(words, state, monkeypatch)
    assert status in (1, 2, 3)
    assert errors.startswith("neurontop: ")
    assert str(state) in errors


def _as_stranger(words: list[str], state: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Status and standard error of a command, run by a user who owns nothing. A fork: the interpreter may be ours."""
    from neuron_top.cli.main import main

    for name, value in _environment(state).items():
        monkeypatch.setenv(name, value)
    # The tests' own settings lie in a folder that other tests make, with their own permissions.
    monkeypatch.setenv("NEURONTOP_CONFIG", os.devnull)
    for folder in (state.parent, *state.parent.parents):
        if not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o011)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(words)  # loads every module, which the stranger may not be able to read

    def work() -> str:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
            try:
                status = main(words)
            except BaseException:
                return json.dumps([-1, traceback.format_exc()])
        return json.dumps([status, errors.getvalue()])

    status, errors = json.loads(as_stranger(work))
    return status, errors


@pytest.mark.parametrize(("thing", "command"), _some(list(bad_input.UNREADABLE), list(LOGS)))
def test_what_is_no_log_is_reported_in_a_sentence(tmp_path: Path, thing: str, command: str) -> None:
    ended, log = _read(tmp_path, bad_input.UNREADABLE[thing], command)
    if command == "watch":  # a folder may still get logs
        _judge(ended, str(log), statuses=({"folder": 0, "dangling": 3}.get(thing, 2),))
        assert str(log) in ended.stderr or thing in ("dangling", "folder", "gzip cut", "gzip broken")
    elif thing == "folder" and command in FOLDERS:
        _judge(ended, "", statuses=(0, 2))
    else:
        _judge(ended, str(log), statuses=(2,))


@pytest.mark.parametrize(("thing", "command"), _some(list(bad_input.READABLE), list(LOGS)))
def test_what_is_an_odd_log_is_read(tmp_path: Path, thing: str, command: str) -> None:
    ended, log = _read(tmp_path, bad_input.READABLE[thing], command)
    expected = {"telemetry": (1,), "explain": (3,)}.get(command, (0,))
    _judge(ended, str(log) if command == "telemetry" else "", statuses=expected)
    if command == "tally as JSON":
        assert json.loads(ended.stdout)["hits"] == (100 if thing == "sparse" else 50)


@pytest.mark.parametrize("thing", bad_input.READABLE)
def test_each_odd_log_counts_what_is_in_it(tmp_path: Path, thing: str) -> None:
    from neuron_top.parsers.counting import CountingReader

    with contextlib.ExitStack() as hold:
        reader = CountingReader("log:x")
        for data in portions(str(bad_input.READABLE[thing](tmp_path, hold)), lambda remark: None):
            reader.feed(data)
        reader.flush()
    assert reader.tally.as_json()["hits"] == (100 if thing == "sparse" else 50)


@pytest.mark.parametrize(("thing", "command"), _some(list(bad_input.EMPTY), list(LOGS)))
def test_what_is_empty_is_no_failure_of_ours(tmp_path: Path, thing: str, command: str) -> None:
    ended, log = _read(tmp_path, bad_input.EMPTY[thing], command)
    expected = {"telemetry": (1,), "check": (1,), "explain": (3,)}.get(command, (0,))
    _judge(ended, str(log) if command == "telemetry" else "", statuses=expected)


def _read(
    folder: Path, make: Callable[[Path, bad_input.Hold], Path], command: str
) -> tuple[subprocess.CompletedProcess[str], Path]:
    (folder / "state").mkdir()
    (folder / "sound.log").write_text(bad_input.LOG)
    with contextlib.ExitStack() as hold:
        log = make(folder, hold)
        words = [word.format(log=log, folder=folder) for word in LOGS[command]]
        return _neurontop(words, folder / "state"), log


@needs_root
@pytest.mark.parametrize("command", LOGS if LONG else ["tally", "check"])
def test_a_log_that_this_user_may_not_read_is_reported_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    log, state = tmp_path / "bad.log", tmp_path / "state"
    log.write_text(bad_input.LOG)
    (tmp_path / "sound.log").write_text(bad_input.LOG)
    state.mkdir(mode=0o755)
    log.chmod(0)
    words = [word.format(log=log, folder=tmp_path) for word in LOGS[command]]
    status, errors = _as_stranger(words, state, monkeypatch)
    assert status == 2
    assert errors.startswith("neurontop: ")
    assert str(log) in errors


SETTINGS = {
    "no TOML": b"theme = = 'dark'\n",
    "no text": b"\xff\xfe\x00\x01",
    "unknown": b"color = 'dark'\n",
    "wrong type": b"sample_seconds = 'often'\n",
    "JSON": b'{"theme": "dark"}\n',
    "a number of 5,000 digits": b"keep_runs = " + b"9" * 5000 + b"\n",
    "folder": None,
}


@pytest.mark.parametrize("thing", SETTINGS)
def test_broken_settings_are_reported_in_a_sentence(tmp_path: Path, thing: str) -> None:
    place = tmp_path / "config" / "neurontop" / "config.toml"
    place.parent.mkdir(parents=True)
    content = SETTINGS[thing]
    if content is None:
        place.mkdir()
    else:
        place.write_bytes(content)
    for command in RECORDINGS if LONG else ("runs",):
        words = [word.format(folder=tmp_path) for word in RECORDINGS[command]]
        environment = _environment(tmp_path) | {"NEURONTOP_CONFIG": str(place)}
        ended = subprocess.run(
            [sys.executable, "-m", "neuron_top", *words], env=environment, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in ended.stderr
        assert ended.returncode in (1, 2)
        assert ended.stderr.startswith("neurontop: ")


# --- pipes ---


@contextlib.contextmanager
def _waiting(pipe: Path, state: Path) -> Iterator[subprocess.Popen[str]]:
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "neuron_top", "tally", "--json", str(pipe)]
    with subprocess.Popen(
        command, env=_environment(state), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            reported = process.stderr.readline()
            assert str(pipe) in reported
            assert "waiting" in reported
            yield process
        finally:
            process.kill()


def test_a_pipe_without_a_writer_is_waited_for_and_that_is_reported(tmp_path: Path) -> None:
    with _waiting(tmp_path / "pipe", tmp_path) as process:
        (tmp_path / "pipe").write_text(bad_input.LOG)
        output, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")
        assert json.loads(output)["hits"] == 50


def test_waiting_for_a_pipe_ends_with_ctrl_c(tmp_path: Path) -> None:
    with _waiting(tmp_path / "pipe", tmp_path) as process:
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
        assert (process.returncode, output) == (130, "")
        assert "Traceback" not in errors


def test_a_pipe_that_is_written_to_at_once_is_read_without_a_word(tmp_path: Path) -> None:
    pipe, reported = tmp_path / "pipe", []
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(bad_input.LOG.encode()),))
    writer.start()
    assert b"".join(portions(str(pipe), reported.append)).decode() == bad_input.LOG
    writer.join()
    assert reported == []


def test_a_file_that_shrinks_and_goes_while_it_is_read_gives_what_was_there(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * (5 << 20))
    read = portions(str(log), lambda remark: None)
    first = next(read)
    os.truncate(log, 10)
    log.unlink()
    assert len(first) + sum(map(len, read)) <= 5 << 20


# --- our own streams ---


@pytest.mark.parametrize("words", [["tally", "{log}"], ["tally", "--json", "{log}"], ["report", "{log}"]])
def test_a_full_disk_behind_standard_output_is_reported_in_a_sentence(tmp_path: Path, words: list[str]) -> None:
    log = tmp_path / "log"
    log.write_text(bad_input.LOG)
    with open("/dev/full", "w") as full:
        ended = _neurontop([word.format(log=log) for word in words], tmp_path, stdout=full)
    assert (ended.returncode, ended.stderr) == (2, "neurontop: standard output: No space left on device\n")


@pytest.mark.parametrize(
    "words",
    [
        ["ls"], ["ls", "--json"], ["roots"], ["evict", "--older-than", "1d", "--dry-run"], ["verify", "--json"],
        ["policy"],
    ],
)  # fmt: skip
def test_a_command_of_the_cache_that_only_looks_says_no_more_of_a_full_disk(tmp_path: Path, words: list[str]) -> None:
    for number in range(60):  # more than a buffer: it fails while it is written
        write_entry(tmp_path / "cache", {"model.hlo_module.pb": b"x"}, graph=f"{number:020d}", age=3 * 86400.0)
    command = ["cache", *words, *([] if words in (["roots"], ["policy"]) else [str(tmp_path / "cache")])]
    with open("/dev/full", "w") as full:
        ended = _neurontop(command, tmp_path, stdout=full)
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (
        2,
        "neurontop: standard output: No space left on device",
    )


@pytest.mark.parametrize("words", [["--help"], ["cache", "--help"], ["cache", "evict", "-h"], ["tally", "--help"]])
def test_help_that_cannot_be_written_is_no_success(tmp_path: Path, words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        ended = _neurontop(words, tmp_path, stdout=full)
    assert (ended.returncode, ended.stderr) == (2, "neurontop: standard output: No space left on device\n")


@pytest.mark.parametrize("words", [["tally", "{log}"], ["report", "{log}"], ["runs"]])
def test_a_closed_standard_output_is_reported_in_a_sentence(tmp_path: Path, words: list[str]) -> None:
    log = tmp_path / "log"
    log.write_text(bad_input.LOG)
    command = [sys.executable, "-m", "neuron_top", *(word.format(log=log) for word in words)]
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command],
        env=_environment(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("neurontop: standard output is closed")


@pytest.mark.parametrize("words", [["tally", "-"], ["report", "-"], ["check", "-"], ["telemetry", "--source", "-"]])
def test_a_closed_standard_input_is_reported_in_a_sentence(tmp_path: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "neuron_top", *words]
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command],
        env=_environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (2, "neurontop: standard input (-) is closed; name a file\n")


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(bad_input.LINE.format(f"MODULE_{number:020d}+3d4a12eb") for number in range(5000)))
    command = [sys.executable, "-m", "neuron_top", "tally", "--json", str(log)]
    with subprocess.Popen(
        command, env=_environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(1) == "{"
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 0


def test_a_terminal_that_hangs_up_while_it_is_read_is_no_traceback(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "neuron_top", "tally", "--json", "-"]
    with subprocess.Popen(
        command, env=_environment(tmp_path), stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(theirs)
        os.write(ours, b"Compiler status PASS\n")
        time.sleep(2.0)  # until the program reads; an end before its first read is an end too
        os.close(ours)
        _, errors = process.communicate(timeout=120)
        assert "Traceback" not in errors
        assert process.returncode in (0, 2)
