"""Regional compilation with Accelerate: compile one transformer block instead of the whole model.

    python regional_compile.py --how full                       the whole model as one graph
    python regional_compile.py --how regions                    compile_regions: the repeated block once, the rest apart
    python regional_compile.py --how plugin --backend inductor  the same through Accelerator and TorchDynamoPlugin
    python regional_compile.py --how blocks                     PyTorch's own recipe: only the repeated block
    python regional_compile.py --how full --sequence 32 48 64   batches of several lengths, a graph for each

A stack of equal blocks, compiled as a whole, is one large graph that grows with the number of blocks. Compiled by
region, the block's code is compiled when the first block runs and found again for all others, whatever their number.

    neurontop run --name full    -- python regional_compile.py --how full
    neurontop run --name regions -- python regional_compile.py --how regions
    neurontop compare full regions

`TorchDynamoPlugin` takes only the back ends that Accelerate lists, `inductor` among them; `compile_regions` takes any.
"""

from __future__ import annotations

import argparse
import json
import time
from statistics import median

import torch
from torch import Tensor, nn
from torch.nn import functional

VOCABULARY = 512


class Block(nn.Module):
    """One pre-norm transformer block with causal attention."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(hidden)
        self.mixing = nn.Linear(hidden, 3 * hidden)
        self.output = nn.Linear(hidden, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.widen = nn.Linear(hidden, 4 * hidden)
        self.narrow = nn.Linear(4 * hidden, hidden)

    def forward(self, states: Tensor) -> Tensor:
        parts = self.mixing(self.attention_norm(states)).chunk(3, dim=-1)
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        states = states + self.output(mixed.transpose(1, 2).flatten(-2))
        return states + self.narrow(functional.gelu(self.widen(self.norm(states))))


class Model(nn.Module):
    """A small causal language model; `blocks` is what Accelerate recognizes as repeated."""

    def __init__(self, blocks: int, hidden: int, heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, hidden)
        self.blocks = nn.ModuleList(Block(hidden, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, VOCABULARY)

    def forward(self, tokens: Tensor) -> Tensor:
        states = self.embedding(tokens)
        for block in self.blocks:
            states = block(states)
        return self.head(self.norm(states))


def compiled(model: Model, how: str, backend: str) -> nn.Module:
    """The model, compiled as a whole, by region, or as Accelerate's plugin does it; each length has its own graphs."""
    if how == "full":
        return torch.compile(model, backend=backend, dynamic=False)
    if how == "regions":
        from accelerate.utils import compile_regions

        return compile_regions(model, backend=backend, dynamic=False)
    if how == "blocks":
        for block in model.blocks:
            block.compile(backend=backend, dynamic=False)
        return model
    from accelerate import Accelerator
    from accelerate.utils import TorchDynamoPlugin

    plugin = TorchDynamoPlugin(backend=backend, dynamic=False, use_regional_compilation=True)
    return Accelerator(cpu=not torch.cuda.is_available(), dynamo_plugin=plugin).prepare_model(model)


def batch(size: int, sequence: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Sequences with a rule to learn: every token is the one before plus a stride."""
    first = torch.randint(VOCABULARY, (size, 1), generator=generator)
    stride = torch.randint(1, 8, (size, 1), generator=generator)
    tokens = (first + stride * torch.arange(sequence + 1)) % VOCABULARY
    return tokens[:, :-1], tokens[:, 1:]


def train(options: argparse.Namespace) -> dict[str, float | int | str]:
    """Train; what the run was like, in plain values (seconds)."""
    torch.manual_seed(options.seed)
    # Embedding, norm and head share one frame of Dynamo's, which gives up after 8 forms: three for each length.
    torch._dynamo.config.recompile_limit = max(8, 4 * len(options.sequence))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = compiled(Model(options.blocks, options.hidden, options.heads).to(device), options.how, options.backend)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr)
    generator = torch.Generator().manual_seed(options.seed)
    lengths = options.sequence
    times: list[float] = []
    processor: list[float] = []
    loss = torch.tensor(0.0)
    for step in range(options.steps):
        begun, used = time.perf_counter(), time.process_time()
        length = lengths[step % len(lengths)]
        tokens, wanted = (part.to(device) for part in batch(options.batch_size, length, generator))
        loss = functional.cross_entropy(model(tokens).flatten(0, 1), wanted.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        value = loss.item()  # waits for the device
        times.append(time.perf_counter() - begun)
        processor.append(time.process_time() - used)
        speed = options.batch_size / times[-1]
        print(f"step {step} loss {value:.4f} throughput {speed:.2f} seq/s", flush=True)
    warm = 2 * len(lengths)  # each length's first step compiles; the caches of the processor settle in its second
    return {
        "how": options.how,
        "backend": options.backend,
        "blocks": options.blocks,
        "graphs": torch._dynamo.utils.counters["stats"]["unique_graphs"],
        "first_step_seconds": round(times[0], 2),
        "first_steps_seconds": round(sum(times[: len(lengths)]), 2),
        "step_seconds": round(median(times[warm:] or times), 5),
        "step_processor_seconds": round(median(processor[warm:] or processor), 5),
        "loss": round(loss.item(), 4),
    }


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add(
        "--how",
        choices=("full", "regions", "blocks", "plugin"),
        default="regions",
        help="what is compiled (%(default)s)",
    )
    add("--backend", default="neurontop", help="of torch.compile (%(default)s)")
    add("--blocks", type=int, default=12, help="equal transformer blocks (%(default)s)")
    add("--hidden", type=int, default=256, help="(%(default)s)")
    add("--heads", type=int, default=4, help="(%(default)s)")
    add("--sequence", type=int, nargs="+", default=[64], help="tokens in a sequence; of several, each in turn (64)")
    add("--batch_size", type=int, default=4, help="(%(default)s)")
    add("--steps", type=int, default=20, help="(%(default)s)")
    add("--lr", type=float, default=1e-3, help="(%(default)s)")
    add("--seed", type=int, default=1, help="of weights and data (%(default)s)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    print(json.dumps(train(options_of())))
