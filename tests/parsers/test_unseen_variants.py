"""Shapes nobody published, put together from what is known: generations, manglings and services in new mixtures.

Expectations are counted by hand; `None` stands for a key whose value does not matter. Each case is read whole, byte by
byte and line by line.
"""

from __future__ import annotations

from typing import Any

import pytest

from neuron_top.events import CacheHit, CompileFailed, CompilerPassed, CompilerProgress
from neuron_top.parsers.reader import LogReader

A, B = "MODULE_10000000000000000001+e30acd3a", "MODULE_00112233445566778899+d41d8cd9"
V = "neuronxcc-2.21.18209.0+043b1bf7"
ROOT = "/var/tmp/neuron-compile-cache"
D = f"{ROOT}/{V}"
T = "2025-03-04 05:06:07.000089"
G1, G2, G3 = f"{T}: INFO ||NCC_WRAPPER||: ", f"{T}:  4711  INFO ||NEURON_CACHE||: ", f"{T}:  4711  [INFO]: "
G2E, G3E = f"{T}:  4711  ERROR ||NEURON_CC_WRAPPER||: ", f"{T}:  4711  [ERROR]: "
HIT = f"Using a cached neff at {D}/{A}/model.neff"
OLD_HIT = HIT + ". Exiting with a successfully compiled graph."
DONE = f"Compilation Successfully Completed for model.{A}.hlo_module.pb"
WAIT = f"Another process must be compiling {D}/{A}/model.hlo_module.pb, been waiting for: 3.0 minutes"
WORK = "/tmp/u/neuroncc_compile_workdir/w"
CALL = (
    f"Call compiler with cmd: neuronx-cc compile --framework=XLA {WORK}/model.{A}.hlo_module.pb "
    f"--output {WORK}/model.{A}.neff --target=trn2 --verbose=35"
)
EXTRACT = (
    f"Extracting graphs ({D}/{A}/model.hlo_module.pb) for ahead-of-time parallel compilation. No compilation was done."
)
ARGV = "['neuronx-cc', 'compile', '--target=trn1', '--framework=XLA', '/tmp/m.pb', '--output', '/tmp/m.neff']"
COUNTER = "Current remaining items are 3, locked are 1, failed are 0, done are 7, total is 11"
ISO = "2025-03-04T05:06:07.123456789Z "
KUBECTL = "[pod/train-0/trainer] "
CRI = "2025-03-04T05:06:07.123456789Z stdout F "
BAR = "  6%|▋         | 1/16 [00:00<00:04,  3.09it/s]"

