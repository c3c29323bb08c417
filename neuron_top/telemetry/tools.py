"""Finds the SDK's tools: on the PATH, or in the SDK's folder, which is not on the PATH of sudo, systemd and SSM."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from neuron_top import programs

SDK_BIN = "/opt/aws/neuron/bin"


def find(tool: str, environ: Mapping[str, str] = os.environ, sdk_bin: str = SDK_BIN) -> str | None:
    """The full path of a tool; None if it is not installed."""
    return programs.find(tool, environ) or shutil.which(tool, path=sdk_bin)


def with_sdk_path() -> dict[str, str]:
    """An environment in which the SDK's tools find each other: they call their helpers by bare name."""
    path = os.environ.get("PATH", os.defpath)
    return {**os.environ, "PATH": path if SDK_BIN in path.split(os.pathsep) else f"{path}{os.pathsep}{SDK_BIN}"}
