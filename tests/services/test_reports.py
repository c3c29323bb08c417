"""Reports, checks and comparisons, asked for as every front end asks."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from neuron_top.errors import NothingToShow
from neuron_top.events import RunStarted
from neuron_top.run.model import Run
from neuron_top.services import reports
from neuron_top.services.reports import ReportService
from neuron_top.settings import Settings
from neuron_top.views.compare import compare
from neuron_top.views.gate import GROWTH_RULES, growth_reasons
from tests.builders import neff, write_entry
from tests.cache.test_scan import as_nobody
from tests.parsers.logs import FOLDER, M1, g3


@pytest.fixture
def service(tmp_path: Path) -> ReportService:
    return ReportService(Settings(state_dir=str(tmp_path / "state")))


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "train.log"
    path.write_text(g3(f"Using a cached neff at {FOLDER}/{M1}/model.neff") * 3)
    return str(path)


def test_a_report_is_drawn_in_both_languages(service: ReportService, log: str) -> None:
    view = service.full(service.load([log]))
    assert reports.html(view).startswith("<!DOCTYPE html>")
    assert reports.markdown(view).startswith("# ")


def recorded_with(cache: str) -> Run:
    """A recorded run whose environment names its cache."""
    run = Run()
    run.apply(RunStarted(run="r1", name="sample", at=1e9, environment={"NEURON_COMPILE_CACHE_URL": cache}))
    return run


def test_a_cache_whose_name_no_folder_can_have_is_none(service: ReportService) -> None:
    assert service.full(recorded_with(f"/{'a' * 5000}")).title == "sample"


def test_a_recording_whose_cache_may_not_be_read_has_a_report_that_says_so() -> None:
    # Not in tmp_path: its folders above belong to root alone, and nobody could not get there.
    with tempfile.TemporaryDirectory() as place:
        cache = Path(place) / "cache"
        write_entry(cache, {"model.neff": neff()})
        Path(place).chmod(0o755)
        cache.chmod(0)

        def reported() -> str:
            remarks: list[str] = []
            service = ReportService(Settings(state_dir=f"{place}/state"), remarks.append)
            return f"{service.full(recorded_with(str(cache))).title}: {remarks}"

        try:
            seen = as_nobody(reported)
        finally:
            cache.chmod(0o700)
    assert seen.startswith("sample: [")
    assert "may not be read by this user; what it knows of the graphs is missing in the report" in seen


def test_a_cache_that_was_named_for_the_report_must_be_there(service: ReportService, tmp_path: Path) -> None:
    with pytest.raises(NothingToShow, match="does not exist"):
        service.full(recorded_with("/none"), cache=str(tmp_path / "none"))


def test_two_are_compared_and_several_with_the_first(service: ReportService, log: str) -> None:
    assert reports.markdown(service.compare(log, log)).startswith("# A: train.log")
    assert "<!DOCTYPE html>" in reports.html(service.compare_many([log, log, log]))


def test_two_caches_are_compared(service: ReportService, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_entry(tmp_path / name, {"model.neff": neff()})
    view = service.compare_caches(str(tmp_path / "a"), str(tmp_path / "b"))
    assert (view.only_a, view.only_b) == (0, 0)
    assert str(tmp_path / "a") in reports.markdown(view)


def test_two_folders_without_an_entry_are_no_caches_to_compare(service: ReportService, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with pytest.raises(NothingToShow, match=r"neither .*/a nor .*/b holds an entry of a compile cache"):
        service.compare_caches(str(tmp_path / "a"), str(tmp_path / "b"))
    write_entry(tmp_path / "b", {"model.neff": neff()})
    assert service.compare_caches(str(tmp_path / "a"), str(tmp_path / "b")).only_b == 1


def test_a_check_judges_a_run_and_a_cache_together(service: ReportService, log: str, tmp_path: Path) -> None:
    write_entry(tmp_path / "cache", {"model.neff": neff()})
    checked = service.check([log], {"max-failed": 0.0}, cache=str(tmp_path / "cache"), max_bytes=1)
    assert [(verdict.option, verdict.passed) for verdict in checked.verdicts] == [
        ("diagnosis", True),
        ("max-failed", True),
        ("max-size", False),
    ]
    assert not checked.passed
    assert reports.check_markdown(checked).startswith("## ")


def test_growth_is_judged_only_where_a_threshold_is_given(service: ReportService, log: str) -> None:
    newer = service.plain(log)
    comparison = compare(newer, newer)
    assert growth_reasons(comparison, newer, {}) == ()
    reasons = growth_reasons(comparison, newer, {rule.option: 0.1 for rule in GROWTH_RULES})
    # All came from the cache: no time was spent compiling in either.
    assert [reason.partition(":")[0] for reason in reasons] == ["time per step", "peak memory per core"]


def test_a_name_that_is_neither_a_log_nor_a_recording_is_not_found(service: ReportService) -> None:
    with pytest.raises(NothingToShow):
        service.load(["nothing"])


def test_a_report_of_a_log_loads_no_explanation_and_no_comparison(log: str, tmp_path: Path) -> None:
    code = (
        "import sys; from neuron_top.cli.main import main\n"
        f"main(['report', {log!r}, '-o', {str(tmp_path / 'report.md')!r}])\n"
        "print([name for name in sys.modules if name.startswith(('neuron_top.explain.miss', 'neuron_top.actions',"
        " 'neuron_top.views.compare', 'textual', 'watchdog'))])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
