"""No test here may touch the user's caches: each gets roots of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inductor_folder import inductor_folder


@pytest.fixture(autouse=True)
def own_caches(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Path:
    """A Neuron cache for this test; Inductor's directory is shared by the session, so kernels are built once."""
    root = tmp_path / "neuron-cache"
    monkeypatch.setenv("NEURON_COMPILE_CACHE_URL", str(root))
    work = tmp_path_factory.getbasetemp() / "inductor"
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(work))
    if request.node.get_closest_marker("torch"):
        inductor_folder(work)
    for name in ("NEURON_CC_FLAGS", "NEURON_EXTRACT_GRAPHS_ONLY", "NEURONTOP_EVENTS_DIR", "NEURONTOP_TRUST_CACHE"):
        monkeypatch.delenv(name, raising=False)
    return root
