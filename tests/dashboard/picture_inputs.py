"""What pictures of the pages are taken of: logs, captures and caches on disk in the formats of the real tools.

All are generated, with made-up names and numbers, and are read by the product as files of a user are.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.actions.caches import entry
from tests.telemetry.records import GIB, TRN2, counters, line, memory, record, runtime

TRN1 = {**TRN2, "neuron_device_type": "trainium", "neuroncore_version": "v2", "neuron_device_memory_size": 32 * GIB,
        "neuroncore_per_device_count": 2, "logical_neuroncore_config": 1}  # fmt: skip
FOLDER = "/var/tmp/neuron-compile-cache/neuronxcc-2.21.18209.0+043b1bf7"
STEPS = 199
IDLE_DEVICE = 11


def stamp(at: float) -> str:
    """A time as the SDK's logger writes it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def module(number: int) -> str:
    return f"MODULE_{graph(number):020d}+4d19ac67"


def graph(number: int) -> int:
    """What a graph's hash looks like."""
    return (number * 7919 + 104729) ** 3 * 6364136223846793005 % 2**64


def compile_lines(number: int, at: float, seconds: float, process: int = 4100) -> list[str]:
    """A miss and its compile by this process."""
    path = f"{FOLDER}/{module(number)}/model"
    return [
        f"{stamp(at)}:  {process}  [INFO]: Compile cache path: /var/tmp/neuron-compile-cache",
        f"{stamp(at)}:  {process}  [INFO]: Call compiler with cmd: neuronx-cc compile --target=trn1 "
        f"--framework=XLA {path}.hlo_module.pb --output {path}.neff --verbose=35",
        f"{stamp(at + seconds)}:  {process}  [INFO]: Compilation Successfully Completed for "
        f"model.{module(number)}.hlo_module.pb",
    ]


def hit_line(number: int, at: float) -> str:
    return f"{stamp(at)}:  4100  [INFO]: Using a cached neff at {FOLDER}/{module(number)}/model.neff"


def step_lines(begin: float, count: int, seconds: float = 4.0, total: int = 2000) -> list[str]:
    """Lines of a training loop: the loss falls, the throughput wobbles."""
    rate = [84 + 3 * math.sin(step / 5) + (step * 37 % 11) / 4 for step in range(count)]
    loss = [3.2 + 6.5 * math.exp(-step / 60) + (step * 53 % 17) / 60 for step in range(count)]
    return [
        f"{stamp(begin + step * seconds)}  INFO train: step {step + 1}/{total} loss: {loss[step]:.4f} "
        f"throughput: {rate[step]:.2f} seq/s"
        for step in range(count)
    ]


def training(folder: Path, name: str = "train.log", steps: int = STEPS) -> Path:
    """The log of a job that trains now: two graphs from the cache, three compiled, then steps."""
    begin = time.time() - steps * 4.0 - 520
    lines = [hit_line(9, begin), hit_line(8, begin + 2)]
    for number, seconds in enumerate((212.0, 164.0, 88.0)):
        lines += compile_lines(number, begin + 5 + sum((212.0, 164.0, 88.0)[:number]), seconds)
    return written(folder / name, [*lines, *step_lines(begin + 500, steps)])


def written(path: Path, lines: Sequence[str], ended: float = 0.0) -> Path:
    """A log; `ended`: when it was written last, 0 is now."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if ended:
        os.utime(path, (ended, ended))
    return path


def telemetry(cores: int, second: int) -> bytes:
    """A record of neuron-monitor: cores at work, those of one device idle where there are many."""
    per_device = 8 if cores > 32 else 2
    used: dict[int, dict[str, Any]] = {}
    kinds: dict[int, dict[str, int]] = {}
    for core in range(cores):
        idle = cores > 32 and core // per_device == IDLE_DEVICE
        busy = 0.4 if idle else 84.0 + 10 * math.sin(core * 1.7 + second / 3)
        used[core] = {"neuroncore_utilization": busy}
        tensors = GIB // 8 if idle else 6 * GIB + core % 7 * GIB // 4
        kinds[core] = {"constants": GIB // 4, "model_code": GIB // 2, "model_shared_scratchpad": GIB,
                       "runtime_memory": GIB // 16, "tensors": tensors}  # fmt: skip
    hardware: dict[str, Any] = {
        **(TRN2 if cores > 32 else TRN1),
        "neuron_device_count": cores // per_device,
        "neuroncore_per_device_count": per_device,
        "logical_neuroncore_config": 1,
    }
    report = runtime(4100, "train", neuroncore_counters=counters(used), memory_used=memory(kinds))
    kind = "trn2.48xlarge" if cores > 32 else "trn1.32xlarge" if cores > 2 else "trn1.2xlarge"
    return line(record(report, instance_type=kind, hardware=hardware))


def compile_only(folder: Path) -> Path:
    """The log of a parallel compile that is under way: what is compiled now has no end yet."""
    begin = time.time() - 900
    lines: list[str] = []
    busy_until: list[float] = []
    for number in range(24):
        at, seconds = begin + 30 * number, 40.0 + 23 * (number % 9)
        worker = next((index for index, end in enumerate(busy_until) if end < at), len(busy_until))
        busy_until[worker : worker + 1] = [at + seconds if number < 20 else math.inf]
        lines += compile_lines(number, at, seconds, 4100 + worker)[: None if number < 20 else 2]
    return written(folder / "precompile.log", sorted(lines, key=lambda one: one[:26]))


def serving(folder: Path) -> Path:
    """The log of a server in vLLM's wording."""
    begin = time.time() - 1160
    lines = [hit_line(number, begin + number) for number in range(12)]
    for number in range(110):
        at = datetime.fromtimestamp(begin + 60 + number * 10, UTC).strftime("%m-%d %H:%M:%S")
        lines.append(
            f"INFO {at} [loggers.py:127] Engine 000: Avg prompt throughput: {180 + number * 31 % 60}.0 tokens/s, "
            f"Avg generation throughput: {640 + number * 29 % 90}.5 tokens/s, Running: {4 + number % 5} reqs, "
            f"Waiting: {number % 2} reqs, GPU KV cache usage: {30 + number % 20}.1%, Prefix cache hit rate: 41.2%"
        )
    return written(folder / "server.log", lines)


