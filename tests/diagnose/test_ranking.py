"""The rule by which one of many statements becomes the cause, and by which a failure counts as overcome."""

from __future__ import annotations

import msgspec

from neuron_top.diagnose import CauseClass, Confidence, Diagnosis, JobEnd
from neuron_top.diagnose.findings import evidence
from neuron_top.ingest.advised import AdvisedDiagnoser, diagnose
from neuron_top.run.job import combined
from neuron_top.views.diagnosis import diagnosis_view, one_line
from tests.parsers.logs import M1, g3

OOM = "2026-Mar-03 10:00:00.123456 9:9 ERROR TDRV:log_dev_mem  Failed to allocate 4.0MB (usage: tensors) on ND 2:NC 1\n"
EXCEPTION = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no such layer\n'
STEP = "{'loss': 2.0, 'epoch': 0.1}\n"
ENGINE = "ERROR 03-04 10:00:05 [core.py:708] EngineCore failed to start.\n"
CODE = "RuntimeError: [NCC_EVRF031] the sort is not supported\n"


def of(text: str, exit_code: int | None = None) -> Diagnosis:
    return diagnose(text.encode(), "log:x", exit_code)


def classes(diagnosis: Diagnosis) -> list[str]:
    return [cause.cause_class.value for cause in diagnosis.causes]


def test_a_devices_statement_comes_before_the_frameworks_though_it_comes_later() -> None:
    assert classes(of(EXCEPTION + OOM)) == ["runtime_oom", "script_error"]


def test_a_compilers_statement_comes_before_an_exception() -> None:
    assert classes(of(EXCEPTION + CODE))[0] == "compile_error"


def test_of_two_exceptions_the_earlier_is_the_cause() -> None:
    second = EXCEPTION.replace("ValueError: no such layer", "TypeError: x")
    assert [cause.text for cause in of(EXCEPTION + second).causes] == ["ValueError: no such layer", "TypeError: x"]


def test_an_exception_comes_before_an_error_line_nobody_knows() -> None:
    assert of("ERROR:job:odd metrics\n" + EXCEPTION).causes[0].text == "ValueError: no such layer"


def test_an_error_line_comes_before_the_crash_it_led_to() -> None:
    assert of("ERROR:job:index is torn\nSegmentation fault (core dumped)\n").causes[0].text == "index is torn"


def test_a_consequence_is_no_cause_where_anything_else_states_one() -> None:
    assert classes(of(EXCEPTION + ENGINE)) == ["script_error"]
    assert classes(of(ENGINE + EXCEPTION)) == ["script_error"]


def test_a_consequence_alone_is_named_with_low_confidence_and_that_the_reason_is_not_stated() -> None:
    (cause,) = of("loading\n" + ENGINE).causes
    assert (cause.line, cause.confidence) == (2, Confidence.LOW)
    assert "does not state the reason" in cause.advice


def test_a_killed_process_says_where_to_look() -> None:
    (cause,) = of("Killed\n").causes
    assert (cause.cause_class, cause.confidence) == (CauseClass.HOST_OOM, Confidence.LOW)
    assert "dmesg" in cause.advice


def test_a_compile_without_its_message_names_the_files_that_hold_more() -> None:
    header = g3(f"Failed compilation with ['neuronx-cc', 'model.{M1}.hlo_module.pb']:", level="ERROR")
    (cause,) = of(header).causes
    assert "log-neuron-cc.txt" in cause.advice
    assert "--verbose" in cause.advice
    assert cause.confidence is Confidence.LOW


def test_a_runtime_that_says_nothing_names_the_level_that_says_more() -> None:
    (cause,) = of("RuntimeError: nrt_init failed\n").causes
    assert "NEURON_RT_LOG_LEVEL=INFO" in cause.advice


def test_steps_behind_a_failure_show_that_it_was_overcome() -> None:
    diagnosis = of(EXCEPTION + STEP * 6)
    assert (diagnosis.failed, diagnosis.recovered) == (False, True)
    assert classes(diagnosis) == ["script_error"]


def test_one_step_behind_an_exception_proves_nothing() -> None:
    assert of(EXCEPTION + STEP).failed


def test_success_at_the_end_shows_that_a_failure_was_overcome() -> None:
    diagnosis = of(CODE + "falling back\nTraining finished successfully\n")
    assert (diagnosis.failed, diagnosis.recovered, diagnosis.job_ended) == (False, True, JobEnd.FINISHED)


def test_success_in_front_of_a_failure_shows_nothing() -> None:
    assert of("Training finished successfully\n" + EXCEPTION).failed


def test_error_lines_are_no_failure_where_the_job_goes_on() -> None:
    diagnosis = of("ERROR:job:odd metrics\n" + STEP)
    assert (diagnosis.failed, diagnosis.recovered) == (False, False)


