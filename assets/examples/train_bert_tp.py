"""Train a small BERT with tensor parallelism: the shape of the Neuron SDK's tensor-parallel tutorial, on any machine.

    torchrun --nproc_per_node=4 train_bert_tp.py --tensor_parallel_size 2 --steps_this_run 20

Four workers with tensor parallel size 2 are two replicas of the model, each cut over two workers: every worker holds
half of every attention and feed-forward matrix, of its gradient and of its optimizer state. Replicas see different
sequences and average their gradients (data parallel size = workers / tensor parallel size).

The task is masked-language modeling on made-up sequences that have a rule to learn (every token is the one before
plus a stride), so the loss falls within a few dozen steps and no data set is needed. All randomness comes from --seed:
the same seed and --batch_size give the same loss curve for every tensor parallel size, within rounding.

The only line that concerns the compiler is `torch.compile(model, backend="neurontop")`.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, ParallelStyle, RowwiseParallel, parallelize_module
from torch.nn import functional

MASK, FIRST_TOKEN = 0, 1
RULE_TOKENS = 96
"""How many different tokens the made-up sequences use; few, so that the rule is learnt quickly."""


@dataclass(frozen=True)
class Sizes:
    """Of the model and of one sequence; `predictions` positions of each sequence are masked."""

    vocabulary: int
    hidden: int
    layers: int
    heads: int
    sequence: int
    predictions: int


class Attention(nn.Module):
    """Multi-head self-attention, no causal mask. Works on however many heads the local matrices hold."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.head_size = sizes.hidden // sizes.heads
        self.query = nn.Linear(sizes.hidden, sizes.hidden)
        self.key = nn.Linear(sizes.hidden, sizes.hidden)
        self.value = nn.Linear(sizes.hidden, sizes.hidden)
        self.output = nn.Linear(sizes.hidden, sizes.hidden)

    def forward(self, states: Tensor) -> Tensor:
        parts = (layer(states) for layer in (self.query, self.key, self.value))
        query, key, value = (part.unflatten(-1, (-1, self.head_size)).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        return self.output(mixed.transpose(1, 2).flatten(-2))


class Layer(nn.Module):
    """One encoder layer with BERT's post-normalization."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention = Attention(sizes)
        self.attention_norm = nn.LayerNorm(sizes.hidden)
        self.widen = nn.Linear(sizes.hidden, 4 * sizes.hidden)
        self.narrow = nn.Linear(4 * sizes.hidden, sizes.hidden)
        self.norm = nn.LayerNorm(sizes.hidden)

    def forward(self, states: Tensor) -> Tensor:
        states = self.attention_norm(states + self.attention(states))
        return self.norm(states + self.narrow(functional.gelu(self.widen(states))))


class Bert(nn.Module):
    """Tokens with holes in; the mean cross entropy of the tokens that belong there comes out."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.words = nn.Embedding(sizes.vocabulary, sizes.hidden)
        self.positions = nn.Parameter(0.02 * torch.randn(sizes.sequence, sizes.hidden))
        self.norm = nn.LayerNorm(sizes.hidden)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.transform = nn.Linear(sizes.hidden, sizes.hidden)
        self.transform_norm = nn.LayerNorm(sizes.hidden)
        self.decoder = nn.Linear(sizes.hidden, sizes.vocabulary)
        self.apply(_initialize)

    def forward(self, tokens: Tensor, masked: Tensor, answers: Tensor) -> Tensor:
        states = self.norm(self.words(tokens) + self.positions)
        for layer in self.layers:
            states = layer(states)
        holes = states.gather(1, masked.unsqueeze(-1).expand(-1, -1, states.size(-1)))
        scores = self.decoder(self.transform_norm(functional.gelu(self.transform(holes))))
        return functional.cross_entropy(scores.flatten(0, 1).float(), answers.flatten())


def _initialize(module: nn.Module) -> None:
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)


