"""A job that may have no more threads, processes or files: a clear error or a slower way, no wait that never ends."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import pytest

from neuron_top.compile.child_output import ChildOutput
from neuron_top.compile.compiler import CompileTask
from neuron_top.compile.compilers import inductor
from neuron_top.compile.parallel.collect import Counts
from neuron_top.compile.parallel.compile_queue import CollectedGraph
from neuron_top.compile.parallel.local import CompilePids, LocalExecutor
from neuron_top.compile.parallel.log_lines import ParallelLog
from neuron_top.compile.parallel.run import ParallelCompile
from neuron_top.compile.server import client as client_module
from neuron_top.compile.server import server
from neuron_top.compile.server.client import CompileClient
from neuron_top.compile.torch.compile_beside import CompileBeside
from neuron_top.compile.wrapper.compile_end import failure
from neuron_top.errors import CompileError, CompilerKilled, CompilerMissing
from tests.compile import fakes


def no_more_threads(self: threading.Thread) -> NoReturn:
    raise RuntimeError("can't start new thread")


def test_a_server_that_nobody_can_listen_to_is_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_COMMAND", fakes.server_command(tmp_path, "import sys; sys.stdin.read()"))
    monkeypatch.setattr(threading.Thread, "start", no_more_threads)
    client = CompileClient()
    task = CompileTask(module="MODULE_1+2", graph=tmp_path / "g", outputs={"model.inductor": tmp_path / "o"})
    for attempt in (client.start, lambda: client.compile(task, began=lambda pid: None)):
        with pytest.raises(CompilerMissing, match="can't start new thread"):
            attempt()
    assert client._process is None


def test_without_a_thread_beside_the_job_it_waits_for_the_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading.Thread, "start", no_more_threads)
    beside = CompileBeside(fakes.wrapper(tmp_path), fakes.GRAPH)
    beside.start()
    assert not beside.is_under_way
    assert beside.finish().entry.artifact.read_bytes() == b"the graphthe graph"


def test_a_parallel_compile_without_threads_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapper = fakes.wrapper(tmp_path)
    wrapper.extract(fakes.GRAPH)
    path = wrapper.entry(fakes.GRAPH.key).graph
    log = ParallelLog()
    executor = LocalExecutor({path.name: wrapper}, log=log, pids=CompilePids())
    job = ParallelCompile(executor, workers=1, retries=0, log=log, show=lambda _: None)
    monkeypatch.setattr(threading.Thread, "start", no_more_threads)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        job.run([CollectedGraph(path=path, module=path.parent.name)], Counts(), observed_peak=None)


def no_more(*_: object) -> NoReturn:
    raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


@pytest.mark.parametrize("lacking", ["fork", "pipe"])
def test_a_server_without_processes_or_files_says_so_and_goes_on(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(server.signal, "set_wakeup_fd", lambda *_, **__: -1)
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    one = server.Server(os.getppid(), 0, 1)
    monkeypatch.setattr(one, "_send", sent.append)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with monkeypatch.context() as patch:
        patch.setattr(os, lacking, no_more)
        one._begin({"id": 1, "graph": "g"})
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    (answer,) = sent
    problem = failure(answer["status"], answer["log"], "MODULE_1+2", [], "the compile process")
    assert type(problem) is CompilerKilled, "the graph can do nothing about it"
    assert "ulimit -u" in str(problem)


@pytest.mark.parametrize(("answer", "left"), [("rm scrap; exit", False), ("", True)])
def test_tools_of_an_ended_compile_have_time_to_remove_their_files(answer: str, left: bool, tmp_path: Path) -> None:
    """As the C++ compiler does when it is asked to end; one that does not listen is killed."""
    script = f"trap '{answer}' TERM; touch scrap; while :; do sleep 0.01; done"
    tool = subprocess.Popen(["sh", "-c", script], cwd=tmp_path, process_group=0)
    joined, others = (tmp_path / "neurontop" / f"joined-{pid}-x" for pid in (tool.pid, tool.pid + 1))
    for folder in (joined, others):
        folder.mkdir(parents=True)
    while not (tmp_path / "scrap").exists():
        assert tool.poll() is None
    request = {"environ": {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}, "scratch": ""}
    fork = server._Compile(request, tool.pid, ChildOutput(), ChildOutput())
    reaper = threading.Thread(target=tool.wait)
    reaper.start()
    fork.clean_up()
    reaper.join()
    assert (tool.returncode == -signal.SIGKILL, (tmp_path / "scrap").exists()) == (left, left)
    assert (joined.exists(), others.exists()) == (False, True)


def test_the_line_that_tells_is_quoted_not_the_last() -> None:
    log = "c++: cannot execute 'cc1plus': vfork: Resource temporarily unavailable\ncompilation terminated."
    problem = failure(70, log, "MODULE_1+2", [], "the compile process")
    assert type(problem) is CompilerKilled
    assert "vfork" in str(problem)


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (-9, CompilerKilled, "signal 9 (SIGKILL): most often the host's memory ran out"),
        (137, CompilerKilled, "signal 9 (SIGKILL)"),
        (-signal.SIGRTMIN - 1, CompilerKilled, f"signal {signal.SIGRTMIN + 1}: somebody ended it"),
        (-11, CompileError, "crashed: signal 11 (SIGSEGV)"),
        (174, CompileError, "exit status 174"),
    ],
)
def test_how_a_compile_process_ended_is_told_for_every_status(
    status: int, kind: type[CompileError], words: str
) -> None:
    """Of a shell's statuses only those of ordinary signals count: programs have codes of their own behind them."""
    problem = failure(status, "", "MODULE_1+2", [], "the compile process")
    assert type(problem) is kind
    assert words in str(problem)


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EMFILE, errno.ENOMEM])
def test_a_compiler_that_cannot_be_asked_now_is_not_taken_for_none(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its version is part of the name of the cache's folder: all graphs would be looked for in another one."""

    def started(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(inductor.programs, "ask", started)
    monkeypatch.setattr(inductor, "_PAUSE_SECONDS", 0.0)
    with pytest.raises(CompilerMissing, match=os.strerror(number)):
        inductor._compiler_version("c++")


def cxx(folder: Path, body: str) -> str:
    """A C++ compiler in a script; `times`: a line for each time it was asked."""
    program = folder / "c++"
    program.write_text(f"#!/bin/sh\necho >> {folder}/times\n{body}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("kill -9 $$", "SIGKILL"),
        ("echo 'fork: Resource temporarily unavailable' >&2; exit 254", "exit status 254: fork: Resource temporarily"),
        ("exit 0", "it said nothing"),
        ("sleep 600", "it did not answer within"),
    ],
    ids=["killed", "failed", "silent", "slow"],
)
def test_a_compiler_that_answers_badly_is_asked_again_and_not_taken_for_another(
    answer: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inductor, "_ANSWER_SECONDS", 0.2 if "sleep" in answer else 60.0)
    monkeypatch.setattr(inductor, "_PAUSE_SECONDS", 0.0)
    good = cxx(tmp_path, "echo 'c++ 1.2.3'")
    (tmp_path / "bad").mkdir()
    with pytest.raises(CompilerMissing, match=f"c\\+\\+ cannot be asked for its version: .*{said}"):
        inductor._compiler_version([cxx(tmp_path / "bad", answer), good])
    assert not (tmp_path / "times").exists(), "the other one is not what compiles"


def test_a_compiler_that_answers_badly_once_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inductor, "_PAUSE_SECONDS", 0.0)
    program = cxx(tmp_path, f"[ $(wc -l < {tmp_path}/times) = 1 ] && kill -9 $$; echo 'c++ 1.2.3'; echo more")
    assert inductor._compiler_version([program]) == f"{program} c++ 1.2.3"


