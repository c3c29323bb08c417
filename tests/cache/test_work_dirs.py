"""Work folders of compilers: found in their known places, sized, alive or dead."""

from __future__ import annotations

import os
from pathlib import Path

from neuron_top.cache import work_dirs
from neuron_top.cache.processes import CacheProcess

KEY = "MODULE_12345678901234567890+e30acd3a"
NOW = 1_800_000_000.0


def folder(tmp: Path, *parts: str, age: float, size: int = 5000) -> Path:
    """A work folder with a graph in it that was last written `age` seconds ago."""
    place = tmp.joinpath(*parts)
    place.mkdir(parents=True)
    file = place / f"model.{KEY}.hlo_module.pb"
    file.write_bytes(b"x" * size)
    os.utime(file, (NOW - age, NOW - age))
    return place


def compiler(place: Path) -> CacheProcess:
    """A compiler that works in the folder."""
    return CacheProcess(pid=9, command=("neuronx-cc", "compile", f"{place}/model.pb"), environ={}, cwd="/")


def found(tmp: Path, *processes: CacheProcess, **environ: str) -> dict[str, work_dirs.WorkDir]:
    """Work folders by path below `tmp`."""
    listed = work_dirs.find(processes, environ, str(tmp), NOW)
    return {os.path.relpath(one.path, tmp): one for one in listed}


def test_all_three_kinds_are_found_with_size_and_key(tmp_path: Path) -> None:
    folder(tmp_path, "me", "neuroncc_compile_workdir", "1b4e28ba", age=9e4)
    folder(tmp_path, "nxd_model", "context_encoding", "_tp0_bk0", age=9e4)
    folder(tmp_path, "me", "parallel_compile_workdir", age=9e4)
    listed = found(tmp_path)
    assert {one.kind for one in listed.values()} == {"compile", "nxd", "parallel"}
    for one in listed.values():
        assert one.modules == (KEY,)
        assert (one.allocated or 0) >= 5000
        assert one.alive is False


def test_a_single_folder_is_known_for_a_work_folder_as_in_the_list_of_all(tmp_path: Path) -> None:
    tmp = tmp_path / "tmp [1]"
    for parts in (
        ("me", "neuroncc_compile_workdir", "1b4e28ba"),
        ("me", "neuroncc_compile_workdir", "*[a]"),
        ("me", "neuroncc_compile_workdir", ".hidden"),
        ("me", "neuroncc_compile_workdir", "1b4e28ba", "deeper"),
        (".hidden", "neuroncc_compile_workdir", "1b4e28ba"),
        ("nxd_model", "context_encoding", "_tp0_bk0"),
        ("nxd_model", ".neurontop-trash-0", "context_encoding-0a1b2c3d"),
        ("me", "parallel_compile_workdir"),
        ("me", "other"),
    ):
        folder(tmp, *parts, age=9e4)
    (tmp / "me" / "neuroncc_compile_workdir" / "link").symlink_to(tmp / "me" / "other")
    listed = {str(tmp / path) for path in found(tmp)}
    assert len(listed) == 4
    everything = [str(place) for place in tmp.rglob("*") if place.is_dir()]
    assert {place for place in everything if work_dirs.is_work_folder(place, {}, str(tmp))} == listed


def test_the_place_of_the_model_builder_is_a_variable(tmp_path: Path) -> None:
    folder(tmp_path, "elsewhere", "token_generation", "_tp0_bk1", age=9e4)
    assert found(tmp_path) == {}
    assert list(found(tmp_path, BASE_COMPILE_WORK_DIR=str(tmp_path / "elsewhere"))) == [
        "elsewhere/token_generation/_tp0_bk1"
    ]


def test_what_else_lies_below_the_folder_of_the_variable_is_no_work_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder(home, "work", "thesis", age=9e4)
    folder(home, "work", "thesis", "chapter", age=9e4)
    folder(home, "text_model", "context_encoding_model", "_tp0_bk12", age=9e4)
    environ = {"BASE_COMPILE_WORK_DIR": str(home)}
    assert list(found(tmp_path, **environ)) == ["home/text_model/context_encoding_model/_tp0_bk12"]
    everything = [str(place) for place in home.rglob("*") if place.is_dir()]
    assert [place for place in everything if work_dirs.is_work_folder(place, environ, str(tmp_path))] == [
        str(home / "text_model" / "context_encoding_model" / "_tp0_bk12")
    ]


def test_a_folder_lives_while_a_process_names_it_or_it_grows(tmp_path: Path) -> None:
    named = folder(tmp_path, "me", "neuroncc_compile_workdir", "named", age=9e4)
    folder(tmp_path, "me", "neuroncc_compile_workdir", "grows", age=60)
    folder(tmp_path, "me", "neuroncc_compile_workdir", "dead", age=work_dirs.QUIET_SECONDS + 60)
    alive = {Path(path).name: one.alive for path, one in found(tmp_path, compiler(named)).items()}
    assert alive == {"named": True, "grows": True, "dead": False}


def test_a_link_in_the_place_of_a_work_folder_is_not_followed(tmp_path: Path) -> None:
    outside = folder(tmp_path / "outside", "x", age=60)
    (tmp_path / "me" / "neuroncc_compile_workdir").mkdir(parents=True)
    (tmp_path / "me" / "neuroncc_compile_workdir" / "link").symlink_to(outside)
    assert found(tmp_path) == {}


def test_the_newest_change_is_known_by_key(tmp_path: Path) -> None:
    folder(tmp_path, "me", "neuroncc_compile_workdir", "old", age=500)
    folder(tmp_path, "me", "neuroncc_compile_workdir", "new", age=50)
    reported = work_dirs.newest_by_module([KEY, "MODULE_99999999+00000000"], {}, str(tmp_path))
    assert reported == {KEY: NOW - 50}
