"""What every test stands on: signals as a person's shell has them, and no file of the user's own."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from neuron_top.compile.wrapper import scratch
from tests.inductor_folder import share_trials
from tests.servers.postgres import postgres_server, postgres_url
from tests.servers.slurm import SlurmCluster, SlurmMissing, slurm_cluster

__all__ = ["postgres_server", "postgres_url"]

# A property is right or wrong, however slow the machine is that tries it.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# Started in the background (nohup, a CI runner) SIGINT is ignored, and every child inherits that: Ctrl-C tests need it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    """The workers, which begin later, are given what is shared."""
    share_trials()


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of a module that share a fixture of it stay together: else each worker makes one (a server, a browser)."""
    for item in items:
        fixtures = getattr(item, "_fixtureinfo", None)
        if fixtures is not None and not item.get_closest_marker("xdist_group"):
            definitions = fixtures.name2fixturedefs.values()
            shared = any(found[-1].scope == "module" for found in definitions)
            if shared:
                item.add_marker(pytest.mark.xdist_group("_".join(item.path.with_suffix("").parts[-2:])))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Failures are remembered by the names that a run without workers knows: xdist adds `@group` to them.

    Else `--last-failed` in such a run finds none of them, and `make test` passes without having tried them again.
    """
    cache = getattr(session.config, "cache", None)  # there is none with `-p no:cacheprovider`
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and cache is not None and (failed := cache.get("cache/lastfailed", {})):
        cache.set("cache/lastfailed", {re.sub(r"@\w+$", "", name): value for name, value in failed.items()})


@pytest.fixture(autouse=True)
def _not_the_users_files(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Recordings, settings and caches of the person who runs the tests are neither read nor written."""
    place = tmp_path_factory.getbasetemp() / "of-no-user"
    place.mkdir(exist_ok=True)
    (place / "config.toml").touch()
    for name, folder in (("STATE_DIR", "state"), ("CONFIG", "config.toml")):
        monkeypatch.setenv(f"NEURONTOP_{name}", str(place / folder))
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(Path(place) / "compile-cache"))
    for name in (
        "NEURON_CC_FLAGS",
        "NEURONTOP_RUN",
        "NEURONTOP_EVENTS_DIR",
        "NEURONTOP_STORE",
        "NEURONTOP_STORE_INSECURE",
        "NO_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _own_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that met a full disk works elsewhere from then on: not those of other tests, which share it."""
    monkeypatch.setattr(scratch, "_of_this_process", scratch.Scratch())
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)
    for name in ("TMPDIR", "TORCHINDUCTOR_CACHE_DIR"):
        before = os.environ.get(name)
        monkeypatch.setenv(name, before or "")  # so that it is put back, too, where it was not set
        if before is None:
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    """Slurm with four nodes, n1 to n4, for all tests of a process; skipped with the reason where there is none."""
    try:
        with slurm_cluster(tmp_path_factory.mktemp("slurm")) as cluster:
            yield cluster
    except SlurmMissing as reason:
        pytest.skip(str(reason))
