"""HLO modules of the second unseen set (`mlp_conv_rnn_cases.py`): a serving decoder, convolutions on many workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from neuron_top.explain.miss_causes import Explanation
from tests.builders import BF16
from tests.explain.decoder_conv_hlo import Inference, Sharded, inference, sharded
from tests.explain.one_change_cases import NOW, OLD, Case, found, stored

DECODER, WHOLE = Inference(), Sharded()
HLO: tuple[tuple[str, str, bytes, bytes], ...] = (
    ("batch 1 → 4, decoder", "batch size", inference(DECODER), inference(replace(DECODER, batch=4))),
    ("bucket 128 → 512, decoder", "sequence length", inference(DECODER), inference(replace(DECODER, bucket=512))),
    ("12 → 16 layers, decoder", "layers", inference(DECODER), inference(replace(DECODER, layers=16))),
    ("sharded over 2 → 4 cores, decoder", "world size", inference(DECODER), inference(replace(DECODER, cores=4))),
    ("width 256 → 320, decoder", "model size", inference(DECODER), inference(replace(DECODER, hidden=320))),
    ("weights in bfloat16, decoder", "dtype", inference(DECODER), inference(replace(DECODER, dtype=BF16))),
    ("top-k 50 → 20, decoder", "model size", inference(DECODER), inference(replace(DECODER, top=20))),
    ("scale of the attention, decoder", "constant", inference(DECODER), inference(replace(DECODER, scale=0.25))),
    ("logits are returned, decoder", "output", inference(DECODER), inference(replace(DECODER, logits=True))),
    ("sampling → greedy, decoder", "operators", inference(DECODER), inference(replace(DECODER, greedy=True))),
    ("batch 4 → 2", "batch size", sharded(WHOLE), sharded(replace(WHOLE, batch=2))),
    ("learning rate, momentum", "constant", sharded(WHOLE), sharded(replace(WHOLE, rate=0.02))),
    ("momentum → Lion", "optimizer", sharded(WHOLE), sharded(replace(WHOLE, lion=True))),
    ("8 → 16 workers", "world size", sharded(WHOLE), sharded(replace(WHOLE, workers=16))),
    ("gradients scattered instead of summed", "operators", sharded(WHOLE), sharded(replace(WHOLE, scattered=True))),
    ("the update left the step (mark_step)", "graph split", sharded(WHOLE), sharded(replace(WHOLE, update=False))),
    ("image 32 → 48", "sequence length", sharded(WHOLE), sharded(replace(WHOLE, image=48))),
    ("3 → 6 convolutions", "layers", sharded(WHOLE), sharded(replace(WHOLE, depth=6))),
)


def cases(changes: Sequence[tuple[str, str, bytes, bytes]] = HLO) -> Iterator[Case]:
    """All of them."""
    for name, expected, before, now in changes:
        yield Case(f"{name} (HLO)", expected, _modules(before, now))


def _modules(before: bytes, now: bytes) -> Callable[[Path], Explanation]:
    def build(root: Path) -> Explanation:
        stored(root, inference(Inference(layers=1, hidden=64)), 7, OLD)
        stored(root, sharded(Sharded(depth=1, image=8)), 8, OLD)
        stored(root, before, 1, OLD)
        return found(root, stored(root, now, 2, NOW))

    return build
