"""What a launcher puts in front of each line, in whatever form, does not hide why the job failed."""

from __future__ import annotations

import itertools

import pytest

from neuron_top.diagnose import CauseClass, Diagnosis, JobEnd
from neuron_top.ingest.advised import diagnose

LEADS = [
    "[launcher] ", "[3] ", "[node0 rank3] ", "[trainer0|0]:", "[1,mpirank:0,algo-1]<stdout>:", "algo-1-abcde | ",
    "trainer_1 | ", "train-0 trainer ", "Worker 3: ", "# ", "ip-10-0-1-7: ", "12: ", "(train(rank=0) pid=812) ",
    "2026-03-04T05:06:07.123000+00:00 algo-1-abc/i-0abc ",
]  # fmt: skip
CHAIN = """\
loading
Traceback (most recent call last):
  File "/job/a.py", line 3, in <module>
    probe()
OSError: the index is torn

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/job/a.py", line 5, in <module>
    main()
RuntimeError: no data
"""
INTERRUPTED = """\
step 3
^CTraceback (most recent call last):
  File "/job/a.py", line 3, in <module>
    sleep(5)
KeyboardInterrupt
"""
COMPILER = """\
2026-01-05T07:00:00Z ERROR 71 [neuronxcc.driver.CommandDriver]:  An Internal Compiler Error has occurred
2026-01-05T07:00:00Z ERROR 71 [neuronxcc.driver.CommandDriver]: *****************************
2026-01-05T07:00:00Z ERROR 71 [neuronxcc.driver.CommandDriver]: Error message:  a tile has no buffer
"""


def of(text: str) -> Diagnosis:
    return diagnose(text.encode(), "log:x")


def led(lead: str, text: str) -> str:
    return "".join(lead + line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize("lead", LEADS)
def test_an_exception_behind_a_lead_is_found(lead: str) -> None:
    diagnosis = of(led(lead, CHAIN))
    assert diagnosis.cause is not None
    assert (diagnosis.cause.line, diagnosis.cause.text) == (5, "OSError: the index is torn")
    assert diagnosis.job_ended is JobEnd.FAILED


@pytest.mark.parametrize("lead", LEADS)
def test_a_key_pressed_behind_a_lead_is_found(lead: str) -> None:
    cause = of(led(lead, INTERRUPTED)).cause
    assert cause is not None
    assert (cause.cause_class, cause.line) == (CauseClass.INTERRUPTED, 5)


@pytest.mark.parametrize("lead", ["    ", *(lead for lead in LEADS if lead.endswith(" "))])
def test_a_compilers_banner_behind_a_lead_is_read(lead: str) -> None:
    cause = of(led(lead, COMPILER)).cause
    assert cause is not None
    assert (cause.cause_class, cause.line, cause.text) == (CauseClass.COMPILE_ERROR, 3, "a tile has no buffer")


def test_a_lead_with_a_stamp_that_differs_from_line_to_line() -> None:
    lines = CHAIN.splitlines(keepends=True)
    text = "".join(f"<trainer> 05:06:{second:02} {line}" for second, line in enumerate(lines))
    cause = of(text).cause
    assert cause is not None
    assert cause.text == "OSError: the index is torn"


def test_tracebacks_of_several_hosts_line_by_line() -> None:
    hosts = ["<node 1> ", "<node 2> ", "<node 3> "]
    each = [led(host, CHAIN.replace("torn", f"torn at {host}")).splitlines(keepends=True) for host in hosts]
    causes = of("".join(itertools.chain(*zip(*each, strict=True)))).causes
    assert [cause.text for cause in causes if cause.text.startswith("OSError")] == [
        "OSError: the index is torn at <node 1>"
    ]
    assert causes[0].count == 3


def test_words_in_front_of_a_heading_that_no_other_line_has_are_no_lead() -> None:
    text = CHAIN.replace("Traceback", "request 7 failed: Traceback", 1)
    assert of(text).causes[0].text == "OSError: the index is torn"
