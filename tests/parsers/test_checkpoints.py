"""Lines that say that a checkpoint is being saved, of many programs; and those that only mention one."""

from __future__ import annotations

import pytest

from neuron_top import events as ev
from neuron_top.parsers.reader import LogReader
from neuron_top.run.model import Run
from neuron_top.views.trends import marks
from tests.corpus import corpus

SAVED = [
    ("Saving model checkpoint to /data/out/checkpoint-500", "/data/out/checkpoint-500", 500, False),
    ("INFO:accelerate.accelerator:Saving current state to out/checkpoint-40", "out/checkpoint-40", 40, False),
    ("Model weights saved in ./out/checkpoint-20/model.safetensors", "./out/checkpoint-20/model.safetensors", 20, True),
    (" saving checkpoint at iteration     500 to /ckpts in torch_dist format", "/ckpts", 500, False),
    ("  successfully saved checkpoint at iteration     500 to /ckpts", "/ckpts", 500, True),
    ("[2026-01-02 03:04:05.006: I neuronx_distributed/trainer/checkpoint.py:144] async saving of checkpoint step_80 "
     "began", "", None, False),
    ("[2026-01-02 03:04:05.006: I neuronx_distributed/trainer/checkpoint.py:192] synced saving of checkpoint step_80 "
     "completed", "", None, True),
    ("Epoch 0, global step 100: 'loss' reached 2.1 (best 2.1), saving model to '/r/epoch=0-step=100.ckpt' as top 1",
     "/r/epoch=0-step=100.ckpt", 100, False),
    ("Finished saving the checkpoint (or staging if async is enabled) in 1.23 seconds.", "", None, True),
    ("Checkpoint written to s3://bucket/run/ckpt-7.pt at step 7", "s3://bucket/run/ckpt-7.pt", 7, True),
]  # fmt: skip
OTHERS = [
    "Some weights of the model checkpoint at org/model were not used when initializing Bert",
    "loading checkpoint from whisper-tiny.pt",
    "Loading checkpoint shards: 100%|██████████| 4/4 [01:11<00:00, 15.38s/it]",
    "SKIPPING pre-sharding the checkpoints. The checkpoints will be sharded during load time.",
    "To avoid hang during extraction, use xm.save instead of torch.save to save checkpoints.",
    "no checkpoints to remove.",
    "/x/torch/utils/checkpoint.py:85: UserWarning: None of the inputs have requires_grad=True.",
    "Failed to write: checkpoint could not be saved: disk full",
    "A checkpoint is saved every 500 steps",
    "grad checkpointing : True",
    "Restored weights saved in /data/out/checkpoint-500",
]


def events_of(*lines: str) -> list[ev.AnyEvent]:
    reader = LogReader("log:/train.log")
    return [*reader.feed("".join(f"{line}\n" for line in lines).encode()), *reader.flush()]


@pytest.mark.parametrize(("line", "path", "step", "finished"), SAVED, ids=[line[:40] for line, *_ in SAVED])
def test_a_line_that_says_that_a_checkpoint_is_saved_is_one(
    line: str, path: str, step: int | None, finished: bool
) -> None:
    (saved,) = [event for event in events_of(line) if isinstance(event, ev.CheckpointReported)]
    assert saved.path == path
    assert saved.finished is finished
    if step is not None:
        assert saved.step == step


@pytest.mark.parametrize("line", OTHERS, ids=[line[:40] for line in OTHERS])
def test_a_line_that_only_mentions_a_checkpoint_is_none(line: str) -> None:
    assert not [event for event in events_of(line) if isinstance(event, ev.CheckpointReported)]


def test_a_line_with_a_step_and_a_checkpoint_tells_both() -> None:
    found = events_of("step 100 loss 2.31 throughput 4.1 seq/s, saved checkpoint to /out/ckpt-100")
    assert {type(event) for event in found} == {ev.StepReported, ev.CheckpointReported}


def test_many_lines_of_one_checkpoint_are_one_mark_at_its_step() -> None:
    run = Run()
    for step in range(1, 41):
        run.apply(ev.StepReported(step=step, loss=1.0, at=100.0 + step))
        if step in (20, 40):
            for rank in range(4):
                run.apply(ev.CheckpointReported(path=f"/out/checkpoint-{step}", step=step, rank=rank, at=100.5 + step))
            run.apply(ev.CheckpointReported(finished=True, at=101.0 + step))
    assert [(mark.state, mark.step) for mark in marks(run)] == [("checkpoint", 20), ("checkpoint", 40)]
    assert all(saved.finished for saved in run.training.checkpoints)


def test_while_graphs_are_extracted_no_checkpoint_counts() -> None:
    run = Run()
    run.apply(ev.TrialRunStarted(at=1.0))
    run.apply(ev.CheckpointReported(path="/out/checkpoint-1", step=1, at=2.0))
    assert not run.training.checkpoints


def test_of_the_real_logs_only_those_that_saved_one_have_one() -> None:
    saved = {}
    for path in sorted(corpus("logs").glob("*.log")):
        run = Run()
        reader = LogReader(f"log:{path}")
        for event in [*reader.feed(path.read_bytes()), *reader.flush()]:
            run.apply(event)
        if run.training.checkpoints:
            saved[path.name.partition("-")[0]] = len(run.training.checkpoints)
    assert saved == {"33": 1}
