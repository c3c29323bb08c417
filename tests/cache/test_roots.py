"""Which caches a machine has: the order of the variables, what running jobs say, neighbors, each path once."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from neuron_top.cache import roots, s3
from neuron_top.cache.model.filenames import DEFAULT_ROOT
from neuron_top.cache.processes import CacheProcess, bystanders
from neuron_top.errors import UsageError
from neuron_top.processes import output_relay


def process(pid: int, cwd: Path, **environ: str) -> CacheProcess:
    """A running job with this environment."""
    return CacheProcess(pid=pid, command=("python", "train.py"), environ=environ, cwd=str(cwd))


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({}, DEFAULT_ROOT),
        ({"NEURON_COMPILE_CACHE_URL": "/a"}, "/a"),
        ({"NEURON_COMPILE_CACHE_URL": "file:///a/"}, "/a"),
        ({"NEURON_COMPILE_CACHE_URL": "/a", "NEURON_CC_FLAGS": "--cache_dir=/b"}, "/b"),
        ({"NEURON_CC_FLAGS": "-O1 --cache_dir=/a --cache_dir /b"}, "/b"),
        ({"NEURON_CC_FLAGS": "--cache_dir='/with blank' --model-type=transformer"}, "/with blank"),
        ({"NEURON_CC_FLAGS": "--cache_dir=/a 'unclosed"}, "/a"),
        ({"NEURON_CC_FLAGS": "--cache_dir=", "NEURON_COMPILE_CACHE_URL": "/a"}, "/a"),
        ({"NEURON_CC_FLAGS": "--no_cache"}, DEFAULT_ROOT),
    ],
)
def test_the_flag_goes_before_the_variable_before_the_default(environ: dict[str, str], path: str) -> None:
    assert roots.root_in_force(environ).path == path


def test_a_relative_root_is_that_of_the_jobs_own_folder(tmp_path: Path) -> None:
    (tmp_path / "cc").mkdir()
    found = roots.find({}, [process(7, tmp_path, NEURON_COMPILE_CACHE_URL="./cc")])
    (theirs,) = [root for root in found if root.users == (7,)]
    assert (theirs.path, theirs.exists, theirs.kind) == (str(tmp_path / "cc"), True, roots.CacheKind.NEURON)
    assert "process 7" in theirs.origin


def test_a_bucket_is_named_and_not_looked_for_on_this_machine() -> None:
    root = roots.root_in_force({"NEURON_COMPILE_CACHE_URL": "s3://bucket/prefix"})
    assert (root.path, root.remote, root.exists) == ("s3://bucket/prefix", True, False)


def test_a_path_is_listed_once_with_everybody_who_uses_it(tmp_path: Path) -> None:
    jobs = [process(pid, tmp_path, NEURON_COMPILE_CACHE_URL=str(tmp_path)) for pid in (7, 8)]
    found = roots.find({"NEURON_COMPILE_CACHE_URL": str(tmp_path)}, jobs)
    ours = [root for root in found if root.path == str(tmp_path)]
    assert [root.users for root in ours] == [(7, 8)]
    assert ours[0] is found[0]


def test_who_only_waits_or_looks_is_no_user_of_what_its_environment_names(tmp_path: Path) -> None:
    jobs = [process(pid, tmp_path, NEURON_COMPILE_CACHE_URL=str(tmp_path)) for pid in (7, 8)]
    viewer = msgspec.structs.replace(jobs[0], pid=9, command=("python", "/usr/bin/neurontop", "serve"))
    waiting = [
        msgspec.structs.replace(jobs[0], pid=pid, command=command)
        for pid, command in enumerate(
            (
                ("-bash",),
                ("/usr/bin/tmux", "-L", "one", "new-session"),
                ("sshd: somebody@pts/0",),
                ("python3", "-I", "-S", output_relay.__file__, "1", "7"),
            ),
            10,
        )
    ]
    running = [viewer, *waiting, *jobs]
    found = roots.find({}, running, bystanders=bystanders(running, str(tmp_path)))
    [theirs] = [root for root in found if root.path == str(tmp_path)]
    assert theirs.users == (7, 8)
    [alone] = [root for root in roots.find({}, [viewer], bystanders={9}) if root.path == str(tmp_path)]
    assert (alone.users, alone.exists) == ((), True), "a cache that it shows is one of this machine all the same"


def test_neighbors_of_a_job_are_found_with_the_variable_that_names_them(tmp_path: Path) -> None:
    job = process(
        9,
        tmp_path,
        TORCHINDUCTOR_CACHE_DIR="/i",
        TRITON_CACHE_DIR="/t",
        JAX_COMPILATION_CACHE_DIR="/j",
        VLLM_CACHE_ROOT="/v",
        HF_HOME="/h",
        NEURON_LIBTORCH_REMOTE_CACHE="/r",
        TORCH_NEURONX_NEFF_CACHE_DIR="/n",
    )
    places = {(root.kind, root.path) for root in roots.find({}, [job]) if root.users == (9,)}
    assert places == {
        ("inductor", "/i"),
        ("triton", "/t"),
        ("jax", "/j"),
        ("vllm", "/v/torch_compile_cache"),
        ("vllm-neuron", "/v/neuron/compile_cache"),
        ("vllm-neuron", "/r"),
        ("torch-neuronx", "/n"),
        ("hub", "/h/hub/models--aws-neuron--optimum-neuron-cache"),
    }


def test_a_relative_neighbor_is_looked_for_in_the_jobs_own_folder(tmp_path: Path) -> None:
    (root,) = [root for root in roots.find({}, [process(7, tmp_path, TRITON_CACHE_DIR="t")]) if root.users == (7,)]
    assert (root.kind, root.path) == ("triton", str(tmp_path / "t"))


def test_the_cache_of_each_rank_below_a_named_folder_is_found(tmp_path: Path) -> None:
    for name in ("r10", "r2", "r02", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "r3").write_bytes(b"")
    found = roots.find({"TORCH_NEURONX_NEFF_CACHE_DIR": str(tmp_path)})
    own = [root.path for root in found if root.path.startswith(str(tmp_path))]
    assert own == [str(tmp_path), f"{tmp_path}/r2", f"{tmp_path}/r10"]


def test_the_cache_of_the_libtorch_back_end_is_found_where_it_puts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".cache/neuron_libtorch/neuron/compile_cache"
    assert str(place) not in {root.path for root in roots.find({})}
    place.mkdir(parents=True)
    (found,) = [root for root in roots.find({}) if root.path == str(place)]
    assert (found.kind, found.exists) == ("vllm-neuron", True)


def test_a_user_without_a_home_has_the_caches_that_lie_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_such_user(number: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {number}")

    for name in ("HOME", "USER", "LOGNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", no_such_user)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~/.triton/cache").mkdir(parents=True)  # no default, whatever it is called
    inductor = tmp_path / f"torchinductor_{os.getuid()}"
    inductor.mkdir()
    found = roots.find({"NEURON_COMPILE_CACHE_URL": "/a"})
    assert found[0].path == "/a"
    assert [root.path for root in found if root.path.startswith(str(tmp_path))] == [str(inductor)]


def test_a_process_whose_environment_is_hidden_names_nothing(tmp_path: Path) -> None:
    hidden = CacheProcess(pid=5, command=("python",), environ=None, cwd=None)
    assert all(5 not in root.users for root in roots.find({}, [hidden]))


@pytest.mark.parametrize("url", ["s3://name:hush@hush@bucket/prefix", "s3://hush@bucket"])
def test_a_login_in_an_address_is_never_reported_again(url: str) -> None:
    found = roots.find({"NEURON_COMPILE_CACHE_URL": url})
    assert [root.path for root in found if root.remote] == [f"s3://…@{url.rpartition('@')[2]}"]
    with pytest.raises(UsageError, match="leave user name and password out of the address") as refused:
        s3.checked(url)
    assert "hush" not in str(refused.value)
