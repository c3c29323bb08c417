"""What stays of torch.compile's frames when more come than are kept."""

from __future__ import annotations

from neuron_top.events import CompileBegan, FrameCompileBegan, FrameCompiled, GraphCaptured
from neuron_top.run.model import Run
from neuron_top.run.torch_trace import FRAMES_KEPT

RANKS, FRAMES = 50, 2 * FRAMES_KEPT // 50


def test_the_compile_time_of_many_ranks_covers_frames_that_are_no_longer_kept() -> None:
    run = compiled_by_pytorch(Run())
    assert len(run.torch.frames) == FRAMES_KEPT
    assert run.compiling_seconds(2000.0) == 5.0 * FRAMES
    assert run.torch.traced() == []


def test_so_does_the_time_of_tracing_for_our_own_back_end() -> None:
    run = Run()
    for rank in range(RANKS):
        run.apply(CompileBegan(at=900.0, node="n", pid=rank + 1, module=f"g{rank}", inside_job=True))
    compiled_by_pytorch(run)
    assert sum(end - start for start, end in set(run.torch.traced())) == 5.0 * FRAMES
    assert run.torch.elsewhere() == []


def compiled_by_pytorch(run: Run) -> Run:
    """Each rank compiles a frame in 5 of every 10 seconds."""
    for frame in range(FRAMES):
        began = 1000.0 + 10 * frame
        for rank in range(RANKS):
            who = {"node": "n", "pid": rank + 1, "rank": rank, "source": f"torch-trace:{rank}"}
            about = {**who, "compile_id": f"{frame}/0", "function": "forward"}
            run.apply(FrameCompileBegan(at=began, **about))
            run.apply(GraphCaptured(at=began + 1, **{name: about[name] for name in (*who, "compile_id")}))
            run.apply(FrameCompiled(at=began + 5, began=began, seconds=5.0, **about))
    return run
