"""Programs that we start: found in folders of strangers, hanging, forking, writing without end; modules of ours."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top import programs
from neuron_top.compile.compilers.neuronx_cc import NeuronxCC
from neuron_top.errors import CompilerMissing
from neuron_top.events import AnyEvent, SourceUnavailable
from neuron_top.telemetry import devices, tools, versions
from neuron_top.telemetry.monitor import MonitorSource
from tests.telemetry.executables import executable


@pytest.fixture(autouse=True)
def _at_most_two_minutes() -> Iterator[None]:
    """What hangs for ever ends the test."""
    signal.alarm(120)
    yield
    signal.alarm(0)


# --- found ---


@pytest.mark.parametrize("path", ["", ".", ":", "::/nowhere", "bin", "./bin:/nowhere", "/nowhere:", "../here"])
@pytest.mark.parametrize("name", ["neuron-ls", "neuron-monitor", "git", "neuronx-cc", "neuron_parallel_compile"])
def test_no_program_of_the_folder_we_are_in_is_found(
    path: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    for folder in (here, here / "bin"):
        executable(folder, name, "open('/proc/self/cwd/ran', 'w')")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", path)
    assert programs.find(name) is None
    assert tools.find(name, sdk_bin=str(tmp_path / "sdk")) is None
    assert versions.git_revision(here) == ""
    with pytest.raises(CompilerMissing, match="not on the PATH"):
        NeuronxCC().directory()
    assert not (here / "ran").exists()


def test_a_full_path_is_found_behind_relative_ones(tmp_path: Path) -> None:
    path = executable(tmp_path / "bin", "neuron-ls", "")
    assert programs.find("neuron-ls", {"PATH": f".::{tmp_path / 'bin'}"}) == path


# --- heard ---


def test_a_child_that_keeps_the_output_open_is_not_waited_for(tmp_path: Path) -> None:
    forks = executable(
        tmp_path,
        "neuron-ls",
        "if os.fork() == 0:\n    open('%s', 'w').write(str(os.getpid()))\n    time.sleep(1000)\n"
        "while not os.path.exists('%s'): time.sleep(0.01)\nprint('[]')" % ((tmp_path / "pid",) * 2),
    )
    began = time.monotonic()
    assert programs.ask([forks], seconds=100).out == b"[]\n"
    assert time.monotonic() - began < 90
    assert ended(int((tmp_path / "pid").read_text() or 0))


def ended(pid: int) -> bool:
    """Whether a process comes to its end."""
    for _ in range(3000):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


HANGING = {
    "sleeps": "time.sleep(1000)",
    "ignores SIGTERM": "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)",
    "closes its output": "os.close(1); os.close(2); time.sleep(1000)",
    "has a child that hangs": "import subprocess; subprocess.run(['sleep', '1000'])",
    "reads its input": "sys.stdin.read(); time.sleep(1000)",
}


@pytest.mark.parametrize("body", HANGING.values(), ids=HANGING)
def test_a_program_that_hangs_is_ended_with_its_children(body: str, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    hangs = executable(tmp_path, "neuron-ls", f"open('{pid}', 'w').write(str(os.getpgid(0)))\n{body}")
    with pytest.raises(programs.NoAnswer, match="did not answer within 5 s"):
        programs.ask([hangs], seconds=5)
    if pid.exists():  # else it never came so far
        with contextlib.suppress(ProcessLookupError):
            for _ in range(3000):
                os.killpg(int(pid.read_text()), 0)
                time.sleep(0.01)
            pytest.fail("its group lives")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_without_end_is_cut(stream: str, tmp_path: Path) -> None:
    writes = executable(tmp_path, "neuron-ls", f"while True: sys.{stream}.write('x' * 65536)")
    tracemalloc.start()
    try:
        with pytest.raises(programs.NoAnswer, match="wrote more than"):
            programs.ask([writes], seconds=100)
        assert tracemalloc.get_traced_memory()[1] < 3 * programs.MOST_BYTES
    finally:
        tracemalloc.stop()


JUNK = {
    "no text": r"sys.stdout.buffer.write(b'\xff\xfe\x00' * 1000)",
    "deep": "print('[' * 200000)",
    "wrong types": "print(json.dumps([{'neuron_device': [], 'nc_count': {}, 'memory_size': 'x', 'bdf': 7}]))",
    "huge numbers": "print('[{\"neuron_device\":' + '9' * 5000 + ',\"nc_count\":1e999,\"memory_size\":-5}]')",
    "no numbers": 'print(\'[{"neuron_device":NaN,"nc_count":-Infinity}]\')',
    "escapes": r"sys.stderr.write('\x1b]52;c;eA==\x07 no device\n'); sys.exit(1)",
    "many": "print(json.dumps([{'neuron_device': n, 'nc_count': 2, 'memory_size': 1} for n in range(20000)]))",
    "killed": "os.kill(0, 9)",
}


@pytest.mark.parametrize("body", JUNK.values(), ids=JUNK)
def test_a_listing_that_is_junk_is_a_reason_or_a_listing(body: str, tmp_path: Path) -> None:
    listing = devices.list_devices(executable(tmp_path, "neuron-ls", body))
    assert listing.reason.isprintable()
    devices.devices_found(listing.devices)


@pytest.mark.parametrize(
    "body",
    [
        r"sys.stdout.buffer.write(b'\xff\xfe')",
        "sys.exit(3)",
        r"print('version \x1b]0;x\x07')",
        "os.kill(os.getpid(), 9)",
        "print('version ' + '9' * 100000)",
        "while True: print('x' * 65536)",
    ],
)
def test_a_compiler_without_a_version_is_missing(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path, "neuronx-cc", body)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompilerMissing) as reported:
        NeuronxCC().directory()
    assert len(str(reported.value)) < 2000


def test_a_repository_whose_git_prints_junk_has_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(tmp_path, "git", r"sys.stdout.buffer.write(b'\xff\xfe' * 10)")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "\xff" not in versions.git_revision(tmp_path)


def test_a_monitor_that_writes_without_a_line_end_takes_no_memory(tmp_path: Path) -> None:
    """Some 40 MiB of one line, then a clean end: told as broken, and held up to a document's length."""
    body = "for _ in range(640): sys.stdout.write('x' * 65536)\nsys.stdout.flush()\ntime.sleep(0.2)"
    source, reported = MonitorSource(command=executable(tmp_path, "neuron-monitor", body)), list[AnyEvent]()

    def emit(event: AnyEvent) -> None:
        reported.append(event)
        if isinstance(event, SourceUnavailable):
            source.stop()

    tracemalloc.start()
    try:
        source.start(emit)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert any(isinstance(event, SourceUnavailable) for event in reported)


