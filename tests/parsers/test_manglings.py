"""Every wording of every generation under every way a line gets mangled: nothing published mixes them all.

The texts are ours; each is known by one count. A mangling that adds an event of its own says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from neuron_top.events import CompilerProgress
from neuron_top.parsers.line_unwrapper import LineUnwrapper
from neuron_top.parsers.reader import LogReader

A, B = "MODULE_10000000000000000001+e30acd3a", "MODULE_00112233445566778899+d41d8cd9"
G0_KEY = "MODULE_12345678901234567890"
ENTRY = f"/var/tmp/neuron-compile-cache/neuronxcc-2.21.18209.0+043b1bf7/{A}"
G0_ENTRY = (
    f"/home/u/cache/neuron-compile-cache/USER_neuroncc-1.0.1.0+0a1b2c3d/{G0_KEY}/"
    "MODULE_0_SyncTensorsGraph.3_12345678901234567890_host-6ef1a8cd-1-5e0b1/4fdc5f8f-7b4f-4a94-8c35-1b5f2d0c7d8e"
)
T = "2025-03-04 05:06:07.000089"
LIST = f"['neuronx-cc', '--target=trn1', 'compile', '/tmp/w/model.{A}.hlo.pb', '--output', '/tmp/w/model.{A}.neff']"
STRING = (
    f"neuronx-cc compile --framework=XLA /tmp/w/model.{B}.hlo_module.pb --output /tmp/w/model.{B}.neff --verbose=35"
)
REASON = "2024-09-20T13:35:59Z [ERROR] [NCC_EOOM002] Maximum peak HBM usage of 18.12GB exceeds"
HIT, OLD = f"Using a cached neff at {ENTRY}/model.neff", ". Exiting with a successfully compiled graph."
EXTRACT = (
    f"Extracting graphs ({ENTRY}/model.hlo_module.pb) for ahead-of-time parallel compilation. No compilation was done."
)
WAIT = f"Another process must be compiling {ENTRY}/model.hlo_module.pb, been waiting for: 12.0 minutes"
COUNTER = "Current remaining items are 3, locked are 1, failed are 0, done are 7, total is 11"
MET = f"Got a cached failed neff at {ENTRY}/model.neff. "
SKIP = "Will skip compilation, please set --retry_failed_compilation for recompilation"


def _g0(text: str, level: str = "INFO", tag: str = "NCC_WRAPPER") -> str:
    return f"{T}: {level} ||{tag}||: {text}"


def _g2(text: str, level: str = "INFO", tag: str = "NEURON_CC_WRAPPER") -> str:
    return f"{T}:  4711  {level} ||{tag}||: {text}"


def _g3(text: str, level: str = "INFO") -> str:
    return f"{T}:  4711  [{level}]: {text}"


WORDINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "G0 miss": (_g0(f"No candidate found under {G0_ENTRY.partition('/MODULE_0')[0]}."), {"misses_announced": 1}),
    "G0 start": (_g0(f"Cache dir for the neff: {G0_ENTRY}"), {"headers": 1, "modules": [G0_KEY]}),
    "G0 end": (_g0("Exiting with a successfully compiled graph"), {"exits_ok": 1}),
    "G0 hit": (_g0(f"Using a cached neff at {G0_ENTRY}/a.neff{OLD[:-1]}"), {"hits": 1, "modules_hit": [G0_KEY]}),
    "G0 failure": (
        _g0(f"There was a compilation error for this graph in the previous run. Returning with the errored graph at "
            f"{G0_ENTRY}/a.neff .", "ERROR"), {"failed_hits": 1}),
    "G1 hit": (_g0(HIT + OLD), {"hits": 1, "exits_ok": 0, "modules_hit": [A]}),
    "G1 cached failure": (_g0(f"{MET}{SKIP}."), {"failed_hits": 1, "modules_failed_hit": [A]}),
    "G1 counter": (f"{T}:  4711  INFO ||PARALLEL_COMPILE||: {COUNTER}", {"progress_lines": 1}),
    "early counter": (_g0(COUNTER, tag="PARALLEL_COMPILE"), {"progress_lines": 1}),
    "G2 hit": (_g2(HIT + OLD), {"hits": 1, "headers": 1, "modules_hit": [A]}),
    "G2 start, list": (_g2(f"Call compiler with cmd: {LIST}"), {"compile_starts": 1, "modules_started": [A]}),
    "G2 start, text": (_g2(f"Call compiler with cmd: {STRING}"), {"compile_starts": 1, "modules_started": [B]}),
    "G2 wait": (_g2(WAIT), {"lock_waits": 1, "lock_wait_max_minutes": 12.0}),
    "G2 worker": (_g2("worker 0 starts dynamic scheduleing on 224...."), {"worker_starts": 1}),
    "G2 failure": (
        _g2(f"Failed compilation with {LIST}: {REASON}", "ERROR"), {"errors": 1, "error_codes": ["NCC_EOOM002"]}),
    "G2 gave up": (_g2(f"Compilation failed for /tmp/w/model.{A}.hlo.pb after 0 retries.", "ERROR"), {"gave_up": 1}),
    "G2 cached failure": (
        _g2(f"{MET}{SKIP}: \n Failed compilation with {LIST}: {REASON}", "ERROR"),
        {"failed_hits": 1, "errors": 0, "retries": 0}),
    "G3 hit": (_g3(HIT), {"hits": 1, "headers": 1, "modules_hit": [A]}),
    "G3 end": (_g3(f"Compilation Successfully Completed for model.{A}.hlo_module.pb"), {"completed": 1}),
    "G3 wait": (_g3(WAIT), {"lock_waits": 1, "modules_lock_wait": [A]}),
    "G3 failure": (
        _g3(f"Failed compilation with {LIST}:\n{REASON}\n second\n[libneuronxla 2.2.1.0]", "ERROR"),
        {"errors": 1, "modules_error": [A], "error_codes": ["NCC_EOOM002"]}),
    "G3 cached failure": (
        _g3(f"{MET}{SKIP}: \n Failed compilation with {LIST}:\n{REASON}", "ERROR"), {"failed_hits": 1, "errors": 0}),
    "G3 worker": (_g3("Worker 0/None starting dynamic scheduling for 20 HLOs"), {"worker_starts": 1}),
    "G3 worker's end": (_g3("Worker 0 completed: 6 tasks compiled"), {"worker_ends": 1}),
    "G3 totals": (
        _g3("Compilation summary - Total graphs: 6, Success: 5, Failed: 1"),
        {"summaries": [{"total": 6, "success": 5, "failed": 1}]}),
    "G3 extraction": (_g3(EXTRACT), {"extracted": 1, "modules_extracted": [A]}),
    "pass": ("Compiler status PASS", {"pass": 1}),
    "dated pass": ("2024-05-01T16:44:16Z Compiler status PASS", {"pass": 1}),
    "hub": (
        f"neuronxcc-2.21.18209.0+043b1bf7/{A}/model.done not found in a/b: the corresponding graph will be recompiled.",
        {"hub_misses": 1, "modules": [A]}),
    "runtime": (
        "2026-Jul-29 17:18:55.012663 101:102  WARN   NRT:nrt_config_parse_init_config   text", {"runtime_lines": 1}),
    "collectives": ("2023-Aug-14 08:25:07.0366 103:170 [1] net_plugin.cc:104 CCOM WARN text", {"runtime_lines": 1}),
}  # fmt: skip
ISO = "2025-03-04T05:06:07.123"
BAR = "  6%|▋         | 1/16 [00:00<00:04,  3.09it/s]"
PREFIXES = [
    "[rank0]: ", "[default3]:", "[1,5]<stdout>:", "[1,5]<stderr>: ", "[0]:", "[pod/train-0-abc/trainer] ",
    f"[pod/train-worker-0/pytorch] {ISO}456789Z ", "(RayTrainWorker pid=812, ip=10.0.0.7) ", "(train(rank=0) pid=812) ",
    "\x1b[36m(RayTrainWorker pid=812, ip=10.0.0.7)\x1b[0m ", "(EngineCore_DP0 pid=37707) ", "(Worker_TP0 pid=100) ",
    "\x1b[1;36m(EngineCore_DP0 pid=37707)\x1b[0;0m ", "(VllmWorker rank=3 pid=100) ",
    "[INFO ] PyProcess - W-80-model-stdout: ", "INFO  PyProcess W-1273-91b2ea68-stderr: ",
    "[\x1b[32mINFO \x1b[m] PyProcess - W-80-model-stdout: ", "INFO: ", "        ", "\t", "# ", "> ", f"{ISO}Z ",
    f"{ISO}Z\t", f"{ISO}000+00:00 ", f"{ISO}000+00:00 algo-1-abc/i-0abc ", f"{ISO}456789Z stdout F ", "trainer-1  | ",
    "\x1b[36mtrainer-1  | \x1b[0m", "job_trainer_1 | ", "Mar 04 05:06:07 ip-10-0-0-1 python[811]: ", "3: ", " 3: ",
    "Mar 04 05:06:07 ", "2025-03-04T05:06:07+0000 ip-10-0-0-1 python[811]: ", f"{ISO}456+00:00 host python[811]: ",
    "ip-10-1-2-3: ", "algo-1-abcde | ", "[1,mpirank:0,algo-1]<stdout>:", "[trainer0|0]:", "train-0 trainer ",
    "| 1767225600123 | ", "(task, pid=34) ", "(head, rank=0, pid=3) ",
    "\x1b[34m", "\x1b[38;5;208m", "#033[34m", "\x1b[2K\x1b[1G", "\r",
]  # fmt: skip


def _each_line(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "\n".join(change(line) for line in text.split("\n"))


def _docker(line: str) -> str:
    return json.dumps({"log": f"\x1b[32m{line}\x1b[0m\n", "stream": "stderr", "time": f"{ISO}456789Z"})


def _wrapped(width: int) -> Callable[[str], str]:
    return _each_line(lambda line: "\n".join(line[at : at + width] for at in range(0, len(line), width)))


MANGLINGS: dict[str, Callable[[str], str]] = {
    **{f"behind {prefix!r}": _each_line(lambda line, prefix=prefix: prefix + line) for prefix in PREFIXES},  # type: ignore[misc]
    "line ends of Windows": _each_line(lambda line: line + "\r"),
    "dots in front": lambda text: "....." + text,
    "a rank and dots in front": lambda text: "[rank1]: ..." + text,
    "dots and a rank in front": lambda text: "...[rank1]: " + text,
    "a bar in front": lambda text: BAR + text,
    "bars and carriage returns": lambda text: f"\r{BAR}\r{BAR}\r{text}",
    "blanks collapsed": _each_line(lambda line: " ".join(line.split())),
    "fixed blanks": _each_line(lambda line: line.replace("  ", "\xa0 ")),
    "tabs": _each_line(lambda line: line.replace("  ", "\t")),
    "line ends lost": lambda text: text.replace("\n", " "),
    "half a word of another in front": lambda text: "something tha" + text,
    "a mark of byte order": lambda text: "\ufeff" + text,
    "Docker's json-file": _each_line(_docker),
    "a shipper's JSON": _each_line(lambda line: json.dumps({"@timestamp": ISO, "message": line})),
    **{f"wrapped at {width}": _wrapped(width) for width in (80, 81, 90, 100, 119, 120, 132)},
}


def _counted(text: str) -> dict[str, Any]:
    reader = LogReader("x")
    reader.feed(text.encode())
    reader.flush()
    return reader.tally.as_json()


@pytest.mark.parametrize("name", MANGLINGS)
def test_no_mangling_hides_or_invents_anything(name: str) -> None:
    wrong = {}
    for wording, (text, expected) in WORDINGS.items():
        counts = _counted(MANGLINGS[name](text) + "\n")
        found = {key: counts[key] for key in expected}
        if found != expected:
            wrong[wording] = (found, expected)
    assert wrong == {}


@pytest.mark.parametrize("dots", [".", "....."])
@pytest.mark.parametrize("name", [name for name in MANGLINGS if name != "dots and a rank in front"])
def test_dots_count_late_in_a_log_as_they_do_in_its_first_lines(name: str, dots: str) -> None:
    change = MANGLINGS[name]
    if dots == "." and change("").endswith(("m", "G")):
        pytest.skip("one dot right behind an open color: it stands for less than 20 seconds")
    hit = f"{T}:  4711  [INFO]: {HIT}"
    early = _dots(f"{change(hit)}\n{change(dots)}\n")
    unknown = "".join(f"{change(f'words number {number} of another program')}\n" for number in range(40))
    assert _dots(f"{unknown}{change(hit)}\n{change(dots)}\n") == early
    assert _dots(f"{unknown}{change(hit)}\n{change(dots)}") == early


def _dots(text: str) -> int:
    reader = LogReader("log:x")
    events = reader.feed(text.encode()) + reader.flush()
    return sum(event.dots for event in events if isinstance(event, CompilerProgress))


@pytest.mark.parametrize(
    ("second", "key"),
    [
        (_g3("Worker 0 completed: 6 tasks compiled"), "worker_ends"),
        (_g2(f"Call compiler with cmd: {STRING}"), "compile_starts"),
        (WORDINGS["hub"][0], "hub_misses"),
        (WORDINGS["runtime"][0], "runtime_lines"),
    ],
)
def test_two_processes_on_one_line_are_both_counted(second: str, key: str) -> None:
    counts = _counted(_g3(HIT) + second + "\n")
    assert (counts["hits"], counts["modules_hit"], counts[key]) == (1, [A], 1)


def test_a_cache_whose_folder_holds_blanks_is_one_root() -> None:
    text = "".join(
        f"{_g2(line)}\n".replace("/var/tmp/neuron-compile-cache", "/data/my cache dir") for line in (HIT, WAIT, EXTRACT)
    )
    counts = _counted(text)
    assert counts["cache_roots"] == ["/data/my cache dir"]
    assert [counts[key] for key in ("modules_hit", "modules_lock_wait", "modules_extracted")] == [[A]] * 3


def test_lines_that_only_look_broken_are_given_as_they_came() -> None:
    text = f"{_g3('Using a cached neff at ' + ENTRY[:60])}\n{_g3(HIT)}\nCall it MODULE_1000000000000\nand on it goes\n"
    counts = _counted(text)
    assert (counts["hits"], counts["headers"], counts["modules_hit"]) == (2, 2, [A])


@pytest.mark.parametrize("ending", [f"[{ENTRY}/model.neff]:", f"compiled {A}", f"the whole graph is {G0_KEY}", ENTRY])
def test_a_line_that_ends_in_a_key_does_not_swallow_its_neighbor(ending: str) -> None:
    wraps, first, second = LineUnwrapper(), f"notes of a script of ours, rank zero: {ending}", "face loss 2.5"
    lines = [*wraps.take(first, 0), *wraps.take(second, 90), *wraps.flush()]
    assert [text for text, _, _ in lines] == [first, second]


def test_a_part_of_a_report_is_read_without_its_head() -> None:
    text = f'"{ENTRY}/model.hlo_module.pb": {{\n    "status": true,\n    "retry": 0,\n    "compile_time": 9.5\n}}\n'
    entries = _counted(text + _g3(HIT) + "\n")["compile_report"]
    assert entries == [{"module": A, "status": "true", "retry": 0, "compile_time": 9.5}]


def test_the_short_summary_of_the_third_generation_counts_once() -> None:
    long, short = (
        "Compilation summary - Total graphs: 6, Success: 5, Failed: 1",
        "Compilation summary: 1/6 failed, 5 succeeded",
    )
    total = [{"total": 6, "success": 5, "failed": 1}]
    assert _counted(f"{_g3(long)}\n{_g3(short)}\n")["summaries"] == total
    assert _counted(f"{_g3(short)}\n")["summaries"] == total
