"""torchrun's report: whose end each entry tells, and which worker ended first."""

from __future__ import annotations

from neuron_top.ingest.advised import diagnose


def entry(number: int, rank: int, code: int, signal: str) -> str:
    return (
        f"[{number}]:\n  time      : 2026-05-02_10:00:0{number}\n  host      : box-7\n"
        f"  rank      : {rank} (local_rank: {rank % 8})\n  exitcode  : {code} (pid: {7000 + rank})\n"
        f"  error_file: <N/A>\n  traceback : Signal {-code} ({signal}) received by PID {7000 + rank}\n"
    )


def report(first: str, *others: str) -> str:
    heading = "wide.py FAILED\n-----\nFailures:\n"
    return f"{heading}{''.join(others)}-----\nRoot Cause (first observed failure):\n{first}=====\n"


def test_the_worker_that_ended_first_is_the_cause_with_its_rank() -> None:
    log = report(entry(0, 12, -11, "SIGSEGV"), entry(1, 3, -9, "SIGKILL"))
    cause = diagnose(log.encode(), "log:x").cause
    assert cause is not None
    assert (cause.cause_class, cause.ranks) == ("script_error", (12,))
    assert "-11" in cause.text


def test_of_ends_that_are_alike_the_first_is_named() -> None:
    log = report(entry(0, 12, -6, "SIGABRT"), entry(1, 3, -6, "SIGABRT"), entry(2, 4, -6, "SIGABRT"))
    cause = diagnose(log.encode(), "log:x").cause
    assert cause is not None
    assert (cause.ranks, cause.text) == ((12,), "exitcode  : -6 (pid: 7012)")
    assert log.split("\n")[cause.line - 1].strip() == cause.text


def test_without_others_there_is_one() -> None:
    log = report(entry(0, 5, -9, "SIGKILL"), "  <NO_OTHER_FAILURES>\n")
    cause = diagnose(log.encode(), "log:x").cause
    assert cause is not None
    assert (cause.cause_class, cause.ranks) == ("host_oom", (5,))


def test_a_worker_that_was_killed_comes_before_those_that_waited_for_it() -> None:
    waited = (
        "[rank5]:[E502 10:00:09.000000001 ProcessGroupNCCL.cpp:607] [Rank 5] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600060 milliseconds\n"
    )
    log = waited + report(entry(0, 1, -9, "SIGKILL"), entry(1, 5, -6, "SIGABRT"))
    diagnosis = diagnose(log.encode(), "log:x")
    assert diagnosis.cause is not None
    assert (diagnosis.cause.cause_class, diagnosis.cause.ranks) == ("host_oom", (1,))


def test_a_stop_by_the_launcher_is_not_the_cause_of_a_failure() -> None:
    log = report(entry(0, 2, -11, "SIGSEGV"), entry(1, 3, -15, "SIGTERM"))
    cause = diagnose(log.encode(), "log:x").cause
    assert cause is not None
    assert (cause.cause_class, cause.ranks) == ("script_error", (2,))
