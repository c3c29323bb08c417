"""128,000 series in a real Prometheus: what the fleet's pages ask, of recorded series and of the cores themselves."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TextIO

from neuron_top.telemetry.prometheus_api import PrometheusApi, prometheus_api
from tests.bench.figures import Figure, report
from tests.bench.fleet_load import NODES
from tests.servers.prometheus import PrometheusMissing, prometheus_server

CORES, SAMPLES, PERIOD, TURNS = 128, 8, 60, 3
METRIC = "neurontop_core_utilization_ratio"
STATISTICS = {"min": "min by ({}) ({})", "median": "quantile by ({}) (0.5, {})", "max": "max by ({}) ({})"}
BY = "cluster, neurontop_job, node"


def write_samples(file: TextIO, end: int) -> None:
    """A sample a minute of every core, and what our rules record of them."""
    times = [end - PERIOD * back for back in reversed(range(SAMPLES))]
    chance = random.Random(7)
    shares = {(node, at): [chance.random() for _ in range(CORES)] for node in range(NODES) for at in times}
    file.write(f"# TYPE {METRIC} gauge\n")
    for node in range(NODES):
        for core in range(CORES):
            labels = f'{_labels(node)},core="{core}"'
            file.writelines(f"{METRIC}{{{labels}}} {shares[node, at][core]:.4f} {at}\n" for at in times)
    for name, pick in (("min", min), ("median", _median), ("max", max)):
        file.write(f"# TYPE node:{METRIC}:{name} gauge\n")
        for node in range(NODES):
            file.writelines(
                f"node:{METRIC}:{name}{{{_labels(node)}}} {pick(shares[node, at]):.4f} {at}\n" for at in times
            )
    file.write("# EOF\n")


def _labels(node: int) -> str:
    return f'cluster="trn",neurontop_job="4711",node="trn-{node:04}"'


def _median(values: list[float]) -> float:
    ordered = sorted(values)
    return (ordered[CORES // 2 - 1] + ordered[CORES // 2]) / 2


def timed(api: PrometheusApi, questions: list[str], end: int, *, span: bool) -> float:
    """Seconds for all of them."""
    began = time.perf_counter()
    for question in questions:
        found = api.query_range(question, end - SAMPLES * PERIOD, end, 15) if span else api.query(question, at=end)
        assert found, question
    return time.perf_counter() - began


def compared(api: PrometheusApi, name: str, chosen: str, end: int, *, span: bool) -> Figure:
    """The three statistics of a page's question, recorded and over the cores, turn by turn."""
    recorded = [f"node:{METRIC}:{statistic}{chosen}" for statistic in STATISTICS]
    cores = [form.format(BY, METRIC + chosen) for form in STATISTICS.values()]
    ours, theirs = list[float](), list[float]()
    for _ in range(TURNS):
        ours.append(timed(api, recorded, end, span=span))
        theirs.append(timed(api, cores, end, span=span))
    return Figure(name, "the same over the cores", ours, theirs, 0.5)


def bench_prometheus() -> int:
    """Both questions: every node now, and one node over time."""
    end = int(time.time()) // PERIOD * PERIOD - PERIOD
    with tempfile.TemporaryDirectory() as name:
        folder, text = Path(name), Path(name) / "samples.txt"
        if shutil.which("promtool") is None:
            print("left out: no promtool on this machine (Debian: apt-get install prometheus)")
            return 0
        with open(text, "w") as file:
            write_samples(file, end)
        command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", text, folder / "data"]
        subprocess.run(command, check=True, capture_output=True)
        text.unlink()
        try:
            with prometheus_server(folder, {}) as url:
                api = prometheus_api(url)
                ((series,),) = (one.points for one in api.query(f"count({METRIC})", at=end))
                print(f"Prometheus with {series[1]:,.0f} series of cores, {SAMPLES} samples each")
                return report(
                    [
                        compared(api, "every node now, recorded", "", end, span=False),
                        compared(api, "one node over time, recorded", '{node="trn-0500"}', end, span=True),
                    ]
                )
        except PrometheusMissing as reason:
            print(f"left out: {reason}")
            return 0
