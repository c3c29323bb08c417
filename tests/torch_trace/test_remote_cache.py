"""Lookups in Inductor's remote cache: from traces that the installed PyTorch writes, and from records made by hand.

PyTorch talks to the cache through the client library `redis`; in the test a module of that name keeps values in a
folder. The records are PyTorch's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuron_top.events import TorchCacheLookedUp
from neuron_top.ingest.run_loader import read_logs
from neuron_top.parsers.torch_trace import TorchTraceReader
from neuron_top.report.markdown import markdown
from neuron_top.run.model import Run
from neuron_top.views.report import report
from tests.inductor_folder import inductor_folder
from tests.torch_trace.traces import context, record

CLIENT = """
import hashlib, os, pathlib

class ConnectionError(Exception):
    pass

class exceptions:
    ConnectionError = ConnectionError

class Redis:
    def __init__(self, *args, **options):
        self.folder = pathlib.Path(os.environ["VALUES"])
        self.folder.mkdir(exist_ok=True)

    def place(self, key):
        return self.folder / hashlib.sha256(str(key).encode()).hexdigest()

    def get(self, key):
        return self.place(key).read_bytes() if self.place(key).exists() else None

    def set(self, key, value):
        self.place(key).write_bytes(value if isinstance(value, bytes) else str(value).encode())
        return True
"""
JOB = """
import torch
torch.set_num_threads(1)

@torch.compile
def tripled(x):
    return torch.sin(x) * 3

tripled(torch.ones(4))
"""


def traced(folder: Path, name: str) -> Run:
    """The run of a job with a local cache of its own and a remote one that all share."""
    (folder / name).mkdir()
    environ = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "VALUES": str(folder / "values"),
        "TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE": "1",
        "TORCHINDUCTOR_AUTOGRAD_REMOTE_CACHE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(inductor_folder(folder / name / "local")),
        "TORCH_TRACE": str(folder / name / "trace"),
    }
    done = subprocess.run(
        [sys.executable, "-c", JOB], env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return read_logs([str(path) for path in (folder / name / "trace").iterdir()], 3600.0)


@pytest.mark.torch
def test_a_second_machine_finds_what_the_first_has_compiled(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "redis.py").write_text(CLIENT)
    first, second = traced(tmp_path, "first"), traced(tmp_path, "second")
    for cache in ("fx-graph remote", "aot-autograd remote"):
        assert (first.torch.caches[cache].hit, first.torch.caches[cache].miss) == (0, 1)
        assert (second.torch.caches[cache].hit, second.torch.caches[cache].miss) == (1, 0)
    local = sum(
        second.torch.caches[cache].hit for cache in ("fx-graph", "aot-autograd") if cache in second.torch.caches
    )
    document = markdown(report(second, second.last_time or 0.0))
    assert f"| hits in PyTorch's caches | {local} |" in document
    assert "Inductor's remote cache" in document


def asked(about: dict[str, object], kind: str = "compilation_metrics") -> list[tuple[str, str, str]]:
    reader = TorchTraceReader("torch-trace:x")
    events = [*reader.feed(record({kind: about, **context()}).encode()), *reader.flush()]
    return [(event.cache, event.outcome, event.key) for event in events if isinstance(event, TorchCacheLookedUp)]


@pytest.mark.parametrize("kind", ["compilation_metrics", "bwd_compilation_metrics"])
@pytest.mark.parametrize("keys", ["fa,fb", ["fa", "fb"]])
def test_the_sums_of_a_compile_report_each_look_up_with_its_key(kind: str, keys: object) -> None:
    about = {"inductor_fx_remote_cache_hit_count": 2, "inductor_fx_remote_cache_hit_keys": keys,
             "aotautograd_remote_cache_miss_count": 1}  # fmt: skip
    assert asked(about, kind) == [
        ("fx-graph remote", "hit", "fa"),
        ("fx-graph remote", "hit", "fb"),
        ("aot-autograd remote", "miss", ""),
    ]


def test_without_a_remote_cache_nothing_is_reported() -> None:
    assert asked({"inductor_fx_remote_cache_hit_count": 0, "inductor_fx_remote_cache_miss_count": None}) == []


FIELDS = [f"inductor_fx_remote_cache_{outcome}_{what}" for outcome in ("hit", "miss") for what in ("count", "keys")]
VALUES = st.recursive(st.none() | st.integers() | st.text(max_size=9), lambda inner: st.lists(inner, max_size=3))


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES))
@settings(max_examples=100, deadline=None)
def test_values_of_any_kind_never_raise(about: dict[str, object]) -> None:
    json.dumps(about)
    assert len(asked(about)) <= 2000
