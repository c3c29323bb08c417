"""`NEURON_CC_FLAGS` and its neighbors: who gets which flag, which root is in force, what gets a warning."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neuron_top.compile.wrapper.compiling import kept_folder
from neuron_top.compile.wrapper.flags import local_root, parse_environment
from neuron_top.errors import UsageError
from neuron_top.events.levels import LogLevel

ALL_OWN = "--cache_dir=/c --no_cache --retry_failed_compilation --log_level=ERROR --compile_workdir /w --dump=/d"


def test_the_wrappers_own_flags_never_reach_the_compiler() -> None:
    options = parse_environment({"NEURON_CC_FLAGS": f"--target=trn1 {ALL_OWN} -O1"})
    assert options.compiler_flags == ("--target=trn1", "-O1")
    assert options.no_cache
    assert options.retry_failed
    assert (options.cache_url, options.log_level, options.workdir, options.dump) == ("/c", LogLevel.ERROR, "/w", "/d")
    assert options.warnings == ()


def test_the_root_is_taken_in_the_documented_order() -> None:
    both = {"NEURON_CC_FLAGS": "--cache_dir=/one", "NEURON_COMPILE_CACHE_URL": "/two"}
    assert parse_environment(both).cache_root() == Path("/one")
    assert parse_environment({"NEURON_COMPILE_CACHE_URL": "file:///two%20words"}).cache_root() == Path("/two words")
    assert parse_environment({}).cache_url == "/var/tmp/neuron-compile-cache"


def test_a_relative_root_is_meant_from_the_working_directory() -> None:
    assert local_root("./cache") == Path.cwd() / "cache"


def test_an_object_store_is_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError, match="file system"):
        parse_environment({"NEURON_COMPILE_CACHE_URL": "s3://bucket/prefix"}).cache_root()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("--no-cache", "--no_cache"),
        ("--cache-dir=/x", "--cache_dir"),
        ("--retry-failed-compilation", "--retry_failed_compilation"),
        ("--nocache", "--no_cache"),
        ("--log-level=INFO", "--log_level"),
    ],
)
def test_a_misspelt_option_is_named_with_the_right_one_and_still_hashed(wrong: str, right: str) -> None:
    options = parse_environment({"NEURON_CC_FLAGS": wrong})
    assert len(options.warnings) == 1
    assert right in options.warnings[0]
    assert options.compiler_flags == (wrong,)


def test_real_compiler_flags_get_no_warning() -> None:
    text = "--target=trn2 --model-type transformer --auto-cast=none -O1 --enable-saturate-infinity --logfile=/x/log"
    assert parse_environment({"NEURON_CC_FLAGS": text}).warnings == ()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("NEURON_CC_CACHE", "NEURON_COMPILE_CACHE_URL"),
        ("NEURON_CACHE_URL", "NEURON_COMPILE_CACHE_URL"),
        ("NEURON_COMPILE_CACHE_DIR", "NEURON_COMPILE_CACHE_URL"),
        ("VLLM_NEURON_REMOTE_CACHE", "NEURON_LIBTORCH_REMOTE_CACHE"),
    ],
)
def test_a_look_alike_variable_is_named_with_the_right_one(wrong: str, right: str) -> None:
    (warning,) = parse_environment({wrong: "/somewhere"}).warnings
    assert wrong in warning
    assert right in warning


@pytest.mark.parametrize("text", ["--cache_dir", "'open quote", "--log_level=LOUD", "--cache_dir --no_cache"])
def test_flags_that_make_no_sense_are_an_error_that_names_the_variable(text: str) -> None:
    with pytest.raises(UsageError, match="NEURON_CC_FLAGS"):
        parse_environment({"NEURON_CC_FLAGS": text})


@pytest.mark.parametrize(
    ("name", "value"),
    [("NEURON_CC_FLAGS", "--target=\udcff"), ("NEURON_COMPILE_CACHE_URL", os.fsdecode(b"/caches/\xff"))],
)
def test_bytes_that_are_no_text_are_an_error_that_names_the_variable(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{name} must be UTF-8"):
        parse_environment({name: value})


def test_the_home_of_nobody_is_an_error_or_a_warning_that_names_it() -> None:
    with pytest.raises(UsageError, match="~no-such-user/cache"):
        local_root("~no-such-user/cache")
    warnings: list[str] = []
    assert kept_folder("--dump", "~no-such-user/dump", warnings.append) is None
    assert "--dump ~no-such-user/dump" in warnings[0]
