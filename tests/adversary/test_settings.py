"""The settings file and the variables beside it, where they are not what a careful user wrote."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_top import settings
from neuron_top.compile.wrapper.flags import parse_environment
from neuron_top.errors import FileMalformed, NeuronTopError, UsageError


@pytest.fixture(autouse=True)
def _at_most_a_minute() -> Iterator[None]:
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "deep", "zeros", "long", "no text", "closed", "loop"])
def test_a_settings_file_of_any_kind_is_named(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")
        case "deep":
            path.write_text("a = " + "[" * 100_000)
        case "zeros":
            path.write_bytes(b"\0" * 100)
        case "long":
            path.write_bytes(b"#" * (2 << 20))
        case "no text":
            path.write_bytes(b"theme = '\xff'")
        case "closed":
            path.write_text("")
            path.chmod(0)
            if os.geteuid() == 0:
                pytest.skip("root reads what is closed")
        case "loop":
            path.symlink_to(path)
    with pytest.raises((FileMalformed, UsageError), match=r"config\.toml"):
        settings.load(path=path, environ={})


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_a_settings_file_of_an_impossible_name_is_named(path: str) -> None:
    with pytest.raises((FileMalformed, UsageError)):
        settings.load(path=Path(path), environ={})


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    with pytest.raises(UsageError, match="no home folder"):
        settings.Settings().state_path  # noqa: B018 (the reading is the attack)
    with pytest.raises(UsageError, match="XDG_CONFIG_HOME"):
        settings.config_path({})


def test_a_state_folder_below_the_home_of_nobody_is_named() -> None:
    with pytest.raises(UsageError, match=r"~no-such-user/state: the home folder is not known"):
        settings.Settings(state_dir="~no-such-user/state").state_path  # noqa: B018 (the reading is the attack)


FLAGS = (
    "--cache_dir='", '--cache_dir="x', "--cache_dir", "--cache_dir --no_cache", "--cache_dir=", "\\", "'" * 9999,
    "--log_level=\x1b[31m", "--cache_dir=s3://u:hunter2@b/x", "$(touch /tmp/x)", "`id`", "--compile_workdir=\udcff",
    "--cache_dir=\n", "-" * 20000, "--no_cachee", "--dump=~nobody/x", "--retry_failed_compilation=yes",
)  # fmt: skip


@pytest.mark.parametrize("text", FLAGS, ids=range(len(FLAGS)))
def test_flags_are_read_or_refused_in_words(text: str) -> None:
    try:
        options = parse_environment({"NEURON_CC_FLAGS": text})
        options.cache_root()
    except NeuronTopError as problem:
        assert str(problem)  # noqa: PT017 (either is right)


def test_no_word_of_the_flags_becomes_an_option_of_the_wrapper_by_its_content() -> None:
    options = parse_environment({"NEURON_CC_FLAGS": "--x='--no_cache --cache_dir=/evil' '--y --no_cache'"})
    assert not options.no_cache
    assert options.cache_origin == "default"
    assert options.compiler_flags == ("--x=--no_cache --cache_dir=/evil", "--y --no_cache")
