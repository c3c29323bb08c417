"""PyTorch's artifacts in files: those that the installed PyTorch makes, and bytes that only look like them."""

from __future__ import annotations

import base64
import json
import os
import pickle
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.cache.torch_artifacts import ArtifactKind, find, read
from tests.inductor_folder import inductor_folder

MAKE = """
import sys, torch
torch.set_num_threads(1)
folder = sys.argv[1]

@torch.compile
def doubled(x):
    return torch.sin(x) * 2

doubled(torch.ones(4))
data, told = torch.compiler.save_cache_artifacts()
open(f"{folder}/bundle.bin", "wb").write(data)

def added(x, y):
    return x + y

example = (torch.ones(3), torch.ones(3))
saved = torch.compile(added, fullgraph=True, backend="eager").aot_compile((example, {}))
saved.save_compiled_function(f"{folder}/added.pt")
import json
print(json.dumps(told.artifacts))
"""


def number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def word(text: str) -> bytes:
    data = base64.b64encode(text.encode())
    return number(len(data)) + data


def bundle(kinds: dict[str, list[str]], content: bytes = b"x" * 9, checksum: bool = True) -> bytes:
    """A bundle by the documented format: made by hand."""
    body = number(1)
    for kind, keys in kinds.items():
        body += word(kind) + number(len(keys))
        body += b"".join(word(key) + number(len(content)) + content for key in keys)
    return (zlib.crc32(body).to_bytes(4, "big") if checksum else b"") + body


@pytest.mark.torch
def test_what_the_installed_pytorch_writes_is_named_sized_and_dated(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    environ = {
        **os.environ,
        "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(tmp_path / "inductor")),
        "TMPDIR": str(tmp_path),
    }
    out = tmp_path / "out"
    out.mkdir()
    made = subprocess.run(
        [sys.executable, "-c", MAKE, str(out)], env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert made.returncode == 0, made.stderr
    reported = json.loads(made.stdout.splitlines()[-1])
    package, bundled = find([str(out)])
    assert bundled.kind is ArtifactKind.MEGA_CACHE
    assert bundled.artifacts == {kind: len(keys) for kind, keys in reported.items()}
    assert set(bundled.keys) == {key for keys in reported.values() for key in keys}
    assert (bundled.complete, bundled.bytes) == (True, (out / "bundle.bin").stat().st_size)
    assert bundled.changed == (out / "bundle.bin").stat().st_mtime
    assert package.kind is ArtifactKind.AOT_COMPILE
    assert (package.function, package.backend, package.device) == ("added", "eager", "cpu")
    assert package.complete is True


@pytest.mark.parametrize("checksum", [True, False])
def test_a_bundle_reports_its_kinds_and_keys(tmp_path: Path, checksum: bool) -> None:
    (tmp_path / "a").write_bytes(bundle({"inductor": ["k1", "k2"], "aot_autograd": ["k3"]}, checksum=checksum))
    (artifact,) = find([str(tmp_path)])
    assert artifact.artifacts == {"inductor": 2, "aot_autograd": 1}
    assert artifact.keys == ("k1", "k2", "k3")
    assert artifact.complete is True


def test_a_bundle_that_was_cut_short_is_reported_as_such(tmp_path: Path) -> None:
    data = bundle({"inductor": ["k1", "k2"]})
    (tmp_path / "a").write_bytes(data[:-4])
    (artifact,) = find([str(tmp_path)])
    assert (artifact.complete, artifact.artifacts) == (False, {"inductor": 1})


def test_a_claimed_length_is_not_believed(tmp_path: Path) -> None:
    data = bundle({"inductor": ["k"]})
    (tmp_path / "a").write_bytes(data[: 4 + 8 + len(word("inductor"))] + number(1 << 60))
    (tmp_path / "b").write_bytes(data[:-17] + number(1 << 62) + b"x")
    assert [artifact.complete for artifact in find([str(tmp_path)])] == [False, False]


def test_an_archive_of_aotinductor(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.pt2", "w") as archive:
        archive.writestr("m/archive_format", "pt2")
        archive.writestr("m/data/aotinductor/decoder/wrapper.so", "x")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("x", "y")
    (artifact,) = find([str(tmp_path)])
    assert (artifact.kind, artifact.models) == (ArtifactKind.AOTI, ("decoder",))


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_an_archive_whose_contents_are_damaged_or_encrypted_is_passed_over(tmp_path: Path, compression: int) -> None:
    whole = tmp_path / "whole.pt2"
    with zipfile.ZipFile(whole, "w", compression) as archive:
        archive.writestr("m/archive_format", "pt2")
    data, start = whole.read_bytes(), 30 + len("m/archive_format")
    (tmp_path / "damaged.pt2").write_bytes(data[:start] + b"\xff" * 5 + data[start + 5 :])
    flags = data.rindex(b"PK\x01\x02") + 8
    (tmp_path / "encrypted.pt2").write_bytes(data[:flags] + b"\x01" + data[flags + 1 :])
    found = {Path(artifact.path).name for artifact in find([str(tmp_path)])}
    assert found == ({"whole.pt2"} if compression == zipfile.ZIP_DEFLATED else set())


def test_a_pickle_is_read_and_never_loaded(tmp_path: Path) -> None:
    class Harm:
        def __reduce__(self) -> object:
            return os.system, (f"touch {tmp_path}/harmed",)

    facts = {"signature": 1, "guards_state": b"x", "backend_id": "b", "backend_name": "\x1b[31mred", "more": Harm()}
    (tmp_path / "a.pt").write_bytes(pickle.dumps(facts))
    (tmp_path / "b.pt").write_bytes(pickle.dumps({"signature": 1}))
    (artifact,) = find([str(tmp_path)])
    assert artifact.backend is not None
    assert artifact.backend.isprintable()
    assert not (tmp_path / "harmed").exists()


def test_links_pipes_and_files_that_may_not_be_read_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(bundle({"inductor": ["k"]}))
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    assert [Path(artifact.path).name for artifact in find([str(tmp_path), str(tmp_path / "real"), "/nowhere"])] == [
        "real"
    ]


PIECES = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [number(1), word("inductor"), number(0), number(2), number(1 << 63), word("k"), b"PK\x03\x04", b"\x80\x04"]
    ),
    st.just(pickle.dumps({"signature": "x", "guards_state": b"", "backend_id": "y"})),
)


@given(st.lists(PIECES, max_size=12).map(b"".join), st.booleans())
@settings(max_examples=300, deadline=None)
def test_no_bytes_are_an_error(tmp_path_factory: pytest.TempPathFactory, data: bytes, checksum: bool) -> None:
    path = tmp_path_factory.getbasetemp() / f"bytes-{os.getpid()}"
    path.write_bytes((b"\0\0\0\0" if checksum else b"") + data)
    artifact = read(str(path))
    if artifact is not None:
        assert artifact.bytes == path.stat().st_size
        assert all(key.isprintable() for key in artifact.keys)
