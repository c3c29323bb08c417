"""TorchNeuron's lines: locks and failures at any log level, lookups and compiles at level 3. Made up keys and times.

The forms of the lock's and the failure's lines are those of the published logs 57 and 58, which `test_corpus.py` reads;
those of level 3 come from the text of a public copy of the back end, never from a real log.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.events import (
    CacheHit,
    CacheMissed,
    CompileCompleted,
    CompileFailed,
    CompileGaveUp,
    CompileLogEvent,
    CompileStarted,
    ErrorRaised,
    LineMarked,
    LockWaited,
    LogGeneration,
)
from neuron_top.parsers.counting import CountingReader
from neuron_top.parsers.reader import LogReader
from neuron_top.parsers.torch_neuron import TorchNeuronLines
from neuron_top.run.graph import GraphState
from neuron_top.run.model import Run
from neuron_top.views.progress import lock_holder
from tests.fuzz import invariants
from tests.parsers.logs import only, read

KEY = "0123456789abcdef0123456789abcdef"
OTHER = "fedcba9876543210fedcba9876543210"
GRAPH = "a1" * 32 + ":" + "b2" * 32
LOCK = f"/nvme/local/locks/{KEY}.lock"


def line(text: str, level: str = "DEBUG", *, pid: int | None = 41, stamp: str = "W1121 22:03:04.123456789") -> str:
    """As PyTorch prints it, behind Ray's prefix where a process is named."""
    actor = f"\x1b[36m(TrainWorker pid={pid})\x1b[0m " if pid is not None else ""
    place = "[torch_neuronx/csrc/core/cache/A.cpp:7]"
    return f"{actor}[{stamp} NeuronLogging.h:103] Warning: [Neuron] [{level}] {place} {text} (function log)\n"


def hit(pid: int = 41) -> str:
    return line(f"Cache hit key= {KEY} size= 77", pid=pid) + line(
        f"Persistent cache hit key= {GRAPH} persistent_key= {KEY} size= 77", pid=pid
    )


def miss(pid: int = 41) -> str:
    return (
        line(f"In memory cache miss key= {GRAPH}", pid=pid)
        + line(f"Cache miss key= {KEY} path= /shared/01/23/{KEY}.neff", pid=pid)
        + line(f"Persistent cache miss key= {GRAPH} persistent_key= {KEY}", pid=pid)
    )


STARTED = f"Compiling IR to NEFF stream_id= 0 cache_key= {GRAPH}"
COMPLETED = f"IR compilation complete cache_key= {GRAPH}"
BROKEN = f"Lock acquisition timed out, breaking stale lock path= {LOCK} elapsed_seconds= 1200 timeout_seconds= 1200 "


def test_a_lock_that_was_waited_for_in_vain_is_a_wait_of_twenty_minutes() -> None:
    events = read(line(BROKEN, "WARNING", pid=7))
    (wait,) = only(LockWaited, events)
    assert (wait.module, wait.path, wait.minutes, wait.pid, wait.broken) == (KEY, LOCK, 20.0, 7, True)
    assert events == [wait]


def test_a_wait_whose_seconds_are_no_number_lasted_no_minutes() -> None:
    (wait,) = only(LockWaited, read(line(BROKEN.replace("1200 ", "nan ", 1), "WARNING")))
    assert wait.minutes == 0.0


@pytest.mark.parametrize("front", ["", "a note: "])
def test_a_record_that_a_line_holds_twice_counts_once_and_two_processes_count_twice(front: str) -> None:
    once = line(BROKEN, "WARNING", pid=7).rstrip("\n")
    assert [wait.pid for wait in only(LockWaited, read(front + once + once + "\n"))] == [7]
    assert len(only(LockWaited, read(front + once + line(BROKEN, "WARNING", pid=8)))) == 2


def test_a_hit_that_two_lines_report_is_one_and_either_line_alone_is_one() -> None:
    for text in (hit(), line(f"Cache hit key= {KEY} size= 77"), line(f"[NEFF_CACHE] Cache HIT for key: {KEY}", "INFO")):
        (found,) = read(text)
        assert isinstance(found, CacheHit)
        assert (found.module, found.generation, found.pid) == (KEY, LogGeneration.NATIVE, 41)


def test_hits_of_two_processes_and_a_second_hit_of_one_count_each() -> None:
    assert len(only(CacheHit, read(hit(41) + hit(42)))) == 2
    assert len(only(CacheHit, read(hit() + hit()))) == 2


def test_lines_without_the_mark_are_read_where_they_name_a_key_and_left_alone_where_they_do_not() -> None:
    assert [event.module for event in only(CacheHit, read(f"Cache hit key= {KEY}\n"))] == [KEY]
    assert len(only(CacheMissed, read(f"Persistent cache miss key= {GRAPH} persistent_key= {KEY}\n"))) == 1
    assert only(CompileLogEvent, read("Cache hit key= user:42\nPersistent cache miss for session 7\n")) == []


