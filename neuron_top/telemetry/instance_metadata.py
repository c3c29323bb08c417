"""Asks EC2's metadata service about this instance; only where it answers at once, and never twice."""

from __future__ import annotations

import contextlib
import http.client
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

SECONDS = 0.3
"""Seconds for the connection and each answer: the service is on the same host, or does not exist."""
_ENDPOINT = "http://169.254.169.254"
_TOKEN = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
_PATHS = {
    "instance_id": "instance-id",
    "instance_type": "instance-type",
    "zone": "placement/availability-zone",
    "ami": "ami-id",
}
_LONGEST = 256


def on_ec2(root: Path = Path("/"), environ: Mapping[str, str] = os.environ) -> bool:
    """Whether it makes sense to ask: the firmware is Amazon's, or the user set another address of the service."""
    if environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return False
    if environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT"):
        return True
    try:
        return (root / "sys/devices/virtual/dmi/id/sys_vendor").read_text(
            encoding="ascii", errors="replace"
        ).strip() in (
            "Amazon EC2",
            "Xen",
        )
    except OSError:
        return False


def ask(environ: Mapping[str, str] = os.environ, seconds: float = SECONDS) -> dict[str, str]:
    """The instance's id, type, zone and image, as far as the service gives them; empty without an answer."""
    found: dict[str, str] = {}
    with (
        contextlib.suppress(OSError, ValueError, http.client.HTTPException),
        contextlib.closing(_connection(environ, seconds)) as connection,
    ):
        token = _answer(connection, "PUT", "/latest/api/token", _TOKEN)
        headers = {"X-aws-ec2-metadata-token": token} if token else {}
        for name, path in _PATHS.items():
            if value := _answer(connection, "GET", f"/latest/meta-data/{path}", headers):
                found[name] = value
    return found


def _connection(environ: Mapping[str, str], seconds: float) -> http.client.HTTPConnection:
    """Raises ValueError or HTTPException for an address of the user's that is none."""
    place = urlsplit(environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or _ENDPOINT)
    if not place.hostname:  # it would be this machine
        raise ValueError("the address names no host")
    return http.client.HTTPConnection(place.hostname, place.port, timeout=seconds)


def _answer(connection: http.client.HTTPConnection, method: str, path: str, headers: Mapping[str, str]) -> str:
    connection.request(method, path, headers=dict(headers))
    response = connection.getresponse()
    body = response.read(_LONGEST + 1)
    response.read()
    text = body.decode("ascii", "replace").strip()
    return text if response.status == 200 and len(body) <= _LONGEST and text.isprintable() else ""
