"""The compile wrapper's lines, generation by generation, and how they get mangled."""

from __future__ import annotations

import pytest

from neuron_top.events import (
    CachedFailureHit,
    CacheHit,
    CachePathAnnounced,
    CompileCompleted,
    CompileFailed,
    CompilerErrorSeen,
    CompilerPassed,
    CompilerProgress,
    CompileStarted,
    LineMalformed,
    LockWaited,
    StepReported,
)
from neuron_top.parsers.reader import LogReader
from neuron_top.run.model import Run
from tests.parsers.logs import FOLDER, M1, M2, g1, g2, g3, only, read

HIT = f"Using a cached neff at {FOLDER}/{M1}/model.neff"


@pytest.mark.parametrize(("line", "generation"), [(g1(HIT), "G1"), (g2(HIT), "G2"), (g3(HIT), "G3"), (HIT + "\n", "")])
def test_a_hit_is_known_in_every_generation_and_without_a_header(line: str, generation: str) -> None:
    (hit,) = only(CacheHit, read(line))
    assert (hit.module, hit.generation, hit.root, hit.compiler) == (
        M1,
        generation,
        "/scratch/cache",
        "2.99.1.0+abcdef01",
    )


def test_a_hit_and_its_second_half_are_one_event() -> None:
    assert [type(event) for event in read(g2(HIT + ". Exiting with a successfully compiled graph."))] == [CacheHit]


def test_the_last_six_digits_of_a_stamp_are_milliseconds() -> None:
    first, second = only(CacheHit, read(g3(HIT, "10:00:00.000250") + g3(HIT, "10:00:01.000000")))
    assert first.at is not None
    assert second.at is not None
    assert second.at - first.at == pytest.approx(0.75)


def test_a_hexadecimal_key_that_begins_with_digits_is_kept_whole_in_events() -> None:
    key = "MODULE_0123456789abcdef0123+0a1b2c3d"
    (hit,) = only(CacheHit, read(g2(f"Using a cached neff at {FOLDER}/{key}/model.neff")))
    assert hit.module == key


def test_a_start_reports_graph_target_and_work_directory() -> None:
    argv = f"neuronx-cc compile --target=trn1 /tmp/w/1/model.{M2}.hlo_module.pb --output /tmp/w/1/model.{M2}.neff"
    (start,) = only(CompileStarted, read(g2(f"Call compiler with cmd: {argv}")))
    assert (start.module, start.target, start.workdir) == (M2, "trn1", "/tmp/w/1")


def test_a_lock_wait_reports_minutes_and_a_cut_one_does_not() -> None:
    whole = f"Another process must be compiling {FOLDER}/{M1}/model.hlo_module.pb, been waiting for: 3.0 minutes"
    waits = only(LockWaited, read(g3(whole) + g3(whole[:-14])))
    assert [wait.minutes for wait in waits] == [3.0, None]
    assert {wait.module for wait in waits} == {M1}


def test_a_fresh_failure_collects_its_message_code_and_module() -> None:
    log = g3(f"Failed compilation with ['neuronx-cc', '/tmp/model.{M1}.hlo_module.pb']:", level="ERROR")
    log += "[ERROR] [NCC_EXXX001] too many teapots\n[libneuronxla 9.9.9+ff]\n"
    (failure,) = only(CompileFailed, read(log))
    assert (failure.module, failure.code, failure.message) == (
        M1,
        "NCC_EXXX001",
        "[ERROR] [NCC_EXXX001] too many teapots",
    )


def test_the_compilers_own_clock_is_no_part_of_its_message() -> None:
    argv = f"['neuronx-cc', 'compile', '/tmp/w/model.{M1}.hlo_module.pb']"
    text = g2(f"Failed compilation with {argv}: 2026-11-24T10:00:00Z [F137] it was killed", level="ERROR")
    (failure,) = only(CompileFailed, read(text))
    assert (failure.message, failure.code) == ("[F137] it was killed", "F137")


def test_a_failure_quoted_in_a_traceback_is_not_a_new_one() -> None:
    quoted = "ValueError: RunNeuronCCImpl: error condition error != 0: "
    quoted += f"Failed compilation with ['/tmp/model.{M1}.hlo.pb']: x\n"
    assert only(CompileFailed, read('Traceback (most recent call last):\n  File "a.py", line 1\n' + quoted)) == []


def test_a_stored_failure_that_is_retried_says_so() -> None:
    log = g3(f"Got a cached failed neff at {FOLDER}/{M1}/model.neff. With eror log: [Failed compilation with ['x']:")
    log += "[ERROR] [NCC_EXXX001] too many teapots\n[libneuronxla 9.9.9+ff]].                 Retrying...\n"
    (met,) = only(CachedFailureHit, read(log))
    assert (met.module, met.retrying, met.message) == (M1, True, "[ERROR] [NCC_EXXX001] too many teapots")


