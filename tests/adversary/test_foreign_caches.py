"""Roots, entries and files of other people: refused with the way out, before anything of them is read."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache import roots, trust
from neuron_top.cache.model import filenames
from neuron_top.cache.model.graph_header import MAGIC
from neuron_top.cache.roots import CacheKind
from neuron_top.compile.parallel.collect import collect
from neuron_top.compile.wrapper.compiling import GraphToCompile
from neuron_top.compile.wrapper.flags import parse_environment
from neuron_top.errors import CacheUnusable, FileMalformed, RefusedForSafety
from neuron_top.telemetry import doctor_facts
from tests.adversary.attacker import STRANGER, as_stranger, give_away, needs_root
from tests.compile.fakes import GRAPH, Copying, wrapper

WAY_OUT = "NEURONTOP_TRUST_CACHE=1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A cache of ours with one sound entry."""
    place = tmp_path / "cache"
    wrapper(place).get_or_compile(GRAPH)
    return place


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that a stranger can get to; those of pytest are its user's alone."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def entry_of(root: Path) -> Path:
    (path,) = root.glob("*/MODULE_*")
    return path


def refused(root: Path, word: str = "") -> None:
    """Loading is refused with a reason and the way out; so is compiling what lies there; nothing is changed."""
    before = sorted((path, path.lstat().st_mtime_ns) for path in root.rglob("*"))
    for attempt in (lambda: wrapper(root).get_or_compile(GRAPH), lambda: wrapper(root).compile_entry(entry_of(root))):
        with pytest.raises(RefusedForSafety, match=re.escape(word)) as found:
            attempt()
        assert WAY_OUT in str(found.value)
    assert sorted((path, path.lstat().st_mtime_ns) for path in root.rglob("*")) == before


@needs_root
@pytest.mark.parametrize("mode", [0o755, 0o700, 0o775, 0o1777])
def test_a_root_of_a_stranger_is_refused_whatever_its_mode(root: Path, mode: int) -> None:
    give_away(root)
    root.chmod(mode)
    refused(root, str(STRANGER))


@needs_root
@pytest.mark.parametrize("whose", ["compiler", "entry", "graph", "artifact", "kernels", "record"])
def test_what_a_stranger_owns_below_a_root_of_ours_is_refused(root: Path, whose: str) -> None:
    entry = entry_of(root)
    given = {
        "compiler": entry.parent,
        "entry": entry,
        "graph": entry / filenames.FX_GRAPH,
        "artifact": entry / filenames.INDUCTOR_ARTIFACT,
        "kernels": entry / filenames.INDUCTOR_KERNELS,
        "record": entry / filenames.STATS,
    }[whose]
    give_away(given)
    if whose == "graph":  # a hit does not read it
        assert wrapper(root).get_or_compile(GRAPH).hit
        with pytest.raises(RefusedForSafety, match=WAY_OUT):
            wrapper(root).compile_entry(entry)
    elif whose in ("artifact", "kernels", "record"):
        with pytest.raises(RefusedForSafety, match=WAY_OUT):
            wrapper(root).get_or_compile(GRAPH)
    else:
        refused(root, str(STRANGER))


@pytest.mark.parametrize("mode", [0o777, 0o757])
@pytest.mark.parametrize("level", ["above", "root", "compiler", "entry"])
def test_a_folder_that_everybody_can_change_is_refused(tmp_path: Path, level: str, mode: int) -> None:
    above = tmp_path / "above"
    wrapper(above / "cache").get_or_compile(GRAPH)
    entry = entry_of(above / "cache")
    place = {"above": above, "root": above / "cache", "compiler": entry.parent, "entry": entry}[level]
    place.chmod(mode)
    refused(above / "cache", f"everybody can write to {place}")


@pytest.mark.parametrize("name", [filenames.INDUCTOR_ARTIFACT, filenames.INDUCTOR_KERNELS, filenames.STATS])
def test_a_file_that_everybody_can_write_is_refused(root: Path, name: str) -> None:
    (entry_of(root) / name).chmod(0o666)
    with pytest.raises(RefusedForSafety, match="everybody can write"):
        wrapper(root).get_or_compile(GRAPH)


@needs_root
def test_a_group_of_others_that_can_write_is_refused_and_a_private_group_is_not(root: Path) -> None:
    root.chmod(0o775)
    assert wrapper(root).get_or_compile(GRAPH).hit, "root's own group has no other member"
    os.chown(root, 0, 12345)
    refused(root, "group 12345")


@needs_root
def test_in_a_sticky_root_our_entries_are_loaded_and_a_strangers_are_refused(root: Path) -> None:
    root.chmod(0o1777)
    assert wrapper(root).get_or_compile(GRAPH).hit
    compiler = entry_of(root).parent
    compiler.chmod(0o1777)
    assert wrapper(root).get_or_compile(GRAPH).hit
    give_away(entry_of(root))
    refused(root, str(STRANGER))


