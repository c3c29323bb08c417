"""`neurontop cache pull` of one artifact of 6 GB ÷ the S3 client's own download of it, to the same disk.

Both are processes of their own, with their start. The client (boto3's `download_file`, ten parts at a time) writes and
compares nothing; the pull hashes every byte, compares it with the record, and is done when the file is on the disk
(fsync). NEURONTOP_PULL_BYTES takes another size, NEURONTOP_BENCH_FOLDER another disk.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from neuron_top.cache.model.keys import flags_data, module_key
from neuron_top.cache.model.record import FileFacts, Stats, file_facts
from tests.bench.figures import Figure, Timed, report, timed
from tests.bench.s3_file import BUCKET, PREFIX, serving

BYTES = int(os.environ.get("NEURONTOP_PULL_BYTES", 6 * 10**9))
ENTRY = f"neuronxcc-2.21.1.0+0a1b2c3d/{module_key('00000000000000000061', ()).name}"
ROUNDS = 2
_CLIENT = f"""
import sys, boto3
boto3.client("s3").download_file("{BUCKET}", "{PREFIX}{ENTRY}/model.neff", sys.argv[1])
"""


def measure(folder: Path) -> Figure:
    """Turn by turn."""
    files = entry(folder / "served")
    ours: list[Timed] = []
    theirs: list[Timed] = []
    with serving(files) as url:
        for number in range(ROUNDS):
            theirs.append(client(folder / f"client-{number}"))
            ours.append(pull(url, folder / f"pull-{number}"))
    return Figure(
        f"pull of {BYTES / 1e9:g} GB",
        "boto3's download_file",
        [each.seconds for each in ours],
        [each.seconds for each in theirs],
        1 / 0.9,
        [each.cpu_seconds for each in ours],
        [each.cpu_seconds for each in theirs],
    )


def entry(folder: Path) -> dict[str, Path]:
    """An entry whose artifact is a file with a hole, served as so many zeros."""
    folder.mkdir()
    for name, data in {
        "model.done": b"",
        "compile_flags.json": flags_data(()),
        "model.hlo_module.pb": b"a graph",
    }.items():
        (folder / name).write_bytes(data)
    with (folder / "model.neff").open("wb") as file:
        file.truncate(BYTES)
    with (folder / "model.neff").open("rb") as file:
        facts: FileFacts = file_facts(file)
    record = Stats(module=ENTRY.rpartition("/")[2], files={"model.neff": facts})
    (folder / "model.stats.json").write_bytes(msgspec.json.encode(record))
    return {f"{ENTRY}/{path.name}": path for path in folder.iterdir()}


def client(place: Path) -> Timed:
    """The client alone."""
    found = timed([sys.executable, "-c", _CLIENT, str(place)], os.environ, Path.cwd())
    if place.stat().st_size != BYTES:
        raise AssertionError(place)
    place.unlink()
    return found


def pull(url: str, place: Path) -> Timed:
    """The command."""
    environ = {**os.environ, "NEURONTOP_STATE_DIR": f"{place}-state", "NEURONTOP_CONFIG": os.devnull}
    command = [sys.executable, "-m", "neuron_top", "cache", "pull", url, "--to", str(place)]
    found = timed(command, environ, Path.cwd())
    if (place / ENTRY / "model.neff").stat().st_size != BYTES or not (place / ENTRY / "model.done").exists():
        raise AssertionError(found.output)
    shutil.rmtree(place)  # noqa: TID251 (our own scratch folder)
    return found


def main() -> int:
    """In a folder of its own."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("NEURONTOP_BENCH_FOLDER")) as above:
        free = shutil.disk_usage(above).free
        if free < 3 * BYTES:
            print(f"{above} has {free / 1e9:.0f} GB free, and twice {BYTES / 1e9:g} GB and some are needed")
            return 1
        began = time.perf_counter()
        figure = measure(Path(above))
        print(f"({time.perf_counter() - began:.0f} s)")
        return report([figure])


if __name__ == "__main__":
    sys.exit(main())
