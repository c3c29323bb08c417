"""Coverage-guided fuzzing (atheris), or random splicing where atheris is not installed.

    python -m tests.fuzz --target neff --seconds 3600 >> fuzz.log

Targets and what must hold for each are in `targets`; besides, an input must be read in two seconds of CPU
time per 100 kB and within 64 MiB.

Prints the number of inputs every 30 seconds and at the end; a finding is written to the working directory
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
from typing import TYPE_CHECKING

NAMES = ("logs", "diagnosis", "neff", "hlo", "telemetry", "cache")
"""Targets, see `targets`; not imported here, since atheris instruments only what is imported after it."""

if TYPE_CHECKING:
    from tests.fuzz.targets import Target

_CPU_SECONDS = 2.0
_MEMORY = 64 * 1024 * 1024


class Counts:
    """Inputs read so far, told every half minute."""

    def __init__(self, seconds: float) -> None:
        self.inputs = self.bytes = 0
        self.began = self.reported = time.monotonic()
        self.end = self.began + seconds

    def add(self, size: int) -> None:
        """One more input."""
        self.inputs += 1
        self.bytes += size
        if time.monotonic() - self.reported >= 30:
            self.tell()

    def tell(self) -> None:
        """Print where we are."""
        self.reported = time.monotonic()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{self.inputs} inputs, {self.bytes} bytes, {self.reported - self.began:.0f} s, peak {peak} MiB", flush=True
        )


def one(data: bytes, target: Target, counts: Counts) -> None:
    """Read one input every way; raises on a broken invariant."""
    before, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    target.check(data)
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


def _spliced(name: str, counts: Counts, seed: int) -> None:
    from tests.fuzz.targets import named

    chance, target = random.Random(seed), named(name)
    while time.monotonic() < counts.end:
        data = splice(chance, target.words)
        try:
            one(data, target, counts)
        except BaseException:
            Path(f"finding-{name}.bin").write_bytes(data)
            raise


def _guided(name: str, counts: Counts, corpus: str) -> None:
    import atheris

    from tests.fuzz.targets import named

    with atheris.instrument_imports(
        include=["neuron_top.parsers", "neuron_top.events", "neuron_top.diagnose", "neuron_top.telemetry"]
    ):
        target = named(name)
        target.check(b"")  # loads what is fuzzed, instrumented

    def read(data: bytes) -> None:
        # Half of the inputs pick words of the formats, so that the fuzzer need not discover them letter by letter.
        plain = not data or data[0] & 1
        to_ascii = data[1:] if plain else data[1:3] + b"".join(_word(byte, target.words) for byte in data[3:])
        one(to_ascii, target, counts)

    options = ["-max_len=4096", "-len_control=0", "-timeout=20", f"-max_total_time={int(counts.end - counts.began)}"]
    atheris.Setup([sys.argv[0], *options, *([corpus] if corpus else [])], read)
    atheris.Fuzz()


def _word(byte: int, vocabulary: tuple[bytes, ...]) -> bytes:
    return vocabulary[byte] if byte < len(vocabulary) else bytes((byte,))


def main() -> None:
    """Run for the seconds asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=NAMES, default="logs", help="what is fuzzed")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", default="", help="folder for atheris to keep interesting inputs in")
    parser.add_argument("--splice", action="store_true", help="random splicing even where atheris is installed")
    arguments = parser.parse_args()
    counts = Counts(arguments.seconds)
    if arguments.splice or importlib.util.find_spec("atheris") is None:
        _spliced(arguments.target, counts, arguments.seed)
    else:
        _guided(arguments.target, counts, arguments.corpus)
    counts.tell()


if __name__ == "__main__":
    main()