@needs_root
def test_a_stranger_cannot_plant_an_entry_before_its_first_compile(reachable: Path) -> None:
    """They make the folder first, with a graph that runs their code; it is neither read nor written to."""
    root = reachable / "cache"
    compiler = root / Copying().directory()
    compiler.mkdir(parents=True)
    for folder in (root, compiler):
        folder.chmod(0o1777)
    planted = compiler / GRAPH.key.name

    def plant() -> str:
        planted.mkdir()
        (planted / filenames.FX_GRAPH).write_bytes(b"prepared")
        return "planted"

    as_stranger(plant)
    compiling = Copying()
    for attempt in (
        lambda one: one.get_or_compile(GRAPH),
        lambda one: one.extract(GRAPH),
        lambda one: one.compile_entry(planted),
    ):
        with pytest.raises(RefusedForSafety, match=WAY_OUT):
            attempt(wrapper(root, compiling))
    assert compiling.compiled == 0
    assert (planted / filenames.FX_GRAPH).read_bytes() == b"prepared"


@needs_root
def test_nothing_is_made_in_a_compiler_folder_of_a_stranger(tmp_path: Path) -> None:
    compiler = tmp_path / "cache" / Copying().directory()
    compiler.mkdir(parents=True)
    give_away(compiler)
    for mode in (0o755, 0o1777):
        compiler.chmod(mode)
        with pytest.raises(RefusedForSafety, match=WAY_OUT):
            wrapper(tmp_path / "cache").get_or_compile(GRAPH)
        assert list(compiler.iterdir()) == []


def test_a_link_below_the_root_is_not_followed(root: Path, tmp_path: Path) -> None:
    entry = entry_of(root)
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedForSafety, match="is a link"):
        wrapper(root).get_or_compile(GRAPH)


@pytest.mark.parametrize("name", [filenames.INDUCTOR_ARTIFACT, filenames.INDUCTOR_KERNELS, filenames.STATS])
def test_a_linked_file_is_set_aside_and_compiled_again(root: Path, tmp_path: Path, name: str) -> None:
    path = entry_of(root) / name
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert not wrapper(root).get_or_compile(GRAPH).hit
    assert not path.is_symlink()
    assert wrapper(root).get_or_compile(GRAPH).hit


def test_a_linked_graph_is_not_compiled(root: Path, tmp_path: Path) -> None:
    path = entry_of(root) / filenames.FX_GRAPH
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RefusedForSafety, match="is a link"):
        wrapper(root).compile_entry(path.parent)


def test_a_pipe_in_a_files_place_stops_nobody(root: Path) -> None:
    path = entry_of(root) / filenames.INDUCTOR_ARTIFACT
    path.unlink()
    os.mkfifo(path)
    assert not wrapper(root).get_or_compile(GRAPH).hit
    assert wrapper(root).get_or_compile(GRAPH).hit


def test_a_hard_link_to_another_entrys_artifact_is_noticed(root: Path) -> None:
    other = GraphToCompile(key=GRAPH.key.__class__("f" * 20, GRAPH.key.flags), data=lambda: b"another")
    made = wrapper(root).get_or_compile(other).entry
    entry = next(path for path in root.glob("*/MODULE_0123*"))
    (entry / filenames.INDUCTOR_ARTIFACT).unlink()
    os.link(made.artifact, entry / filenames.INDUCTOR_ARTIFACT)
    obtained = wrapper(root).get_or_compile(GRAPH)
    assert not obtained.hit
    assert obtained.entry.artifact.read_bytes() == b"the graph" * 2
    assert made.artifact.read_bytes() == b"another" * 2


