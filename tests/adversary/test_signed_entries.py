"""Keyed digests: entries without the right signature are not loaded where one is required, forged ones nowhere."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import stat
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache import signing
from neuron_top.cache.model import filenames, graph_header
from neuron_top.cache.model.record import FileFacts, Stats, stats_decoder
from neuron_top.cache.scan.catalog import open_root
from neuron_top.cache.scan.verify import deep
from neuron_top.errors import FileMalformed, UsageError
from tests.adversary.attacker import give_away, needs_root
from tests.compile.fakes import GRAPH, Copying, wrapper


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A cache with one entry, signed with the user's own key."""
    wrapper(tmp_path / "cache").get_or_compile(GRAPH)
    return tmp_path / "cache"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    """A shared key."""
    path = tmp_path / "shared.key"
    path.write_bytes(secrets.token_bytes(32))
    path.chmod(0o600)
    return path


NONE = {"key": "", "digest": ""}


def entry_of(root: Path) -> Path:
    (path,) = root.glob("*/MODULE_*")
    return path


def record(entry: Path) -> Stats:
    return stats_decoder.decode((entry / filenames.STATS).read_bytes())


def change_record(entry: Path, **changes: object) -> None:
    path = entry / filenames.STATS
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def hit(root: Path) -> bool:
    return wrapper(root).get_or_compile(GRAPH).hit


def forge(entry: Path) -> None:
    """Another artifact, and every digest that needs no key rewritten for it."""
    old, files = record(entry), {}
    for name in (filenames.INDUCTOR_ARTIFACT, filenames.INDUCTOR_KERNELS):
        (entry / name).write_bytes(b"prepared")
        files[name] = FileFacts(hashlib.sha256(b"prepared").hexdigest(), 8)
    new = msgspec.structs.replace(old, files=files).sealed(signing.Keys())
    (entry / filenames.STATS).write_bytes(msgspec.json.encode(msgspec.structs.replace(new, signature=old.signature)))


def test_the_users_own_key_is_made_for_this_user_alone_and_signs(root: Path, tmp_path: Path) -> None:
    key = tmp_path / "state" / signing.OWN_KEY
    assert key.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in key.parent.iterdir()] == [signing.OWN_KEY]
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700  # recordings come to lie in the same folder
    first = key.read_bytes()
    assert record(entry_of(root)).signature.key
    assert graph_header.read((entry_of(root) / filenames.FX_GRAPH).read_bytes()).signature.key
    assert hit(root)
    assert key.read_bytes() == first


