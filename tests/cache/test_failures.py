"""`model.log`: class, code, message, time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_top.cache.model.failures import FailureClass, FailureKind, class_of, read_failure
from neuron_top.views.failure_advice import ADVICE

START = "Failed compilation with ['neuronx-cc', 'compile', '--tensorizer-options=[a]: b ', '--verbose=35']:"

CASES = [
    ("", "environment", None),
    (" 2024-02-21T22:24:14Z [TEN404] Internal tensorizer error - open a ticket", "deterministic", "TEN404"),
    (" 2024-03-10T17:23:34Z [LUR015] Compiler generated too many instructions (1)", "deterministic", "LUR015"),
    (" [XCG815] Estimated peak HBM usage (17.28) exceeds 16GB.", "deterministic", "XCG815"),
    ("\n[ERROR] [NCC_EOOM002] Maximum peak HBM usage of 18.12GB exceeds HBM limit", "deterministic", "NCC_EOOM002"),
    (" /bin/sh: line 1: 4711 Killed", "environment", None),
    (" neuronx-cc exited with code -9", "environment", None),
    (" exit status 137", "environment", None),
    (" 2026-02-03T04:05:06Z [F137] ended from outside", "environment", "F137"),
    (" the compiler was forcibly killed", "environment", None),
    (" [F143] asked to end", "environment", "F143"),
    (" [F139] ended abnormally", "deterministic", "F139"),
    (" walrus_driver: error while loading shared libraries: libexample.so.1", "environment", None),
    (" OSError: [Errno 28] No space left on device", "environment", None),
    (" KeyboardInterrupt", "environment", None),
    (" [NCC_ITIN902] something new", "deterministic", "NCC_ITIN902"),
    (" who knows", "unknown", None),
]


def test_the_colors_of_a_message_are_left_out() -> None:
    failure = read_failure(START + " \x1b[31;1m[F137]\x1b[0m ended from \x1b[4moutside\x1b[m")
    assert failure is not None
    assert failure.message == "[F137] ended from outside"


@pytest.mark.parametrize(("message", "kind", "code"), CASES)
def test_a_log_is_classified_by_what_it_says(message: str, kind: str, code: str | None) -> None:
    failure = read_failure(START + message)
    assert failure is not None
    assert (failure.kind, failure.code) == (kind, code)
    assert ADVICE[failure.cause]


def test_a_compiler_that_was_killed_wants_fewer_at_a_time() -> None:
    failure = read_failure(START + " [F137] ended from outside")
    assert failure is not None
    assert failure.cause is FailureClass.MEMORY
    assert "fewer compiles" in ADVICE[failure.cause]


def test_the_time_is_that_of_the_compile_and_the_message_its_telling_line() -> None:
    failure = read_failure(START + "\nnoise\n2024-02-21T22:24:14Z [TEN404] Internal error\n[libneuronxla 2.2.1]")
    assert failure is not None
    assert failure.at == 1708554254.0
    assert failure.message == "[TEN404] Internal error"


def test_another_text_is_no_failure() -> None:
    assert read_failure("compiled fine") is None
    assert read_failure("") is None


@given(st.text())
def test_no_log_makes_the_reader_raise(text: str) -> None:
    read_failure(text)
    read_failure(START + text)


def test_every_class_reports_whether_a_retry_can_help_and_what_to_do() -> None:
    assert set(ADVICE) == set(FailureClass)
    for cause in FailureClass:
        assert cause.kind in FailureKind
        assert ADVICE[cause]


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("OSError: [Errno 28] No space left on device", FailureClass.DISK),
        ("[NCC_EOOM002] Maximum peak HBM usage exceeds HBM limit", FailureClass.TOO_LARGE),
        ("std::bad_alloc", FailureClass.MEMORY),
        ("g++: fatal error: cannot execute 'cc1plus': vfork: Resource temporarily unavailable", FailureClass.LIMITS),
        ("RuntimeError: can't start new thread", FailureClass.LIMITS),
        ("libgomp: Thread creation failed: Resource temporarily unavailable", FailureClass.LIMITS),
        ("OSError: [Errno 24] Too many open files: '/tmp/x.cpp'", FailureClass.LIMITS),
        ("OSError: [Errno 5] Input/output error: '/tmp/x.cpp'", FailureClass.FILES),
        ("/usr/bin/ld: cannot open output file x.so: Read-only file system", FailureClass.FILES),
        ("OSError: [Errno 116] Stale file handle", FailureClass.FILES),
        ("PermissionError: [Errno 13] Permission denied: '/tmp/torchinductor_me/ab/x.cpp'", FailureClass.FILES),
        ("OSError: /tmp/t/ab/x.so: failed to map segment from shared object.", FailureClass.FILES),
        ("filelock._error.Timeout: The file lock '/tmp/x.lock' could not be acquired.", FailureClass.FILES),
        ("cc1plus: out of memory allocating 65536 bytes after a total of 1 bytes", FailureClass.MEMORY),
        ("OSError: [Errno 27] File too large", FailureClass.LIMITS),
        ("main.cpp:1:10: fatal error: Python.h: No such file or directory", FailureClass.INSTALLATION),
        ("/usr/bin/ld: cannot find -lgomp: No such file or directory", FailureClass.INSTALLATION),
        ("torch._inductor.exc.InvalidCxxCompiler: No working C++ compiler found", FailureClass.INSTALLATION),
        ("the compile server ended", FailureClass.INTERRUPTED),
        ("ModuleNotFoundError: No module named 'neuronxcc'", FailureClass.INSTALLATION),
        ("Internal tensorizer error", FailureClass.REJECTED),
        ("/var/cache: Permission denied\n[NCC_EXTP003] the operator is not supported", FailureClass.REJECTED),
        ("who knows", FailureClass.UNKNOWN),
    ],
)
def test_a_message_is_of_one_class(message: str, cause: FailureClass) -> None:
    assert class_of(message) is cause