ONE_HIT = {"hits": 1, "modules_hit": [A], "cache_roots": [ROOT], "compiler_versions": [V.partition("-")[2]]}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "kubectl prefix": (f"{KUBECTL}{G2}{HIT}\n", {**ONE_HIT, "headers": 1, "pids": [4711]}),
    "cloudwatch stamp": (f"{ISO}{G3}{HIT}\n", ONE_HIT),
    "container runtime stamp around a rank": (f"{CRI}[rank3]: {G3}{HIT}\n", ONE_HIT),
    "kubectl around cloudwatch": (f"{KUBECTL}{ISO}{G3}{HIT}\n", ONE_HIT),
    "docker compose": (f"trainer-1  | {G3}{HIT}\n", ONE_HIT),
    "journal": (f"Mar 04 05:06:07 ip-10-0-0-1 python[811]: {G3}{HIT}\n", ONE_HIT),
    "stamp of ts": (f"Mar 04 05:06:07 {G3}{HIT}\n", {**ONE_HIT, "headers": 1, "pids": [4711]}),
    "stamp of ts around dots": (f"Mar 04 05:06:07 ...{G3}{HIT}\n", {**ONE_HIT, "headers": 1, "pids": [4711]}),
    "slurm label": (f"3: {G3}{HIT}\n", ONE_HIT),
    "ray": (f"(RayTrainWorker pid=812, ip=10.0.0.7) {G2}{HIT}\n", ONE_HIT),
    "ray colored": (f"\x1b[36m(RayTrainWorker pid=812, ip=10.0.0.7)\x1b[0m {G2}{HIT}\n", ONE_HIT),
    "ray repeated": (f"(RayTrainWorker pid=812) {G3}{HIT} [repeated 31x across cluster]\n", ONE_HIT),
    "engine": (f"(EngineCore_DP0 pid=37707) {G3}{HIT}\n", ONE_HIT),
    "bold engine and colored level": (
        f"\x1b[1;36m(EngineCore_DP0 pid=1)\x1b[0;0m {T}:  4711  [\x1b[32mINFO\x1b[0m]: {HIT}\x1b[0m\n", ONE_HIT),
    "color inside the module": (f"{G2}Using a cached neff at {D}/\x1b[35m{A}\x1b[0m/model.neff\n", ONE_HIT),
    "carriage return bar in front": (f"{BAR}\r{BAR}{G2}{HIT}\n", {**ONE_HIT, "cr_bytes": 1}),
    "windows line ends": (f"{G2}{OLD_HIT}\r\n{G2}{OLD_HIT}\r\n", {**ONE_HIT, "hits": 2, "cr_bytes": 2}),
    "bar glued to a header": (f"{BAR}{G1}{OLD_HIT}\n", ONE_HIT),
    "dots glued to a header": (f"....{G3}{DONE}\n", {"completed": 1, "modules_completed": [A], "headers": 1}),
    "dots glued to pass": ("....Compiler status PASS\n", {"pass": 1}),
    "dated pass": ("2024-08-15T14:01:19Z Compiler status PASS\n", {"pass": 1}),
    "two passes on a line": (".Compiler status PASS.Compiler status PASS\n", {"pass": 2}),
    "two hits on a line": (
        f"{G2}{OLD_HIT}{G2}Using a cached neff at {D}/{B}/model.neff. Exiting with a successfully compiled graph.\n",
        {"hits": 2, "headers": 2, "modules_hit": sorted([A, "MODULE_00112233445566778899+d41d8cd9"])}),
    "line ends turned into blanks": (
        f"{G3}{HIT} .... Compiler status PASS {G3}{DONE}\n", {"hits": 1, "pass": 1, "completed": 1, "headers": 2}),
    "blanks collapsed": (f"2025-03-04 05:06:07.000089: 4711 INFO ||NEURON_CACHE||: {HIT}\n", ONE_HIT),
    "indented by a test runner": (f"        {G2}{WAIT}\n", {"lock_waits": 1, "lock_wait_max_minutes": 3.0}),
    "lock wait cut after the path": (f"{G2}{WAIT.partition(', been')[0]}", {"lock_waits": 1, "modules_lock_wait": [A]}),
    "lock wait cut in the words": (
        f"{G2}{WAIT.partition(' 3.0')[0]}\n", {"lock_waits": 1, "lock_wait_max_minutes": None}),
    "lock waits of hours": (f"{G3}{WAIT.replace('3.0', '241.0')}\n{G3}{WAIT}\n",
        {"lock_waits": 2, "lock_wait_max_minutes": 241.0}),
    "bucket": (f"{G2}{HIT.replace(ROOT, 's3://bucket/some/prefix')}\n",
        {"hits": 1, "cache_roots": ["s3://bucket/some/prefix"]}),
    "relative root": (f"{G2}{HIT.replace(ROOT, './cache')}\n", {"hits": 1, "cache_roots": ["./cache"]}),
    "bare relative root": (f"{G3}{HIT.replace(ROOT, 'cc')}\n", {"hits": 1, "cache_roots": ["cc"]}),
    "dots glued to a path without a root": (f".....{V}/{A}/model.neff not found in tea/cache\n", {"cache_roots": []}),
    "announced with a trailing slash": (
        f"{G2}Compile cache path: /tmp/cache/\n{G2}Compile cache path: /tmp/cache\n",
        {"cache_path_lines": 2, "cache_paths": ["/tmp/cache", "/tmp/cache/"]}),
    "mpi in front of single dots": (
        "[1,0]<stdout>:.[1,1]<stdout>:.[1,0]<stdout>:.\n[1,1]<stdout>:Compiler status PASS\n",
        {"pass": 1}),
    "mpi in front of a header": (f"[1,14]<stderr>:{G2}{HIT}\n", ONE_HIT),
    "start with a string argv": (f"{G2}{CALL}\n", {"compile_starts": 1, "modules_started": [A]}),
    "start behind dots and a rank": (f"[rank1]: ..{G2}{CALL}\n", {"compile_starts": 1, "modules_started": [A]}),
    "torn by the runtime": (
        f"{G3}{HIT}2026-Jul-29 17:18:55.012663 10142:10142  WARN   NRT:nrt_config   late\n",
        {"hits": 1, "runtime_lines": 1}),
    "failure of several lines": (
        f"{G3E}Failed compilation with {ARGV}:\n2026-03-04T05:06:07Z [ERROR] [NCC_EOOM002] too large\n"
        f"  second line\n[libneuronxla 2.2.17544.0]\n{G3}{HIT}\n",
        {"errors": 1, "error_codes": ["NCC_EOOM002"], "hits": 1}),
    "failure on the same line": (
        f"{G2E}Failed compilation with {ARGV}: 2024-09-20T13:35:59Z Non-signal exit. Backend exited with code 1\n"
        f"{G2E}Compilation failed for /tmp/w/model.{A}.hlo_module.pb after 2 retries.\n", {"errors": 1, "gave_up": 1}),
    "quoted by a traceback": (
        f"[rank0]: Traceback (most recent call last):\n[rank0]: RuntimeError: Failed compilation with {ARGV}: gone\n",
        {"errors": 0}),
    "quoted by the runtime's caller": (
        f"2025-01-01 00:00:00.123456: E a/b.cc:12] RunNeuronCCImpl: error condition error != 0: "
        f"Failed compilation with {ARGV}\n",
        {"errors": 0, "headers": 0}),
    "cached failure retried": (
        f"{G3}Got a cached failed neff at {D}/{A}/model.neff. With eror log: [Failed compilation with {ARGV}:\n"
        f"[TEN404] bad\n].                 Retrying...\n", {"failed_hits": 1, "retries": 1, "errors": 0}),
    "cached failure of the second generation": (
        f"{G2E}Got a cached failed neff at {D}/{A}/model.neff. Will skip compilation, please set "
        f"--retry_failed_compilation for recompilation: \n"
        f" Failed compilation with {ARGV}: 2024-01-01T00:00:00Z killed\n",
        {"failed_hits": 1, "errors": 0, "modules_failed_hit": [A]}),
    "a fourth generation": (
        f"2027-01-02T03:04:05.678Z neuron.compile INFO pid=9 {HIT}\n"
        f"2027-01-02T03:04:05.999Z neuron.compile INFO pid=9 {DONE}\n",
        {"hits": 1, "completed": 1, "headers": 0}),
    "a fourth generation in json": (
        '{"ts":"2027-01-02T03:04:05Z","level":"info","message":"' + HIT + '"}\n', {"hits": 1}),
    "no header at all": (f"{DONE}\n{HIT}\n", {"completed": 1, "hits": 1, "headers": 0}),
    "extraction under a bar by two ranks": (f"{BAR}{G2}{EXTRACT}\n[rank1]: {G2}{EXTRACT}\n",
        {"extracted": 2, "modules_extracted": [A]}),
    "counter": (f"{T}:  4711  INFO ||NEURON_PARALLEL_COMPILE||: {COUNTER}\n",
        {"progress_lines": 1, "progress_last": {"remaining": 3, "locked": 1, "failed": 0, "done": 7, "total": 11}}),
    "hub miss behind a rank": (
        f"[rank0]: {V}/{A}/model.done not found in aws-neuron/optimum-neuron-cache: the corresponding graph will be "
        "recompiled. This may take up to one hour for large models.\n", {"hub_misses": 1}),
    "nothing of ours": ("loading ./run.sh ... done\n.gitignore\nDownloading...\nepoch 1 neffable\n",
        {"hits": 0, "pass": 0, "headers": 0, "lines": 4}),
    "last line without an end": (f"{G3}{HIT}", {**ONE_HIT, "lines": 0}),
    "bytes that are no text": (f"\udcff\udcfe{G3}{HIT}\n", ONE_HIT),
}  # fmt: skip


