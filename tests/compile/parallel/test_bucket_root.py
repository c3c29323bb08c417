"""`neurontop compile --on slurm` and `--on ray` with a cache root in S3: nodes share nothing but the bucket."""

from __future__ import annotations

import os
import resource
import shutil
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

boto3 = pytest.importorskip("boto3", reason="caches in S3 need the extra neuron-top[s3]")
pytest.importorskip("moto.server", reason="the tests' S3 server is moto[server]")

from neuron_top.compile.fetch.shared_bucket import GRAPH_FILES, SharedBucket  # noqa: E402
from neuron_top.compile.parallel.staging import Staging  # noqa: E402
from neuron_top.errors import NothingToShow  # noqa: E402
from tests import s3_server  # noqa: E402
from tests.actions import caches  # noqa: E402
from tests.compile.parallel.jobs import until  # noqa: E402
from tests.compile.parallel.scheduled import Site  # noqa: E402
from tests.servers.ray_cluster import RayMissing, ray_cluster  # noqa: E402


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A bucket of a server of its own."""
    with s3_server.served() as url:
        yield url


class BucketSite(Site):
    """A site whose graphs wait in a bucket; nothing of them is left in a folder that nodes see."""

    def __init__(self, folder: Path, environ: dict[str, str], url: str) -> None:
        super().__init__(folder, environ)
        self.bucket = SharedBucket(url)
        for number in self.numbers:
            entry = f"{caches.COMPILER}/{caches.module(number)}"
            self.bucket.store(entry, GRAPH_FILES, self.root / entry)
        self.collected = folder / "collected"
        shutil.move(self.root, self.collected)
        aws = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        self.environ |= aws | {"NEURON_COMPILE_CACHE_URL": url}

    def check_stored(self) -> None:
        """Every graph was compiled once, and the bucket has its artifact, whole and marked."""
        assert Counter(int(graph) for graph, _ in self.lines("compiled")) == dict.fromkeys(self.numbers, 1)
        for number in self.numbers:
            entry = f"{caches.COMPILER}/{caches.module(number)}"
            here = self.folder / "fetched" / entry
            here.mkdir(parents=True, exist_ok=True)
            self.bucket.fetch(entry, ("model.neff", "model.done"), here)
            graph = (self.collected / entry / "model.hlo_module.pb").read_bytes()
            assert (here / "model.neff").read_bytes() == 2 * graph
            assert (here / "model.done").exists()
        assert not self.root.exists()


@pytest.mark.parametrize(
    ("size", "request_name"), [(1, "PutObject"), (64 * 1024**2 + 1, "CreateMultipartUpload")], ids=["small", "in parts"]
)
def test_a_refused_upload_is_reported_with_its_reason(server, tmp_path, size, request_name):
    with (tmp_path / "model.neff").open("wb") as file:
        file.truncate(size)
    with pytest.raises(NothingToShow, match=f"s3://not-there: {request_name} was refused: NoSuchBucket"):
        SharedBucket("s3://not-there").store("compiler/module", ("model.neff",), tmp_path)


def test_a_graph_that_a_disk_took_only_in_part_is_fetched_again(tmp_path, server):
    url, entry, graph = f"{server}/cut-{tmp_path.name}", f"{caches.COMPILER}/{caches.module(1)}", bytes(3 << 20)
    (tmp_path / "model.hlo_module.pb").write_bytes(graph)
    SharedBucket(url).store(entry, GRAPH_FILES, tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 20, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            Staging(url, tmp_path).take_in(retry_failed=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    staging = Staging(url, tmp_path)
    assert not [*(staging.root / entry).iterdir()]
    staging.take_in(retry_failed=False)
    assert (staging.root / entry / "model.hlo_module.pb").read_bytes() == graph


def test_graphs_and_artifacts_travel_through_the_bucket_and_are_claimed_there(slurm, tmp_path, server):
    pytest.importorskip("submitit")
    site = BucketSite(tmp_path, slurm.environment, f"{server}/slurm-{tmp_path.name}")
    site.environ["NEURONTOP_CLAIM_LEASE"] = "4s"
    site.mark("no-compiler-on-n2")
    site.mark("kill-161")
    gate = site.mark("wait")
    with ThreadPoolExecutor(2) as hosts:
        both = [hosts.submit(site.compile, "--on", "slurm", "--logs", str(tmp_path / f"logs{n}")) for n in range(2)]
        said = lambda: "".join(path.read_text() for path in tmp_path.glob("logs*/**/*_log.err"))  # noqa: E731
        until(lambda: "compiles it (its claim holds" in said() or all(each.done() for each in both))
        gate.unlink()
        done = [each.result() for each in both]
    for each in done:
        assert each.returncode == 0, each.stderr
    site.check_stored()
    assert "compiles it (its claim holds" in said()
    assert "there is no place for claims" not in done[0].stderr
    assert {node for _, node in site.lines("compiled")} <= {"n1", "n3", "n4"}
    again = site.compile("--on", "slurm")
    assert again.returncode == 0
    site.check_stored()  # not compiled again


@pytest.mark.xdist_group("ray")
def test_ray_goes_on_from_another_host_where_it_was_interrupted(tmp_path, server):
    site = BucketSite(tmp_path, dict(os.environ), f"{server}/ray-{tmp_path.name}")
    gate = site.mark("wait")
    try:
        with ray_cluster(site.environ) as address:
            place = ("--on", "ray", "--ray", address)
            status, said = site.interrupt(*place, mark=r"[1-3] running")
            assert status == 130, said
            assert site.lines("compiled") == []
            gate.unlink()
            site.environ["NEURONTOP_STATE_DIR"] = str(tmp_path / "state of another host")
            done = site.compile(*place)
    except RayMissing as reason:
        pytest.skip(str(reason))
    assert done.returncode == 0, done.stderr
    site.check_stored()