def test_a_miss_a_compile_and_its_end_speak_of_one_graph_by_its_key_in_the_cache() -> None:
    events = read(miss() + line(STARTED) + line(f"Cache miss key= {KEY} path= x") + line(COMPLETED))
    assert [(type(event), event.module) for event in only(CompileLogEvent, events)] == [
        (CacheMissed, KEY),
        (CompileStarted, KEY),
        (CompileCompleted, KEY),
    ]


def test_who_waits_for_a_compile_and_finds_it_has_not_compiled() -> None:
    contended = line(f"Lock contention, retrying path= {LOCK} delay_ms= 1000", pid=42)
    found = line(f"Cache hit key= {KEY} size= 7", pid=42) + line(
        f"Persistent cache hit after lock acquisition key= {GRAPH} persistent_key= {KEY} size= 7", pid=42
    )
    run = Run()
    text = miss(41) + line(STARTED, pid=41) + miss(42) + line(STARTED, pid=42) + contended * 3
    reader = LogReader("log:x")
    for event in reader.feed(text.encode()):
        run.apply(event)
    (graph,) = run.compiles.graphs.values()
    waiting = graph.workers["/42"]
    assert waiting.state is GraphState.WAITING
    holder = lock_holder(run, graph)
    assert holder is not None
    assert holder.holder == "pid 41"
    for event in [*reader.feed((line(COMPLETED, pid=41) + found + line(COMPLETED, pid=42)).encode()), *reader.flush()]:
        run.apply(event)
    totals = run.compiles.totals
    assert (totals.misses, totals.hits, totals.lock_waits, totals.failures) == (1, 1, 1, 0)
    assert (waiting.state, waiting.attempts, run.compiles.compiling) == (GraphState.HIT, [], 0)
    assert run.compiles.counts.misses_announced == 2


def test_a_wait_is_reported_when_it_begins_and_each_minute() -> None:
    waits = only(LockWaited, read(line(f"Lock contention, retrying path= {LOCK} delay_ms= 1000") * 150))
    assert [wait.minutes for wait in waits] == [None, 1.0, 2.0]


def test_threads_of_a_process_that_compile_at_once_do_not_end_each_other() -> None:
    run = Run()
    for event in read(line(STARTED) + line(f"Cache hit key= {OTHER} size= 1")):
        run.apply(event)
    assert run.compiles.compiling == 1


RAISED = "RuntimeError: Compilation error occurred on Neuron for operation=torch_compile;"
MESSAGE = 'error message="COMPILATION FAILED: [INTERNAL_ERROR] [NCC_IBTN006] narwhal"'


@pytest.mark.parametrize(
    "text",
    [
        f"{RAISED}\n{MESSAGE}\nneff cache key={GRAPH}\nNote: errors are reported asynchronously\n",
        f"{RAISED} {MESSAGE}\nneff cache key={GRAPH}\n",
        f"{RAISED} {MESSAGE} neff cache key={GRAPH}\n",
        line(f"Compilation error cache_key= {GRAPH} error= [INTERNAL_ERROR] [NCC_IBTN006] narwhal", "ERROR", pid=None)
        + f"RuntimeError: Compilation failed for cache key '{GRAPH}': [INTERNAL_ERROR] [NCC_IBTN006] narwhal\n"
        + f"{RAISED}\n{MESSAGE}\nneff cache key={GRAPH}\n",
    ],
)
def test_a_failed_compile_is_reported_once_with_its_graph_and_the_compilers_words(text: str) -> None:
    events = read("Traceback (most recent call last):\n  File 'a.py', line 1\n" + text + "Epoch: 3\n")
    (failed,) = only(CompileFailed, events)
    assert (failed.module, failed.code, failed.generation) == (GRAPH, "NCC_IBTN006", LogGeneration.NATIVE)
    assert failed.message == "[INTERNAL_ERROR] [NCC_IBTN006] narwhal"
    assert only(CompileGaveUp, events) == []
    assert "Epoch" not in {error.exception for error in only(ErrorRaised, events)}


def test_a_failure_whose_graph_is_not_named_is_reported_when_another_line_comes_or_the_log_rests() -> None:
    reader = LogReader("log:x")
    assert only(CompileFailed, reader.feed(f"{RAISED}\n{MESSAGE}\n".encode())) == []
    assert [event.module for event in only(CompileFailed, reader.flush_idle())] == [None]
    assert len(only(CompileFailed, read(f"{RAISED}\n{MESSAGE}\nrestarting\n{'x' * 9}\n"))) == 1
    assert [event.message for event in only(CompileFailed, read(f"{RAISED}\n"))] == [""]


