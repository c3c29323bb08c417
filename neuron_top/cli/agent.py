"""Read what runs on this node and ship it to the fleet's database, without a screen.

    neurontop agent --store postgresql://db.example/neurontop        jobs, devices and caches of this node
    neurontop agent --job bert /fsx/logs/bert/                       and these logs (torchrun's --log-dir)
    srun --overlap --ntasks-per-node=1 neurontop agent slurm-*.out   on every node of a Slurm job
    neurontop agent --once                                           one snapshot of the node, its caches and logs

It reads what `neurontop watch` reads, folds lines that repeat each other, keeps what is not shipped yet in a file below
the state folder, and ships it in batches. A database that cannot be reached costs a job nothing: the agent goes on and
catches up. Killed at any moment and started again, it ships nothing twice and leaves nothing out.
The node and the job are named as `neurontop config` shows them; --job gives the job another name.
It ends on SIGTERM or Ctrl-C, after it has shipped what it read.

exit status: 0 stopped, all of it shipped · 1 stopped, some of it is still to be shipped · 2 no database is named, or
an agent of this node and job runs already (with --once: 0) · 3 a given path and its folder are not found · 4 another
machine has the node's name
"""

from __future__ import annotations

import argparse
import signal
import threading

from neuron_top.cli.numbers import port
from neuron_top.cli.output import log_stderr
from neuron_top.cli.setting_options import add_store, settings_of

STOP_SECONDS = 10.0
ONCE_SECONDS = 60.0
_NO_PORT = -1


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of `agent`."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="logs, folders of logs, compile caches, .jsonl files")
    parser.add_argument("--job", default="", metavar="NAME", help="name of the job (default: see neurontop config)")
    parser.add_argument("--once", action="store_true", help="ship one snapshot, then end")
    parser.add_argument(
        "--metrics-port",
        type=_port_or_none,
        default=0,
        metavar="N",
        help="answer on 127.0.0.1:N: /metrics for the site's collector, /logs with the token (default: a free "
        "port; -1: none); the setting agent_listen names another place",
    )
    add_store(parser, of_fleet=True)


def execute(arguments: argparse.Namespace) -> int:
    """Ship until stopped."""
    from neuron_top.services.agent import AgentRuns, NodeAgent

    settings = settings_of(arguments)
    try:
        node = NodeAgent(settings, arguments.paths, arguments.job, warn, once=arguments.once)
    except AgentRuns:
        if not arguments.once:
            raise
        warn("an agent of this node and job runs here and ships; a snapshot has nothing to add")
        return 0
    who = node.who
    log_stderr(f"neurontop: node {who.node.value} ({who.node.origin}), job {who.job.value} ({who.job.origin})")
    if arguments.once:
        node.start()
        node.snapshot()
        return _result(node.stop(ONCE_SECONDS))
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    if arguments.metrics_port != _NO_PORT:
        from neuron_top.dashboard.agent_server import serve_agent

        node.agent.address = serve_agent(node, settings, arguments.metrics_port).address
        log_stderr(f"neurontop: {node.agent.address}")
    node.start()
    try:
        node.wait(stop)
    finally:
        arrived = node.stop(STOP_SECONDS)
    return _result(arrived)


def warn(text: str) -> None:
    """Print what went wrong, or what works again."""
    log_stderr(f"neurontop: {text}")


def _port_or_none(text: str) -> int:
    return _NO_PORT if text == str(_NO_PORT) else port(text)


def _result(arrived: bool) -> int:
    if not arrived:
        warn("some events wait to be shipped; the next agent of this node and job ships them")
    return 0 if arrived else 1
