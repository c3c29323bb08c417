"""The tutorial for real: compile, run with hits only, equal curves for every parallel size, less memory per core."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from neuron_top.events import CompileCompleted, StepReported, WorkerMemoryReported, decode
from neuron_top.parsers.reader import LogReader
from tests.parallel import jobs

pytestmark = [pytest.mark.torch, pytest.mark.e2e, pytest.mark.timeout(900)]
SCRIPT = Path(__file__).parents[2] / "assets" / "examples" / "train_bert_tp.py"
SMALL = ["--hidden", "128", "--heads", "4", "--layers", "1", "--vocabulary", "128", "--sequence", "32"]
STEPS = 40
TOLERANCE = 1e-3
"""Of a loss, after 40 steps: sums in another order change single-precision results in the sixth digit a step."""


def torchrun(ranks: int, *arguments: object) -> list[str]:
    """A training command with so many workers; the rendezvous finds a free port itself."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"]
    return [*launcher, str(SCRIPT), *SMALL, *map(str, arguments)]


class Runs:
    """Training runs of the session, each made once; all share one cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = jobs.environment(folder)
        self._done: dict[int, tuple[str, Path]] = {}

    def of(self, tp: int) -> tuple[str, Path]:
        """Output and events folder of a run with this tensor parallel size."""
        if tp not in self._done:
            events = self.folder / f"events{tp}"
            events.mkdir()
            done = subprocess.run(
                torchrun(4, "--tensor_parallel_size", tp, "--steps_this_run", STEPS),
                env={**self.environ, "NEURONTOP_EVENTS_DIR": str(events)},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=jobs.TIMEOUT,
                check=False,
            )
            assert done.returncode == 0, done.stdout
            self._done[tp] = (done.stdout, events)
        return self._done[tp]

    def losses(self, tp: int) -> list[float]:
        """The loss of every step."""
        steps = [event for event in read(self.of(tp)[0]) if isinstance(event, StepReported)]
        assert [event.step for event in steps] == list(range(STEPS))
        return [event.loss for event in steps if event.loss is not None]

    def memory(self, tp: int) -> dict[int, dict[str, int]]:
        """Rank → the last account that the worker gave of its memory while it trained."""
        last: dict[int, dict[str, int]] = {}
        for path in sorted(self.of(tp)[1].glob("*.jsonl")):
            for line in path.read_text().splitlines():
                event = decode(line)
                if isinstance(event, WorkerMemoryReported) and event.rank is not None and "optimizer" in event.kinds:
                    last[event.rank] = event.kinds
        return last


def read(output: str) -> list:
    """Events of a console output."""
    reader = LogReader("test")
    return reader.feed(output.encode()) + reader.flush()


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The runs, with the graphs of tensor parallel size 2 compiled beforehand."""
    runs = Runs(tmp_path_factory.mktemp("tutorial"))
    command = torchrun(4, "--tensor_parallel_size", 2, "--steps_this_run", 2)
    done = jobs.compile_command(["-j", "2", "--", *command], runs.environ, runs.folder)
    assert done.returncode == 0, done.stderr
    return runs


def test_after_compile_every_graph_of_every_worker_is_a_hit(runs):
    output, _ = runs.of(2)
    assert len(jobs.files(runs.folder, "model.done")) >= 2
    assert output.count("Using a cached neff at") == 4 * 2
    assert not [event for event in read(output) if isinstance(event, CompileCompleted)]


def test_replicas_and_ranks_share_one_forward_and_one_backward_graph(runs):
    output, _ = runs.of(2)
    assert len(set(re.findall(r"Using a cached neff at (\S+)", output))) == 2


def test_the_loss_curves_of_tensor_parallel_1_2_and_4_agree_and_fall(runs):
    curve = runs.losses(1)
    assert sum(curve[-5:]) / 5 < curve[0] - 0.1
    for tp in (2, 4):
        assert runs.losses(tp) == pytest.approx(curve, abs=TOLERANCE)


def test_memory_per_core_falls_as_tensor_parallelism_grows(runs):
    totals = {}
    for tp in (1, 2, 4):
        accounts = runs.memory(tp)
        assert sorted(accounts) == [0, 1, 2, 3]
        totals[tp] = [kinds["parameters"] + kinds["optimizer"] for _, kinds in sorted(accounts.items())]
        assert max(totals[tp]) == min(totals[tp])
    assert totals[4][0] < totals[2][0] < totals[1][0]
    matrices = 12 * 128 * 128 * 4 * 3  # of a layer, in float32, with AdamW's two moments
    assert totals[1][0] - totals[2][0] == pytest.approx(matrices / 2, rel=0.02)
    assert totals[1][0] - totals[4][0] == pytest.approx(matrices * 3 / 4, rel=0.02)


@pytest.mark.parametrize(
    ("world", "arguments", "complaint"),
    [
        (4, ["--tensor_parallel_size", "3"], "4 workers can't be cut into groups of --tensor_parallel_size 3"),
        (4, ["--tensor_parallel_size", "4", "--heads", "6"], "--heads 6 can't be cut over --tensor_parallel_size 4"),
        (1, ["--tensor_parallel_size", "1", "--heads", "5"], "--hidden 128 can't be cut into --heads 5"),
        (4, ["--batch_size", "6", "--grad_accum_usteps", "2"], "--batch_size 6 can't be cut over 2 replicas"),
        (1, ["--tensor_parallel_size", "1", "--steps_this_run", "0"], "--steps_this_run must be at least 1"),
        (1, ["--tensor_parallel_size", "1", "--save_every", "1"], "need --checkpoint_dir"),
    ],
)
def test_sizes_that_do_not_fit_are_named_in_a_sentence(world, arguments, complaint):
    example = runpy.run_path(str(SCRIPT))
    problems = example["problems_of"](example["options_of"]([*SMALL, *arguments]), world)
    assert [problem for problem in problems if complaint in problem], problems


def test_a_run_whose_sizes_do_not_fit_ends_with_status_2_and_no_traceback():
    done = subprocess.run(
        [sys.executable, SCRIPT, "--tensor_parallel_size", "3"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "train_bert_tp.py: 1 workers can't be cut into groups of --tensor_parallel_size 3\n"


def test_a_run_resumed_from_a_checkpoint_goes_on_as_if_it_had_not_stopped(tmp_path):
    common = ["--tensor_parallel_size", 1, "--backend", "eager", "--checkpoint_dir", tmp_path / "checkpoints"]
    first = run_alone(*common, "--steps_this_run", 4, "--save_every", 2)
    again = run_alone(*common, "--steps_this_run", 2, "--resume")
    whole = run_alone(*common[:4], "--steps_this_run", 6)
    assert [event.step for event in again] == [4, 5]
    assert [event.loss for event in first + again] == pytest.approx([event.loss for event in whole], abs=1e-5)


def run_alone(*arguments: object) -> list[StepReported]:
    """Steps of a run with one worker, without a launcher."""
    done = subprocess.run(
        [sys.executable, SCRIPT, *SMALL, *map(str, arguments)],
        env=jobs.environment(Path("/nonexistent"), TORCHINDUCTOR_CACHE_DIR=""),
        capture_output=True,
        text=True,
        timeout=jobs.TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [event for event in read(done.stdout) if isinstance(event, StepReported)]
