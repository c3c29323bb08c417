"""Other people's programs, compiled by our back end and by Inductor: `python -m tests.compat` (`make compat`).

Each program runs eagerly, with Inductor and with ours on an empty cache, then with ours in another process that has the
cache and another folder of Inductor. Lines of JSON go to `--results`; what has its lines there is not run again, so a
comparison that was stopped goes on. At the end compatibility.md beside them is written from all lines that are there.
docs/compatibility.md is written by hand, as it has what several machines and releases gave.

The exit status is the number of defects: programs that Inductor compiles and ours does not, or not to the same result.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from tests.compat import page, programs
from tests.inductor_folder import inductor_folder

ROOT = Path(__file__).parents[2]
SUITES = ("features", "operators", "databases", "transformers", "vision")
_SILENCE_SECONDS = 2400
"""A worker that says nothing for so long is ended; its program counts as left out."""


Keep = Callable[[dict[str, Any]], None]


class Batch(NamedTuple):
    """Programs that share processes and a cache."""

    suite: str
    names: tuple[str, ...]


def arguments_of(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments of the command line, with the folder of the results and the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=SUITES, help="this one only (repeatable; default: all)")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose name has it")
    parser.add_argument("--jobs", type=int, default=1, help="batches at a time (default: 1)")
    parser.add_argument("--batch", type=int, default=10, help="programs per pair of processes (default: 10)")
    parser.add_argument("--results", type=Path, help="folder of the results (default: build/compat, or compat-cuda)")
    parser.add_argument("--page", type=Path, help="the page to write (default: compatibility.md beside the results)")
    parser.add_argument(
        "--device", default="cpu", choices=("cpu", "cuda"), help="where programs compute (default: cpu)"
    )
    parser.add_argument("--again", action="store_true", help="run defects once more, also those that have a result")
    arguments = parser.parse_args(given)
    name = "compat" if arguments.device == "cpu" else f"compat-{arguments.device}"
    arguments.results = arguments.results or ROOT / "build" / name
    arguments.page = arguments.page or arguments.results / "compatibility.md"
    return arguments


def main() -> int:
    """Run what has no result yet, then write the page."""
    arguments = arguments_of()
    programs.compute_on(arguments.device)
    arguments.results.mkdir(parents=True, exist_ok=True)
    suites = arguments.suite or SUITES
    if arguments.again:
        for suite in suites:
            _forget_defects(_file(arguments.results, suite), arguments.only)
    batches = [batch for suite in suites for batch in _batches(suite, arguments)]
    lock = threading.Lock()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for _ in pool.map(lambda batch: _run(batch, arguments.results, lock), batches):
            pass
    found = {suite: _read(_file(arguments.results, suite)) for suite in SUITES}
    text = page.page(found, {suite: _names(suite) for suite in SUITES})
    arguments.page.write_text(text)
    print(page.table(found, {suite: _names(suite) for suite in SUITES}))
    print(f"{arguments.page} has the whole; take what is new into docs/compatibility.md")
    return min(len(page.defects(found)), 100)


def _file(folder: Path, suite: str) -> Path:
    return folder / f"{suite}.jsonl"


def _names(suite: str) -> Sequence[str]:
    try:
        return importlib.import_module(f"tests.compat.suite_{suite}").names()
    except ImportError as missing:
        print(f"suite {suite} is left out: {missing}", file=sys.stderr)
        return ()


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _forget_defects(path: Path, only: str) -> None:
    lines = _read(path)
    again = {name for name in page.defects({"": lines}) if re.search(only, name)}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines if line["program"] not in again))


def _batches(suite: str, arguments: argparse.Namespace) -> Iterator[Batch]:
    lines = _read(_file(arguments.results, suite))
    done = {line["program"] for line in lines if line["mode"] == "warm" or "result" not in line}
    names = [name for name in _names(suite) if name not in done and re.search(arguments.only, name)]
    for start in range(0, len(names), arguments.batch):
        yield Batch(suite, tuple(names[start : start + arguments.batch]))


def _run(batch: Batch, results: Path, lock: threading.Lock) -> None:
    """Both passes over a batch; each line is kept as it comes."""
    folder = Path(tempfile.mkdtemp(prefix="neurontop-compat-"))
    cold: dict[str, Any] = {}

    def keep(line: dict[str, Any]) -> None:
        with lock, _file(results, batch.suite).open("a") as file:
            file.write(json.dumps(line) + "\n")
        if line["mode"] == "cold":
            cold[line["program"]] = line
        print(page.words(cold[line["program"]], line if line["mode"] == "warm" else {}), flush=True)

    try:
        _pass("cold", batch.suite, batch.names, folder, keep)
        _pass("warm", batch.suite, [name for name, line in cold.items() if "result" in line], folder, keep)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # noqa: TID251 (our own scratch folder)


def _pass(mode: str, suite: str, names: Sequence[str], folder: Path, keep: Keep) -> None:
    """A line for each program; a worker that dies or hangs costs the program that it was at."""
    left = list(names)
    while left:
        left = left[_worker(mode, suite, left, folder, keep) :]
        if left:
            keep({"program": left.pop(0), "mode": mode, "we_fail": "the process ended or hung"})


def _worker(mode: str, suite: str, names: Sequence[str], folder: Path, keep: Keep) -> int:
    """How many of the programs it answered for."""
    log = folder / f"{mode}.log"
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.compat.worker", mode, suite, str(folder), programs.device()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
            env=_environment(mode, folder),
            start_new_session=True,
            text=True,
        )
        answered = 0
        watch = threading.Timer(_SILENCE_SECONDS, _kill, [process])
        try:
            watch.start()
            process.stdin.write("\n".join(names))
            process.stdin.close()
            for line in process.stdout:
                answered += 1
                keep(json.loads(line))
                watch.cancel()
                watch = threading.Timer(_SILENCE_SECONDS, _kill, [process])
                watch.start()
        finally:
            watch.cancel()
            _kill(process)
            process.wait()
    if answered < len(names):
        print(log.read_text(errors="replace")[-2000:], file=sys.stderr)
    return answered


def _kill(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _environment(mode: str, folder: Path) -> dict[str, str]:
    """Caches in the batch's folder; `warm` has another folder of Inductor, so that code comes from our cache alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEURON", "TORCH"))}
    (folder / "events").mkdir(exist_ok=True)
    inductor = folder / f"inductor-{mode}"
    on_cpu = programs.device() == "cpu"
    return {
        **kept,
        **({} if on_cpu else {"TORCHINDUCTOR_COMPILE_THREADS": "1"}),  # else each batch has a process per core
        "NEURON_COMPILE_CACHE_URL": str(folder / "cache"),
        "NEURONTOP_EVENTS_DIR": str(folder / "events"),
        "NEURONTOP_STATE_DIR": str(folder / "state"),
        "NEURONTOP_CONFIG": os.devnull,
        "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(inductor) if on_cpu else inductor),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


if __name__ == "__main__":
    sys.exit(main())
