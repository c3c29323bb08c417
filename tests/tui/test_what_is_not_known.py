"""What a screen says where a log told less than the screen could show."""

from __future__ import annotations

from neuron_top import events as ev
from neuron_top.services.feeds import LineLevel, LogLine
from neuron_top.settings import Settings
from neuron_top.tui.app import TopApp

from .feeds import START, StillFeed, failed_log, job
from .test_fleet import text_of, until


async def test_losses_without_steps_have_no_axis_of_steps() -> None:
    reports = [ev.StepReported(loss=5.0 - place, at=START + place) for place in range(4)]
    app = TopApp(StillFeed([*job(), ev.StepReported(step=5000, at=START), *reports], now=START + 9), Settings())
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(app, pilot, lambda text: "in the order in which they were printed" in text)
    assert not any(line.split()[:2] == ["step", "5,000"] and line.endswith("5,000") for line in text.splitlines())


async def test_of_a_job_that_has_ended_no_core_is_waited_for() -> None:
    app = TopApp(failed_log(), Settings(), "cores")
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(app, pilot, lambda text: "No core reported." in text)
    assert "yet" not in text
    app = TopApp(StillFeed(now=START), Settings(), "cores")
    async with app.run_test(size=(120, 40)) as pilot:
        assert "No core reports yet." in await until(app, pilot, lambda text: "core" in text_of(app).splitlines()[4])


async def test_a_host_of_which_only_latency_is_known_has_no_bars() -> None:
    sampled = ev.CoresSampled(
        kind=ev.CoreKind.NEURON, cores=(ev.CoreSample(core=0, utilization=0.5),), period=1.0, at=START, node="trn1"
    )
    counted = ev.ExecutionsCounted(period=1.0, statuses={"completed": 7}, latency={"p50": 0.004}, at=START, node="trn1")
    app = TopApp(StillFeed([*job(), sampled, counted], now=START + 1), Settings(), "cores")
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(app, pilot, lambda text: "latency" in text)
    (host,) = [line for line in text.splitlines() if line.startswith("host")]
    assert "—" not in host
    assert "of" not in host.split()


async def test_values_of_a_host_that_is_no_longer_sampled_are_called_old() -> None:
    sampled = ev.CoresSampled(
        kind=ev.CoreKind.NEURON, cores=(ev.CoreSample(core=0, memory=5),), period=1.0, at=START + 60, node="trn1"
    )
    host = ev.HostSampled(cpu=0.25, memory_used=5, memory_total=10, at=START, node="trn1")
    for now, words in ((START + 5, []), (START + 60, ["stale"])):
        app = TopApp(StillFeed([*job(), host, sampled], now=now), Settings(), "cores")
        async with app.run_test(size=(120, 40)) as pilot:
            text = await until(app, pilot, lambda text: "5 B of 10 B" in text)
        (line,) = [line for line in text.splitlines() if line.startswith("host")]
        assert line.partition("10 B")[2].split() == words


async def test_errors_of_the_hardware_stand_whole_in_the_title_and_in_the_head_of_their_device() -> None:
    cores = tuple(ev.CoreSample(core=core, device=core // 2, utilization=0.5) for core in range(4))
    sampled = ev.CoresSampled(kind=ev.CoreKind.NEURON, cores=cores, period=1.0, at=START, node="trn1")
    errors = ev.HardwareErrorsCounted(device=1, counts={"sram_ecc_uncorrected": 12_345}, at=START, node="trn1")
    app = TopApp(StillFeed([*job(), sampled, errors], now=START + 1), Settings(), "cores")
    async with app.run_test(size=(80, 24)) as pilot:
        text = await until(app, pilot, lambda text: "device 1" in text)
    assert "4 cores · 12,345 hardware errors" in text
    heads = {
        line.split()[2]: line.split()[-1] for line in text.splitlines() if line.lstrip("› ").startswith("- device")
    }
    assert (heads["0"] == "12,345", heads["1"] == "12,345") == (False, True), text


async def test_a_marked_line_stands_whole_where_lines_are_left() -> None:
    text = "model.py: " + "the compile was ended by a signal, which says nothing of the graph; " * 3 + "it goes on"
    lines = [LogLine(source="log:a", offset=at, text=text, level=LineLevel.WARNING) for at in (0, 900)]
    app = TopApp(StillFeed(job(), lines=lines, now=START + 1), Settings())
    async with app.run_test(size=(80, 24)) as pilot:
        shown = await until(app, pilot, lambda text: "goes on" in text)
    rows = shown.splitlines()
    begin = next(index for index, row in enumerate(rows) if "model.py" in row)
    assert "× 2" in rows[begin]
    assert all(row.startswith("  ") for row in rows[begin + 1 : begin + 3]), shown
    assert sum("model.py" in row for row in rows) == 1


async def test_without_a_line_the_log_says_whole_where_lines_would_come_from() -> None:
    app = TopApp(StillFeed(now=START), Settings(), "logs")
    async with app.run_test(size=(80, 24)) as pilot:
        shown = await until(app, pilot, lambda text: "No log lines yet" in text)
    assert "files named to neurontop watch." in " ".join(shown.split())


async def test_a_named_log_of_which_nothing_can_be_read_yet_has_its_path_whole() -> None:
    path = "/a/folder/with/a/long/name/train.log"
    feed = StillFeed([ev.SourceUnavailable(name=f"log:{path}", reason=f"the file is empty: {path}")], now=START)
    app = TopApp(feed, Settings())
    async with app.run_test(size=(80, 24)) as pilot:
        shown = await until(app, pilot, lambda text: "the file is empty" in text)
    (line,) = [line for line in shown.splitlines() if "the file is empty" in line]
    assert line.split()[1:3] == ["log", "the"]
    assert path in " ".join(shown.split())
