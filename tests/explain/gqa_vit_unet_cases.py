"""The third unseen set of misses, written with its expected answers before the rules met it (see `write_page.py`).

Real graphs of five kinds of training jobs (`gqa_vit_unet_jobs.py`) that shaped no rule, and flags no case had changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from tests.explain import traced_graphs
from tests.explain.gqa_vit_unet_jobs import Job, graphs
from tests.explain.one_change_cases import Case

G = Job()
SGD = replace(G, optimizer="SGD", rate=0.1)
CLIPPED = replace(G, clipped=1.0)
L = Job(model="lstm", batch=8, length=5, width=20, depth=1, classes=30)
P = Job(model="patches", length=32, width=24, classes=10)
S = Job(model="skips", batch=2, length=16, width=8, classes=5)
R = Job(model="recommender", batch=16, length=4, classes=500)
W = Job(model="parallel", batch=8)

THIRD: tuple[traced_graphs.Change, ...] = (
    ("batch 4 → 5", "batch size", "forward", G, replace(G, batch=5)),
    ("sequence 12 → 16", "sequence length", "forward", G, replace(G, length=16)),
    ("sequence 12 → 9", "sequence length", "backward", G, replace(G, length=9)),
    ("heads of keys 2 → 4", "model size", "forward", G, replace(G, shared_heads=4)),
    ("heads of keys 2 → 1", "model size", "backward", G, replace(G, shared_heads=1)),
    ("heads 4 → 8", "model size", "forward", replace(G, shared_heads=4), replace(G, heads=8, shared_heads=4)),
    ("vocabulary 96 → 100, tied", "model size", "forward", G, replace(G, classes=100)),
    ("tied embeddings → two tables", "inputs", "forward", G, replace(G, tied=False)),
    ("2 → 3 blocks", "layers", "forward", G, replace(G, depth=3)),
    ("2 → 3 blocks", "layers", "optimizer", G, replace(G, depth=3)),
    ("SiLU → GELU", "operators", "forward", G, replace(G, activation="gelu")),
    ("base of the positions 10,000 → 500,000", "constant", "forward", G, replace(G, base=500_000.0)),
    ("an extra branch", "operators", "forward", G, replace(G, extra_branch=True)),
    ("dropout 0.1 → 0.3", "constant", "forward", replace(G, dropout=0.1), replace(G, dropout=0.3)),
    ("smoothing of the labels 0.1 → 0.05", "constant", "forward", replace(G, smoothing=0.1),
     replace(G, smoothing=0.05)),
    ("accumulation over 2 → 4 steps", "constant", "forward", replace(G, accumulated=2), replace(G, accumulated=4)),
    ("accumulation switched on", "operators", "forward", G, replace(G, accumulated=4)),
    ("the largest logit is printed", "output", "forward", G, replace(G, printed=True)),
    ("model in float16", "dtype", "forward", G, replace(G, dtype=torch.float16)),
    ("norms kept in float32", "dtype", "forward", replace(G, dtype=torch.bfloat16),
     replace(G, dtype=torch.bfloat16, norm_dtype=torch.float32)),
    ("epsilon, AdamW", "constant", "optimizer", G, replace(G, options=(("eps", 1e-6),))),
    ("weight decay 0.01 → 0.1, AdamW", "constant", "optimizer", G, replace(G, options=(("weight_decay", 0.1),))),
    ("betas, AdamW", "constant", "optimizer", G, replace(G, options=(("betas", (0.9, 0.98)),))),
    ("AdamW → SGD", "optimizer", "optimizer", G, SGD),
    ("AdamW → Adamax", "optimizer", "optimizer", G, replace(G, optimizer="Adamax")),
    ("Nesterov's momentum", "optimizer", "optimizer", replace(SGD, options=(("momentum", 0.9),)),
     replace(SGD, options=(("momentum", 0.9), ("nesterov", True)))),
    ("norm of the clipping 1.0 → 0.5", "constant", "clip", CLIPPED, replace(CLIPPED, clipped=0.5)),
    ("batch 8 → 6, LSTM", "batch size", "backward", L, replace(L, batch=6)),
    ("sequence 5 → 8, unrolled LSTM", "sequence length", "forward", L, replace(L, length=8)),
    ("sequence 5 → 8, unrolled LSTM", "sequence length", "backward", L, replace(L, length=8)),
    ("width 20 → 28, LSTM", "model size", "forward", L, replace(L, width=28)),
    ("vocabulary 30 → 35, LSTM", "model size", "backward", L, replace(L, classes=35)),
    ("1 → 2 layers, LSTM", "layers", "forward", L, replace(L, depth=2)),
    ("no biases, LSTM", "operators", "forward", L, replace(L, bias=False)),
    ("batch 4 → 8, patches", "batch size", "forward", P, replace(P, batch=8)),
    ("last batch of 1, patches", "batch size", "backward", P, replace(P, batch=1)),
    ("image 32 → 40, patches", "sequence length", "forward", P, replace(P, length=40)),
    ("patches of 8 → 4 pixels", "model size", "forward", P, replace(P, patch=4)),
    ("heads 4 → 2, patches", "model size", "forward", P, replace(P, heads=2)),
    ("classes 10 → 100, patches", "model size", "backward", P, replace(P, classes=100)),
    ("2 → 4 layers, patches", "layers", "backward", P, replace(P, depth=4)),
    ("mean instead of the class token", "operators", "forward", P, replace(P, pooled=True)),
    ("batch 2 → 3, skips", "batch size", "backward", S, replace(S, batch=3)),
    ("image 16 → 24, skips", "sequence length", "forward", S, replace(S, length=24)),
    ("width 8 → 12, skips", "model size", "backward", S, replace(S, width=12)),
    ("upsampling instead of transposed convolutions", "operators", "forward", S, replace(S, upsampled=True)),
    ("autocast float16 → bfloat16, skips", "dtype", "forward", replace(S, autocast=torch.float16),
     replace(S, autocast=torch.bfloat16)),
    ("items 500 → 600, recommender", "model size", "forward", R, replace(R, classes=600)),
    ("4 → 8 items to score", "sequence length", "forward", R, replace(R, length=8)),
    ("batch 16 → 12, recommender", "batch size", "backward", R, replace(R, batch=12)),
    ("2 → 4 workers, tensor parallel", "world size", "forward", W, replace(W, workers=4)),
    ("2 → 4 workers, tensor parallel", "world size", "backward", W, replace(W, workers=4)),
    ("batch 8 → 16, tensor parallel", "batch size", "forward", W, replace(W, batch=16)),
)  # fmt: skip


def cases() -> Iterator[Case]:
    """All of them."""
    yield from traced_graphs.cases(THIRD, graphs)
