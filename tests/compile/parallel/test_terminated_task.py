"""A task that is terminated while its compile server still imports PyTorch and takes no request."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from tests.compile.fakes import server_command
from tests.compile.parallel import jobs

pytestmark = [pytest.mark.torch, pytest.mark.xdist_group("compiles")]
TASK = """
import sys
from pathlib import Path

import msgspec

from neuron_top.compile.compilers.inductor import Inductor
from neuron_top.compile.parallel.on_node import NodeTask, compile_on_node, graph_digest
from neuron_top.compile.server import client
from neuron_top.compile.wrapper.flags import WrapperOptions
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from tests.compile.fakes import GRAPH

root, client._COMMAND = Path(sys.argv[1]), tuple(sys.argv[2:])
Wrapper(Inductor(), WrapperOptions(cache_url=str(root))).extract(GRAPH)
(graph,) = root.glob("*/MODULE_*/model.fxgraph")
compile_on_node(msgspec.json.encode(NodeTask(graph=str(graph), sha256=graph_digest(graph))))
"""
SERVER = """
import array, fcntl, os, pathlib, select, signal, termios, time

def is_full():
    waiting = array.array("i", [0])
    fcntl.ioctl(0, termios.FIONREAD, waiting)
    return waiting[0] > 60_000

parent = os.getppid()
while not is_full():
    time.sleep(0.05)
locks = list(pathlib.Path(FOLDER, "cache").glob("*/MODULE_*/*.lock"))
pathlib.Path(FOLDER, "seen").write_text(f"{os.getpid()} {len(locks)}")
os.kill(parent, signal.SIGTERM)
hung_up = select.poll()
hung_up.register(0, 0)
while os.getppid() == parent and not hung_up.poll(200):
    pass
"""


def test_a_termination_ends_it_though_its_request_waits_to_be_taken(tmp_path: Path) -> None:
    command = server_command(tmp_path, SERVER.replace("FOLDER", repr(str(tmp_path))))
    environ = jobs.environment(tmp_path, LONGER_THAN_A_PIPE="x" * 100_000)
    task = subprocess.Popen([sys.executable, "-c", TASK, str(tmp_path / "cache"), *command], env=environ)
    seen = tmp_path / "seen"
    try:
        jobs.until(lambda: task.poll() is not None or (seen.exists() and " " in seen.read_text()))
        assert task.wait(100) == 128 + signal.SIGTERM
    finally:
        task.kill()
        task.wait()
    server, locks = map(int, seen.read_text().split())
    assert locks == 1, "it was compiling"
    assert jobs.files(tmp_path, "*.lock*") == []
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(server).wait(10)
