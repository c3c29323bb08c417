"""Lines of the Neuron runtime, torn and whole, and its reports of exhausted device memory."""

from __future__ import annotations

import pytest

from neuron_top.events import CacheHit, DeviceMemoryExhausted, LineMalformed, NeffMemoryReported, RuntimeLogged
from neuron_top.events.levels import LogLevel
from neuron_top.parsers import memory_tables, runtime_status
from tests.parsers.logs import FOLDER, M1, g3, only, read

GIB = 1024**3


def line(text: str, function: str = "TDRV:f", clock: str = "10:00:00.000001", pid: str = "7:8") -> str:
    """A line of the runtime."""
    return f"2026-Mar-04 {clock} {pid} ERROR  {function}             {text}\n"


def test_level_pid_thread_component_core_and_status_are_read() -> None:
    (event,) = only(RuntimeLogged, read(line("[ND 2][NC 5] Out of bounds, status 1006", "TDRV:exec_wait")))
    assert (event.level, event.pid, event.tid, event.component, event.function) == ("ERROR", 7, 8, "TDRV", "exec_wait")
    assert (event.device, event.core, event.status, event.status_code) == (2, 5, "NRT_EXEC_OOB", 1006)


def test_six_digits_are_microseconds_and_four_are_milliseconds() -> None:
    first, second = only(RuntimeLogged, read(line("x") + "2026-Mar-04 10:00:00.0500 7:8 [3] net.cc:1 CCOM WARN late\n"))
    assert first.at is not None
    assert second.at == pytest.approx(first.at + 0.499999)
    assert (second.rank, second.component, second.level) == (3, "CCOM", "WARNING")


def test_a_record_torn_by_another_gives_both_and_says_which_is_broken() -> None:
    torn = "2026-Mar-04 10:00:00.00012026-Mar-04 10:00:00.000200 7:8 ERROR  NRT:nrt_init   failed, error:4\n"
    events = read(torn)
    assert [type(event) for event in events] == [LineMalformed, RuntimeLogged]
    assert only(RuntimeLogged, events)[0].status == "NRT_RESOURCE"


def test_every_status_has_one_name_and_one_code() -> None:
    assert all(runtime_status.CODES[name] == code for code, name in runtime_status.NAMES.items())
    assert runtime_status.name(999) == ""


@pytest.mark.parametrize(
    ("text", "size"),
    [("43.325MB", 45_429_555), ("4.000GB", 4 * GIB), ("0.000B", 0), ("7.352KB", 7528), ("n/a", None), ("...", None)],
)
def test_sizes_are_powers_of_1024(text: str, size: int | None) -> None:
    assert memory_tables.size_in_bytes(text) == size


