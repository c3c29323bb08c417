"""The processes that compile a graph for a job: forks of its compile server."""

from __future__ import annotations

import os

import psutil


def forks_at_work(job: int) -> list[psutil.Process]:
    """The forks of the compile servers below process `job`, each at work on a graph; neither the tools that they start
    in turn, nor the fork that tries the vector instructions first: a fork with a graph leads a process group of its
    own, in the session of the server."""
    return [
        fork
        for server in _children_of(job, recursive=True)
        if "compile.server.server" in _command_of(server)
        for fork in _children_of(server.pid)
        if _command_of(fork) == _command_of(server) and _leads_a_group(fork.pid, server.pid)
    ]


def _leads_a_group(pid: int, server: int) -> bool:
    try:
        return os.getpgid(pid) == pid and os.getsid(pid) == os.getsid(server)
    except ProcessLookupError:
        return False


def _children_of(pid: int, *, recursive: bool = False) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=recursive)
    except psutil.Error:
        return []


def _command_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
