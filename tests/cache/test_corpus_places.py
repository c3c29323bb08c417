"""Published listings of what is no plain entry: layouts, the registry, root locks, NEFF contents, neighbors."""

from __future__ import annotations

import io
import json
import re
import tarfile
from pathlib import Path

from neuron_top.cache import roots
from neuron_top.cache.scan.scanner import scan
from neuron_top.cache.tree import measure
from neuron_top.cache.vllm_neuron import VllmState, entries
from neuron_top.parsers.neff import read_header
from neuron_top.parsers.neff_payload import read_payload
from tests.builders import HEAD, HLO_NAME, neff, small_hlo, sparse, write_entry
from tests.corpus import corpus

GIVEN = {HLO_NAME: small_hlo(), "model.neff": neff(), "model.done": b""}


def listing(name: str) -> str:
    return corpus("cache-listings", name).read_text()


def test_the_registry_of_the_hub_is_counted_as_a_whole_and_holds_no_entry(tmp_path: Path) -> None:
    text = listing("05-hub-registry.txt")
    paths = set(re.findall(r"^(neuronxcc-\S+/0_REGISTRY/\S+\.json)$", text, re.MULTILINE))
    assert len(paths) >= 4
    for path in paths:
        sparse(tmp_path / path, 1000)
        write_entry(tmp_path, GIVEN, compiler=path.partition("/")[0])
    found = scan(str(tmp_path))
    assert {entry.compiler for entry in found.entries} == {path.partition("/")[0] for path in paths}
    assert sum(other.files for other in found.others) == len(paths)
    assert all("0_REGISTRY" in other.path for other in found.others)


def test_the_oldest_folders_of_the_hub_are_entries_without_the_usual_prefix(tmp_path: Path) -> None:
    text = listing("06-hub-root-2023-layout.txt")
    paths = re.findall(r"^    Upload (\S+/MODULE_\S+?)/?(?:\s|$|/)", text, re.MULTILINE)
    assert len(paths) >= 2
    for path in paths:
        folder, _, module = path.partition("/MODULE_")
        files = {"model.hlo.pb": b"x", "model.neff": neff(), "compile_flags.txt": b""}
        write_entry(tmp_path, files, compiler=folder, module="MODULE_" + module.partition("/")[0])
    assert {(entry.path.partition("/MODULE_")[0], str(entry.state)) for entry in scan(str(tmp_path)).entries} == {
        (path.partition("/MODULE_")[0], "hit-legacy") for path in paths
    }


def test_the_documented_tree_of_an_entry_is_a_hit(tmp_path: Path) -> None:
    names = re.findall(r"── (\S+)", listing("12-aws-doc-entry-tree.txt"))
    write_entry(tmp_path, {name: GIVEN.get(name, b'["--target=trn1"]') for name in names})
    (entry,) = scan(str(tmp_path)).entries
    assert (entry.state, entry.flags_hash_ok, len(names)) == ("hit", True, 4)


def test_the_package_that_owns_the_cache_is_no_cache(tmp_path: Path) -> None:
    files = re.findall(
        r"^-\S+ +1 \S+ \S+ +(\d+) \S+ \d+ \S+ (\S+)$", listing("17-libneuronxla-package-ls.txt"), re.MULTILINE
    )
    for size, name in files:
        sparse(tmp_path / name, int(size))
    found = scan(str(tmp_path))
    assert found.entries == ()
    assert {other.path for other in found.others} == {name for _, name in files}


def test_the_lock_in_the_root_is_seen_and_locks_no_entry(tmp_path: Path) -> None:
    (name,) = re.findall(r"Permission denied: '/\S+/(lock)'", listing("18-cache-root-lock-tracebacks.txt"))
    write_entry(tmp_path, GIVEN)
    (tmp_path / name).write_bytes(b"")
    found = scan(str(tmp_path))
    assert [(entry.state, entry.lock) for entry in found.entries] == [("hit", None)]
    assert [other.path for other in found.others] == [name]


