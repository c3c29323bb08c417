"""What a locally compiled artifact depends on besides its graph, folded into the cache directory's name.

`inductor-<torch version>+<8 hex of the facts>`: another PyTorch, another CPU (Inductor compiles for exactly this one),
another compiler or another place of installation is another directory, so a miss, and never loaded.
"""

from __future__ import annotations

import functools
import hashlib
import platform
import sys
from pathlib import Path

from neuron_top import programs

_DIGITS = 8
_CPU_FIELDS = ("flags", "Features", "model name", "CPU part")


@functools.cache
def directory_name() -> str:
    """`inductor-2.13.0.cpu+1a2b3c4d`; imports torch."""
    import torch

    digest = hashlib.sha256("\n".join(facts()).encode()).hexdigest()[:_DIGITS]
    return f"inductor-{str(torch.__version__).replace('+', '.')}+{digest}"


def facts() -> list[str]:
    """The facts in words, for a person who wonders why two machines do not share a directory."""
    import torch
    from torch._inductor import config
    from torch._inductor.codecache import torch_key

    devices = [str(torch.cuda.get_device_properties(place)) for place in range(torch.cuda.device_count())]
    return [
        f"torch {torch.__version__} {torch.version.git_version} at {Path(torch.__file__).parent}",
        f"inductor sources {torch_key().hex()}",
        f"python {sys.implementation.cache_tag} {platform.machine()} {platform.libc_ver()} {sys.prefix}",
        f"cpu {torch.backends.cpu.get_cpu_capability()} {_cpu()}",
        f"c++ {_compiler_version(config.cpp.cxx)}",
        f"cuda {torch.version.cuda} hip {torch.version.hip} {devices}",
    ]


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace").partition("\n\n")[0]
    except OSError:
        return platform.processor()
    found = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in _CPU_FIELDS:
            found[name.strip()] = " ".join(sorted(value.split()))
    return str(sorted(found.items()))


def _compiler_version(candidates: object) -> str:
    names = [name for name in (candidates if isinstance(candidates, (tuple, list)) else [candidates]) if name]
    for name in names:
        try:
            answer = programs.ask([str(name), "--version"], seconds=30)
        except (OSError, programs.NoAnswer):
            continue
        return f"{name} {answer.out.decode(errors='replace').partition(chr(10))[0]}"
    return "none"