def test_lines_of_another_process_may_stand_between_a_failure_and_its_graph() -> None:
    a, b = "(W pid=1) ", "(W pid=2) "
    (failed,) = only(CompileFailed, read(f"{a}{RAISED}\n{b}hello\n{a}{MESSAGE}\n{b}hello\n{a}neff cache key={GRAPH}\n"))
    assert (failed.module, failed.pid) == (GRAPH, 1)


def test_a_graph_that_fails_again_after_a_new_compile_has_failed_twice() -> None:
    failed = line(f"Compilation error cache_key= {GRAPH} error= no", "ERROR")
    assert len(only(CompileFailed, read((line(STARTED) + failed + failed) * 2))) == 2


def test_a_failed_execution_is_an_error_and_no_failed_compile() -> None:
    events = read('error message="NRT EXECUTION FAILED: status 1202"\n')
    assert [(type(event), event.level) for event in only(LineMarked, events)] == [(LineMarked, "ERROR")]
    assert only(CompileFailed, events) == []


def test_other_warnings_and_errors_of_the_back_end_are_marked_and_its_chatter_is_known() -> None:
    text = line("Cache put failed key= x error= disk full", "WARNING") + line("CPU fallback failed", "ERROR")
    reader = LogReader("log:x")
    events = [*reader.feed((text + line("Lock file opened path= x fd= 3")).encode()), *reader.flush()]
    assert [(event.level, event.text) for event in only(LineMarked, events)] == [
        ("WARNING", "Cache put failed key= x error= disk full"),
        ("ERROR", "CPU fallback failed"),
    ]
    assert reader.tally.known == 3


def test_the_published_counts_stay_those_of_the_wrapper_and_the_native_ones_stand_apart() -> None:
    reader = LogReader("log:x")
    reader.feed((miss() + line(STARTED) + line(COMPLETED) + hit(42) + line(BROKEN, "WARNING")).encode())
    reader.flush()
    counts = reader.tally.as_json()
    assert [counts[name] for name in ("hits", "misses_announced", "compile_starts", "completed", "lock_waits")] == [
        0
    ] * 5
    assert counts["native"] == {
        "hits": 1,
        "misses": 1,
        "compile_starts": 1,
        "completed": 1,
        "errors": 0,
        "lock_waits": 1,
        "locks_broken": 1,
        "lock_wait_max_seconds": 1200.0,
        "modules": [KEY],
        "measured": 0,
        "compile_seconds": {},
    }


WORDS = st.sampled_from(
    [
        line(STARTED), line(COMPLETED), hit(), miss(), line(BROKEN, "WARNING"), RAISED, MESSAGE, "\n", "[Neuron] [",
        f"neff cache key={GRAPH}\n", "error message=", "key= ", KEY, GRAPH, '"', "(W pid=3) ", " on Neuron", "] ", "=",
        f"Lock contention, retrying path= {LOCK} delay_ms= 1e999", "elapsed_seconds= nan", "Compilation failed for ",
        "cache key '", "Traceback (most recent call last):\n", "Note: ", "\x1b[36m", "\r",
    ]
)  # fmt: skip


@given(st.lists(WORDS | st.text(max_size=5), max_size=30), st.lists(st.integers(1, 40), min_size=1, max_size=9))
@settings(max_examples=150, deadline=None)
def test_any_mixture_of_its_words_gives_the_same_events_however_cut(words: list[str], sizes: list[int]) -> None:
    invariants.check("".join(words).encode("utf-8", "replace"), sizes)


def test_a_failure_that_ends_between_hits_is_of_its_graph_however_it_is_counted() -> None:
    """Found by the property above: in counts alone nobody else claims the exception's first line."""
    lines = f"{RAISED}neff cache key={GRAPH}\n{RAISED}{hit()}"
    for kind in (LogReader, CountingReader):
        reader = kind("log:x")
        events = [*reader.feed(lines.encode()), *reader.flush()]
        kinds = [type(event).__name__ for event in events if not isinstance(event, LineMarked)]
        assert kinds[:2] == ["CompileFailed", "CacheHit"], kind


@given(st.permutations([hit(1), hit(2), miss(3), line(STARTED, pid=3), line(COMPLETED, pid=3), line(BROKEN, pid=4)]))
@settings(max_examples=60, deadline=None)
def test_counts_do_not_hang_on_the_order_in_which_processes_speak(lines: list[str]) -> None:
    reader = LogReader("log:x")
    reader.feed("".join(lines).encode())
    reader.flush()
    native = reader.tally.native
    assert (native.hits, native.misses, native.compile_starts, native.completed, native.lock_waits) == (2, 1, 1, 1, 1)


def test_what_it_remembers_is_bounded() -> None:
    family = TorchNeuronLines()
    reader = LogReader("log:x")
    reader._families[:] = [family]
    reader._readers[""] = [(1, family)]
    for number in range(10_000):
        reader.feed(line(f"Cache hit key= {number:032x} size= 1").encode())
    assert len(family._reported_by) <= 4096
