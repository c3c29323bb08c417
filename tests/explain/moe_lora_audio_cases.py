"""The fourth unseen set of misses, written with its expected answers before the rules met it (see `write_page.py`).

Real graphs of four kinds of training jobs (`moe_lora_audio_jobs.py`), and HLO modules changed as in no other case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from tests.explain import decoder_conv_hlo_cases, traced_graphs
from tests.explain.decoder_conv_hlo import Inference, Sharded, inference, sharded
from tests.explain.moe_lora_audio_jobs import Job, graphs
from tests.explain.one_change_cases import Case

T = Job()
E = Job(model="experts", batch=6, length=5)
S = Job(model="sound", batch=3, length=160, width=8, classes=6)
A = Job(model="adapted", batch=12, optimizer="SGD", rate=0.1, options=(("momentum", 0.9),))

FOURTH: tuple[traced_graphs.Change, ...] = (
    ("last batch of 3, translator", "batch size", "backward", T, replace(T, batch=3)),
    ("source 10 → 14 tokens", "sequence length", "forward", T, replace(T, length=14)),
    ("target 8 → 6 tokens", "sequence length", "backward", T, replace(T, answer=6)),
    ("2 → 3 layers, translator", "layers", "forward", T, replace(T, depth=3)),
    ("2 → 3 layers, translator", "layers", "backward", T, replace(T, depth=3)),
    ("heads 4 → 2, translator", "model size", "forward", T, replace(T, heads=2)),
    ("vocabulary 30 → 36, translator", "model size", "backward", T, replace(T, classes=36)),
    ("dropout switched on, translator", "operators", "forward", T, replace(T, dropout=0.1)),
    ("learned positions → sines", "operators", "forward", T, replace(T, waves=True)),
    ("a mask of the padding", "operators", "forward", T, replace(T, padded=True)),
    ("norms before instead of behind", "order", "forward", T, replace(T, norm_first=True)),
    ("batch 6 → 9, experts", "batch size", "backward", E, replace(E, batch=9)),
    ("sequence 5 → 7, experts", "sequence length", "forward", E, replace(E, length=7)),
    ("4 → 8 experts", "model size", "forward", E, replace(E, experts=8)),
    ("4 → 8 experts", "model size", "backward", E, replace(E, experts=8)),
    ("1 → 2 experts a token", "model size", "forward", E, replace(E, chosen=2)),
    ("a loss that balances the experts", "operators", "forward", E, replace(E, balance=0.01)),
    ("its weight 0.01 → 0.1", "constant", "forward", replace(E, balance=0.01), replace(E, balance=0.1)),
    ("width 24 → 32, experts", "model size", "backward", E, replace(E, width=32)),
    ("experts in bfloat16", "dtype", "backward", E, replace(E, dtype=torch.bfloat16)),
    ("160 → 120 samples of sound", "sequence length", "forward", S, replace(S, length=120)),
    ("160 → 120 samples of sound", "sequence length", "backward", S, replace(S, length=120)),
    ("batch 3 → 5, sound", "batch size", "forward", S, replace(S, batch=5)),
    ("stride 2 → 1", "model size", "forward", S, replace(S, stride=1)),
    ("dilation 1 → 2", "constant", "forward", S, replace(S, dilation=2)),
    ("channels 8 → 12", "model size", "backward", S, replace(S, width=12)),
    ("2 → 3 convolutions over time", "layers", "forward", S, replace(S, depth=3)),
    ("highest value instead of the mean", "operators", "forward", S, replace(S, highest=True)),
    ("rank 4 → 8", "model size", "forward", A, replace(A, rank=8)),
    ("scale of the adapters 16 → 32", "constant", "forward", A, replace(A, scale=32.0)),
    ("the frozen layers are trained, too", "operators", "backward", A, replace(A, frozen=False)),
    ("batch 12 → 7, adapters", "batch size", "backward", A, replace(A, batch=7)),
    ("3 → 2 adapted layers", "layers", "backward", replace(A, depth=3), A),
    ("mean of the losses → sum", "operators", "forward", A, replace(A, loss="sum")),
    ("weight decay switched on, adapters", "optimizer", "optimizer", A,
     replace(A, options=(("momentum", 0.9), ("weight_decay", 0.01)))),
    ("ascending instead of descending", "optimizer", "optimizer", A,
     replace(A, options=(("momentum", 0.9), ("maximize", True)))),
    ("SGD → Adadelta", "optimizer", "optimizer", A, replace(A, optimizer="Adadelta", options=())),
    ("learning rate, Adam", "constant", "optimizer", E, replace(E, rate=3e-4)),
    ("the norm of the gradients is logged", "extra graph", "clip", E, replace(E, watched=True)),
)  # fmt: skip

DECODER, WHOLE = Inference(), Sharded()
HLO = (
    ("heads 8 → 4, decoder", "model size", inference(DECODER), inference(replace(DECODER, heads=4))),
    ("vocabulary 2000 → 2048, decoder", "model size", inference(DECODER), inference(replace(DECODER, vocabulary=2048))),
    ("channels 16 → 24", "model size", sharded(WHOLE), sharded(replace(WHOLE, channels=24))),
    ("classes 100 → 10", "model size", sharded(WHOLE), sharded(replace(WHOLE, classes=10))),
    ("12 → 6 layers, decoder", "layers", inference(DECODER), inference(replace(DECODER, layers=6))),
    ("last batch of 1, images", "batch size", sharded(WHOLE), sharded(replace(WHOLE, batch=1))),
)


def cases() -> Iterator[Case]:
    """All of them."""
    yield from traced_graphs.cases(FOURTH, graphs)
    yield from decoder_conv_hlo_cases.cases(HLO)