def test_a_header_with_the_packagers_values_is_read_as_the_packager_printed_it() -> None:
    text = listing("19-neff-packager.txt")
    reported = {
        name.strip(): value.strip() for name, value in re.findall(r"^ {8}([A-Z][\w ]+): +(\S.*)$", text, re.MULTILINE)
    }
    size = int(reported["Data Size"].split()[0])
    head = HEAD.pack(
        int(reported["Package Version"]),
        int(reported["Header Size"].split()[0]),
        size,
        int(reported["Major Version"]),
        int(reported["Minor Version"]),
        b"",
        int(reported["Number of Neuron cores"]),
        bytes.fromhex(reported["Hash"]) + b"0" * 16,
        bytes.fromhex(reported["UUID"]),
        reported["Network Name"].encode()[:255],
        1,
        b"\1",
        0,
        1,
        b"",
    )
    header = read_header(head, 1024 + size)
    assert header is not None
    assert (header.package_version, header.data_bytes, header.version) == (2, size, "1.0")
    assert header.digest.startswith(reported["Hash"])
    assert (header.cores, header.warnings, header.features) == (1, (), ())
    assert header.module == "MODULE_16554925436865022292"


def test_the_members_of_the_runtimes_own_fixture_are_walked(tmp_path: Path) -> None:
    text = listing("20-neff-payload-members.txt")
    sizes = dict(re.findall(r"^(\S+) +(\d+)(?: |$)", text, re.MULTILINE))
    kelf = re.findall(r'^(\{ "graphs".*\})$', text, re.MULTILINE)[0].encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, size in sizes.items():
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            content = kelf if name == "kelf-a.json" else json.dumps({}).encode()
            info.size = 0 if name.endswith("/") else int(size)
            archive.addfile(info, io.BytesIO(content.ljust(int(size))[: int(size)]))
    data = neff(payload=buffer.getvalue())
    header = read_header(data[:1024], len(data))
    assert header is not None
    payload = read_payload(header, [data[1024:]])
    files = {name: int(size) for name, size in sizes.items() if not name.endswith("/")}
    assert len(sizes) == 19
    assert {member.name: member.size for member in payload.members if not member.name.endswith("/")} == files
    assert (payload.target, payload.subgraphs) == (json.loads(kelf)["target"], 1)
    assert payload.code_bytes == sum(size for name, size in files.items() if name.endswith(".bin"))


def test_the_crashed_compile_of_a_published_report_is_incomplete_whatever_it_left(tmp_path: Path) -> None:
    text = listing("21-vllm-neuron-entry.txt")
    paths = re.findall(r"^\.\.\./([0-9a-f]{32}/\S+\.(?:txt|hlo))\b", text, re.MULTILINE)
    for path in paths:
        sparse(tmp_path / path.replace("*", "x"), 9_500_000 if path.endswith("graph.hlo") else 100)
    (tmp_path / "nki").mkdir()
    (one,) = entries(str(tmp_path))
    assert (one.key, one.state, one.neff_bytes) == ("6dcc944f1be638ed5bb225055e4286f1", VllmState.INCOMPLETE, None)
    assert one.files == len(paths) >= 6


def test_the_cache_of_a_neighbor_is_found_where_it_is_named_and_only_sized(tmp_path: Path) -> None:
    sizes = [
        (int(size), name)
        for size, name in re.findall(r"^-\S+ +(\d+) (\S+)$", listing("22-jax-cache-dir.txt"), re.MULTILINE)
    ]
    for size, name in sizes:
        (tmp_path / name).write_bytes(b"j" * size)
    found = [
        root for root in roots.find({"JAX_COMPILATION_CACHE_DIR": str(tmp_path)}, processes=()) if root.kind == "jax"
    ]
    assert [root.path for root in found] == [str(tmp_path)]
    size = measure(found[0].path)
    assert (size.apparent, size.files) == (sum(size for size, _ in sizes), len(sizes))