def counted(portions: list[bytes]) -> dict[str, Any]:
    """The tally of a stream that comes in these portions."""
    reader = LogReader("variant")
    for portion in portions:
        reader.feed(portion)
    reader.flush()
    return reader.tally.as_json()


@pytest.mark.parametrize("name", CASES)
def test_a_mixture_nobody_published_is_counted_right(name: str) -> None:
    text, expected = CASES[name]
    data = text.encode("utf-8", "surrogateescape")
    whole = counted([data])
    assert {key: whole[key] for key in expected} == expected
    assert counted([bytes([byte]) for byte in data]) == whole
    assert counted(data.splitlines(keepends=True)) == whole


@pytest.mark.parametrize(
    "label",
    [
        "3: ",
        "[1,3]<stdout>:",
        "[rank3]: ",
        "[default3]:",
        f"{ISO}[rank3]: ",
        f"{KUBECTL}3: ",
        "\x1b[36m[rank3]: \x1b[0m",
    ],
)
def test_dots_pass_and_hit_of_a_rank_behind_any_label_are_its_own(label: str) -> None:
    reader = LogReader("variant")
    text = f"{label}....\n{label}Compiler status PASS\n{label}{G3}{HIT}\n"
    events = [*reader.feed(text.encode()), *reader.flush()]
    assert [(type(event), getattr(event, "rank", None)) for event in events] == [
        (CompilerProgress, 3),
        (CompilerPassed, 3),
        (CacheHit, 3),
    ]


