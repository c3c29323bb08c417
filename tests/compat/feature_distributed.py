"""Two gloo ranks: collectives, DDP, FSDP2, DTensor, tensor parallel. The result is that of both ranks."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import distributed as dist
from torch import nn

from tests.compat.programs import Compiler, plain

RANKS = 2


def _on_ranks(name: str, compiler: Compiler) -> Any:
    with tempfile.TemporaryDirectory(prefix="neurontop-ranks-") as folder:
        ranks = [
            subprocess.Popen(
                [sys.executable, "-m", __name__, name, compiler.backend, folder],
                env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(RANKS)},
                stdout=sys.stderr,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(RANKS)
        ]
        ended = [(rank.communicate(timeout=200)[1], rank.returncode) for rank in ranks]
        for errors, status in ended:
            if status:
                raise RuntimeError(f"a rank ended with status {status}: {errors.strip()[-300:]}")
        return [torch.load(Path(folder, f"{rank}.pt"), weights_only=True) for rank in range(RANKS)]


class Perceptron(nn.Sequential):
    """Its own code calls its layers: of a wrapped module of PyTorch's own, Dynamo compiles nothing."""

    def forward(self, given: Any) -> Any:
        """Of the second layer."""
        return self[2](self[1](self[0](given)))


def _model() -> nn.Module:
    return Perceptron(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def _loss(model: Any) -> Any:
    torch.manual_seed(dist.get_rank())
    loss = model(torch.randn(4, 8)).square().mean()
    loss.backward()
    return loss


def _collectives_on_rank(compiler: Compiler) -> Any:
    import torch.distributed._functional_collectives as functional

    def program(x: Any) -> Any:
        group = dist.group.WORLD
        total = functional.all_reduce(x * 2, "sum", group)
        both = functional.all_gather_tensor(x, 0, group)
        return total.sin(), both + 1, functional.reduce_scatter_tensor(both, "sum", 0, group)

    return compiler(program)(torch.ones(4, 3) * (dist.get_rank() + 1))


def _plain_all_reduce_on_rank(compiler: Compiler) -> Any:
    def program(x: Any) -> Any:
        y = x * 2
        dist.all_reduce(y)
        return y + 1

    return compiler(program)(torch.ones(4) * (dist.get_rank() + 1))


def _ddp_on_rank(compiler: Compiler) -> Any:
    model = nn.parallel.DistributedDataParallel(_model())
    loss = _loss(compiler(model))
    return loss, [value.grad for value in model.parameters()]


def _fsdp2_on_rank(compiler: Compiler) -> Any:
    from torch.distributed.fsdp import fully_shard

    model = _model()
    for part in (model[0], model[2]):
        fully_shard(part)
    fully_shard(model)
    compiled = compiler(model)
    loss = _loss(compiled)
    return loss, [value.grad for value in model.parameters()]


def _fsdp2_blocks_on_rank(compiler: Compiler) -> Any:
    from torch.distributed.fsdp import fully_shard

    model = _model()
    for place in (0, 2):
        model[place] = compiler(model[place])
        fully_shard(model[place])
    fully_shard(model)
    loss = _loss(model)
    return loss, [value.grad for value in model.parameters()]


def _dtensor_on_rank(compiler: Compiler) -> Any:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (RANKS,))
    x = distribute_tensor(torch.arange(32.0).reshape(8, 4), mesh, [Shard(0)])
    w = distribute_tensor(torch.ones(4, 6), mesh, [Replicate()])
    return compiler(lambda a, b: (a @ b).relu().redistribute(placements=[Replicate()]).sum(0))(x, w).full_tensor()


def _tensor_parallel_on_rank(compiler: Compiler) -> Any:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cpu", (RANKS,))
    model = parallelize_module(_model(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    torch.manual_seed(0)
    loss = compiler(model)(torch.randn(4, 8)).square().mean()
    loss.backward()
    return loss, [value.grad.full_tensor() for value in model.parameters()]


def collectives(compiler: Compiler) -> Any:
    return _on_ranks("collectives", compiler)


def plain_all_reduce(compiler: Compiler) -> Any:
    return _on_ranks("plain_all_reduce", compiler)


def ddp(compiler: Compiler) -> Any:
    return _on_ranks("ddp", compiler)


def fsdp2(compiler: Compiler) -> Any:
    return _on_ranks("fsdp2", compiler)


def fsdp2_blocks(compiler: Compiler) -> Any:
    return _on_ranks("fsdp2_blocks", compiler)


def dtensor(compiler: Compiler) -> Any:
    return _on_ranks("dtensor", compiler)


def tensor_parallel(compiler: Compiler) -> Any:
    return _on_ranks("tensor_parallel", compiler)


PROGRAMS = ("collectives", "plain_all_reduce", "ddp", "fsdp2", "fsdp2_blocks", "dtensor", "tensor_parallel")


def _main() -> None:
    name, backend, folder = sys.argv[1:]
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS)
    torch.manual_seed(0)
    found = plain(globals()[f"_{name}_on_rank"](Compiler(backend)))
    torch.save(found, Path(folder, f"{rank}.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    _main()