@pytest.mark.parametrize("label", ["[rank{}]: ", "(Worker pid={}) ", "[1,{}]<stdout>:", "{}: "])
def test_messages_of_failures_that_ranks_print_at_the_same_time_are_their_own(label: str) -> None:
    first, second = label.format(3), label.format(4)
    log = first + g3(f"Failed compilation with ['neuronx-cc', '/tmp/model.{M1}.hlo_module.pb']:", level="ERROR")
    log += second + g3(
        f"Failed compilation with ['neuronx-cc', '/tmp/model.{M2}.hlo_module.pb']:", pid=42, level="ERROR"
    )
    log += f"{first}too many teapots\n{second}too few cups\n{second}and no tea\n"
    log += f"{first}[libneuronxla 9.9.9+ff]\n{second}[libneuronxla 9.9.9+ff]\n"
    assert [(failed.module, failed.message) for failed in only(CompileFailed, read(log))] == [
        (M1, "too many teapots"),
        (M2, "too few cups⏎and no tea"),
    ]


def test_a_message_that_does_not_end_waits_only_for_some_lines_of_other_ranks() -> None:
    reader = LogReader("log:x")
    log = "[rank0]: " + g3(f"Failed compilation with ['neuronx-cc', '/tmp/model.{M1}.hlo_module.pb']:", level="ERROR")
    events = reader.feed((log + "[rank0]: too many teapots\n" + "[rank1]: step\n" * 600).encode())
    assert [failed.message for failed in only(CompileFailed, events)] == ["too many teapots"]


@pytest.mark.parametrize("options", [10, 2000])
def test_a_command_line_of_any_length_is_no_part_of_the_message(options: int) -> None:
    argv = ", ".join(["'neuronx-cc'", *(f"'--option-{number}=value'" for number in range(options))])
    log = (
        g3(f"Failed compilation with [{argv}, '/tmp/model.{M1}.hlo_module.pb']:", level="ERROR") + "too many teapots\n"
    )
    (failed,) = only(CompileFailed, read(log + "[libneuronxla 9.9.9+ff]\n"))
    assert (failed.module, failed.message) == (M1, "too many teapots")


def test_the_message_of_a_retried_failure_ends_before_the_words_about_the_retry() -> None:
    log = g3(f"Got a cached failed neff at {FOLDER}/{M1}/model.neff. With eror log: [Failed compilation with ['x']:")
    log += "too many teapots for shape [3, 4]].                 Retrying...\n"
    (met,) = only(CachedFailureHit, read(log))
    assert (met.retrying, met.message) == (True, "too many teapots for shape [3, 4]")


def test_steps_printed_after_a_stored_failure_are_no_part_of_its_message() -> None:
    log = g3(f"Got a cached failed neff at {FOLDER}/{M1}/model.neff. With eror log: [Failed compilation with ['x']:")
    log += "[ERROR] [NCC_EXXX001] too many teapots\nstep 1 loss 4.5 throughput 12.0 seq/s\n"
    events = read(log)
    assert only(CachedFailureHit, events)[0].message == "[ERROR] [NCC_EXXX001] too many teapots"
    assert [step.loss for step in only(StepReported, events)] == [4.5]


def test_the_clock_in_a_stored_failure_is_not_the_time_of_a_line_of_this_job() -> None:
    stored = "2026-03-03T22:11:21Z [F137] it was killed\n[libneuronxla 9.9.9+ff]\n"
    log = g3(f"Got a cached failed neff at {FOLDER}/{M1}/model.neff. Will skip compilation: ") + stored
    log += (
        "Traceback (most recent call last):\n  File 'a.py', line 1\nValueError: Failed compilation with ['x']:\n"
        + stored
    )
    events = read(log)
    assert [(seen.code, seen.at) for seen in only(CompilerErrorSeen, events)] == [("F137", None)] * 2
    run = Run()
    for event in events:
        run.apply(event)
    assert run.started == only(CachedFailureHit, events)[0].at
    own = "2026-03-03T22:11:21Z ERROR 6595 [root]: [NCC_EXXX001] too many teapots\n"
    assert only(CompilerErrorSeen, read(own))[0].at is not None, "a line of the compiler's own log"


def test_a_message_is_not_torn_by_another_process_printing_pass() -> None:
    log = g3("Failed compilation with ['a', 'b']:", level="ERROR") + "..\nCompiler status PASS\n"
    log += "[ERROR] [NCC_EXXX001] late\n[libneuronxla 9.9.9+ff]\n"
    events = read(log)
    assert only(CompileFailed, events)[0].code == "NCC_EXXX001"
    assert len(only(CompilerPassed, events)) == 1


