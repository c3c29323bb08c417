"""Makes the recording that `neurontop demo` plays: `python -m tests.tui.record_demo FOLDER --bin BIN`.

`BIN` is the `bin` folder of an environment with neuron-top and PyTorch; its path, the machine's name and those of the
example's folder are in the recording: use neutral ones. The job is the tutorial with an empty cache; the first
compiler that is seen at work is killed, as one is that took too much memory, and its graph is compiled again.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import subprocess
import time
from pathlib import Path

from neuron_top.events import AnyEvent, RunStarted, decode, encode
from neuron_top.store.sqlite import FILE_NAME, SqliteStore
from tests.compile.compile_forks import forks_at_work

EXAMPLE = Path(__file__).resolve().parents[2] / "assets" / "examples" / "train_bert_tp.py"
DEMO = Path(__file__).resolve().parents[2] / "assets" / "demo"
STEPS = 60


def record(binaries: Path, folder: Path) -> None:
    """Run the job in `folder` with a state folder and caches of its own there; kill one compile."""
    shutil.copy(EXAMPLE, folder)
    environment = {
        "PATH": f"{binaries}:/usr/bin:/bin",
        "HOME": str(folder),
        "OMP_NUM_THREADS": "1",
        "NEURONTOP_STATE_DIR": str(folder / "state"),
        "NEURON_COMPILE_CACHE_URL": str(folder / "cache"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),  # kernels of another job would make compiles short
        "NEURONTOP_NODE": "demo",
    }
    job = [str(binaries / "torchrun"), "--nproc_per_node=4", EXAMPLE.name, "--tensor_parallel_size=2"]
    command = [str(binaries / "neurontop"), "run", "--name", "demo", "--plain", "--", *job, f"--steps_this_run={STEPS}"]
    run = subprocess.Popen(command, cwd=folder, env=environment)
    killed = False
    while run.poll() is None:
        if not killed and (forks := forks_at_work(run.pid)):
            forks[0].kill()
            killed = True
        time.sleep(0.2)
    if run.returncode or not killed:
        raise SystemExit(f"the job ended with {run.returncode}; a compile was killed: {killed}")


def keep(state: Path) -> None:
    """Put the recording, without this machine's name, and the job's output where the package takes them from."""
    DEMO.mkdir()  # what is there is moved away by hand
    with SqliteStore(state / FILE_NAME, read_only=True) as recorded, SqliteStore(DEMO / FILE_NAME) as kept:
        record = recorded.runs(limit=1)[0]
        events = [_without_host_name(event) for event in recorded.replay(record.id)]
        started = next(event for event in events if isinstance(event, RunStarted))
        kept.begin(started, folder=record.folder)
        kept.append(record.id, events)
        kept.finish(record.id, record.exit_code or 0, record.finished or 0.0, record.summary.encode())
        kept._connection.execute("PRAGMA journal_mode = DELETE")
        kept._connection.execute("VACUUM")
    output = DEMO / "runs" / record.id / "output.log"
    output.parent.mkdir(parents=True)
    shutil.copyfile(state / "runs" / record.id / "output.log", output)
    print(DEMO, sum(path.stat().st_size for path in DEMO.rglob("*") if path.is_file()), "bytes")


def _without_host_name(event: AnyEvent) -> AnyEvent:
    return decode(encode(event).replace(f'"{socket.gethostname()}"'.encode(), b'"demo"'))


def main() -> None:
    """Record, and keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--bin", type=Path, help="record first, with this environment; else keep what is recorded there"
    )
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.bin is not None:
        record(arguments.bin, arguments.folder)
    keep(arguments.folder / "state")


if __name__ == "__main__":
    main()
