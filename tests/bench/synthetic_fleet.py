"""A fleet of any size in a database, as its agents would leave it: `python -m tests.bench.synthetic_fleet URL 1000`.

Two jobs; some nodes are slow and share a cause, some compile, one in two hundred is silent. With `--beat` the nodes go
on reporting until the program is ended.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator

from neuron_top.store.batches import pack
from neuron_top.store.fleet_records import Batch, NodeNow, NodeRecord, Spread
from neuron_top.store.postgres.fleet import FleetStore

CORES = 128
GIB = 1024**3


def fill(store: FleetStore, count: int, cores: int = CORES) -> list[str]:
    """Register so many nodes and open their jobs; the names of the nodes."""
    names = [f"trn-{number:04}" for number in range(count)]
    rng = random.Random(count)
    for run, name in (("4711", "llama-70b"), ("4712", "bert")):
        store.open_job(run, name=name, cluster="trn", started=time.time() - 3600)
    for number, node in enumerate(names):
        packed = pack([])
        store.ship(
            node,
            f"spool-{node}",
            [Batch(sequence=1, run=job_of(number), first=None, last=None, count=0, data=packed.data)],
        )
        store.register(
            NodeRecord(
                node=node,
                cluster="trn",
                job=job_of(number),
                machine_id=node,
                version="0.2",
                address=f"http://10.0.0.1:{9000 + number}",
                attributes={
                    "instance_type": "trn2.48xlarge",
                    "zone": rng.choice(("use1-az4", "use1-az6")),
                    "instance_id": f"i-{number:017x}",
                    "compiler": "2.20.9" if is_slow(number) else "2.21.18",
                    "driver": rng.choice(("2.24.7", "2.24.7", "2.25.0")),
                    "device_count": 16,
                    "lnc": 2,
                    "cache_free": rng.randrange(50, 900) * GIB,
                },
            )
        )
    beat(store, names, cores)
    return names


def job_of(number: int) -> str:
    """Two of three nodes belong to the first job."""
    return "4711" if number % 3 else "4712"


def is_slow(number: int) -> bool:
    """One in fifty, those with an old compiler."""
    return number % 50 == 7


def beat(store: FleetStore, names: list[str], cores: int = CORES) -> None:
    """What every node reports itself now."""
    for now in heartbeats(names, cores):
        store.beat(now)


def heartbeats(names: list[str], cores: int = CORES) -> Iterator[NodeNow]:
    """One of each node that is not silent."""
    rng = random.Random()
    for number, node in enumerate(names):
        if number % 200 == 150:
            continue
        usual = 0.55 if is_slow(number) else 0.92
        busy = [min(1.0, max(0.0, rng.gauss(usual, 0.04))) for _ in range(cores)]
        used = [rng.gauss(17, 0.3) * GIB for _ in range(cores)]
        compiling = number % 40 == 3
        yield NodeNow(
            node=node,
            at=0.0,
            job=job_of(number),
            phase="compiling" if compiling else "training",
            step=None if compiling else 1200,
            step_seconds=None if compiling else rng.gauss(2.1 if is_slow(number) else 1.4, 0.01),
            graphs_left=3 if compiling else 0,
            worst_wait=rng.uniform(5, 95) if compiling else 0.0,
            clock_offset=rng.gauss(0, 0.004),
            metrics={"utilization": _spread(busy, min), "memory": _spread(used, max)},
            cores={
                "utilization": [round(value, 3) for value in busy],
                "memory": [float(round(value)) for value in used],
            },
            notes={"spooled": 0, "dropped": 0},
        )


def _spread(values: list[float], worst: object) -> Spread:
    ordered = sorted(values)
    bad = ordered[0] if worst is min else ordered[-1]
    return Spread(low=ordered[0], median=ordered[len(ordered) // 2], high=ordered[-1], worst_core=values.index(bad))


def main() -> None:
    """Fill, and go on where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("count", type=int)
    parser.add_argument("--beat", action="store_true", help="go on reporting every ten seconds")
    arguments = parser.parse_args()
    with FleetStore(arguments.url) as store:
        names = fill(store, arguments.count)
        while arguments.beat:
            time.sleep(10)
            beat(store, names)


if __name__ == "__main__":
    main()
