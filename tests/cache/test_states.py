"""Every row of the state table, and the situations that others get wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.cache.model.entry import Artifact, Entry, Lock, Part, classify
from neuron_top.cache.model.states import Holder, State
from neuron_top.cache.scan.scanner import scan
from tests.builders import (
    COMPILER,
    FAILURE_LOG,
    HLO_NAME,
    OLD_COMPILER,
    module_name,
    neff,
    write_entry,
)

LOG = FAILURE_LOG.format(message="[TEN404] Internal tensorizer error").encode()
LOCK = f"{HLO_NAME}.lock"
GOOD, HLO = neff(), b"hlo"
TXT = b"--model-type=transformer --auto-cast=none"
CUT = GOOD[:-100]

ROWS = [
    ("hit", {HLO_NAME: HLO, "model.neff": GOOD, "model.done": b""}, None, COMPILER),
    ("hit", {"model.neff": GOOD, "model.done": b""}, None, COMPILER),
    ("hit-leftover-lock", {HLO_NAME: HLO, "model.neff": GOOD, "model.done": b"", LOCK: b""}, None, COMPILER),
    ("hit-leftover-lock", {HLO_NAME: HLO, "model.neff": GOOD, "model.done": b"", LOCK: b""}, Holder.DEAD, COMPILER),
    ("hit-legacy", {"model.hlo.pb": HLO, "model.neff": GOOD, "compile_flags.txt": TXT}, None, OLD_COMPILER),
    ("hit-legacy", {HLO_NAME: HLO, "model.neff": GOOD}, None, "neuronxcc-2.14.227.0+2d4f85be"),
    ("hit-legacy", {HLO_NAME: HLO, "model.neff": GOOD, "compile_flags.txt": TXT}, None, COMPILER),
    ("corrupt", {HLO_NAME: HLO, "model.neff": b"", "model.done": b""}, None, COMPILER),
    ("corrupt", {HLO_NAME: HLO, "model.neff": CUT, "model.done": b""}, None, COMPILER),
    ("corrupt", {HLO_NAME: HLO, "model.neff": b"x" * 5000, "model.done": b""}, None, COMPILER),
    ("partial", {HLO_NAME: HLO, "model.neff": CUT}, None, COMPILER),
    ("partial", {HLO_NAME: HLO, "model.neff": CUT, LOCK: b""}, None, COMPILER),
    ("partial", {HLO_NAME: HLO, "model.neff": b""}, None, COMPILER),
    ("compiling", {HLO_NAME: HLO, LOCK: b""}, Holder.ALIVE, COMPILER),
    ("retrying", {HLO_NAME: HLO, LOCK: b"", "model.log": LOG}, Holder.ALIVE, COMPILER),
    ("locked-unknown", {HLO_NAME: HLO, LOCK: b""}, Holder.UNKNOWN, COMPILER),
    ("locked-unknown", {HLO_NAME: HLO, LOCK: b"", "model.log": LOG}, Holder.UNKNOWN, COMPILER),
    ("stale-lock", {HLO_NAME: HLO, LOCK: b""}, Holder.DEAD, COMPILER),
    ("failed", {HLO_NAME: HLO, "model.log": LOG}, None, COMPILER),
    ("failed-legacy", {"model.hlo.pb": HLO, "model.neff": b"false", "model.log": LOG}, None, OLD_COMPILER),
    ("published-unmarked", {HLO_NAME: HLO, "model.neff": GOOD}, None, COMPILER),
    ("published-unmarked", {HLO_NAME: HLO, "model.neff": GOOD, LOCK: b""}, Holder.ALIVE, COMPILER),
    ("extracted", {HLO_NAME: HLO}, None, COMPILER),
    ("empty", {}, None, COMPILER),
    ("inconsistent", {HLO_NAME: HLO, "model.done": b""}, None, COMPILER),
    ("unknown", {HLO_NAME: HLO, "model.log": b"something else"}, None, COMPILER),
    ("hit", {"model.fxgraph": HLO, "model.inductor": b"code", "model.done": b""}, None, "inductor-2.13.0"),
    ("corrupt", {"model.fxgraph": HLO, "model.inductor": b"", "model.done": b""}, None, "inductor-2.13.0"),
    (
        "corrupt",
        {
            "model.fxgraph": HLO,
            "model.inductor": b"cut",
            "model.done": b"",
            "model.stats.json": b'{"compile_seconds": 2.5, "files": {"model.inductor": {"sha256": "", "bytes": 999}}}',
        },
        None,
        "inductor-2.13.0",
    ),
    ("extracted", {"model.fxgraph": HLO}, None, "inductor-2.13.0"),
]


def seen(root: Path, verdict: Holder = Holder.UNKNOWN) -> Entry:
    """The only entry of a root, its lock judged as told."""

    def lock_verdicts(_: str, locked: list[Entry], __: object) -> dict[str, Lock]:
        return {entry.path: Lock(entry.lock.since if entry.lock else 0.0, verdict) for entry in locked}

    (entry,) = scan(str(root), lock_verdicts=lock_verdicts).entries
    return entry


@pytest.mark.parametrize(("state", "files", "verdict", "compiler"), ROWS)
def test_each_row_of_the_state_table_is_distinguished_from_real_files(
    tmp_path: Path, state: str, files: dict[str, bytes], verdict: Holder | None, compiler: str
) -> None:
    write_entry(tmp_path, files, compiler=compiler)
    assert seen(tmp_path, verdict or Holder.UNKNOWN).state == state


def test_a_whole_exported_model_is_only_sized(tmp_path: Path) -> None:
    folder = tmp_path / COMPILER / "MODULE_118bfa6871400508d064" / "unet"
    folder.mkdir(parents=True)
    (folder / "model.neuron").write_bytes(b"x" * 5000)
    entry = seen(tmp_path)
    assert (entry.state, entry.apparent) == (State.TRACED, 5000)


@pytest.mark.parametrize(
    ("files", "verdict", "state"),
    [
        ({HLO_NAME: HLO, LOCK: b"", "model.log": LOG}, Holder.ALIVE, State.RETRYING),
        ({HLO_NAME: HLO, "model.neff": GOOD}, Holder.UNKNOWN, State.PUBLISHED_UNMARKED),
        ({HLO_NAME: HLO}, Holder.UNKNOWN, State.EXTRACTED),
        ({HLO_NAME: HLO, "model.neff": b"", "model.done": b""}, Holder.UNKNOWN, State.CORRUPT),
        ({HLO_NAME: HLO, LOCK: b""}, Holder.UNKNOWN, State.LOCKED_UNKNOWN),
    ],
    ids=["retry under its lock", "neff without its mark", "collected", "empty neff", "compile on another host"],
)
def test_the_five_situations_the_rival_misjudges(
    tmp_path: Path, files: dict[str, bytes], verdict: Holder, state: State
) -> None:
    write_entry(tmp_path, files)
    assert seen(tmp_path, verdict).state is state


@given(
    st.sampled_from(Artifact),
    st.integers(0, 2**14 - 1),
    st.booleans(),
    st.booleans(),
    st.sampled_from(Holder),
)
def test_every_combination_of_files_has_a_state(
    artifact: Artifact, parts: int, legacy: bool, failure_log: bool, holder: Holder
) -> None:
    state = classify(artifact, parts, legacy, failure_log, holder)
    assert state in State
    if state is State.HIT:
        assert artifact is Artifact.VALID
        assert parts & Part.DONE
        assert not parts & Part.LOCK
    if state in (State.COMPILING, State.RETRYING):
        assert parts & Part.LOCK
        assert holder is Holder.ALIVE
    if state is State.STALE_LOCK:
        assert holder is Holder.DEAD


_FILES = (
    HLO_NAME, "model.hlo.pb", "model.fxgraph", "model.neff", "model.inductor", "model.done", "model.log", LOCK,
    "model.stats.json", "compile_flags.json", "compile_flags.txt", "wrapped_neff.hlo", "other", "model.graph.json",
)  # fmt: skip


@settings(deadline=None)  # a busy disk is no failure
@given(st.dictionaries(st.sampled_from(_FILES), st.binary(max_size=80) | st.just(GOOD)))
def test_no_combination_of_files_and_contents_makes_a_scan_raise(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    root = tmp_path_factory.mktemp("cache")
    folder = root / COMPILER / module_name(b"x")
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    entry = seen(root)
    assert entry.apparent == sum(map(len, files.values()))
    assert entry.state in State