def cut(model: Bert, mesh: DeviceMesh) -> None:
    """Cut the model over the tensor-parallel workers of `mesh`, in place.

    A column-wise matrix followed by a row-wise one needs a single sum over the workers. The embedding and the output
    layer are small here and stay whole: cut, each worker would take its own slice of their gradients, which makes a
    graph per worker; so, every worker has the same graphs, and each is compiled once for all of them.
    """
    plan: dict[str, ParallelStyle] = {}
    for index in range(len(model.layers)):
        plan |= {f"layers.{index}.attention.{name}": ColwiseParallel() for name in ("query", "key", "value")}
        plan |= {f"layers.{index}.attention.output": RowwiseParallel()}
        plan |= {f"layers.{index}.widen": ColwiseParallel(), f"layers.{index}.narrow": RowwiseParallel()}
    parallelize_module(model, mesh, plan, src_data_rank=None)


def batch_of(step: int, count: int, sizes: Sizes, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """`count` sequences of step `step`: tokens with holes, the positions of the holes, what belongs there."""
    random = torch.Generator().manual_seed(seed * 1_000_003 + step)
    start = torch.randint(RULE_TOKENS, (count, 1), generator=random)
    stride = torch.randint(1, 4, (count, 1), generator=random)
    tokens = FIRST_TOKEN + (start + stride * torch.arange(sizes.sequence)) % RULE_TOKENS
    masked = torch.rand(count, sizes.sequence, generator=random).argsort(1)[:, : sizes.predictions].contiguous()
    return tokens.scatter(1, masked, MASK), masked, tokens.gather(1, masked)


def average_gradients(model: nn.Module, mesh: DeviceMesh) -> None:
    """Replace every gradient by its mean over the replicas."""
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    local = [gradient.to_local() if isinstance(gradient, DTensor) else gradient for gradient in gradients]
    for gradient in local:
        gradient.div_(mesh.size())
    pending = [dist.all_reduce(gradient, group=mesh.get_group(), async_op=True) for gradient in local]
    for work in pending:
        work.wait()


def learning_rate_at(step: int, options: argparse.Namespace) -> float:
    """Linear warm-up, then linear decay to a tenth at --max_steps."""
    if step < options.warmup_steps:
        return options.lr * (step + 1) / options.warmup_steps
    done = min(1.0, (step - options.warmup_steps) / max(1, options.max_steps - options.warmup_steps))
    return options.lr * (1 - 0.9 * done)


def optimizer_of(model: nn.Module) -> torch.optim.Optimizer:
    """AdamW. Cut and whole parameters are groups of their own, since one fused update can't mix them."""
    parameters = list(model.parameters())
    groups = [[p for p in parameters if isinstance(p, DTensor) is is_cut] for is_cut in (True, False)]
    return torch.optim.AdamW([{"params": group} for group in groups if group], lr=0.0, weight_decay=0.01)


def train(options: argparse.Namespace, sizes: Sizes, mesh: DeviceMesh, device: torch.device) -> None:
    """Take the steps; worker 0 prints one line for each, and one at the end."""
    torch.manual_seed(options.seed)
    model = Bert(sizes).to(device)
    if mesh["tp"].size() > 1:
        cut(model, mesh["tp"])
    optimizer = optimizer_of(model)
    compiled = torch.compile(model, backend=options.backend)
    first = load(options, model, optimizer) if options.resume else 0
    for step in range(first, first + options.steps_this_run):
        began = time.perf_counter()
        rate = learning_rate_at(step, options)
        loss = take_step(step, rate, compiled, optimizer, options, sizes, mesh, device)
        seconds = time.perf_counter() - began
        if dist.get_rank() == 0:
            print(step_line(step, loss, rate, options.batch_size / seconds), flush=True)
        if options.checkpoint_dir and options.save_every and (step + 1) % options.save_every == 0:
            save(options, step + 1, model, optimizer)
    if dist.get_rank() == 0:
        print("training completed", flush=True)


def take_step(
    step: int,
    rate: float,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    options: argparse.Namespace,
    sizes: Sizes,
    mesh: DeviceMesh,
    device: torch.device,
) -> float:
    """One optimizer step of --grad_accum_usteps micro steps; gives the mean loss over all replicas."""
    replica, replicas = mesh["dp"].get_local_rank(), mesh["dp"].size()
    # Copies: how a view lies in the batch is part of a graph's key, and replicas would compile apart.
    mine = [
        part.chunk(replicas)[replica].clone().to(device)
        for part in batch_of(step, options.batch_size, sizes, options.seed)
    ]
    precision = torch.autocast(device.type, torch.bfloat16) if options.bf16 else contextlib.nullcontext()
    total = torch.zeros((), device=device)
    for micro_batch in zip(*(part.chunk(options.grad_accum_usteps) for part in mine), strict=True):
        with precision:
            loss = model(*micro_batch) / options.grad_accum_usteps
        loss.backward()
        total += loss.detach()
    average_gradients(model, mesh["dp"])
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad()
    dist.all_reduce(total, group=mesh["dp"].get_group())
    return total.item() / replicas


def step_line(step: int, loss: float, rate: float, throughput: float) -> str:
    """The tutorial's line: date, (epoch, step), loss, learning rate, sequences per second over all replicas."""
    return (
        f"LOG {time.asctime()} - (0, {step}) step_loss : {loss:.6f}  learning_rate : {rate:.2e}  "
        f"throughput : {throughput:.2f}"
    )


def save(options: argparse.Namespace, step: int, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Write a checkpoint that any number of workers, cut in any way, can load."""
    from torch.distributed import checkpoint
    from torch.distributed.checkpoint.state_dict import get_state_dict

    weights, moments = get_state_dict(model, optimizer)
    folder = options.checkpoint_dir / f"step_{step:06}"
    checkpoint.save({"model": weights, "optimizer": moments}, checkpoint_id=folder)
    if dist.get_rank() == 0:
        print(f"saved {folder}", flush=True)


def load(options: argparse.Namespace, model: nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Load the newest checkpoint of --checkpoint_dir; gives the step to go on with (0 without a checkpoint)."""
    from torch.distributed import checkpoint
    from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

    folders = sorted(folder for folder in options.checkpoint_dir.glob("step_*") if (folder / ".metadata").exists())
    if not folders:
        return 0
    weights, moments = get_state_dict(model, optimizer)
    checkpoint.load({"model": weights, "optimizer": moments}, checkpoint_id=folders[-1])
    set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=moments)
    return int(folders[-1].name.removeprefix("step_"))


def options_of(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--tensor_parallel_size", type=int, default=2, help="workers that share one replica of the model (%(default)s)")
    add("--steps_this_run", type=int, default=20, help="optimizer steps to take now (%(default)s)")
    add("--batch_size", type=int, default=8, help="sequences of one step, over all replicas (%(default)s)")
    add("--grad_accum_usteps", type=int, default=1, help="micro steps that a step is cut into (%(default)s)")
    add("--bf16", action="store_true", help="matrix products in bfloat16 (autocast); weights stay in float32")
    add("--lr", type=float, default=5e-4, help="highest learning rate (%(default)s)")
    add("--warmup_steps", type=int, default=5, help="steps to reach it (%(default)s)")
    add("--max_steps", type=int, default=200, help="step at which it has fallen to a tenth (%(default)s)")
    add("--seed", type=int, default=12349, help="of weights and data (%(default)s)")
    add("--checkpoint_dir", type=Path, help="where checkpoints go")
    add("--save_every", type=int, default=0, help="steps between checkpoints; 0 = none (%(default)s)")
    add("--resume", action="store_true", help="go on from the newest checkpoint of --checkpoint_dir")
    add(
        "--backend",
        default="neurontop",
        help="of torch.compile, for comparison: inductor, aot_eager, eager (%(default)s)",
    )
    add("--vocabulary", type=int, default=2048, help="(%(default)s)")
    add("--hidden", type=int, default=768, help="(%(default)s)")
    add("--layers", type=int, default=2, help="(%(default)s)")
    add("--heads", type=int, default=12, help="(%(default)s)")
    add("--sequence", type=int, default=64, help="tokens in a sequence (%(default)s)")
    add("--predictions", type=int, default=10, help="masked tokens in a sequence (%(default)s)")
    return parser.parse_args(arguments)


def problems_of(options: argparse.Namespace, world: int) -> list[str]:
    """What is wrong with the sizes, one sentence each."""
    sizes = ("tensor_parallel_size", "steps_this_run", "batch_size", "grad_accum_usteps", "layers", "heads", "hidden")
    if too_small := [name for name in sizes if getattr(options, name) < 1]:
        return [f"--{name} must be at least 1, is {getattr(options, name)}" for name in too_small]
    tp = options.tensor_parallel_size
    if world % tp:
        return [f"{world} workers can't be cut into groups of --tensor_parallel_size {tp}"]
    found = []
    if options.heads % tp:
        found.append(f"--heads {options.heads} can't be cut over --tensor_parallel_size {tp} workers")
    if options.hidden % options.heads:
        found.append(f"--hidden {options.hidden} can't be cut into --heads {options.heads}")
    if options.batch_size % (world // tp * options.grad_accum_usteps):
        found.append(
            f"--batch_size {options.batch_size} can't be cut over {world // tp} replicas in "
            f"--grad_accum_usteps {options.grad_accum_usteps} micro steps"
        )
    if not 1 <= options.predictions <= options.sequence:
        found.append(f"--predictions must lie between 1 and --sequence {options.sequence}, is {options.predictions}")
    if options.vocabulary < FIRST_TOKEN + RULE_TOKENS:
        found.append(f"--vocabulary must be at least {FIRST_TOKEN + RULE_TOKENS}, is {options.vocabulary}")
    if (options.save_every or options.resume) and not options.checkpoint_dir:
        found.append("--save_every and --resume need --checkpoint_dir")
    return found


def place_of(local_rank: int, workers: int) -> tuple[torch.device, str]:
    """Where this one of a machine's workers computes, and how they exchange tensors.

    Where there are fewer GPUs than workers they share them, which gloo does and NCCL refuses.
    """
    if not torch.cuda.is_available():
        return torch.device("cpu"), "gloo"
    gpus = torch.cuda.device_count()
    return torch.device("cuda", local_rank % gpus), "nccl" if workers <= gpus else "gloo"


def main() -> int:
    """Check the sizes, join the other workers, train."""
    options = options_of(sys.argv[1:])
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0"), ("MASTER_ADDR", "localhost")):
        os.environ.setdefault(name, value)
    os.environ.setdefault("MASTER_PORT", "0")
    world = int(os.environ["WORLD_SIZE"])
    if problems := problems_of(options, world):
        if os.environ["RANK"] == "0":
            print("\n".join(f"train_bert_tp.py: {problem}" for problem in problems), file=sys.stderr)
        return 2
    sizes = Sizes(
        options.vocabulary, options.hidden, options.layers, options.heads, options.sequence, options.predictions
    )
    device, exchange = place_of(int(os.environ["LOCAL_RANK"]), int(os.environ.get("LOCAL_WORLD_SIZE", world)))
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group(exchange)
    try:
        shape = (world // options.tensor_parallel_size, options.tensor_parallel_size)
        train(options, sizes, init_device_mesh(device.type, shape, mesh_dim_names=("dp", "tp")), device)
    finally:
        dist.destroy_process_group()
        gc.collect()  # groups lie in cycles: ended with Python itself, gloo's threads now and then abort the worker
    return 0


if __name__ == "__main__":
    sys.exit(main())
