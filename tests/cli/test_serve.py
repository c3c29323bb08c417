"""What the pages of `neurontop serve` call the run that is watched, and what it says of a fleet."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.cli.serve import shown_name


@pytest.mark.parametrize(
    ("paths", "job", "name"),
    [
        ([], "", "live: this machine, now"),
        (["s3://bucket/prefix"], "", "live: this machine, now"),
        (["/logs/train.log"], "", "train.log"),
        (["logs/", "s3://bucket/prefix", "cache"], "", "logs and 1 more"),
        (["-"], "", "standard input"),
        ([], "pretrain", "job pretrain"),
    ],
)
def test_the_live_run_is_called_by_what_was_named(paths: list[str], job: str, name: str) -> None:
    assert shown_name(paths, job) == name


def test_a_fleet_that_cannot_be_shown_is_reported_where_the_server_was_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    address = f"postgresql://127.0.0.1:{port}/none"
    words = [sys.executable, "-m", "neuron_top", "serve", "--port", "0", "--store", address, str(tmp_path)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            told = next(line for line in server.stderr if "fleet" in line)
        finally:
            server.terminate()
    assert "/fleet is empty, and is filled as soon as it can be: " in told
    assert f"{address} cannot be reached" in told
