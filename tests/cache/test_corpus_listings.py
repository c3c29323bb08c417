"""Published entries, rebuilt as files of the same names and sizes: each is what its listing says it is."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from neuron_top.cache.model.failures import read_failure
from neuron_top.cache.model.keys import flags_hash
from neuron_top.cache.scan.scanner import scan
from tests.builders import FAILURE_LOG, neff, sparse, sparse_neff
from tests.corpus import corpus

LISTINGS = "cache-listings"
_UNITS = {"Bytes": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3}
_URL = re.compile(r"https://\S+?/(neuronxcc-[^/]+)/(MODULE_[^/\s]+)(/\S+)?$")
_FILE = re.compile(r"(\S+\.\S+) +([\d.]+) (Bytes|kB|MB|GB)")


def rebuild(root: Path, files: dict[str, int]) -> None:
    """Files of these sizes; a NEFF larger than its header gets one, a log the start that failures have."""
    for name, size in files.items():
        path = root / name
        if path.name == "model.neff" and size > 1024:
            sparse_neff(path, size)
        elif path.name == "model.log":
            sparse(path, size, FAILURE_LOG.encode().ljust(size, b" "))
        else:
            sparse(path, size)


def states(root: Path) -> dict[str, str]:
    """Module → state."""
    return {entry.module: str(entry.state) for entry in scan(str(root)).entries}


def hub_entries(name: str) -> dict[str, tuple[str, dict[str, int]]]:
    """Module → (the heading above it, path → size) of a listing of hub pages."""
    found: dict[str, tuple[str, dict[str, int]]] = {}
    heading, place = "", ""
    for line in corpus(LISTINGS, name).read_text().splitlines():
        if line.startswith("## "):
            heading, place = line, ""
        elif match := _URL.match(line.replace("%2B", "+")):
            compiler, module, below = match.groups()
            place = "" if below and below.endswith(".json") else f"{compiler}/{module}{below or ''}/"
            if place:
                found[module] = (heading, {})
        elif place and (match := _FILE.match(line)):
            found[place.split("/")[1]][1][place + match[1]] = int(float(match[2]) * _UNITS[match[3]])
    return found


@pytest.mark.parametrize("name", ["02-hub-entries-2.11-to-2.14.txt", "03-hub-entries-2.15-to-2.16.txt"])
def test_entries_of_the_hub_are_what_their_headings_say(tmp_path: Path, name: str) -> None:
    entries = hub_entries(name)
    assert len(entries) >= 7
    for _, files in entries.values():
        rebuild(tmp_path, files)
    done = "model.done"
    for module, state in states(tmp_path).items():
        heading, files = entries[module]
        marked = any(path.endswith(done) for path in files)
        if "FAILED" in heading:
            assert state == ("failed-legacy" if "5-byte" in heading else "failed"), module
        else:
            assert state == ("hit" if marked else "hit-legacy"), module
    assert states(tmp_path).keys() == entries.keys()


def test_the_bucket_of_a_served_model_holds_two_hits_of_known_size(tmp_path: Path) -> None:
    rows = re.findall(r"^\S+ \S+ +(\d+) (cache/neuronxcc\S+)$", corpus(LISTINGS, _S3).read_text(), re.MULTILINE)
    rebuild(tmp_path, {path.removeprefix("cache/"): int(size) for size, path in rows})
    entries = scan(str(tmp_path)).entries
    assert [entry.state for entry in entries] == ["hit", "hit"]
    assert sorted(entry.neff_bytes or 0 for entry in entries) == [758784, 1577984]
    assert sum(entry.apparent for entry in entries) == sum(int(size) for size, _ in rows)


_S3 = "01-s3-nxdi-tinyllama-2.20.txt"


def test_commits_of_the_hub_hold_failures_beside_hits(tmp_path: Path) -> None:
    entries: dict[str, dict[str, int]] = defaultdict(dict)
    for path, added in re.findall(
        r"^(neuronxcc-\S+/MODULE_\S+/\S+) \+(\d+) -0$",
        corpus(LISTINGS, "04-hub-commits-2.21-file-lists.txt").read_text(),
        re.MULTILINE,
    ):
        # A git-lfs pointer has three lines; a one-line NEFF is the old failure marker.
        size = 5 if path.endswith("model.neff") and added == "1" else 5000 * int(added)
        entries[path.split("/")[1]][path] = size
    for files in entries.values():
        rebuild(tmp_path, files)
    for module, state in states(tmp_path).items():
        names = {path.rpartition("/")[2] for path in entries[module]}
        if "model.log" in names:
            assert state == ("failed-legacy" if "model.neff" in names else "failed")
        else:
            assert state == ("hit" if "model.done" in names else "hit-legacy")
    assert len(entries) == 8


def test_traced_models_are_only_sized(tmp_path: Path) -> None:
    entries = hub_entries("07-hub-traced-models.txt")
    for _, files in entries.values():
        rebuild(tmp_path, files)
    assert set(states(tmp_path).values()) == {"traced"}
    sizes = {entry.module: entry.apparent for entry in scan(str(tmp_path)).entries}
    assert sizes == {module: sum(files.values()) for module, (_, files) in entries.items()}


def test_the_layout_of_2022_is_found_where_its_log_put_it(tmp_path: Path) -> None:
    text = corpus(LISTINGS, "09-legacy-user-neuroncc.txt").read_text()
    paths = set(re.findall(r"cached neff at /var/tmp/neuron-compile-cache/(\S+\.neff)", text))
    for path in paths:
        place = tmp_path / path
        place.parent.mkdir(parents=True)
        place.write_bytes(neff())
    assert states(tmp_path) == {path.split("/")[1]: "hit-legacy" for path in paths}
    assert len(paths) == 3


def test_collected_graphs_and_every_path_named_in_public_logs_are_entries(tmp_path: Path) -> None:
    paths = re.findall(r"^neuronxcc-\S+$", corpus(LISTINGS, "16-paths-in-public-logs.txt").read_text(), re.MULTILINE)
    graphs = {path.rpartition("/")[0] for path in paths}
    for folder in graphs:
        sparse(tmp_path / folder / "model.hlo_module.pb", 20_000)
        sparse(tmp_path / folder / "compile_flags.json", 2, b"[]")
    found = scan(str(tmp_path)).entries
    assert {entry.path for entry in found} == {path for path in graphs if "+" in path.split("/")[1]}
    assert {entry.state for entry in found} == {"extracted"}


def test_failure_logs_are_classified_as_published() -> None:
    logs = re.findall(
        r"^Failed compilation with .*$", corpus(LISTINGS, "13-model-log-files.txt").read_text(), re.MULTILINE
    )
    failures = [read_failure(log) for log in logs]
    reported = [(failure.kind, failure.code) for failure in failures if failure is not None][:4]
    assert reported == [
        ("deterministic", "TEN404"),
        ("deterministic", "LUR015"),
        ("deterministic", "XCG815"),
        ("environment", None),
    ]


def test_a_replayed_failure_keeps_its_code_and_time() -> None:
    text = corpus(LISTINGS, "10-cached-failure-and-lock-wait.txt").read_text()
    log = text[text.index("Failed compilation with") : text.index("Retrying...")]
    failure = read_failure(log)
    assert failure is not None
    assert (failure.kind, failure.code, failure.at) == ("deterministic", "NCC_EOOM002", 1785441500.0)


def test_flags_files_have_the_hash_in_the_folder_name() -> None:
    text = corpus(LISTINGS, "14-compile-flags-files.txt").read_text()
    pairs = re.findall(r"^hash ([0-9a-f]{8}) .*\n(?:    https.*\n)?    (\[.*\])$", text, re.MULTILINE)
    assert len(pairs) >= 5
    assert all(flags_hash(flags.encode()) == name for name, flags in pairs)
