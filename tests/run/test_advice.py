"""Advice of the runtime, recompile reasons and phases: read, counted, told in the tally, the report and alerts."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.cli.main import main
from neuron_top.events import AdviceKind, AnyEvent, FunctionRecompiled, RuntimeAdvised
from neuron_top.ingest.advised import AdvisedDiagnoser, diagnose
from neuron_top.ingest.run_loader import read_logs
from neuron_top.parsers.reader import LogReader
from neuron_top.run.advice import FUNCTIONS_KEPT, REASONS_KEPT, AdviceTracker
from neuron_top.views.advice import advice_lines
from neuron_top.views.alerts import Limits, alerts
from tests.corpus import corpus

PAGE = (
    "2026-May-26 18:09:54.{n:06d} 22017:222{n:02d}  WARN  TDRV:tdrv_scratchpad_recommend_page_size     We recommend "
    'increasing Scratchpad page size using both `NEURON_CC_FLAGS="--hbm-scratchpad-page-size=1024"` at compile time\n'
)
OVERFLOW = (
    "2026-May-26 18:09:54.637379 22017:22247  WARN  TDRV:vtpb_info_shared_init_vtpb   Additional device memory is "
    "consumed due to variables crossing Scratchpad page boundary. Consider adjusting Scratchpad page sizes.\n"
)
RESET = (
    "2026-Jul-01 10:00:00.000001 7:8 ERROR  TDRV:tdrv_init_wait_ncs_ready   Failed to reset nd {device} nc 0 after "
    "timeout (result=-110)\n"
)
OTHER = "2026-Jul-01 10:00:00.000001 7:8  WARN  NRT:nrt_something   We recommend setting NEURON_RT_X=1 on this host\n"
RECOMPILES = """\
[rank1]:V0721 09:45:26.129000 4711 torch/_dynamo/guards.py:4760] [0/1] [__recompiles] Recompiling function step in /x/m.py:9
[rank1]:V0721 09:45:26.129000 4711 torch/_dynamo/guards.py:4760] [0/1] [__recompiles]     triggered by the following guard failure(s):
[rank1]:V0721 09:45:26.129000 4711 torch/_dynamo/guards.py:4760] [0/1] [__recompiles]     - 0/0: tensor 'x' size mismatch at index 1. expected 64, actual 1
[rank1]:V0721 09:45:26.129000 4711 torch/_dynamo/guards.py:4760] [0/1] [__recompiles]     - User stack trace:
[rank1]:V0721 09:45:26.129000 4711 torch/_dynamo/guards.py:4760] [0/1] [__recompiles]     -   File "/x/m.py", line 12, in step
V0721 09:45:27.129000 4712 torch/_dynamo/guards.py:4760] [0/2] [__recompiles] Recompiling function step in /x/m.py:9
V0721 09:45:27.129000 4712 torch/_dynamo/guards.py:4760] [0/2] [__recompiles]     - tensor 'x' size mismatch at index 1. expected 64, actual 1
"""  # noqa: E501 (lines as PyTorch prints them)


def read(text: str) -> list[AnyEvent]:
    reader = LogReader("log:x")
    return [*reader.feed(text.encode()), *reader.flush()]


@pytest.mark.parametrize(
    ("line", "kind", "device"),
    [
        (PAGE.format(n=1), AdviceKind.SCRATCHPAD_PAGE, None),
        (OVERFLOW, AdviceKind.SCRATCHPAD_OVERFLOW, None),
        (RESET.format(device=11), AdviceKind.DEVICE_RESET, 11),
        (OTHER, AdviceKind.OTHER, None),
    ],
)
def test_each_kind_of_advice_is_read(line: str, kind: AdviceKind, device: int | None) -> None:
    (event,) = [event for event in read(line) if isinstance(event, RuntimeAdvised)]
    assert (event.kind, event.device) == (kind, device)


def test_other_lines_of_the_runtime_advise_nothing() -> None:
    line = "2026-Jul-01 10:00:00.000001 7:8  INFO  NRT:nrt_init   Scratchpad page size is 512 MiB\n"
    assert not [event for event in read(line) if isinstance(event, RuntimeAdvised)]


def test_a_recompile_has_its_function_place_and_reasons() -> None:
    events = [event for event in read(RECOMPILES) if isinstance(event, FunctionRecompiled)]
    heads = [event for event in events if not event.reason]
    assert [(event.function, event.place, event.compile_id, event.pid, event.rank) for event in heads] == [
        ("step", "/x/m.py:9", "0/1", 4711, 1),
        ("step", "/x/m.py:9", "0/2", 4712, None),
    ]
    reason = "tensor 'x' size mismatch at index 1. expected 64, actual 1"
    assert [event.reason for event in events if event.reason] == [reason, reason]


def test_advice_is_reported_once_with_how_often_and_of_which_devices() -> None:
    tracker = AdviceTracker()
    text = "".join(PAGE.format(n=n) for n in range(58)) + OVERFLOW + RESET.format(device=3) + RESET.format(device=11)
    for event in read(text + RECOMPILES):
        if isinstance(event, RuntimeAdvised | FunctionRecompiled):
            tracker.apply(event)
    lines = advice_lines(tracker)
    assert [line.count for line in lines] == [58, 1, 2, 2]
    assert "NEURON_SCRATCHPAD_PAGE_SIZE=1024" in lines[0].next_step
    assert lines[2].what == "a device failed to reset (device 3, 11)"
    assert "replace the instance" in lines[2].next_step
    assert lines[3].what == "step was compiled again"
    assert "(× 2) (/x/m.py:9)" in lines[3].text


def test_what_is_kept_is_bounded() -> None:
    tracker = AdviceTracker()
    for n in range(FUNCTIONS_KEPT + 5):
        tracker.apply(FunctionRecompiled(function=f"f{n}"))
        tracker.apply(FunctionRecompiled(function="f0", reason=str(n)))
        tracker.apply(RuntimeAdvised(kind=AdviceKind.OTHER, text=str(n)))
    assert len(tracker.recompiled) == FUNCTIONS_KEPT
    assert len(tracker.recompiled["f0", ""].reasons) == REASONS_KEPT
    assert tracker.recompiles == FUNCTIONS_KEPT + 5
    assert len(tracker.advice) < 100


def test_the_tally_the_report_and_the_alerts_report_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "job.log"
    log.write_text(
        PAGE.format(n=1)
        + RESET.format(device=7)
        + RECOMPILES
        + "INFO:Neuron:Finished building model in 72.08 seconds\n"
    )
    assert main(["tally", str(log)]) == 0
    reported = capsys.readouterr().out
    assert "a larger Scratchpad page is recommended" in reported
    assert "a device failed to reset (device 7)" in reported
    assert "Finished building model: 72.08 s" in reported
    assert main(["report", "--format", "md", "-o", str(tmp_path / "r.md"), str(log)]) == 0
    report = (tmp_path / "r.md").read_text()
    assert "step was compiled again" in report
    assert "Finished building model" in report
    titles = {alert.title: alert for alert in alerts(read_logs([str(log)], 3600.0), 0.0, Limits())}
    assert titles["a device failed to reset"].severity == "error"
    assert "device 7" in titles["a device failed to reset"].evidence
    assert titles["the runtime recommends"].severity == "info"
    assert "2 recompiles of 1 function," in titles["functions were compiled again"].evidence


def test_a_diagnosis_of_full_memory_has_the_runtimes_advice() -> None:
    failure = "2026-May-26 18:09:55.1 22017:1 ERROR  TDRV:dmem_alloc_internal   Failed to allocate 27.348MB (usage: model code) on ND10:NC 1\n"  # noqa: E501
    for text, wanted in ((failure, False), (PAGE.format(n=1) + failure, True)):
        diagnoser = AdvisedDiagnoser("log:x")
        diagnoser.feed(text.encode())
        diagnoser.flush()
        advice = diagnoser.diagnosis().causes[0].advice
        assert ("the runtime itself recommends" in advice) is wanted


@pytest.mark.parametrize(
    ("line", "is_of_the_system"),
    [
        ("walrus_driver: error while loading shared libraries: libxml2.so.2: cannot open shared object file: No such "
         "file or directory", True),
        ("ImportError: libnrt.so.1: cannot open shared object file: No such file or directory", True),
        ("ModuleNotFoundError: No module named 'einops'", False),
    ],
)  # fmt: skip
def test_a_missing_shared_library_is_a_package_of_the_system_and_a_module_one_of_python(
    line: str, is_of_the_system: bool
) -> None:
    cause = diagnose(f"{line}\n".encode()).cause
    assert cause is not None
    assert cause.cause_class == "missing_dependency"
    assert ("apt-get install" in cause.advice) is is_of_the_system
    assert ("same Python" in cause.advice) is not is_of_the_system


def test_real_logs_report_their_advice() -> None:
    lines = advice_lines(read_logs([str(corpus("logs/51-runtime-scratchpad-advice-wan22.log"))], 3600.0).advice)
    assert {line.what for line in lines} == {
        "a larger Scratchpad page is recommended",
        "variables that cross Scratchpad pages take additional device memory",
    }
    again = advice_lines(read_logs([str(corpus("logs/58-native-compile-failed-graphcache.log"))], 3600.0).advice)
    assert any("size mismatch at index 1" in line.text for line in again)