@pytest.mark.parametrize(
    "prefix",
    ["[rank3]: ", "[1,3]<stdout>:", "[3]:", "\x1b[1;36m[rank3]:\x1b[0m ", "[default3]:"],
)
def test_a_launchers_prefix_gives_the_rank(prefix: str) -> None:
    (hit,) = only(CacheHit, read(prefix + g3(HIT)))
    assert (hit.rank, hit.pid) == (3, 41)


def test_an_engines_prefix_gives_the_process_where_the_header_has_none() -> None:
    (done,) = only(
        CompileCompleted,
        read(f"(EngineCore_DP0 pid=77) Compilation Successfully Completed for model.{M1}.hlo_module.pb\n"),
    )
    assert (done.pid, done.module) == (77, M1)


@pytest.mark.parametrize(
    "lead", ["...", "  6%|▋     | 1/16 [00:00<00:04,  3.09it/s]", " 10%|█ | 1/9 [00:00<?, ?it/s]\r"]
)
def test_a_header_is_found_behind_dots_and_bars(lead: str) -> None:
    assert len(only(CacheHit, read(lead + g3(HIT)))) == 1


def test_two_headers_on_a_line_are_two_events() -> None:
    events = read(g3(HIT).rstrip() + g3("Compile cache path: /scratch/cache", pid=42))
    assert [type(event) for event in events] == [CacheHit, CachePathAnnounced]
    assert [event.pid for event in only(CacheHit, events) + only(CachePathAnnounced, events)] == [41, 42]


def test_dots_are_counted_alone_in_front_of_text_and_behind_mpi_prefixes() -> None:
    log = ".....\n.Completed run_backend_driver.\n[1,0]<stdout>:.[1,1]<stdout>:.\n"
    log += "./run.sh\n...and so on\n        ..., 0.5]\n"
    assert [(event.dots, event.rank) for event in only(CompilerProgress, read(log))] == [
        (5, None),
        (1, None),
        (1, 0),
        (1, 1),
    ]


def test_the_number_of_a_line_hides_no_rank() -> None:
    (hit,) = only(CacheHit, read(f"[1744] [rank3]:{g3(HIT)}"))
    assert hit.rank == 3


def test_a_hit_without_its_path_is_counted_and_reported_as_broken() -> None:
    events = read(g3("Using a cached neff at"))
    assert [type(event) for event in events] == [CacheHit, LineMalformed]


def test_a_generation_of_the_future_is_recognized_by_its_words() -> None:
    (hit,) = only(CacheHit, read(f"2027-01-02T03:04:06.500Z pid=9 nxla> {HIT}\n"))
    assert (hit.module, hit.generation) == (M1, "")
    assert hit.at is None or hit.at % 60 == 6.5


def test_offsets_lead_back_to_the_line() -> None:
    log = "noise\n" * 1000 + g3(HIT)
    (hit,) = only(CacheHit, read(log))
    assert hit.offset is not None
    assert log.encode()[hit.offset :].startswith(b"2026-03-04")


def test_unknown_lines_are_counted_and_sampled_not_guessed_at() -> None:
    reader = LogReader("log:x")
    assert reader.feed(b"a\x1b]0;evil\x07b \x00 c\n" * 50 + g3(HIT).encode())
    assert reader.tally.unknown == 50
    assert reader.tally.unknown_samples[0] == "ab ␀ c"
    assert len(reader.tally.unknown_samples) == 20


def test_the_dots_of_an_unfinished_line_can_be_seen_before_it_ends() -> None:
    reader = LogReader("log:x")
    assert reader.feed(b"Loading\n....") == []
    assert reader.pending == "...."


def test_a_failure_at_the_end_of_a_quiet_log_is_reported_once_with_what_came_of_its_message() -> None:
    reader = LogReader("log:x")
    log = g3(f"Failed compilation with ['neuronx-cc', '/tmp/model.{M1}.hlo_module.pb']:", level="ERROR")
    log += "[ERROR] [NCC_EXXX001] too many teapots\n"
    assert only(CompileFailed, reader.feed(log.encode())) == []
    assert reader.spanning
    (failure,) = only(CompileFailed, reader.flush_idle())
    assert (failure.module, failure.code) == (M1, "NCC_EXXX001")
    assert not reader.spanning
    later = reader.feed(g3(HIT).encode()) + reader.flush()
    assert (len(only(CompileFailed, later)), len(only(CacheHit, later))) == (0, 1)


def test_a_tag_that_markdown_has_escaped_is_the_same_tag() -> None:
    reader = LogReader("log:x")
    reader.feed(g2(HIT).replace("NEURON_CC_WRAPPER", "NEURON\\_CC\\_WRAPPER").encode())
    reader.flush()
    counts = reader.tally.as_json()
    assert (counts["tags"], counts["hits"], counts["pids"]) == ({"NEURON_CC_WRAPPER": 1}, 1, [41])
