"""A Ray cluster of several nodes on this machine, in a process of its own: this one imports nothing of Ray."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from tests.servers.ports import free_ports

_MAIN = """
import sys
from ray.cluster_utils import Cluster

cluster, port = None, int(sys.argv[1])
client = {"ray_client_server_port": port} if port else {}
for name in sys.argv[2:]:
    node = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "node_name": name, "env_vars": {"NEURONTOP_NODE": name}}
    if cluster is None:
        cluster = Cluster(initialize_head=True, head_node_args={**node, **client, "include_dashboard": False})
    else:
        cluster.add_node(**node)
print(f"ray://127.0.0.1:{port}" if port else cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
_ENDED_SECONDS = 120.0
_PATIENT = {"RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S": "90", "TIMEOUT_FOR_SPECIFIC_SERVER_S": "90"}
"""The client server starts a process for each client, which takes a minute on a busy machine; Ray waits half of one.
Some never come, and that is known after this time only."""


class RayMissing(Exception):
    """No Ray cluster can be had here; says why."""


@contextmanager
def ray_cluster(
    environ: Mapping[str, str], nodes: Sequence[str] = ("n1", "n2", "n3", "n4"), *, client: bool = False
) -> Iterator[str]:
    """The address of a cluster with these nodes of one core; compiles on them see `environ`. Raises RayMissing.

    `client`: the address of its client server, `ray://…`, by which machines outside the cluster reach it.
    """
    if importlib.util.find_spec("ray") is None:
        raise RayMissing("ray is not installed")
    if client and importlib.util.find_spec("grpc") is None:
        raise RayMissing("Ray's client needs grpcio (pip install 'ray[client]')")
    port = free_ports(1)[0] if client else 0
    # Its components are of this machine: a proxy is not asked, and nothing is reported to anybody.
    own = {**os.environ, **environ, **_PATIENT, "RAY_USAGE_STATS_ENABLED": "0", "no_proxy": "*"}
    with subprocess.Popen(
        [sys.executable, "-c", _MAIN, str(port), *nodes],
        env=own,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as cluster:
        assert cluster.stdin is not None
        assert cluster.stdout is not None
        assert cluster.stderr is not None
        try:
            address = cluster.stdout.readline().strip()
            if not address:
                raise RayMissing(f"Ray did not start on this machine: {cluster.stderr.read()[-2000:]}")
            yield address
        finally:
            try:
                cluster.communicate(timeout=_ENDED_SECONDS)
            except subprocess.TimeoutExpired:
                cluster.kill()
