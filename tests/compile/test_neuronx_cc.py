"""The Neuron compiler, played by a script on the PATH: its command line, its failures, its cache entries."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.compile.compilers.neuronx_cc import NeuronxCC
from neuron_top.compile.wrapper.flags import WrapperOptions
from neuron_top.compile.wrapper.get_or_compile import Wrapper
from neuron_top.errors import CompileError, CompilerKilled, CompilerMissing
from neuron_top.events import Event, GraphDescribed
from tests.explain.transformer_step_hlo import Step, training_step

VERSION = 'if [ "$1" = --version ]; then echo "NeuronX Compiler version 2.99.1234.0+0a1b2c3d"; exit 0; fi\n'


@pytest.fixture
def entry(own_caches: Path) -> Path:
    """A collected graph, as the SDK stores it."""
    path = own_caches / "neuronxcc-2.99.1234.0+0a1b2c3d" / "MODULE_12345678901234567+e30acd3a"
    path.mkdir(parents=True)
    (path / "model.hlo_module.pb").write_bytes(b"hlo")
    (path / "compile_flags.json").write_text('["--target=trn1"]')
    return path


def compiler(folder: Path, body: str) -> NeuronxCC:
    program = folder / "neuronx-cc"
    program.write_text("#!/bin/sh\n" + VERSION + body)
    program.chmod(0o755)
    return NeuronxCC(str(program))


def compile_entry(entry: Path, one: NeuronxCC) -> None:
    Wrapper(one, WrapperOptions(cache_url=str(entry.parent.parent))).compile_entry(entry)


def test_it_is_called_as_the_sdk_calls_it_with_the_flags_of_the_entry(entry: Path, tmp_path: Path) -> None:
    one = compiler(tmp_path, f'echo "$@" > {tmp_path}/argv; cp "$3" "$5"\n')
    compile_entry(entry, one)
    words = (tmp_path / "argv").read_text().split()
    assert words[:3] == ["compile", "--framework=XLA", str(entry / "model.hlo_module.pb")]
    assert words[3] == "--output"
    assert words[5:] == ["--target=trn1", "--verbose=35"]
    assert (entry / "model.neff").read_bytes() == b"hlo"
    assert (entry / "model.done").exists()
    assert one.directory() == entry.parent.name


def test_its_scratch_stays_in_the_folder_that_was_asked_for(entry: Path, tmp_path: Path) -> None:
    one = compiler(tmp_path, 'echo scratch > stage.txt; cp "$3" "$5"\n')
    options = WrapperOptions(cache_url=str(entry.parent.parent), workdir=str(tmp_path / "work"))
    Wrapper(one, options).compile_entry(entry)
    assert (tmp_path / "work" / entry.name / "stage.txt").read_text() == "scratch\n"
    assert {path.name for path in entry.iterdir()} >= {"model.neff", "model.done"}


def test_what_a_module_is_made_of_is_reported_before_its_compile_begins(entry: Path, tmp_path: Path) -> None:
    (entry / "model.hlo_module.pb").write_bytes(training_step(Step()))
    reported: list[Event] = []
    options = WrapperOptions(cache_url=str(entry.parent.parent))
    Wrapper(compiler(tmp_path, 'cp "$3" "$5"\n'), options, emit=reported.append).compile_entry(entry)
    described = reported[0]
    assert isinstance(described, GraphDescribed)
    assert (described.module, described.compiler) == (entry.name, entry.parent.name)
    assert described.graph_bytes == (entry / "model.hlo_module.pb").stat().st_size
    assert described.op_counts["dot"] > 0
    assert described.operators == sum(described.op_counts.values())


def test_what_it_says_becomes_the_failure_log(entry: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError):
        compile_entry(entry, compiler(tmp_path, "echo '[NCC_EXTP003] too many instructions'; exit 70\n"))
    text = (entry / "model.log").read_text()
    assert text.startswith("Failed compilation with ['")
    assert "[NCC_EXTP003] too many instructions" in text
    assert not (entry / "model.done").exists()


def test_a_kill_is_distinguished_from_an_error(entry: Path, tmp_path: Path) -> None:
    with pytest.raises(CompilerKilled, match="signal 9"):
        compile_entry(entry, compiler(tmp_path, "kill -9 $$\n"))


def test_a_compiler_that_writes_nothing_has_failed(entry: Path, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="no NEFF"):
        compile_entry(entry, compiler(tmp_path, "exit 0\n"))


def test_a_missing_compiler_is_named() -> None:
    with pytest.raises(CompilerMissing, match="no-such-compiler"):
        NeuronxCC("no-such-compiler").directory()


@pytest.mark.timeout(120)
def test_a_process_that_it_leaves_behind_and_that_writes_on_is_not_waited_for(entry: Path, tmp_path: Path) -> None:
    compile_entry(entry, compiler(tmp_path, '(while echo working; do :; done) & cp "$3" "$5"\n'))
    assert (entry / "model.done").exists()