def test_the_exit_code_is_the_last_word() -> None:
    assert not of(EXCEPTION, exit_code=0).failed
    assert of(EXCEPTION, exit_code=0).recovered
    ended = of("all is well\n", exit_code=2)
    assert (ended.failed, ended.job_ended, ended.causes[0].text) == (True, JobEnd.FAILED, "all is well")


def test_the_last_line_is_not_called_the_reason_where_only_the_exit_code_tells_of_a_failure() -> None:
    killed = of("epoch 1 done\n", exit_code=-9)
    assert one_line(killed) == "failed: the log does not state why; its last line: epoch 1 done (line 1)"
    view = diagnosis_view(killed)
    assert (view.verdict, view.where) == ("failed: the log does not state why", "line 1, the last one")
    assert killed.causes[0].advice.startswith("The job was ended by signal 9.")
    assert b'"stated":false' in msgspec.json.encode(killed)
    assert b"stated" not in msgspec.json.encode(of(EXCEPTION, exit_code=1))


def test_an_exit_code_by_a_signal_has_its_class() -> None:
    assert classes(of("step 3\n", exit_code=-9)) == ["host_oom"]
    assert [classes(of("step 3\n", code)) for code in (-1, -2, -15, 129, 130, 143)] == [["interrupted"]] * 6


def test_what_a_person_stopped_names_the_signal_where_the_log_states_no_other_cause() -> None:
    def stopped(text: str, exit_code: int = -2) -> Diagnosis:
        return of(text, exit_code).if_interrupted_by("SIGINT")

    for text in ("", "step 3\n", "Traceback (most recent call last):\nKeyboardInterrupt\n"):
        assert one_line(stopped(text)) == "interrupted (SIGINT)"
        assert one_line(stopped(text, exit_code=3)) == "interrupted (SIGINT)"
    assert one_line(stopped(EXCEPTION)).startswith("failed: the program raised an error: ValueError")
    assert not stopped("step 3\n", exit_code=0).failed
    assert stopped("step 3\n", exit_code=0).interrupted_by is msgspec.UNSET


def test_nothing_is_known_of_an_empty_log() -> None:
    assert of("") == Diagnosis()


def test_the_lines_around_a_cause_are_its_evidence() -> None:
    (cause,) = of("\n".join((*"abcd", "ValueError: x", *"fghijkl", ""))).causes
    assert "".join(line.text for line in cause.evidence) == "bcdfghij"
    assert [line.line for line in cause.evidence] == [2, 3, 4, 6, 7, 8, 9, 10]


def test_evidence_keeps_what_marks_point_at_and_says_that_it_is_cut() -> None:
    frame = '  File "/x.py", line 3, in <module>\n    print(1/0)\n          ~^~\n'
    (cause,) = of(f"Traceback (most recent call last):\n{frame}ZeroDivisionError: division by zero\n").causes
    assert [line.text for line in cause.evidence][-2:] == ["    print(1/0)", "          ~^~"]
    shown = [line.text for line in diagnosis_view(Diagnosis(failed=True, causes=(cause,))).lines]
    assert shown[:3] == ['File "/x.py", line 3, in <module>', "  print(1/0)", "        ~^~"]
    assert evidence(1, "x" * 300 + "y" * 100).text == "x" * 200 + "…" + "y" * 99


def test_of_several_logs_of_one_job_the_surest_cause_comes_first_and_fine_logs_change_nothing() -> None:
    wrapper = diagnose(b"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n", "log:launcher")
    fine = diagnose(b"Training completed successfully\n", "log:rank1")
    rank = diagnose(b"2026-03-04T10:00:00Z [ERROR] [NCC_EVRF031] the sort is not supported\n", "log:rank0")
    whole = combined([wrapper, fine, rank])
    assert (whole.failed, whole.recovered, whole.causes[0].source) == (True, False, "log:rank0")
    assert combined([fine, fine]) == fine


def test_a_failed_compile_whose_message_is_still_open_counts_before_the_end_of_the_log() -> None:
    diagnoser = AdvisedDiagnoser("log:x")
    diagnoser.feed(g3(f"Failed compilation with ['neuronx-cc', 'model.{M1}.hlo_module.pb']:", level="ERROR").encode())
    assert diagnoser.diagnosis().failed is False
    assert diagnoser.so_far().failed
    diagnoser.feed(b"2026-03-04T10:00:00Z [ERROR] [NCC_EVRF031] the sort is not supported\n")
    for _ in range(2):  # asking changes nothing
        (cause,) = diagnoser.so_far().causes
        assert (cause.text, cause.count) == ("[NCC_EVRF031] the sort is not supported", 1)
    diagnoser.flush()
    assert [(each.text, each.count) for each in diagnoser.diagnosis().causes] == [(cause.text, cause.count)]
