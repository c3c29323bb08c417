"""Logs of a job, written as its ranks would: invented names, the wording of today's compile wrapper."""

from __future__ import annotations

from pathlib import Path

GRAPHS = [f"MODULE_{number:020d}+a1b2c3d4" for number in range(8)]


def stamp(second: float) -> str:
    minutes, seconds = divmod(second, 60)
    return f"2026-02-14 09:{int(minutes):02d}:{int(seconds):02d}.{int(second * 1000) % 1000:06d}"


def hit(second: float, pid: int, module: str) -> str:
    cache = f"/var/tmp/neuron-compile-cache/neuronxcc-2.21.1.0+abc/{module}/model.neff"
    return f"{stamp(second)}:  {pid}  [INFO]: Using a cached neff at {cache}\n"


def compiled(second: float, pid: int, module: str) -> str:
    return f"{stamp(second)}:  {pid}  [INFO]: Compilation Successfully Completed for model.{module}.hlo_module.pb\n"


def write_job(path: Path, ranks: int = 16, steps: int = 20) -> None:
    """One rank compiles, all find the graphs, then they train; a warning again and again, and an error."""
    lines = [compiled(number, 1000, module) for number, module in enumerate(GRAPHS[:3])]
    lines += [
        hit(10 + number + rank / 100, 1000 + rank, module)
        for number, module in enumerate(GRAPHS)
        for rank in range(ranks)
    ]
    for step in range(1, steps + 1):
        lines.append(f"{{'loss': {3 - step / 100:.4f}, 'learning_rate': 5e-05, 'epoch': {step / steps:.2f}}}\n")
        lines.append(f"{stamp(40 + step)} WARNING something is slow\n")
    lines.append("ValueError: the batch is empty\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
