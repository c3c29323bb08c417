"""1,000 nodes of 128 ranks ask for 200 keys each within five minutes: requests to S3 and to PostgreSQL, counted.

The ranks are simulated callers: threads that go through the real fetcher of their node (gate, note, lock, verification,
publication), against a source and a place of claims that count and answer at once. Nodes share nothing, so some are run
and the rest multiplied; of each node all 128 ranks ask. Two cases: the source has every graph (a start after a
pre-compile), and it has none, where each node asks the claims for each key. The naive way is counted, not run: every
rank lists its entry and reads its files, and claims for itself. What is bounded is that ranks cost nothing: no more
requests than one rank of each node would make.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from neuron_top.cache.model.keys import module_key
from neuron_top.compile.claims.claim import Claimed
from neuron_top.compile.claims.turns import ClaimedTurns
from neuron_top.compile.fetch.fetcher import Fetcher
from neuron_top.compile.fetch.source import FolderSource, SourceFile
from neuron_top.compile.wrapper.compiling import GraphToCompile
from neuron_top.compile.wrapper.flags import WrapperOptions
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.compile.wrapper.log_lines import WrapperLog
from neuron_top.compile.wrapper.sharing import Sharing
from tests.compile.fakes import Copying

NODES, RANKS, KEYS, MINUTES = 1000, 128, 200, 5
RUN_NODES = 1
RUN_KEYS = 20


def graph(number: int) -> GraphToCompile:
    """One of the keys."""
    return GraphToCompile(key=module_key(f"{number:020x}", []), data=lambda: b"the graph" * 100)


class CountedSource:
    """A source whose files lie in memory of the kernel: a listing, and a request for each file."""

    def __init__(self, root: Path, counts: Counter[str]) -> None:
        self._source, self._counts = FolderSource(root), counts
        self.place = "s3://counted/prefix"

    def files(self, entry: str) -> Mapping[str, SourceFile]:
        """See Source."""
        self._counts["S3 LIST"] += 1

        def counted(found: SourceFile) -> Iterator[bytes]:
            self._counts["S3 GET"] += 1
            yield from found.chunks()

        found = self._source.files(entry)
        return {name: SourceFile(each.size, lambda each=each: counted(each)) for name, each in found.items()}


class CountedClaims:
    """A place of claims that always gives the key; a claim of the database's is one transaction."""

    place = "postgresql://counted/fleet"

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts

    def claim(self, key: str, lease: float) -> Claimed:
        """See Claims."""
        self._counts["PostgreSQL"] += 1
        return Claimed(mine=True)

    def renew(self, key: str, lease: float) -> bool:
        """See Claims."""
        self._counts["PostgreSQL"] += 1
        return True

    def release(self, key: str) -> None:
        """See Claims."""
        self._counts["PostgreSQL"] += 1

    def rest(self) -> None:
        """See Claims."""


def one_node(node: str, root: Path, source: Path, ranks: int) -> Counter[str]:
    """What a node's ranks ask for, all of them for the same keys in the same order."""
    counts: Counter[str] = Counter()
    log = WrapperLog(stream=io.StringIO())
    together = threading.Barrier(ranks)

    def rank() -> None:
        turns = ClaimedTurns(CountedClaims(counts), log, lease=60.0, longest_wait=600.0, node=node)
        fetcher = Fetcher(CountedSource(source, counts), log, lambda _: None, node=node)
        options = WrapperOptions(cache_url=str(root))
        wrapper = Wrapper(
            Copying(), options, log=log, emit=lambda _: None, sharing=Sharing(turns=turns, fetcher=fetcher)
        )
        together.wait()
        for number in range(RUN_KEYS):
            wrapper.get_or_compile(graph(number))

    threads = [threading.Thread(target=rank) for _ in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counts


def case(name: str, folder: Path, source: Path, naive: Mapping[str, int]) -> bool:
    """Run some nodes, print the fleet's requests; whether ranks cost nothing."""
    began = time.perf_counter()
    found: Counter[str] = Counter()
    for number in range(RUN_NODES):
        found += one_node(f"{name}-{number}-{os.getpid()}", folder / f"{name}-{number}", source, RANKS)
    alone = one_node(f"{name}-alone-{os.getpid()}", folder / f"{name}-alone", source, 1)
    factor = NODES * KEYS // (RUN_NODES * RUN_KEYS)
    seconds = time.perf_counter() - began
    print(f"{name}: {RUN_NODES} node(s) × {RANKS} ranks × {RUN_KEYS} keys run in {seconds:.0f} s, × {factor}")
    for kind in sorted(naive):
        ours, theirs = found[kind] * factor, naive[kind]
        share = f"1/{theirs / ours:.0f}" if ours else "none"
        each = ours / (MINUTES * 60)
        print(f"  {kind}: {ours:,} ({each:,.0f} a second) beside {theirs:,} of the naive way: {share}", flush=True)
    return all(found[kind] <= RUN_NODES * alone[kind] for kind in naive)


def main() -> int:
    """Both cases."""
    asks = NODES * RANKS * KEYS
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above)
        filled = Wrapper(
            Copying(), WrapperOptions(cache_url=str(folder / "source")), log=WrapperLog(stream=io.StringIO())
        )
        for number in range(RUN_KEYS):
            filled.get_or_compile(graph(number))
        files = 5  # graph, flags, record, two of the artifact
        naive = {"S3 LIST": asks, "S3 GET": asks * files, "PostgreSQL": 0}
        kept = case("every graph is there", folder, folder / "source", naive)
        naive = {"S3 LIST": asks, "S3 GET": 0, "PostgreSQL": asks}  # one claim each, at least
        kept &= case("no graph is there", folder, folder / "none", naive)
    print("kept: as many requests as one rank of each node makes" if kept else "MISSED: ranks cost requests")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