def test_an_artifact_forged_with_its_plain_digests_is_not_loaded(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(entry_of(root))
    obtained = wrapper(root).get_or_compile(GRAPH)
    assert not obtained.hit
    assert obtained.entry.artifact.read_bytes() == b"the graph" * 2
    assert "its signature is wrong" in capsys.readouterr().err
    assert hit(root)


@pytest.mark.parametrize(
    "changes",
    [
        {"guards": "True"},
        {"graph": GRAPH.key.graph + "0"},
        {"compiler": "other"},
        {"digest": ""},
        {"signature": None},
        {"files": {}},
    ],
    ids=str,
)
def test_a_record_with_a_changed_field_is_not_believed(root: Path, changes: dict[str, object]) -> None:
    change_record(entry_of(root), **changes)
    assert not hit(root)
    assert hit(root)


def test_in_a_root_of_ones_own_no_signature_and_one_with_another_key_are_fine(root: Path, tmp_path: Path) -> None:
    change_record(entry_of(root), signature=NONE)
    assert hit(root)
    change_record(entry_of(root), signature={"key": "ab" * 8, "digest": "cd" * 32})
    assert hit(root)
    (tmp_path / "state" / signing.OWN_KEY).unlink()
    assert hit(root)


def test_a_user_without_a_state_folder_compiles_unsigned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NEURONTOP_STATE_DIR", str(tmp_path / "file" / "state"))
    entry = wrapper(tmp_path / "cache").get_or_compile(GRAPH).entry
    assert record(entry.path).signature == signing.UNSIGNED
    assert hit(tmp_path / "cache")


def test_a_key_of_ours_that_others_can_read_is_not_used(root: Path, tmp_path: Path) -> None:
    (tmp_path / "state" / signing.OWN_KEY).chmod(0o644)
    assert signing.keys_in_force().sign(["x"]) == signing.UNSIGNED


def test_where_a_key_is_required_everything_else_is_compiled_again(
    root: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(signing.KEY_FILE_VARIABLE, str(key_file))
    assert not hit(root)
    assert "signed with another key" in capsys.readouterr().err
    assert hit(root)
    change_record(entry_of(root), signature=NONE)
    assert not hit(root)
    assert "it is not signed" in capsys.readouterr().err
    assert hit(root)
    signer = record(entry_of(root)).signature.key
    change_record(entry_of(root), signature={"key": signer, "digest": "ab" * 32})
    assert not hit(root)
    forge(entry_of(root))
    assert not hit(root)


def test_where_a_key_is_required_a_graph_without_it_is_not_unpickled(
    tmp_path: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "cache"
    wrapper(root).extract(GRAPH)
    entry, compiler = entry_of(root), Copying()
    monkeypatch.setenv(signing.KEY_FILE_VARIABLE, str(key_file))
    with pytest.raises(FileMalformed, match="signed with another key"):
        wrapper(root, compiler).compile_entry(entry)
    assert compiler.compiled == 0
    wrapper(root).extract(GRAPH)
    assert not wrapper(root, compiler).compile_entry(entry).hit
    assert hit(root)


def test_a_signature_of_another_entry_does_not_fit(
    tmp_path: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(signing.KEY_FILE_VARIABLE, str(key_file))
    root, other = tmp_path / "cache", tmp_path / "other"
    wrapper(root).get_or_compile(GRAPH)
    theirs = msgspec.structs.replace(GRAPH, data=lambda: b"another graph")
    wrapper(other).get_or_compile(theirs)
    for name in (filenames.INDUCTOR_ARTIFACT, filenames.INDUCTOR_KERNELS):
        shutil.copy(entry_of(other) / name, entry_of(root) / name)
    change_record(entry_of(root), files=json.loads((entry_of(other) / filenames.STATS).read_text())["files"])
    obtained = wrapper(root).get_or_compile(GRAPH)
    assert not obtained.hit
    assert obtained.entry.artifact.read_bytes() == b"the graph" * 2


def test_a_copied_cache_keeps_its_signatures(tmp_path: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(signing.KEY_FILE_VARIABLE, str(key_file))
    wrapper(tmp_path / "cache").get_or_compile(GRAPH)
    shutil.copytree(tmp_path / "cache", tmp_path / "copy")
    assert hit(tmp_path / "copy")


@pytest.mark.parametrize(
    ("prepare", "complaint"),
    [
        (lambda path: path.unlink(), "cannot be read"),
        (lambda path: path.write_bytes(b"short"), "holds 5 bytes: a key needs at least 16"),
        (lambda path: path.chmod(0o644), "chmod 600"),
        (lambda path: path.chmod(0o620), "chmod 600"),
        (lambda path: (path.unlink(), path.mkdir()), "not a file"),
        (lambda path: (path.unlink(), os.mkfifo(path, 0o600)), "not a file"),
    ],
)
def test_a_key_file_that_will_not_do_is_a_clear_error(
    root: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch, prepare: object, complaint: str
) -> None:
    prepare(key_file)  # type: ignore[operator]
    monkeypatch.setenv(signing.KEY_FILE_VARIABLE, str(key_file))
    with pytest.raises(UsageError, match=complaint) as reported:
        wrapper(root).get_or_compile(GRAPH)
    assert signing.KEY_FILE_VARIABLE in str(reported.value)


@needs_root
def test_a_key_file_of_a_stranger_protects_nothing(root: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    give_away(key_file)
    monkeypatch.setenv(signing.KEY_FILE_VARIABLE, str(key_file))
    with pytest.raises(UsageError, match="a key file of your own"):
        wrapper(root).get_or_compile(GRAPH)


def test_verify_and_the_catalog_report_each_of_them(root: Path, tmp_path: Path) -> None:
    def found() -> str:
        (entry,) = open_root(str(root), tmp_path / "index", full=True).entries
        return " ".join((str(entry.state), *entry.problems, *(one.what for one in deep(str(root), entry))))

    entry = entry_of(root)
    kept = {path.name: path.read_bytes() for path in entry.iterdir()}

    def damaged(name: str, data: bytes) -> str:
        for file, content in kept.items():
            (entry / file).write_bytes(content)
        (entry / name).write_bytes(data)
        return found()

    assert found() == "hit"
    same_size = bytes(len(kept[filenames.INDUCTOR_ARTIFACT]))
    assert "is not what was published" in damaged(filenames.INDUCTOR_ARTIFACT, same_size)
    assert "digest differs" in damaged(filenames.FX_GRAPH, kept[filenames.FX_GRAPH] + b"x")
    assert "of this version" in damaged(filenames.FX_GRAPH, b"neuron-top fx graph 1\n")
    reported = json.loads(kept[filenames.STATS])
    assert "corrupt it belongs to MODULE_x" in damaged(
        filenames.STATS, json.dumps({**reported, "module": "MODULE_x"}).encode()
    )
    assert "corrupt published by neuron-top 0.1" in damaged(
        filenames.STATS, json.dumps({**reported, "graph": ""}).encode()
    )
    assert "changed after it was written" in damaged(filenames.STATS, json.dumps({**reported, "guards": "1"}).encode())
