"""A driver's sysfs tree in a folder, as large as wanted."""

from __future__ import annotations

from pathlib import Path

CATEGORIES = (
    "collectives", "constants", "dma_rings", "driver_memory", "model_code", "model_shared_scratchpad",
    "nonshared_scratchpad", "notifications", "runtime_memory", "tensors", "uncategorized",
)  # fmt: skip


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def device(root: Path, index: int, cores: int, *, name: str = "Trainium1", used: dict[str, int] | None = None) -> Path:
    """One device with `cores` physical cores, each using `used` bytes per category."""
    base = root / f"devices/virtual/neuron_device/neuron{index}"
    put(base / "core_count", str(cores))  # the driver prints no line end here
    put(base / "connected_devices", "1, 3\n" if index == 0 else "\n")
    put(base / "info/architecture/device_name", f"{name}\n")
    put(base / "stats/power/utilization", "POWER_STATUS_VALID,1787754540,0.32,25.00,18.86\n")
    put(base / "stats/hardware/mem_ecc_uncorrected", "2\n")
    put(base / "power/control", "auto\n")  # generic kernel power management: none of ours
    for core in range(cores):
        memory(base / f"neuron_core{core}/stats/memory_usage/device_mem", used or {})
        put(base / f"neuron_core{core}/stats/status/success/total", f"{core}\n")
        put(base / f"neuron_core{core}/stats/status/failure/total", "0\n")
    return base


def memory(folder: Path, used: dict[str, int], peak: int | None = None) -> None:
    """The memory leaves of one core: `present` lies, as the driver's does."""
    total = sum(used.values())
    for path, size, high in (
        (folder, total, total if peak is None else peak),
        *((folder / kind, used.get(kind, 0), used.get(kind, 0)) for kind in CATEGORIES),
    ):
        put(path / "total", f"{size}\n")
        put(path / "present", "4096\n")
        put(path / "peak", f"{high}\n")
