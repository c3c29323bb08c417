"""Settings: order of the layers, origins, clear errors."""

import re
from pathlib import Path

import pytest

from neuron_top import settings
from neuron_top.errors import UsageError


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    return path


def test_without_a_file_all_values_are_defaults(tmp_path: Path) -> None:
    current, origins = settings.load(environ={}, path=tmp_path / "none.toml")
    assert current == settings.Settings()
    assert set(origins.values()) == {"default"}


def test_command_line_beats_environment_beats_file(tmp_path: Path) -> None:
    path = written(tmp_path, "keep_runs = 3\nsample_seconds = 2\ntheme = 'light'\n")
    environ = {"NEURONTOP_KEEP_RUNS": "4", "NEURONTOP_SAMPLE_SECONDS": "0.5"}
    current, origins = settings.load({"keep_runs": 5}, environ, path)
    assert (current.keep_runs, current.sample_seconds, current.theme) == (5, 0.5, "light")
    assert origins["keep_runs"] == "command line"
    assert origins["sample_seconds"] == "environment NEURONTOP_SAMPLE_SECONDS"
    assert origins["theme"] == f"file {path}"


@pytest.mark.parametrize(
    "text", ["keep_runs = 0", "sample_seconds = 1e9", "theme = 'pink'", "unheard_of = 1", "keep_runs = 'many'"]
)
def test_a_bad_value_is_a_usage_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        settings.load(environ={}, path=written(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [("keep_runs", "abc", "a whole number"), ("ascii", "perhaps", "true or false"), ("sample_seconds", "", "a number")],
)
def test_a_value_of_another_type_is_reported_with_its_place_and_what_was_expected(
    tmp_path: Path, name: str, value: str, expected: str
) -> None:
    variable = f"NEURONTOP_{name.upper()}"
    with pytest.raises(UsageError) as problem:
        settings.load(environ={variable: value}, path=tmp_path / "none.toml")
    assert str(problem.value) == f"environment {variable}: {name} must be {expected}, is {value!r}"
    path = written(tmp_path, f"# mine\ntheme = 'light'\n{name} = '{value}'\n")
    with pytest.raises(UsageError) as problem:
        settings.load(environ={}, path=path)
    assert str(problem.value) == f"{path}, line 3: {name} must be {expected}, is {value!r}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("keep_rns = 3", "line 1: unknown setting 'keep_rns' (did you mean 'keep_runs'?); known: state_dir, "),
        ("zzz = 3", "line 1: unknown setting 'zzz'; known: state_dir, "),
        ("history_seconds = 5", "line 1: history_seconds must lie between 60 and 2592000, is 5"),
        ("keep_bytes = 12345", "line 1: keep_bytes must lie between 1048576 and 1125899906842624, is 12345"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_with_what_would_be_right(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        settings.load(environ={}, path=written(tmp_path, text))


def test_text_is_not_taken_from_a_number_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"config\.toml, line 1: theme must be text, is 3"):
        settings.load(environ={}, path=written(tmp_path, "theme = 3\n"))


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "keep_runs = = 3")
    with pytest.raises(UsageError, match=r"config\.toml.*TOML"):
        settings.load(environ={}, path=path)


def test_the_variable_names_the_file_in_force(tmp_path: Path) -> None:
    assert settings.config_path({"NEURONTOP_CONFIG": str(tmp_path / "mine.toml")}) == tmp_path / "mine.toml"


def test_a_file_that_the_variable_names_must_exist(tmp_path: Path) -> None:
    missing = {"NEURONTOP_CONFIG": str(tmp_path / "mine.toml")}
    with pytest.raises(UsageError, match=r"NEURONTOP_CONFIG names .*mine\.toml, which does not exist"):
        settings.load(environ=missing)
    written(tmp_path, "theme = 'light'\n").rename(tmp_path / "mine.toml")
    assert settings.load(environ=missing)[0].theme == "light"
    assert (
        settings.load(environ={"NEURONTOP_CONFIG": "/dev/null"})[0] == settings.load(environ={}, path=Path("none"))[0]
    )