def test_another_process_between_a_failure_and_its_message_leaves_the_message_whole() -> None:
    reader = LogReader("variant")
    other = f"{T}:  4712  [INFO]: {HIT}\n"
    text = f"{G3E}Failed compilation with {ARGV}:\n{other}[NCC_EOOM002] too large\n[libneuronxla 2.2.17544.0]\n"
    events = [*reader.feed(text.encode()), *reader.flush()]
    (failure,) = [event for event in events if isinstance(event, CompileFailed)]
    assert (failure.pid, failure.code) == (4711, "NCC_EOOM002")
    assert "too large" in failure.message
    assert sum(isinstance(event, CacheHit) for event in events) == 1


REPORT = """{
    "compilation_summary": {
        "true": 1,
        "false": 1
    },
    "compilation_report": {
        "%s/model.hlo_module.pb": {
            "status": true,
            "retry": 0,
            "compile_time": 12.5
        },
        "%s/model.hlo_module.pb": {
            "status": "false",
            "retry": 2
        }
    },
    "start_time": 1741064767.0,
    "compilation_time": 13.0
}
"""


@pytest.mark.parametrize("intruder", ["", f"{G2}{HIT}\n", "Compiler status PASS\n", "....\n"])
def test_a_report_is_read_though_another_process_writes_into_it(intruder: str) -> None:
    lines = (REPORT % (f"{D}/{A}", f"{D}/{B}")).splitlines(keepends=True)
    head = f"{T}:  4711  INFO ||NEURON_PARALLEL_COMPILE||: "
    text = head + "".join(lines[:9]) + intruder + "".join(lines[9:])
    report = counted([text.encode()])["compile_report"]
    assert [(entry["module"], entry["retry"], entry["compile_time"]) for entry in report] == [
        (A, 0, 12.5),
        ("MODULE_00112233445566778899+d41d8cd9", 2, None),
    ]
    assert [str(entry["status"]).lower() for entry in report] == ["true", "false"]


def test_a_key_broken_by_a_hard_wrap_is_no_other_key() -> None:
    line = f"{G2}{HIT}."
    wrapped = "\n".join(line[start : start + 80] for start in range(0, len(line), 80)) + "\n"
    found = counted([wrapped.encode()])
    assert found["hits"] == 1
    assert all(A.startswith(module) for module in found["modules_hit"])
