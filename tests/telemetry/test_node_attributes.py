"""What a node is made of, on trees of our making; the metadata service as a server of our own, or not there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from neuron_top.identity import identity
from neuron_top.telemetry.instance_metadata import ask, on_ec2
from neuron_top.telemetry.node_attributes import attributes
from tests.telemetry import trees

TOLD = {
    "/latest/meta-data/instance-id": "i-0123456789abcdef0",
    "/latest/meta-data/placement/availability-zone": "us-east-2b",
    "/latest/meta-data/ami-id": "ami-0a",
    "/latest/meta-data/instance-type": "trn1.32xlarge",
}


class Metadata(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        self._tell("secret" if "X-aws-ec2-metadata-token-ttl-seconds" in self.headers else None)

    def do_GET(self) -> None:
        self._tell(TOLD.get(self.path) if self.headers["X-aws-ec2-metadata-token"] == "secret" else None)

    def _tell(self, text: str | None) -> None:
        body = (text or "").encode()
        self.send_response(200 if text else 404)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_of_a_request: object) -> None:
        pass


@contextmanager
def metadata_service() -> Iterator[dict[str, str]]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield {"AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://127.0.0.1:{server.server_port}"}
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_metadata_service_reports_zone_and_image() -> None:
    with metadata_service() as environ:
        assert on_ec2(environ=environ)
        assert ask(environ, seconds=10.0) == {
            "instance_id": "i-0123456789abcdef0",
            "zone": "us-east-2b",
            "ami": "ami-0a",
            "instance_type": "trn1.32xlarge",
        }
        assert not on_ec2(environ={**environ, "AWS_EC2_METADATA_DISABLED": "true"})
    assert ask(environ, seconds=1.0) == {}  # gone: nothing, and no error


@pytest.mark.parametrize("address", ["http://host:port", "http://[::1", "http://a b", "169.254.169.254"])
def test_an_address_of_the_metadata_service_that_is_none_gives_nothing(address: str) -> None:
    assert ask({"AWS_EC2_METADATA_SERVICE_ENDPOINT": address}) == {}


def test_a_machine_that_is_not_amazons_is_not_asked(tmp_path: Path) -> None:
    assert not on_ec2(tmp_path, {})


def test_attributes_of_a_trainium_node(tmp_path: Path) -> None:
    trees.device(tmp_path / "sys", 0, 2)
    (tmp_path / "opt/aws/neuron/lib").mkdir(parents=True)
    for version in ("2.9.1", "2.28.23.0"):
        (tmp_path / f"opt/aws/neuron/lib/libnrt.so.{version}").touch()
    packages = tmp_path / "env/lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    for name in ("neuronx_cc-2.21.1", "torch-2.8.0"):
        (packages / f"{name}.dist-info").mkdir()
    python = tmp_path / "env/bin/python3"
    python.parent.mkdir()
    python.touch(mode=0o755)
    environ = {"PATH": str(python.parent), "NEURON_CC_FLAGS": "--optlevel 1", "NEURON_COMPILE_CACHE_URL": str(tmp_path)}
    found = attributes(identity(environ), environ, tmp_path, metadata={"zone": "us-east-2b"})
    assert found["runtime"] == "2.28.23.0"
    assert found["compiler"] == "2.21.1"
    assert found["torch"] == "2.8.0"
    assert found["compiler_flags"] == "--optlevel 1"
    assert found["zone"] == "us-east-2b"
    assert found["cache_root"] == str(tmp_path)
    assert isinstance(found["cache_free"], int)
    assert (found["devices"], found["device_kind"], found["cores"]) == (1, "Trainium1", 2)


@pytest.mark.parametrize("environ", [{}, {"NEURON_COMPILE_CACHE_URL": "s3://bucket/prefix"}])
def test_what_cannot_be_reported_is_left_out(tmp_path: Path, environ: dict[str, str]) -> None:
    found = attributes(identity(environ), environ, tmp_path, metadata={})
    assert "zone" not in found
    assert "devices" not in found
    assert all(value not in (None, "") for value in found.values())


def test_every_viewer_of_a_fleet_reads_attributes_so_no_secret_is_in_one(tmp_path: Path) -> None:
    environ = {
        "NEURON_COMPILE_CACHE_URL": "s3://me:hunter2@bucket/x",
        "NEURON_PROFILE_URL": "https://host/profile?token=hunter2",
        "NEURON_API_KEY": "hunter2",
        "NEURON_CC_FLAGS": "--model-type=transformer --auth=hunter2",
        "XLA_FLAGS": "--xla_dump_to=/x",
    }
    found = attributes(identity(environ), environ, tmp_path, metadata={})
    assert "hunter2" not in str(found)
    assert found["NEURON_COMPILE_CACHE_URL"] == "s3://…@bucket/x"
    assert found["compiler_flags"] == "--model-type=transformer --auth=…"
    assert found["XLA_FLAGS"] == "--xla_dump_to=/x"


def test_a_cache_root_that_cannot_be_looked_at_is_reported_with_the_disk_above_it(tmp_path: Path) -> None:
    root = str(
        tmp_path / ("x" * 300)
    )  # longer than any name may be: `stat` raises another error than for a missing one
    environ = {"NEURON_COMPILE_CACHE_URL": root}
    found = attributes(identity(environ), environ, tmp_path, metadata={})
    assert found["cache_root"] == root
    assert isinstance(found["cache_disk"], int)
