"""Coverage-guided fuzzing of the console parsers (atheris), or random splicing where atheris is not installed.

    python -m tests.fuzz.fuzz_parsers --seconds 3600 >> fuzz.log

Invariants are in `invariants`; besides, an input must be read in two seconds of CPU time per 100 kB and within
64 MiB. Prints the number of inputs every 30 seconds and at the end; a finding is written to the working directory
and ends the run with status 1.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import resource
import sys
import time
from pathlib import Path

_CPU_SECONDS = 2.0
_MEMORY = 64 * 1024 * 1024
_WORDS = (
    b"\n",
    b"\r",
    b"\x1b[1m",
    b"...",
    b"  ",
    b"{\n",
    b"}\n",
    b"[rank1]: ",
    b"[1,2]<stdout>:",
    b"\xf0\x9f",
    b"2026-03-04 10:00:00.000123:  41  [ERROR]: ",
    b"2024-05-06 10:00:00.000123:  41  INFO ||NEURON_CACHE||: ",
    b"2023-08-01 10:00:00.000001: INFO ||NCC_WRAPPER||: ",
    b"2026-Mar-04 10:00:00.0123 7:8 ERROR  TDRV:log_dev_mem  ",
    b"Using a cached neff at /c/neuronxcc-2.1.0.0+ab12/MODULE_11112222333344445555+0a1b2c3d/model.neff",
    b"Got a cached failed neff at /c/m/model.neff. With eror log: [",
    b"Retrying...",
    b"[libneuronxla 2.2+ab]\n",
    b"Failed compilation with ['neuronx-cc', 'compile']: ",
    b"Current remaining items are 1, locked are 2, failed are 3",
    b"New graph list from script: /c/MODULE_1/model.hlo.pb\n\t",
    b'"compilation_report": {',
    b'"status": true,',
    b"Failed to allocate 1.000GB (alignment: 4.0MB, usage: tensors) on ND 0:NC 0\n",
    b"* total: 2.0GB\n",
    b"\\_NC 4 | 1GB |",
    b"{'loss': 1.5, 'epoch': ",
    b" 50%|##| 5/10 [00:01<00:01, 5.0it/s, loss=2]",
    b"Traceback (most recent call last):\n",
    b"Metric: CompileTime\n  TotalSamples: 3\n",
    b"Root Cause (first observed failure):\n  exitcode  : -9 (pid: 7)\n",
)


class Counts:
    """Inputs read so far, told every half minute."""

    def __init__(self, seconds: float) -> None:
        self.inputs = self.bytes = 0
        self.began = self.told = time.monotonic()
        self.end = self.began + seconds

    def add(self, size: int) -> None:
        """One more input."""
        self.inputs += 1
        self.bytes += size
        if time.monotonic() - self.told >= 30:
            self.tell()

    def tell(self) -> None:
        """Print where we are."""
        self.told = time.monotonic()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{self.inputs} inputs, {self.bytes} bytes, {self.told - self.began:.0f} s, peak {peak} MiB", flush=True)


def words() -> tuple[bytes, ...]:
    """The marks of all families besides; imported late, since atheris instruments what is imported after it."""
    from neuron_top.parsers.families import MARKS

    return (*MARKS, *_WORDS)


def one(data: bytes, counts: Counts) -> None:
    """Read one input every way; raises on a broken invariant."""
    from tests.fuzz import invariants

    sizes = [1 + byte for byte in data[:7]] or [1]
    before, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    invariants.check(data, sizes)
    spent, grown = time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - memory
    if spent > _CPU_SECONDS * max(1.0, len(data) / 100_000):
        raise AssertionError(f"{spent:.1f} s of CPU time for {len(data)} bytes")
    if grown > _MEMORY:
        raise AssertionError(f"memory grew by {grown} bytes for {len(data)} bytes")
    counts.add(len(data))


def splice(chance: random.Random, vocabulary: tuple[bytes, ...]) -> bytes:
    """Words of the formats, torn, repeated and mixed with noise; sometimes long."""
    parts = []
    for _ in range(chance.randrange(1, 40)):
        part = chance.choice(vocabulary) if chance.random() < 0.8 else chance.randbytes(chance.randrange(12))
        if chance.random() < 0.2:
            part = part[chance.randrange(len(part) + 1) :]
        parts.append(part * (chance.randrange(2, 3000) if chance.random() < 0.02 else 1))
    return b"".join(parts)


def _spliced(counts: Counts, seed: int) -> None:
    chance, vocabulary = random.Random(seed), words()
    while time.monotonic() < counts.end:
        data = splice(chance, vocabulary)
        try:
            one(data, counts)
        except BaseException:
            Path("finding-parsers.bin").write_bytes(data)
            raise


def _guided(counts: Counts, corpus: str) -> None:
    import atheris

    with atheris.instrument_imports(include=["neuron_top.parsers", "neuron_top.events"]):
        vocabulary = words()
        from tests.fuzz import invariants  # noqa: F401 (loads the parsers, instrumented)

    def read(data: bytes) -> None:
        # Half of the inputs pick words of the formats, so that the fuzzer need not discover them letter by letter.
        plain = not data or data[0] & 1
        one(data[1:] if plain else b"".join(_word(byte, vocabulary) for byte in data[1:]), counts)

    options = ["-max_len=4096", "-timeout=20", f"-max_total_time={int(counts.end - counts.began)}"]
    atheris.Setup([sys.argv[0], *options, *([corpus] if corpus else [])], read)
    atheris.Fuzz()


def _word(byte: int, vocabulary: tuple[bytes, ...]) -> bytes:
    return vocabulary[byte] if byte < len(vocabulary) else bytes((byte,))


def main() -> None:
    """Run for the seconds asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", default="", help="folder for atheris to keep interesting inputs in")
    parser.add_argument("--splice", action="store_true", help="random splicing even where atheris is installed")
    arguments = parser.parse_args()
    counts = Counts(arguments.seconds)
    if arguments.splice or importlib.util.find_spec("atheris") is None:
        _spliced(counts, arguments.seed)
    else:
        _guided(counts, arguments.corpus)
    counts.tell()


if __name__ == "__main__":
    main()
