"""A copy of a process that waits is, for whoever starts it, a process of Python's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.warm_python import warm_python

pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.xdist_group("compiles"),  # its processes wait there already
    pytest.mark.skipif(sys.platform != "linux", reason="there are no copies elsewhere"),
]


def run(code: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*warm_python(), "-c", code, *arguments],
        env={**os.environ, **environ},
        input="asked\n",
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_has_what_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = (
        "import os, sys; print(sys.argv[1:], os.environ['MARK'], os.getcwd(), input()); print('said', file=sys.stderr)"
    )
    done = run(code, "a", "b c", MARK="here")
    assert (done.stdout, done.stderr) == (f"['a', 'b c'] here {tmp_path} asked\n", "said\n")


def test_pytorch_is_there_already_and_our_back_end_is_not() -> None:
    done = run("import sys; print('torch' in sys.modules, 'neuron_top.compile.torch.backend' in sys.modules)")
    assert done.stdout == "True False\n"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("", 0),
        ("raise SystemExit(3)", 3),
        ("1/0", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    ],
)
def test_it_ends_as_it_would_end(code: str, status: int) -> None:
    done = run(code)
    assert done.returncode == status
    assert ("ZeroDivisionError" in done.stderr) == (code == "1/0")


def test_what_is_to_run_at_its_exit_runs() -> None:
    code = "import atexit, threading, time; atexit.register(print, 'exit')\n"
    assert run(code + "threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()").stdout == (
        "thread\nexit\n"
    )


def test_signals_reach_it_and_its_end_is_that_of_its_client() -> None:
    code = "import time\ntry: print('up', flush=True); time.sleep(600)\nexcept KeyboardInterrupt: print('interrupted')"
    with subprocess.Popen([*warm_python(), "-c", code], stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == "up\n"
        job.send_signal(signal.SIGINT)
        assert job.communicate() == ("interrupted\n", None)
    assert job.returncode == 0
    with subprocess.Popen([*warm_python(), "-c", code], stdout=subprocess.PIPE, text=True) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == "up\n"
        job.kill()
        assert job.stdout.read() == "", "the pipe is closed: the copy was killed, too"


def test_two_in_a_row_have_other_hash_seeds() -> None:
    assert run("print(hash('x'))").stdout != run("print(hash('x'))").stdout


def test_a_script_is_found_with_its_folder(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("WORD = 3")
    script = tmp_path / "job.py"
    script.write_text("import sys, beside; print(__name__, sys.argv, beside.WORD)")
    done = subprocess.run([*warm_python(), str(script), "a"], capture_output=True, text=True, check=True)
    assert done.stdout == f"__main__ {[str(script), 'a']} 3\n"


def test_one_that_would_import_pytorch_in_another_way_is_a_process_of_its_own() -> None:
    code = "import sys, os; print('torch' in sys.modules, os.environ['TORCHINDUCTOR_FX_GRAPH_CACHE'])"
    assert run(code, TORCHINDUCTOR_FX_GRAPH_CACHE="0").stdout == "False 0\n"
