"""Finds PyTorch, neurontop's extras, and the SDK's packages and tools, without loading them."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
from collections.abc import Iterator

import msgspec

from neuron_top import __version__
from neuron_top.telemetry.doctor_facts import TOOLS
from neuron_top.telemetry.versions import package_versions

_EXTRAS = {
    "torch": "torch",
    "s3": "boto3",
    "fleet": "psycopg",
    "slurm": "submitit",
    "ray": "ray",
    "notebook": "pandas",
    "parquet": "pyarrow",
}
"""Each extra of the package, and the distribution that it installs."""


class Extra(msgspec.Struct, frozen=True, kw_only=True):
    """An extra; `version` is that of its library, None if the library is missing."""

    name: str
    library: str
    version: str | None


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    """Versions by name; for tools, their paths."""

    neurontop: str
    python: str
    system: str
    extras: tuple[Extra, ...]
    sdk: dict[str, str]
    """Packages of the Neuron SDK in the environment of `python3` on the PATH."""
    tools: dict[str, str]
    """The SDK's programs on the PATH."""


def installation() -> Installation:
    """Find what is installed by listing folders; nothing is imported or run."""
    sdk = package_versions((), os.environ)
    places = ((tool, shutil.which(tool)) for tool in TOOLS)
    return Installation(
        neurontop=__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        extras=tuple(_extras()),
        sdk={name: version for name, version in sorted(sdk.items()) if "neuron" in name},
        tools={tool: place for tool, place in places if place is not None},
    )


def _extras() -> Iterator[Extra]:
    for name, library in _EXTRAS.items():
        try:
            version = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            version = None
        yield Extra(name=name, library=library, version=version)