def test_a_root_reached_through_a_link_of_ours_is_used(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("cache")
    (tmp_path / "twice").symlink_to(link)
    assert wrapper(tmp_path / "twice").get_or_compile(GRAPH).hit


@needs_root
@pytest.mark.parametrize("sticky", [0o1777, 0o777])
def test_a_link_that_a_stranger_could_turn_is_not_used(root: Path, tmp_path: Path, sticky: int) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    link = shared / "link"
    link.symlink_to(root)
    give_away(link)
    shared.chmod(sticky)
    with pytest.raises(RefusedForSafety, match=WAY_OUT):
        wrapper(link).get_or_compile(GRAPH)


def test_links_that_lead_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(CacheUnusable, match="links"):
        wrapper(tmp_path / "a").get_or_compile(GRAPH)


def test_who_trusts_everybody_is_taken_at_their_word(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root.chmod(0o777)
    (entry_of(root) / filenames.INDUCTOR_ARTIFACT).chmod(0o666)
    monkeypatch.setenv(trust.TRUST_VARIABLE, "1")
    assert wrapper(root).get_or_compile(GRAPH).hit


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_what_we_make_nobody_else_can_change_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        wrapper(tmp_path / "some" / "cache").get_or_compile(GRAPH)
        assert wrapper(tmp_path / "some" / "cache").get_or_compile(GRAPH).hit
    finally:
        os.umask(before)
    for path in (tmp_path / "some", *(tmp_path / "some").rglob("*")):
        assert not path.lstat().st_mode & 0o022, path


@needs_root
def test_a_default_root_of_a_stranger_gives_way_to_one_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    default = tmp_path / "neuron-compile-cache"
    monkeypatch.setattr(filenames, "DEFAULT_ROOT", str(default))
    assert parse_environment({}).cache_url == str(default)
    default.mkdir()
    assert parse_environment({}).cache_url == str(default)
    give_away(default)
    options = parse_environment({})
    ours = f"{default}-{os.geteuid()}"
    assert options.cache_url == ours
    assert f"belongs to user {STRANGER}" in options.root_remark
    assert roots.root_in_force({}).path == str(default), "the SDK's cache, as long as there is none of ours"
    wrapper(options.cache_root()).get_or_compile(GRAPH)
    assert roots.root_in_force({}).path == ours
    assert {str(default), ours} <= {root.path for root in roots.find({})}
    assert parse_environment({"NEURON_COMPILE_CACHE_URL": str(default)}).root_remark == ""
    with pytest.raises(RefusedForSafety, match=WAY_OUT):
        wrapper(default).get_or_compile(GRAPH)
    assert parse_environment({trust.TRUST_VARIABLE: "1"}).cache_url == str(default)
    assert roots.default_root({}, STRANGER) == (str(default), "") or "everybody" in roots.default_root({}, STRANGER)[1]


@needs_root
def test_a_strangers_default_beside_it_is_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    default = tmp_path / "neuron-compile-cache"
    monkeypatch.setattr(filenames, "DEFAULT_ROOT", str(default))
    for path in (default, Path(roots.user_root())):
        path.mkdir()
        give_away(path)
    with pytest.raises(RefusedForSafety, match=WAY_OUT):
        wrapper(parse_environment({}).cache_root()).get_or_compile(GRAPH)


@needs_root
def test_the_doctor_reports_an_untrusted_root(root: Path) -> None:
    assert doctor_facts.look_at_root(str(root), cache=CacheKind.NEURON, origin="x").untrusted == ""
    give_away(root)
    assert str(STRANGER) in doctor_facts.look_at_root(str(root), cache=CacheKind.NEURON, origin="x").untrusted


@needs_root
def test_parallel_compile_refuses_a_root_of_a_stranger(root: Path) -> None:
    give_away(root)
    with pytest.raises(RefusedForSafety, match=WAY_OUT):
        collect(root, {Copying().directory()})


def damaged_header(data: bytes, **changes: str) -> bytes:
    line, body = data[len(MAGIC) :].split(b"\n", 1)
    return MAGIC + msgspec.json.encode({**msgspec.json.decode(line), **changes}) + b"\n" + body


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data[:-1], id="cut"),
        pytest.param(lambda data: data[:-1] + bytes([data[-1] ^ 1]), id="flipped"),
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: b"neuron-top fx graph 1\n" + data[len(MAGIC) :], id="of 0.1"),
        pytest.param(lambda data: damaged_header(data, module="MODULE_" + "f" * 20 + "+d7517139"), id="other key"),
        pytest.param(lambda data: MAGIC + b"{" * 5000, id="no header"),
    ],
)
def test_a_graph_that_is_not_that_of_its_entry_is_not_compiled(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    one = wrapper(tmp_path / "cache")
    one.extract(GRAPH)
    path = entry_of(tmp_path / "cache") / filenames.FX_GRAPH
    path.write_bytes(change(path.read_bytes()))
    compiler = Copying()
    with pytest.raises(FileMalformed, match="expected the graph of this entry"):
        wrapper(tmp_path / "cache", compiler).compile_entry(path.parent)
    assert compiler.compiled == 0
    assert wrapper(tmp_path / "cache").extract(GRAPH) is False
    assert not wrapper(tmp_path / "cache", compiler).compile_entry(path.parent).hit


def test_flags_without_the_hash_in_the_name_are_not_compiled_with(root: Path) -> None:
    one = wrapper(root)
    entry = one.get_or_compile(GRAPH).entry
    entry.done.unlink()
    (entry.path / "compile_flags.json").write_bytes(b'["-O3"]')
    with pytest.raises(FileMalformed, match="hash stands in the entry's name"):
        one.compile_entry(entry.path)


@pytest.mark.parametrize(
    ("uid_map", "unmapped"),
    [
        ("0 0 4294967295\n", False),
        ("0 0 1\n", False),
        ("0 1000 1\n", True),
        ("0 1000 1\n1 100000 65536\n", True),
        ("0 100000 65536\n", True),
        ("", False),
    ],
)
def test_a_container_of_an_ordinary_user_is_known_by_its_map(uid_map: str, unmapped: bool) -> None:
    assert trust.is_root_unmapped(uid_map) == unmapped


@needs_root
def test_only_the_way_to_a_root_may_belong_to_the_number_of_an_unmapped_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    above = tmp_path / "above"
    wrapper(above / "cache").get_or_compile(GRAPH)
    give_away(above)
    with pytest.raises(RefusedForSafety, match=str(STRANGER)):
        wrapper(above / "cache").get_or_compile(GRAPH)
    monkeypatch.setattr(trust, "_unmapped_root", lambda: STRANGER)
    assert wrapper(above / "cache").get_or_compile(GRAPH).hit
    give_away(above / "cache")
    refused(above / "cache", str(STRANGER))
