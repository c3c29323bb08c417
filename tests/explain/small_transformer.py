"""A real training script in small: a transformer with an optimizer, traced by PyTorch, each choice changeable alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from functorch.compile import make_boxed_func
from torch import nn
from torch._dynamo.backends.common import aot_autograd

from neuron_top.compile.graphs import description


@dataclass(frozen=True)
class Script:
    """What the script's user chooses."""

    batch: int = 4
    sequence: int = 16
    hidden: int = 32
    heads: int = 4
    layers: int = 2
    vocabulary: int = 50
    dropout: float = 0.0
    epsilon: float = 1e-5
    activation: str = "relu"
    dtype: torch.dtype = torch.float32
    autocast: bool = False
    optimizer: str = "SGD"
    learning_rate: float = 1e-2
    printed: bool = False
    clipped: bool = False


class Model(nn.Module):
    """Embedding, encoder layers, head."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.embedding = nn.Embedding(script.vocabulary, script.hidden)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                script.hidden,
                script.heads,
                2 * script.hidden,
                script.dropout,
                script.activation,
                script.epsilon,
                batch_first=True,
            )
            for _ in range(script.layers)
        )
        self.head = nn.Linear(script.hidden, script.vocabulary)

    def forward(self, tokens: Any) -> Any:
        """Logits."""
        value = self.embedding(tokens)
        for layer in self.layers:
            value = layer(value)
        return self.head(value)


def traced(script: Script, which: str) -> description.GraphDescription:
    """The `forward`, `backward` or `optimizer` graph of one step."""
    torch.manual_seed(0)
    torch._dynamo.reset()
    found: dict[str, Any] = {}

    def keep(direction: str) -> Any:
        def compiler(gm: Any, _inputs: Any) -> Any:
            if direction == "inference" and script.clipped and direction in found:
                return make_boxed_func(gm.forward)  # what clips is a graph of its own, before the update
            found[direction] = description.describe(gm, module="MODULE_0", direction=direction, compiler="")
            return make_boxed_func(gm.forward)

        return compiler

    backend = aot_autograd(
        fw_compiler=keep("forward"), bw_compiler=keep("backward"), inference_compiler=keep("inference")
    )
    model = Model(script).to(script.dtype)
    tokens = torch.randint(0, script.vocabulary, (script.batch, script.sequence))

    def step(tokens: Any, labels: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16, enabled=script.autocast):
            logits = model(tokens)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())
        return (loss, logits) if script.printed else loss

    result = torch.compile(step, backend=backend, dynamic=False)(tokens, tokens)
    loss = result[0] if script.printed else result
    loss.backward()
    if which == "optimizer":
        _optimizer_step(script, model, backend)
        return found["inference"]
    return found[which]


def _optimizer_step(script: Script, model: nn.Module, backend: Any) -> None:
    kind = getattr(torch.optim, script.optimizer)
    optimizer = kind(model.parameters(), lr=script.learning_rate)

    def update() -> None:
        if script.clipped:
            torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()

    torch.compile(update, backend=backend, dynamic=False)()
