"""Names of compilers: folders of a cache (`neuronxcc-2.20.9961.0+0acef03a`), and the version alone, as logs have it."""

from __future__ import annotations


def is_same_compiler(one: str, other: str) -> bool:
    """Whether both name one compiler: they are equal, or one is the version at the end of the other."""
    return one == other or one.endswith(f"-{other}") or other.endswith(f"-{one}")
