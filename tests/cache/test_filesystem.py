"""What kind of file system a cache lies on, read from a mount table of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_top.cache.filesystem import Filesystem, describe


def proc(place: Path, *mounts: str, namespace: str = "pid:[4026531836]") -> str:
    """A /proc with this mount table."""
    (place / "self" / "ns").mkdir(parents=True)
    (place / "self" / "mountinfo").write_text("".join(f"{line}\n" for line in mounts))
    (place / "self" / "ns" / "pid").symlink_to(namespace)
    return str(place)


def mount(where: str, kind: str, options: str = "rw,relatime", root: str = "/") -> str:
    """One line of the table."""
    return f"36 35 98:0 {root} {where} {options} shared:1 - {kind} /dev/x rw"


@pytest.mark.parametrize(
    ("kind", "shared"),
    [
        ("ext4", False),
        ("xfs", False),
        ("tmpfs", False),
        ("overlay", False),
        ("nfs4", True),
        ("lustre", True),
        ("fuse.s3fs", True),
        ("fuse.fuse-overlayfs", False),
        ("9p", True),
        ("virtiofs", True),
    ],
)
def test_kinds_that_other_hosts_may_write_to_are_shared(tmp_path: Path, kind: str, shared: bool) -> None:
    seen = describe(str(tmp_path), proc(tmp_path / "proc", mount("/", kind)))
    assert (seen.kind, seen.shared) == (kind, shared)
    assert (seen.why_shared is not None) is shared


def test_the_innermost_mount_counts_also_with_a_blank_in_its_name(tmp_path: Path) -> None:
    cache = tmp_path / "my cache"
    cache.mkdir()
    table = [mount("/", "ext4"), mount(str(cache).replace(" ", "\\040"), "nfs4"), mount(str(tmp_path / "my"), "xfs")]
    assert describe(str(cache), proc(tmp_path / "proc", *table)).kind == "nfs4"
    assert describe(str(tmp_path), proc(tmp_path / "proc2", *table)).kind == "ext4"


@pytest.mark.parametrize(("options", "kept"), [("rw,noatime", "noatime"), ("rw,relatime", "relatime")])
def test_whether_access_times_are_kept_is_known_by_the_mount(tmp_path: Path, options: str, kept: str) -> None:
    assert describe(str(tmp_path), proc(tmp_path / "proc", mount("/", "ext4", options))).access_times == kept


def test_a_folder_mounted_into_a_container_is_shared_with_whoever_is_outside(tmp_path: Path) -> None:
    line = mount(str(tmp_path), "ext4", root="/srv/cache")
    inside = describe(str(tmp_path), proc(tmp_path / "proc", mount("/", "overlay"), line, namespace="pid:[4026532001]"))
    outside = describe(str(tmp_path), proc(tmp_path / "proc2", mount("/", "ext4"), line))
    assert inside.shared
    assert "container" in (inside.why_shared or "")
    assert not outside.shared


@pytest.mark.parametrize(("kind", "shared"), [("xfs", True), ("ext4", True), ("tmpfs", False)])
def test_a_whole_disk_mounted_into_a_container_is_shared_too(tmp_path: Path, kind: str, shared: bool) -> None:
    table = [mount("/", "overlay"), mount(str(tmp_path), kind)]
    inside = describe(str(tmp_path), proc(tmp_path / "proc", *table, namespace="pid:[4026532001]"))
    outside = describe(str(tmp_path), proc(tmp_path / "proc2", *table))
    assert (inside.shared, outside.shared) == (shared, False)
    own = describe(str(tmp_path), proc(tmp_path / "proc3", mount("/", "overlay"), namespace="pid:[4026532001]"))
    assert not own.shared


def test_no_folder_and_no_mount_table_leave_everything_unknown(tmp_path: Path) -> None:
    assert describe(str(tmp_path / "no")) == Filesystem()
    seen = describe(str(tmp_path), str(tmp_path / "no proc"))
    assert (seen.kind, seen.shared) == (None, False)
    assert seen.free is not None


def test_a_broken_mount_table_is_survived(tmp_path: Path) -> None:
    assert describe(str(tmp_path), proc(tmp_path / "proc", "", "nonsense", "1 2 3")).kind is None
