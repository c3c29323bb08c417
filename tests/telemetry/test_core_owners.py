"""Who holds a core: names of programs, containers in cgroup paths, process ids that are used again."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.events import CoreSample
from neuron_top.telemetry.core_owners import CoreOwners, container_of, program_name

ID = "0123456789ab" + "c" * 52
POD = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["python", "-u", "/x/train.py", "--lr", "1"], "train.py"),
        (["/opt/venv/bin/python3.11", "-W", "ignore", "-m", "pkg.train"], "pkg.train"),
        (["python3", "-c", "import x"], "python3 -c"),
        (["env", "A=1", "/x/run.sh"], "run.sh"),
        (["/usr/bin/torchrun", "--nproc_per_node=2", "t.py"], "torchrun"),
        (["bash"], "bash"),
        ([""], ""),
        ([], ""),
    ],
)
def test_a_process_is_called_by_what_it_runs(arguments: list[str], name: str) -> None:
    assert program_name(arguments) == name


@pytest.mark.parametrize(
    ("cgroup", "container"),
    [
        (f"0::/system.slice/docker-{ID}.scope\n", "docker 0123456789ab"),
        (f"12:cpu:/docker/{ID}\n0::/\n", "docker 0123456789ab"),
        (f"0::/machine.slice/libpod-{ID}.scope", "podman 0123456789ab"),
        (f"0::/ecs/task/{ID}", "ecs 0123456789ab"),
        (f"1:cpu:/kubepods/burstable/pod{POD}/{ID}", f"pod {POD}/0123456789ab"),
        (
            f"0::/kubepods.slice/kubepods-pod{POD.replace('-', '_')}.slice/cri-containerd-{ID}.scope",
            f"pod {POD}/0123456789ab",
        ),
        ("0::/slurm/uid_0/job_42/step_0", "slurm job 42"),
        ("0::/user.slice/user-1000.slice/session-3.scope", ""),
        ("", ""),
    ],
)
def test_a_container_is_read_from_the_cgroup_path(cgroup: str, container: str) -> None:
    assert container_of(cgroup) == container


def process(proc: Path, pid: int, born: int, command: str) -> None:
    folder = proc / str(pid)
    folder.mkdir(exist_ok=True)
    (folder / "stat").write_text(f"{pid} (odd) name) S {' '.join('0' for _ in range(18))} {born} 0 0")
    (folder / "cmdline").write_text(command)
    (folder / "cgroup").write_text(f"0::/docker/{ID}")
    (folder / "environ").write_text("LOCAL_RANK=1\0RANK=5\0EMPTY\0")


def test_a_process_id_that_is_used_again_is_another_owner(tmp_path: Path) -> None:
    owners = CoreOwners(tmp_path)
    process(tmp_path, 7, 100, "python\0a.py\0")
    sample = CoreSample(core=0, pid=7)
    assert (owners.named(sample).process, owners.named(sample).container) == ("a.py", "docker 0123456789ab")
    assert owners.named(sample).rank == 5
    process(tmp_path, 7, 200, "python\0b.py\0")
    assert owners.named(sample).process == "b.py"


def test_inside_a_container_the_hosts_numbers_are_not_looked_up(tmp_path: Path) -> None:
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "self/ns/pid").symlink_to("pid:[4026532999]")
    process(tmp_path, 7, 100, "python\0other.py\0")
    assert CoreOwners(tmp_path).named(CoreSample(core=0, pid=7)).process == ""


def test_an_owner_that_cannot_be_seen_stays_unknown(tmp_path: Path) -> None:
    assert CoreOwners(tmp_path).named(CoreSample(core=0, pid=7)) == CoreSample(core=0, pid=7)
    assert CoreOwners(tmp_path).named(CoreSample(core=0)) == CoreSample(core=0)
