"""Several caches that are opened at the same moment by different threads, as `neurontop` does when it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from neuron_top.cache.scan import catalog
from tests import builders

CODE = """
import sys, threading
from pathlib import Path
from neuron_top.cache.scan import catalog
root, state = sys.argv[1:]
sys.setswitchinterval(1e-6)
line, seen = threading.Barrier(8), []
def open_it():
    line.wait()
    seen.append(len(catalog.open_root(root, Path(state)).entries))
threads = [threading.Thread(target=open_it) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(seen)
"""
"""In a process of its own, because it is the first look of a process that crashed it, and took the process along."""


def test_the_first_look_at_several_caches_at_once_is_survived(tmp_path: Path) -> None:
    root, state = tmp_path / "cache", tmp_path / "state"
    builders.write_entry(root, {"model.neff": builders.neff(), "model.done": b""}, age=7200.0)
    catalog.open_root(str(root), state)
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(root), str(state)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, str([1] * 8)), done.stderr