def out_of_memory(folder: Path) -> Path:
    """Steps, then the runtime's report of device memory that is used up, once by each of eight ranks."""
    begin = time.time() - 2400
    at = datetime.fromtimestamp(begin + 490, UTC).strftime("%Y-%b-%d %H:%M:%S.%f")
    lines = [hit_line(9, begin - 20), *step_lines(begin, 120)]
    for rank in range(8):
        head = f"{at}  {900 + rank}:{900 + rank}  ERROR  TDRV:log_dev_mem  "
        lines += [
            f"{head}Failed to allocate 1.500GB (usage: tensors) on ND {rank // 2}:NC {rank % 2}, current utilization:",
            *("\t* total: 15.250GB", "\t* model code: 1.250GB", "\t* tensors: 11.500GB", "\t* dma rings: 2.500GB", ""),
        ]
    error = 'RuntimeError: nrt_tensor_allocate status=4 message="Allocation Failure"'
    return written(folder / "train.log", [*lines, error], begin + 490)


def script_error(folder: Path) -> Path:
    """What a real program prints that trains, then raises."""
    program = (
        "import time\n"
        "for step in range(60):\n"
        "    print(f'step {step}/500 loss: {9 - step / 20:.3f} throughput: 81.5 seq/s', flush=True)\n"
        "batch = {'input_ids': []}\n"
        "print(batch['labels'])\n"
    )
    path = folder / "program.py"
    path.write_text(program)
    with open(folder / "train.log", "wb") as log:
        subprocess.run([sys.executable, path.name], stdout=log, stderr=subprocess.STDOUT, cwd=folder, check=False)
    ended = time.time() - 1800
    os.utime(folder / "train.log", (ended, ended))
    return folder / "train.log"


def compiler_failure(folder: Path) -> Path:
    """The log of a job whose compiler rejected a graph."""
    begin = time.time() - 3600
    path = f"{FOLDER}/{module(3)}/model"
    lines = [*compile_lines(1, begin, 40), *compile_lines(3, begin + 45, 60)[:2]]
    lines += [
        f"{stamp(begin + 105)}:  4100  [ERROR]: Failed compilation with ['neuronx-cc', 'compile', "
        f"'--target=trn1', '--framework=XLA', '{path}.hlo_module.pb', '--output', '{path}.neff', '--verbose=35']: "
        f"{datetime.fromtimestamp(begin + 105, UTC):%Y-%m-%dT%H:%M:%SZ} [F137] neuronx-cc was forcibly killed - This "
        "most commonly occurs due to insufficient system memory. Using a smaller data type, dimensions, batch size, or "
        "a larger instance type may help.",
        f"{stamp(begin + 105)}:  4100  [ERROR]: Compilation failed for {path}.hlo_module.pb after 0 retries.",
    ]
    return written(folder / "train.log", lines, begin + 105)


def finished(folder: Path) -> Path:
    """A log that says that its training is over."""
    begin = time.time() - 5000
    lines = [hit_line(9, begin - 20), *step_lines(begin, 300, 4.0, 300)]
    return written(
        folder / "train.log", [*lines, f"{stamp(begin + 1203)}  INFO train: Training completed"], begin + 1203
    )


def several(folder: Path) -> list[Path]:
    """Three logs of three jobs."""
    folders = [folder / name for name in ("bert", "llama", "nightly")]
    for one in folders:
        one.mkdir()
    return [training(folders[0]), compiler_failure(folders[1]), finished(folders[2])]


def cache(root: Path, entries: int) -> None:
    """A cache with entries of three compilers, of many sizes and ages; some of them failed."""
    root.mkdir()
    for number in range(entries):
        compiler = f"neuronxcc-2.{21 - number % 3}.18209.0+043b1bf7"
        files = None
        if number % 23 == 0:
            files = {
                "model.hlo_module.pb": b"\x0a\x01m",
                "model.log": b"Failed compilation with ['neuronx-cc']: [F137] neuronx-cc was forcibly killed\n",
            }
        age = (number * 37 % 900) / 10
        entry(root, graph(number), blocks=4 + number * 13 % 90, age_days=age, compiler=compiler, files=files)