def test_bullets_become_one_row_of_the_core_and_the_exact_request_wins() -> None:
    log = line("Failed to alloc DEVICE memory: 45429760", "TDRV:dmem_alloc_internal")
    log += line("Failed to allocate 43.325MB (usage: dma rings) on ND 3:NC 1, current utilization:", "TDRV:log_dev_mem")
    log += "\t* total: 15.500GB\n\t* model code: 1.000GB\n\t* tensors: 14.000GB\n\t* dma rings: 512.000MB\n\n" + line(
        "next"
    )
    (event,) = only(DeviceMemoryExhausted, read(log))
    assert (event.requested, event.device, event.core, event.usage) == (45_429_760, 3, 1, "dma rings")
    (row,) = event.rows
    assert (row.scope, row.index, row.total) == ("core", 1, round(15.5 * GIB))
    assert row.kinds == {"model_code": GIB, "tensors": 14 * GIB, "dma_rings": GIB // 2}


def test_a_table_gives_rows_by_device_bank_core_and_neff_with_names() -> None:
    log = line("Failed to allocate 1.000GB (alignment: 4.000MB, usage: tensors) on ND 0:NC 4", "TDRV:log_dev_mem") + (
        "              |         |  Model   |DMA Rings |DMA Rings |\n"
        "              |  TOTAL  |   Code   |    IO    |  Spill   |\n"
        "ND 0 HBM 0    | 2.000GB | 1.000GB  | 0.500GB  | 0.500GB  |\n"
        "\\_NC 4        | 2.000GB | 1.000GB  | 0.500GB  | 0.500GB  |\n"
        "  \\_NEFF 1001 | 1.000GB | 1.000GB  |   n/a    |  0.000B  |\n"
        "\n"
        "NEFF id to name mapping:\n"
        '1001: "teapot"\n'
    )
    (event,) = only(DeviceMemoryExhausted, read(log))
    assert event.alignment == 4 * 1024**2
    assert [(row.scope, row.index, row.total, row.name) for row in event.rows] == [
        ("bank", 0, 2 * GIB, ""),
        ("core", 4, 2 * GIB, ""),
        ("neff", 1001, GIB, "teapot"),
    ]
    assert event.rows[0].kinds == {"model_code": GIB, "dma_rings": GIB}
    assert event.rows[2].kinds == {"model_code": GIB, "dma_rings": 0}


def test_a_table_whose_header_was_lost_still_reports_who_held_what() -> None:
    log = (
        "              |  TOTAL  |   Code   | Tensors  |\n"
        "ND 3 HBM 1    | 3.000GB | 1.000GB  | 2.000GB  |\n"
        "\\_NC 2        | 3.000GB | 1.000GB  | 2.000GB  |\n"
    ) + line("next")
    (event,) = only(DeviceMemoryExhausted, read(log))
    assert (event.requested, event.device, event.usage) == (None, 3, "")
    assert [(row.scope, row.index, row.total) for row in event.rows] == [("bank", 1, 3 * GIB), ("core", 2, 3 * GIB)]


def test_what_each_loaded_program_takes_of_a_core_is_read_with_its_key() -> None:
    log = line("[ND 1:NC 5] Current Usage Total: 6.000GB", "TDRV:dml_log_dev_neff_mem")
    log += f"Per NEFF memory usage breakdown for [{FOLDER}/{M1}/model.neff]:\n"
    log += "\t* Total: 4.000GB\n\t* Model Code: 1.000GB\n\t* DMA Rings: 3.000GB\n"
    log += "Per NEFF memory usage breakdown for [teapot]:\n\t* Total: 2.000GB\n\t* Tensors: 2.000GB\n" + line("next")
    first, second = only(NeffMemoryReported, read(log))
    assert (first.module, first.device, first.core, first.total, first.core_total) == (M1, 1, 5, 4 * GIB, 6 * GIB)
    assert first.kinds == {"model_code": GIB, "dma_rings": 3 * GIB}
    assert (second.name, second.module, second.kinds) == ("teapot", None, {"tensors": 2 * GIB})


def test_a_breakdown_does_not_hold_back_what_other_processes_print() -> None:
    hit = g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff")
    log = (
        line("Failed to allocate 1.000GB (usage: tensors) on ND 0:NC 0, current utilization:")
        + hit
        + "* total: 2.000GB\n"
    )
    events = read(log)
    assert len(only(CacheHit, events)) == 1
    assert only(DeviceMemoryExhausted, events)[0].rows[0].total == 2 * GIB


def test_an_environment_line_with_a_memory_word_is_no_memory_report() -> None:
    assert only(DeviceMemoryExhausted, read(line("NEURON_RT_MAP_HBM=1", "NRT:nrt_infodump"))) == []


def test_the_drivers_hardware_errors_name_device_and_core() -> None:
    (event,) = only(RuntimeLogged, read("NEURON_HW_ERR=DMA_ERROR instance-id=i-0 nd-id=3 nc-id=1 action=REBOOT\n"))
    assert (event.component, event.function, event.device, event.core) == ("KERNEL", "DMA_ERROR", 3, 1)


def test_what_is_dumped_for_support_is_no_error_but_for_the_failure_it_names() -> None:
    dump = (
        line("------------->8------------[ cut here ]------------>8-------------", "NRT:nrt_infodump")
        + line("NEURON_RT_EXEC_TIMEOUT=600", "NRT:nrt_infodump")
        + line("Failure: NRT_INVALID in nrt_init()", "NRT:nrt_infodump")
        + line("Duplicate entry key: 3077", "TDRV:ht_insert")
    )
    assert [event.level for event in only(RuntimeLogged, read(dump))] == ["INFO", "INFO", "ERROR", "INFO"]


def test_a_stamp_of_whole_seconds_begins_a_record_where_a_header_follows() -> None:
    text = "2026-Mar-04 10:00:05 ERROR  TDRV:log_dev_mem  Failed to allocate 2.000MB (usage: tensors) on ND 1:NC 3\n"
    events = read("12 of 20 done " + text)
    (logged,), (memory,) = only(RuntimeLogged, events), only(DeviceMemoryExhausted, events)
    assert (logged.level, logged.component, logged.at) == ("ERROR", "TDRV", memory.at)
    assert (memory.device, memory.core, memory.requested) == (1, 3, 2 * 1024**2)
    other = only(RuntimeLogged, read(line("x", clock="10:00:05.000000")))[0]
    assert logged.at == other.at
    assert not read("backup of 2026-Mar-04 10:00:05 is done\n")


@pytest.mark.parametrize(
    "header",
    ["   ERROR   NRT:nrt_init      ", "- `ERROR NRT:nrt_init ", "> [ERROR] NRT:nrt_init ", "7:8 ERROR NRT:nrt_init "],
)
def test_a_header_without_its_stamp_is_read(header: str) -> None:
    (event,) = only(RuntimeLogged, read(f"{header}Failed to initialize devices, error:2\n"))
    assert (event.level, event.component, event.function) == ("ERROR", "NRT", "nrt_init")
    assert event.status_code == 2
    assert event.at is None


def test_the_daemons_failed_allocation_is_one_event_of_its_size() -> None:
    (event,) = only(
        DeviceMemoryExhausted,
        read(
            "[TDRV:dma_mp_allocate_dma_buffer_from_tdram] Could not satisfy request for 2097152 bytes from channel \n"
            "[TDRV:dma_mp_create_mla_buf] TDRAM 0/0 has no free space\n"
            "[NMGR:kmgr_load_nn] Failed to load NN: 1.0.1+0.tea-/tmp/tea, err: 4\n"
        ),
    )
    assert event.requested == 2097152


def test_a_report_whose_header_has_no_stamp_keeps_its_breakdown() -> None:
    (event,) = only(
        DeviceMemoryExhausted,
        read(
            "ERROR TDRV:dmem_alloc_internal Failed to allocate DEVICE memory (5242880 bytes): no memory (ret=-12)\n"
            "ERROR TDRV:log_dev_mem Failed to allocate 5.000MB (usage: dma rings) on ND12:NC 1, current utilization:\n"
            "* total: 3.000GB\n* tensors: 3.000GB\n"
        ),
    )
    assert (event.requested, event.device, event.core) == (5242880, 12, 1)
    assert event.rows[0].total == 3 * GIB


@pytest.mark.parametrize(
    ("line", "device", "core", "status"),
    [
        ("NeuronCore(s) not available - Requested:nc1-nc1 Available:0", None, None, ""),
        ("Virtual Neuron Core(s) not available - Requested:2 Available:0, Virtual Core size 1", None, None, ""),
        ("[rank3]: NeuronCore(s) not available - Requested:1 Available:0", None, None, ""),
        (
            "(FATAL-RT-UNDEFINED-STATE) execution timeout (30000 ms) on Neuron Device 2 NC 1, model tea.neff, waiting",
            2,
            1,
            "",
        ),
        ("missing collectives status on Neuron Device 2 NC 0, model 0 - suspected hang", 2, 0, ""),
        ("[MLA 4][NC 1] DMA TX engine 0 is in an abort state", 4, 1, ""),
        ("Failed to execute model: 10022, error: 1006", None, None, "NRT_EXEC_OOB"),
        ("Failure: NRT_INVALID in nrt_init()", None, None, "NRT_INVALID"),
        ("This runtime requires Neuron Driver version 9.1 or newer", None, None, ""),
        ('NRT Execution error occurred on Neuron for operation=brew; error message="NRT: status_code=1203"',
         None, None, "NRT_EXEC_HW_ERR_DMA_ABORT"),
    ],
)  # fmt: skip
def test_an_error_of_the_runtime_without_a_header_is_one(
    line: str, device: int | None, core: int | None, status: str
) -> None:
    [event] = only(RuntimeLogged, read(f"{line}\n"))
    assert (event.level, event.device, event.core, event.status) == (LogLevel.ERROR, device, core, status)


def test_a_timeout_that_the_runtime_ignores_is_a_warning() -> None:
    [event] = only(RuntimeLogged, read("(NON-FATAL, Ignoring) execution timeout (30000 ms) on Neuron Device 0 NC 1\n"))
    assert (event.level, event.device, event.core) == (LogLevel.WARNING, 0, 1)


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: NeuronCore(s) not available - Requested:1 Available:0",
        '    raise RuntimeError("NeuronCore(s) not available - Requested:1 Available:0")',
        "see what NeuronCore(s) not available - Requested:1 means",
        "Uncorrectable errors: 0",
    ],
)
def test_words_of_the_runtime_inside_of_others_are_no_lines_of_it(line: str) -> None:
    assert only(RuntimeLogged, read(f"{line}\n")) == []