# --- what our own programs import ---

PLANTED = "import os; open(os.environ['PLANTED'], 'w'); raise SystemExit(3)"
STARTS = {
    "asked for PyTorch's version": "from neuron_top.actions.execution import compilers\n"
    "try: compilers.LocalCompiler().directory()\nexcept compilers.CompilerMissing: pass",
    "compile server": "from neuron_top.compile.server import client\n"
    "child = client._start(client._environment())\nchild.stdin.close()\nchild.wait()",
    "compiles of a plan": "from neuron_top.actions.execution import compile_child\nimport subprocess\n"
    "from neuron_top.actions.plan import Plan, Totals\nfrom neuron_top.errors import NeuronTopError\n"
    "nothing = Totals(entries=0, files=0, size=0)\n"
    "plan = Plan(identity='x', verb='compile', root='/nowhere', policy='', made_at=0.0, steps=(), exclusions=(),"
    " before=nothing, after=nothing)\n"
    "try: compile_child.compile_apart(plan, jobs=1, read_only=True, watch=lambda _: True)\nexcept NeuronTopError: pass",
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_a_module_in_the_folder_we_are_in_is_not_imported(start: str, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for module in ("torch", "json", "msgspec", "neuron_top", "asyncio", "pickle", "tempfile", "argparse"):
        (here / f"{module}.py").write_text(PLANTED)
    environ = {**os.environ, "PLANTED": str(tmp_path / "ran"), "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [sys.executable, "-P", "-c", start], cwd=here, env=environ, capture_output=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert not (tmp_path / "ran").exists()


def test_the_compile_server_finds_modules_where_its_job_does_behind_pythons_own(tmp_path: Path) -> None:
    (tmp_path / "of_the_job.py").write_text("")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from neuron_top.compile.server.client import _environment\n"
        "import sysconfig\n"
        "library = sysconfig.get_path('stdlib')\n"
        "places = _environment()['PYTHONPATH'].split(':')\n"
        "print(next(place for place in places if not place.startswith(library)))"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    found = subprocess.run([sys.executable, "-P", "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(tmp_path)
