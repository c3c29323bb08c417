"""The tutorial for real: compile, run with hits only, equal curves for every parallel size, less memory per core."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from neuron_top.events import CompileCompleted, StepReported
from neuron_top.parsers.reader import LogReader
from tests.compile.parallel import jobs
from tests.examples import documents

pytestmark = [pytest.mark.torch, pytest.mark.e2e, pytest.mark.timeout(1500), pytest.mark.xdist_group("tutorial")]
SCRIPT = Path(__file__).parents[2] / "assets" / "examples" / "train_bert_tp.py"
HIDDEN = 32
SMALL = [
    *("--hidden", str(HIDDEN), "--heads", "4", "--layers", "1", "--vocabulary", "128"),
    *("--sequence", "16", "--predictions", "4"),
]
LEARNING = ["--batch_size", "16", "--lr", "5e-3"]
STEPS = 30
TOLERANCE = 1e-3
"""Of a loss, over 30 steps: sums in another order change single-precision results in the sixth digit a step."""
LAYER_MATRICES = 12 * HIDDEN * HIDDEN * 4
"""Bytes of a layer's matrices in float32: what tensor parallelism cuts."""


def torchrun(ranks: int, *arguments: object) -> list[str]:
    """A training command with so many workers; the rendezvous finds a free port itself."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={ranks}"]
    return [*launcher, str(SCRIPT), *SMALL, *map(str, arguments)]


class Recorded(NamedTuple):
    """A run under `neurontop run`: what it printed, what was said of it, and the screen's cores at the end."""

    output: str
    said: str
    cores: list[dict]

    @property
    def losses(self) -> list[float | None]:
        """The loss of every step."""
        return [event.loss for event in read(self.output) if isinstance(event, StepReported)]

    def kinds(self, name: str) -> list[int]:
        """Bytes of this kind of memory, core by core."""
        return [core["kinds"][name] for core in sorted(self.cores, key=lambda core: core["core"])]


class Runs:
    """Training runs of the session, each made once; all share one cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environ = jobs.environment(folder, OMP_NUM_THREADS="1")
        self._done: dict[int, Recorded] = {}

    def of(self, tp: int) -> Recorded:
        """The recording of a run with this tensor parallel size: four workers, or one where nothing is cut."""
        if tp not in self._done:
            job = torchrun(4 if tp > 1 else 1, "--tensor_parallel_size", tp, "--steps_this_run", STEPS, *LEARNING)
            done = self.program("run", "--plain", "--name", f"tp{tp}", "--", *job)
            assert done.returncode == 0, done.stderr
            status = self.program("status", f"tp{tp}", "--json")
            self._done[tp] = Recorded(done.stdout, done.stderr, json.loads(status.stdout)["cores"])
        return self._done[tp]

    def program(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`neurontop …` where the recordings are."""
        return subprocess.run(
            [*jobs.NEURONTOP, *arguments],
            env=self.environ,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=jobs.TIMEOUT,
            check=False,
        )


def read(output: str) -> list:
    """Events of a console output."""
    reader = LogReader("test")
    return reader.feed(output.encode()) + reader.flush()


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The runs, with the graphs of tensor parallel size 2 compiled beforehand."""
    runs = Runs(tmp_path_factory.mktemp("tutorial"))
    command = torchrun(4, "--tensor_parallel_size", 2, "--steps_this_run", 2, *LEARNING)
    done = jobs.compile_command(["-j", "2", "--", *command], runs.environ, runs.folder)
    assert done.returncode == 0, done.stderr
    return runs


def test_after_compile_every_graph_of_every_worker_is_a_hit(runs):
    said = runs.of(2).said
    assert said.count("Using a cached neff at") == 4 * 2
    assert "8 hits, 0 misses, 0 failures; every graph came from the cache" in said
    assert not [event for event in read(said) if isinstance(event, CompileCompleted)]


def test_replicas_and_ranks_share_one_forward_and_one_backward_graph(runs):
    assert len(set(re.findall(r"Using a cached neff at (\S+)", runs.of(2).said))) == 2


def test_the_loss_curves_of_tensor_parallel_1_2_and_4_agree_and_fall(runs):
    curve = runs.of(1).losses
    assert len(curve) == STEPS
    assert sum(curve[-5:]) / 5 < curve[0] - 0.1
    for tp in (2, 4):
        assert runs.of(tp).losses == pytest.approx(curve, abs=TOLERANCE)


def test_memory_per_core_falls_as_tensor_parallelism_grows_and_the_screen_shows_it(runs):
    for kind, copies in (("parameters", 1), ("gradients", 1), ("optimizer", 2)):
        sizes = {tp: runs.of(tp).kinds(kind) for tp in (1, 2, 4)}
        assert [len(found) for found in sizes.values()] == [1, 4, 4]
        assert all(len(set(found)) == 1 for found in sizes.values())  # every worker holds as much as the next
        for tp in (2, 4):
            saved = sizes[1][0] - sizes[tp][0]
            # A layer's bias and the scalars of AdamW come on top of its matrices.
            assert saved == pytest.approx(copies * LAYER_MATRICES * (1 - 1 / tp), rel=0.03)


def test_the_commands_of_the_page_fit_and_its_picture_shows_all_runs(runs):
    example = runpy.run_path(str(SCRIPT))
    *trainings, comparing = documents.commands("tensor-parallel.md")
    sizes = []
    for words in trainings:
        options = example["options_of"](words[words.index(SCRIPT.name) + 1 :])
        assert example["problems_of"](options, 4) == []
        sizes.append(options.tensor_parallel_size)
        runs.of(options.tensor_parallel_size)
    assert sizes == [1, 2, 4]
    drawn = runs.program(*comparing[1:])
    assert drawn.returncode == 0, drawn.stderr
    page = (runs.folder / comparing[-1]).read_text(encoding="utf-8")
    assert "Memory per core by kind, MiB, and throughput" in page
    assert all(f"tp{tp} against tp1: memory per core" in page for tp in (2, 4))


def test_matrix_products_in_bfloat16_train_too(tmp_path):
    precise, mixed = (
        run_alone("--tensor_parallel_size", 1, "--steps_this_run", 3, "--backend", "eager", *more)
        for more in ([], ["--bf16"])
    )
    assert [event.loss for event in mixed] == pytest.approx([event.loss for event in precise], abs=0.05)
    assert [event.loss for event in mixed] != [event.loss for event in precise]


@pytest.mark.parametrize(
    ("world", "arguments", "complaint"),
    [
        (4, ["--tensor_parallel_size", "3"], "4 workers can't be cut into groups of --tensor_parallel_size 3"),
        (4, ["--tensor_parallel_size", "4", "--heads", "6"], "--heads 6 can't be cut over --tensor_parallel_size 4"),
        (1, ["--tensor_parallel_size", "1", "--heads", "5"], "--hidden 32 can't be cut into --heads 5"),
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