@pytest.mark.parametrize("answer", ["echo; echo 'c++ 1.2.3'", "echo 'c++ 1.2.3' >&2"])
def test_a_compiler_says_its_version_in_its_own_way(answer: str, tmp_path: Path) -> None:
    program = cxx(tmp_path, answer)
    assert inductor._compiler_version(program) == f"{program} c++ 1.2.3"


def test_a_compiler_that_is_not_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert inductor._compiler_version(["no-such-compiler", None]) == "none"


def test_a_cpu_that_cannot_be_read_now_is_not_taken_for_another() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(CompilerMissing, match="/proc/cpuinfo"):
            inductor._cpu()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_search_path_with_what_is_no_text_reaches_the_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Python passes over such places, and so does the server; the job must not end for them."""
    monkeypatch.setattr(sys, "path", [*sys.path, tmp_path, b"/bytes", "/text"])
    found = client_module._environment()["PYTHONPATH"].split(os.pathsep)
    assert (found[-1], str(tmp_path) in found, "/bytes" in found) == ("/text", False, False)


def test_a_place_with_a_colon_is_not_taken_for_two_by_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second would be a folder wherever the job works, in which anybody may have put modules."""
    monkeypatch.setattr(sys, "path", [*sys.path, "/jobs/run:2"])
    found = client_module._environment()["PYTHONPATH"].split(os.pathsep)
    assert not {"/jobs/run", "2"} & {*found}


def test_a_working_folder_that_was_deleted_is_no_place_for_modules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setattr(sys, "path", ["", "/text"])
    pythons, pythons_in_c, *places = client_module._environment()["PYTHONPATH"].split(os.pathsep)
    assert Path(pythons, "os.py").exists()
    assert Path(pythons_in_c).is_dir()
    assert places == ["/text"]


@pytest.mark.torch
@pytest.mark.xdist_group("compiles")
@pytest.mark.parametrize("variable", ["TMPDIR", "TORCHINDUCTOR_CACHE_DIR"])
def test_a_folder_that_pytorch_cannot_name_to_the_compiler_is_no_fault_of_the_graph(
    own_caches: Path, tmp_path: Path, variable: str
) -> None:
    """Stored as its failure, it would end every other job that has this graph."""
    folder = tmp_path / "my work"
    folder.mkdir(mode=0o700)
    script = "import torch; torch.compile(lambda x: x.sin() * 2, backend='neurontop')(torch.ones(3))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, variable: str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"PyTorch cannot compile in {folder}" in done.stderr
    assert [*own_caches.rglob("model.fxgraph")]
    assert not [*own_caches.rglob("model.log")]
