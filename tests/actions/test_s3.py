"""A cache in S3, against a server that speaks its protocol: states, copies both ways, verify, evict and undo."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import unquote

import msgspec
import pytest

boto3 = pytest.importorskip("boto3", reason="caches in S3 need the extra neuron-top[s3]")
pytest.importorskip("moto.server", reason="the tests' S3 server is moto[server]")

from botocore.awsrequest import AWSResponse  # noqa: E402

from neuron_top.actions.backends.base import BackendOptions, ExecuteOptions  # noqa: E402
from neuron_top.actions.backends.s3 import S3Backend  # noqa: E402
from neuron_top.actions.execution import copy as copies  # noqa: E402
from neuron_top.actions.execution import s3 as s3_executor  # noqa: E402
from neuron_top.actions.execution.copy_targets import CopyTarget, LocalCopyTarget  # noqa: E402
from neuron_top.actions.execution.s3_copy_target import S3CopyTarget  # noqa: E402
from neuron_top.actions.journal import plan_history, s3_restore  # noqa: E402
from neuron_top.actions.journal.s3_journal import BucketJournal  # noqa: E402
from neuron_top.actions.journal.trash import Trash  # noqa: E402
from neuron_top.actions.plan import Plan, Progress, Totals, encode  # noqa: E402
from neuron_top.actions.plan_context import PlanContext  # noqa: E402
from neuron_top.actions.planners.copy import CopyDestination, plan_copy  # noqa: E402
from neuron_top.actions.planners.evict import EvictCriteria, plan_eviction  # noqa: E402
from neuron_top.actions.planners.unlock import plan_unlock  # noqa: E402
from neuron_top.cache import s3, signing  # noqa: E402
from neuron_top.cache.model.snapshot import Snapshot  # noqa: E402
from neuron_top.cache.model.states import State  # noqa: E402
from neuron_top.cache.scan.verify import FindingLevel  # noqa: E402
from neuron_top.errors import NothingToShow, RefusedForSafety, UsageError  # noqa: E402
from neuron_top.views.plan import outcome_lines  # noqa: E402
from neuron_top.views.plan_sentences import not_done_text  # noqa: E402
from tests import s3_server  # noqa: E402
from tests.actions import caches, states  # noqa: E402
from tests.actions.killing import killer  # noqa: E402
from tests.compile.fakes import GRAPH, wrapper  # noqa: E402
from tests.s3_relay import relayed  # noqa: E402

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with s3_server.served(versioned=True) as found:
        yield found


@pytest.fixture
def bucket(url: str, request: pytest.FixtureRequest) -> s3.Bucket:
    """A prefix of its own for each test."""
    return s3.connect(f"{url}/{request.node.name}")


def put(bucket: s3.Bucket, root: Path) -> None:
    """Upload everything below a folder."""
    for path in root.rglob("*"):
        if path.is_file():
            bucket.client.put_object(
                Bucket=bucket.name, Key=f"{bucket.prefix}{path.relative_to(root)}", Body=path.read_bytes()
            )


def keys(bucket: s3.Bucket) -> set[str]:
    return {record["Key"].removeprefix(bucket.prefix) for record in bucket.objects()}


def planned(bucket: s3.Bucket, policy: EvictCriteria | None = None, *, confirmed: bool = True) -> Plan:
    entries, context = s3.take(bucket).snapshot.entries, alone(bucket, confirmed=confirmed)
    return plan_eviction(entries, bucket.url, policy or EvictCriteria(older_than=0.0), context)


def alone(bucket: s3.Bucket, *, confirmed: bool = True) -> PlanContext:
    """Ten days after the last upload, and the operator says that nobody uses the bucket."""
    snapshot = s3.take(bucket).snapshot
    return PlanContext(
        now=snapshot.taken_at + 10 * caches.DAY,
        before=Totals(entries=len(snapshot.entries), files=0, size=snapshot.totals().all.bytes),
        shared=s3.WHY_SHARED,
        shared_confirmed=confirmed,
    )


LISTED = {state: state for state in State if state not in (State.TRACED, State.UNKNOWN)} | {
    # A listing shows lengths only, and nobody's lock can be judged from here.
    State.CORRUPT: State.CORRUPT,
    State.PARTIAL: State.PUBLISHED_UNMARKED,
    State.COMPILING: State.LOCKED_UNKNOWN,
    State.RETRYING: State.LOCKED_UNKNOWN,
    State.STALE_LOCK: State.LOCKED_UNKNOWN,
}


def test_a_listing_reports_the_states(bucket: s3.Bucket, tmp_path: Path) -> None:
    for number, state in enumerate(LISTED):
        states.entry_in(tmp_path, state, number=number)
    put(bucket, tmp_path)
    found = {int(entry.module[7:27]): entry.state for entry in s3.take(bucket).snapshot.entries}
    assert found == dict(enumerate(LISTED.values()))


def test_copies_travel_both_ways_and_the_mark_comes_last(bucket: s3.Bucket, tmp_path: Path) -> None:
    here, back = tmp_path / "here", tmp_path / "back"
    caches.entry(here, 1, blocks=700)
    states.entry_in(here, State.FAILED, number=2)
    copied(
        LocalCopyTarget(here),
        S3CopyTarget(bucket),
        caches.looked_at(here),
        BucketJournal(bucket.url, tmp_path / "state"),
    )
    assert {key.rpartition("/")[2] for key in keys(bucket)} == {
        "compile_flags.json",
        "model.done",
        "model.hlo_module.pb",
        "model.neff",
    }
    versions = bucket.client.list_object_versions(Bucket=bucket.name, Prefix=bucket.prefix)["Versions"]
    newest = max(versions, key=lambda each: each["LastModified"])
    assert newest["LastModified"] == next(v["LastModified"] for v in versions if v["Key"].endswith("model.done"))
    copied(S3CopyTarget(bucket), LocalCopyTarget(back), s3.take(bucket).snapshot, Trash(back))
    found = caches.looked_at(back).entries
    assert [entry.state for entry in found] == [State.HIT]
    name = f"{found[0].path}/model.neff"
    assert (back / name).read_bytes() == (here / name).read_bytes()


def test_a_signed_entry_keeps_its_signature_through_a_bucket(
    bucket: s3.Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef0123456789abcdef")
    key.chmod(0o600)
    monkeypatch.setenv(signing.KEY_FILE_VARIABLE, str(key))
    here, back = tmp_path / "here", tmp_path / "back"
    graph = msgspec.structs.replace(GRAPH, data=lambda: b"the graph" * 100)
    wrapper(here).get_or_compile(graph)
    copied(
        LocalCopyTarget(here),
        S3CopyTarget(bucket),
        caches.looked_at(here),
        BucketJournal(bucket.url, tmp_path / "state"),
    )
    copied(S3CopyTarget(bucket), LocalCopyTarget(back), s3.take(bucket).snapshot, Trash(back))
    assert wrapper(back).get_or_compile(graph).hit
    key.write_bytes(b"another key, of the same length.")
    assert not wrapper(back).get_or_compile(graph).hit


def copied(source: CopyTarget, target: CopyTarget, snapshot: Snapshot, trash: Trash) -> None:
    plan = plan_copy(snapshot, CopyDestination(target.name, target.modules()), now=0.0)
    outcome = copies.copy(plan, source, target, trash, lambda progress: True)
    assert trash.history_of(plan.identity).state == "done"
    assert (outcome.refused, outcome.done) == ((), len(plan.steps))


def test_verify_reads_headers_and_flags(bucket: s3.Bucket, tmp_path: Path) -> None:
    good, broken, renamed = (caches.entry(tmp_path, number) for number in range(3))
    (broken / "model.neff").write_bytes(b"x" * 2000)
    (renamed / "compile_flags.json").write_bytes(b"[]")
    put(bucket, tmp_path)
    listing = s3.take(bucket)
    found = {entry.module: s3.check_head(bucket, listing.objects[entry.path]) for entry in listing.snapshot.entries}
    assert found[good.name] is None
    assert "model.neff" in str(found[broken.name])
    assert "hash" in str(found[renamed.name])


def test_eviction_takes_the_mark_first_waits_and_can_be_undone(bucket: s3.Bucket, tmp_path: Path) -> None:
    caches.entry(tmp_path, 1)
    put(bucket, tmp_path)
    before = keys(bucket)
    plan, trash = planned(bucket), BucketJournal(bucket.url, tmp_path / "state")
    while_waiting: list[set[str]] = []
    outcome = s3_executor.execute(
        plan, bucket, trash, ExecuteOptions(grace_seconds=7.0), sleep=lambda seconds: while_waiting.append(keys(bucket))
    )
    assert (outcome.done, outcome.refused) == (1, ())
    assert {key.rpartition("/")[2] for key in before - while_waiting[0]} == {"model.done"}
    assert keys(bucket) == set()
    record = s3_restore.restore(plan.identity, bucket, trash)
    assert record.kept == ()
    assert keys(bucket) == before
    assert trash.history_of(plan.identity).state == "restored"


def test_the_mark_stays_away_where_somebody_has_stored_another_artifact_in_a_bucket(
    bucket: s3.Bucket, tmp_path: Path
) -> None:
    caches.entry(tmp_path, 1)
    put(bucket, tmp_path)
    before = keys(bucket)
    plan, trash = planned(bucket), BucketJournal(bucket.url, tmp_path / "state")
    assert s3_executor.execute(plan, bucket, trash, ExecuteOptions(grace_seconds=0.0), sleep=lambda _: None).done == 1
    artifact, mark = (next(key for key in before if key.endswith(name)) for name in ("model.neff", "model.done"))
    bucket.client.put_object(Bucket=bucket.name, Key=bucket.prefix + artifact, Body=b"another")
    record = s3_restore.restore(plan.identity, bucket, trash)
    assert {path.removeprefix(bucket.prefix) for path, _why in record.kept} == {artifact, mark}
    assert keys(bucket) == before - {mark}


def test_an_entry_at_the_top_of_a_bucket_is_found_evicted_and_comes_back(bucket: s3.Bucket, tmp_path: Path) -> None:
    place = caches.entry(tmp_path, 1)
    put(bucket, place.parent)
    before = keys(bucket)
    (entry,) = s3.take(bucket).snapshot.entries
    assert (entry.path, entry.compiler, entry.state) == (place.name, "", State.HIT)
    plan, trash = planned(bucket), BucketJournal(bucket.url, tmp_path / "state")
    assert s3_executor.execute(plan, bucket, trash, ExecuteOptions(grace_seconds=0.0), sleep=lambda _: None).done == 1
    assert keys(bucket) == set()
    s3_restore.restore(plan.identity, bucket, trash)
    assert keys(bucket) == before


@pytest.mark.parametrize("above", ["", "neuronxcc-2", "a/b"])
@pytest.mark.parametrize("odd", ["/", "./", "../", "a//"])
def test_a_key_that_leads_out_of_the_cache_is_no_entrys(above: str, odd: str) -> None:
    bucket, module = s3.Bucket(cast("Any", None), "caches", "team/"), caches.module(1, caches.FLAGS)
    path = f"{above}/{module}" if above else module
    assert s3.entry_of(bucket, f"team/{path}/model.neff") == (path, "model.neff")
    assert s3.entry_of(bucket, f"team/{odd}{path}/model.neff") == ("", "model.neff")


def test_keep_graph_keeps_graph_and_flags(bucket: s3.Bucket, tmp_path: Path) -> None:
    caches.entry(tmp_path, 1)
    put(bucket, tmp_path)
    plan = planned(bucket, EvictCriteria(older_than=0.0, keep_graph=True))
    journal = BucketJournal(bucket.url, tmp_path / "state")
    s3_executor.execute(plan, bucket, journal, sleep=lambda seconds: None)
    assert {key.rpartition("/")[2] for key in keys(bucket)} == {"compile_flags.json", "model.hlo_module.pb"}


def test_a_bucket_that_is_being_changed_is_named_to_whoever_comes_second(tmp_path: Path) -> None:
    first, second = (BucketJournal("s3://bucket/cache", tmp_path) for _ in range(2))
    refused = pytest.raises(RefusedForSafety, match="is changing s3://bucket/cache: try again")
    with first.exclusively(), refused, second.exclusively():
        pass


def test_an_entry_that_somebody_wrote_to_is_left_alone(bucket: s3.Bucket, tmp_path: Path) -> None:
    early, late = caches.entry(tmp_path, 1), caches.entry(tmp_path, 2)
    put(bucket, tmp_path)
    plan = planned(bucket)
    (early / "model.neff").write_bytes(caches.neff(5000))
    put(bucket, tmp_path)
    (early / "model.neff").write_bytes(caches.neff(6000))

    def meanwhile(seconds: float) -> None:
        key = f"{bucket.prefix}{late.relative_to(tmp_path)}/model.done"
        bucket.client.put_object(Bucket=bucket.name, Key=key, Body=b"")

    journal = BucketJournal(bucket.url, tmp_path / "state")
    outcome = s3_executor.execute(plan, bucket, journal, sleep=meanwhile)
    assert outcome.done == 0
    assert set(caches.reasons(outcome)) == {
        "its objects changed since the plan was made",
        "somebody wrote to it after its mark was taken",
    }
    assert len(keys(bucket)) == 8


def test_without_the_operators_word_nothing_is_done(bucket: s3.Bucket, tmp_path: Path) -> None:
    caches.entry(tmp_path, 1)
    put(bucket, tmp_path)
    journal = BucketJournal(bucket.url, tmp_path / "state")
    with pytest.raises(RefusedForSafety, match="shared"):
        s3_executor.execute(planned(bucket, confirmed=False), bucket, journal)
    with pytest.raises(RefusedForSafety, match="read-only"):
        s3_executor.execute(planned(bucket), bucket, journal, ExecuteOptions(read_only=True))
    assert len(keys(bucket)) == 4


def test_what_is_no_bucket_and_what_is_not_there_are_reported(url: str) -> None:
    with pytest.raises(UsageError, match="not the address of a bucket"):
        s3.connect("s3:///nothing")
    with pytest.raises(UsageError, match=r"'s3://\[caches/x' is not the address of a bucket"):
        s3.connect("s3://[caches/x")
    with pytest.raises(NothingToShow, match="S3 allows no such name"):
        s3.take(s3.connect("s3://two words/x"))
    with pytest.raises(NothingToShow, match="NoSuchBucket"):
        s3.take(s3.connect("s3://no-such-bucket-here/x"))


def test_a_download_that_breaks_off_at_every_attempt_is_reported(bucket: s3.Bucket, tmp_path: Path) -> None:
    entry = caches.entry(tmp_path / "here", 1)
    put(bucket, tmp_path / "here")
    objects = s3.objects_of(bucket, str(entry.relative_to(tmp_path / "here")))
    with relayed() as relay:
        relay.cutting = True
        with pytest.raises(NothingToShow, match=rf"{bucket.url}: \w+Error: the service cannot be reached"):
            s3.fetch(s3.connect(bucket.url), objects, tmp_path / "back")


def withhold(bucket: s3.Bucket, name: str, code: str) -> None:
    """The service answers requests for the contents of this object so."""
    answer = f"<Error><Code>{code}</Code></Error>".encode()

    def refuse(request: Any, **_: object) -> Any:
        if name not in unquote(request.url):
            return None
        return AWSResponse(request.url, 403, {}, SimpleNamespace(stream=lambda: [answer]))

    bucket.client.meta.events.register("before-send.s3.GetObject", refuse)


@pytest.mark.parametrize("deep", [False, True])
def test_verify_goes_on_after_an_artifact_that_the_service_withholds(
    bucket: s3.Bucket, tmp_path: Path, deep: bool
) -> None:
    for number in range(3):
        caches.entry(tmp_path / "here", number)
    put(bucket, tmp_path / "here")
    bucket.client.put_object(
        Bucket=bucket.name, Key=f"{bucket.prefix}{caches.COMPILER}/{caches.module(2)}/model.neff", Body=b"x" * 5000
    )
    backend = S3Backend(bucket.url, BackendOptions(state=tmp_path / "state"))
    withhold(backend._bucket, f"{caches.module(0)}/model.neff", "InvalidObjectState")
    levels: dict[str, set[FindingLevel]] = {}
    for finding in backend.verify(backend.snapshot().entries, deep=deep):
        levels.setdefault(finding.entry.module, set()).add(finding.level)
    assert levels[caches.module(0)] == {FindingLevel.WARNING}
    assert FindingLevel.BROKEN in levels[caches.module(2)]


@pytest.mark.parametrize("name", ["..", ".", "a\0b", "n" * 300, "é" * 200], ids=["up", "same", "nul", "long", "wide"])
def test_an_object_that_no_disk_can_store_keeps_no_entry_from_being_read(
    bucket: s3.Bucket, tmp_path: Path, name: str
) -> None:
    """One of them, which anybody may write who may write to the bucket, ended each deep check of it."""
    place = caches.entry(tmp_path / "cache", 1)
    put(bucket, tmp_path / "cache")
    bucket.client.put_object(Bucket=bucket.name, Key=f"{bucket.prefix}{caches.COMPILER}/{place.name}/{name}", Body=b"x")
    backend = S3Backend(bucket.url, BackendOptions(state=tmp_path / "state"))
    [entry] = backend.snapshot().entries
    assert any("archive" in finding.what for finding in backend.verify([entry], deep=True)), "it was read"
    with backend.local_copy(entry) as (root, local):
        names = {path.name for path in Path(root, local.path).iterdir()}
        assert (local.state, names) == (State.HIT, {path.name for path in place.iterdir()})


@pytest.mark.parametrize("code", ["NoSuchKey", "InvalidObjectState", "AccessDenied"])
def test_a_failure_log_that_is_withheld_keeps_no_other_from_being_read(
    bucket: s3.Bucket, tmp_path: Path, code: str
) -> None:
    """No entry of the bucket could be listed with its cause of failure, nor retried."""
    for number in (1, 2):
        states.entry_in(tmp_path, State.FAILED, number=number)
    put(bucket, tmp_path)
    backend = S3Backend(bucket.url, BackendOptions(state=tmp_path / "state"))
    snapshot = backend.snapshot()
    withheld = snapshot.entries[0]
    withhold(backend._bucket, f"{withheld.module}/model.log", code)
    found = backend.with_failures(snapshot).entries
    assert [entry.failure is not None for entry in found] == [False, True]
    assert {entry.state for entry in found} == {State.FAILED}


def test_an_object_that_marks_a_folder_makes_no_entry(bucket: s3.Bucket, tmp_path: Path) -> None:
    """The console of AWS makes such objects. They were shown as entries of 1970, and no eviction of them was done."""
    caches.entry(tmp_path / "cache", 1)
    put(bucket, tmp_path / "cache")
    for path in ("", f"{caches.module(1)}/", f"{caches.module(2)}/"):
        bucket.client.put_object(Bucket=bucket.name, Key=f"{bucket.prefix}{caches.COMPILER}/{path}", Body=b"")
    snapshot = s3.take(bucket).snapshot
    assert [entry.module for entry in snapshot.entries] == [caches.module(1)]
    assert len(snapshot.others) == 3


@pytest.mark.parametrize("code", ["InvalidObjectState", "AccessDenied"])
def test_an_artifact_that_the_service_withholds_keeps_no_other_from_being_copied(
    bucket: s3.Bucket, tmp_path: Path, code: str
) -> None:
    """A rule of the bucket may move old objects to an archive: each copy ended at the first of them."""
    here, back = tmp_path / "here", tmp_path / "back"
    for number in range(3):
        caches.entry(here, number)
    put(bucket, here)
    withhold(bucket, f"{caches.module(0)}/model.neff", code)
    source, target = S3CopyTarget(bucket), LocalCopyTarget(back)
    plan = plan_copy(s3.take(bucket).snapshot, CopyDestination(target.name), now=0.0)
    outcome = copies.copy(plan, source, target, Trash(back), lambda progress: True)
    assert (outcome.done, outcome.interrupted) == (2, False)
    ((path, reason),) = outcome.refused
    assert path.endswith(caches.module(0))
    assert f"GetObject was refused: {code}" in not_done_text(reason)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`neurontop cache …` with state and settings of this test alone."""
    environ = {**os.environ, "NEURONTOP_STATE_DIR": str(tmp_path / "state"), "NEURONTOP_CONFIG": os.devnull}

    def call(*words: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "neuron_top", "cache", *map(str, words)]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=240, check=False)

    return call


@pytest.mark.parametrize("later", [0.0, 86400.0])
def test_an_interrupted_plan_goes_on_where_it_stopped_and_is_undone_whole(
    bucket: s3.Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: float
) -> None:
    for number in (1, 2):
        caches.entry(tmp_path / "cache", number)
    put(bucket, tmp_path / "cache")
    before, plan, trash = keys(bucket), planned(bucket), BucketJournal(bucket.url, tmp_path / "state")

    def killed(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        s3_executor.execute(plan, bucket, trash, sleep=killed)
    assert trash.history_of(plan.identity).state == "interrupted"
    assert len(before - keys(bucket)) == 2, "only the marks are gone"
    resumed = time.time() + later
    monkeypatch.setattr(plan_history, "time", SimpleNamespace(time=lambda: resumed))
    outcome = s3_executor.execute(trash.plan(plan.identity), bucket, trash, sleep=lambda seconds: None)
    assert (outcome.done, outcome.refused) == (2, ())
    assert keys(bucket) == set()
    assert s3_restore.restore(plan.identity, bucket, trash).kept == ()
    assert keys(bucket) == before


@pytest.mark.parametrize("resume", [False, True], ids=["undone", "resumed"])
def test_an_interrupt_ends_the_wait_for_readers(bucket: s3.Bucket, tmp_path: Path, *, resume: bool) -> None:
    """The wait went on to its end, and everything was deleted after it."""
    for number in (1, 2):
        caches.entry(tmp_path / "cache", number)
    put(bucket, tmp_path / "cache")
    before, plan, trash = keys(bucket), planned(bucket), BucketJournal(bucket.url, tmp_path / "state")
    slept: list[float] = []
    left: list[float] = []

    def watch(progress: Progress) -> bool:
        left.append(progress.draining)
        return progress.draining != 58.0

    outcome = s3_executor.execute(plan, bucket, trash, ExecuteOptions(watch=watch), sleep=slept.append)
    assert (outcome.done, outcome.refused, outcome.interrupted) == (0, (), True)
    assert (sum(slept), left[-3:]) == (2.0, [60.0, 59.0, 58.0])
    assert before - keys(bucket) == {key for key in before if key.endswith("model.done")}
    assert trash.history_of(plan.identity).state == "interrupted"
    lines = [line.text for line in outcome_lines(outcome)]
    assert lines == [
        "interrupted after 0 steps",
        f"resume: neurontop cache apply {plan.identity} {shlex.quote(bucket.url)}",
        f"undo: neurontop cache restore {plan.identity} {shlex.quote(bucket.url)}",
    ]
    if resume:
        slept.clear()
        again = s3_executor.execute(trash.plan(plan.identity), bucket, trash, sleep=slept.append)
        assert (again.done, again.refused, keys(bucket)) == (2, (), set())
        assert sum(slept) == 60.0, "readers get their time although the marks were taken before"
    s3_restore.restore(plan.identity, bucket, trash)
    assert keys(bucket) == before


def test_an_interrupted_plan_can_be_undone_as_far_as_it_came(bucket: s3.Bucket, tmp_path: Path) -> None:
    caches.entry(tmp_path / "cache", 1)
    put(bucket, tmp_path / "cache")
    before, plan, trash = keys(bucket), planned(bucket), BucketJournal(bucket.url, tmp_path / "state")
    with pytest.raises(ZeroDivisionError):
        s3_executor.execute(plan, bucket, trash, sleep=lambda seconds: 1 / 0)
    record = s3_restore.restore(plan.identity, bucket, trash)
    assert (record.restored, record.kept) == (1, ())
    assert keys(bucket) == before


@pytest.mark.parametrize("resume", [False, True], ids=["undone", "resumed"])
def test_killed_at_any_request_or_touch_a_plan_is_undone_or_resumed(
    bucket: s3.Bucket, tmp_path: Path, *, resume: bool
) -> None:
    caches.entry(tmp_path / "cache", 1)
    put(bucket, tmp_path / "cache")
    before, file = keys(bucket), tmp_path / "plan.json"
    with killer() as kills:
        killed, at = True, 0
        while killed:
            plan, trash = planned(bucket), BucketJournal(bucket.url, tmp_path / f"state-{at}")
            file.write_bytes(encode(plan))
            killed = kills.killed("bucket", tmp_path / f"state-{at}", str(file), at)
            marks = {key for key in keys(bucket) if key.endswith("model.done")}
            assert keys(bucket) == before or not marks, f"killed at {at}: a mark without its artifact"
            begun = bool(trash.histories())
            assert begun or keys(bucket) == before, f"killed at {at}: touched before it was journalled"
            if begun and resume:
                again = s3_executor.execute(trash.plan(plan.identity), bucket, trash, sleep=lambda seconds: None)
                assert (again.refused, keys(bucket)) == ((), set()), f"killed at {at}"
            if begun and not resume:
                kills.killed("bucket back", tmp_path / f"state-{at}", str(file), at)
            if begun:
                s3_restore.restore(plan.identity, bucket, trash)
            assert keys(bucket) == before, f"killed at {at}"
            at += 1
    assert at > 15


def test_a_lock_goes_only_when_the_operator_forces_it_and_comes_back(bucket: s3.Bucket, tmp_path: Path) -> None:
    states.entry_in(tmp_path / "cache", State.STALE_LOCK)
    put(bucket, tmp_path / "cache")
    before, trash = keys(bucket), BucketJournal(bucket.url, tmp_path / "state")
    entries = s3.take(bucket).snapshot.entries
    assert plan_unlock(entries, bucket.url, alone(bucket)).steps == ()
    plan = plan_unlock(entries, bucket.url, alone(bucket), force=True)
    assert s3_executor.execute(plan, bucket, trash).done == 1
    assert {key.rpartition("/")[2] for key in before - keys(bucket)} == {"model.hlo_module.pb.lock"}
    s3_restore.restore(plan.identity, bucket, trash)
    assert keys(bucket) == before


def test_failures_are_explained_from_their_logs_and_forgotten_by_a_saved_plan(
    bucket: s3.Bucket, tmp_path: Path, run: Run
) -> None:
    states.entry_in(tmp_path / "cache", State.FAILED, number=1)
    rejected = states.entry_in(tmp_path / "cache", State.FAILED, number=2)
    (rejected / "model.log").write_text("Failed compilation with ['neuronx-cc']: [NCC_EOOM002] too large")
    put(bucket, tmp_path / "cache")
    before, saved = keys(bucket), tmp_path / "plan.json"
    shown = run("retry", bucket.url, "--next-run", "--save-plan", saved, "--json", "--i-am-alone")
    plan = json.loads(shown.stdout)["plans"][0]
    assert "NCC_EOOM002" in plan["exclusions"][0]["reason"]
    assert run("apply", saved, "--yes").returncode == 4, "the operator's word counts when it is done, not when planned"
    done = run("apply", saved, "--yes", "--i-am-alone")
    assert done.returncode == 0, done.stderr
    assert {key.rpartition("/")[2] for key in before - keys(bucket)} == {"model.log"}
    listed = json.loads(run("journal", bucket.url, "--json").stdout)["plans"]
    assert [(each["verb"], each["state"], each["done"]) for each in listed] == [("retry", "done", 1)]
    assert run("restore", plan["identity"], bucket.url).returncode == 0
    assert keys(bucket) == before


def test_whole_payloads_are_verified_and_one_entry_and_the_sums_are_shown(
    bucket: s3.Bucket, tmp_path: Path, run: Run
) -> None:
    place = caches.entry(tmp_path / "cache", 1)
    put(bucket, tmp_path / "cache")
    assert run("verify", bucket.url).returncode == 0, "the header is sound"
    full = run("verify", bucket.url, "--full", "--json")
    assert full.returncode == 1, full.stderr
    assert json.loads(full.stdout)["entries"][0]["module"] == place.name
    shown = json.loads(run("show", bucket.url, place.name, "--json").stdout)
    assert (shown["root"], shown["state"], len(shown["files"])) == (bucket.url, "hit", 4)
    assert shown["neff"]["header"] is not None
    assert (
        shown["bytes"]
        == sum(file["allocated"] for file in shown["files"])
        == sum(file["bytes"] for file in shown["files"])
    )
    text = run("show", bucket.url, place.name).stdout
    assert "in length" in text
    assert "on disk" not in text, "a bucket has no blocks"
    assert json.loads(run("stats", bucket.url, "--json").stdout)["totals"]["entries"] == 1


def test_a_bucket_is_never_purged(bucket: s3.Bucket, tmp_path: Path, run: Run) -> None:
    caches.entry(tmp_path / "cache", 1)
    put(bucket, tmp_path / "cache")
    before, plan, trash = keys(bucket), planned(bucket), BucketJournal(bucket.url, tmp_path / "state")
    s3_executor.execute(plan, bucket, trash, sleep=lambda seconds: None)
    refused = run("purge", bucket.url, "--plan", plan.identity, "--yes")
    assert refused.returncode == 2, refused.stderr
    assert "lifecycle rule" in refused.stderr
    assert trash.history_of(plan.identity).state == "done"
    s3_restore.restore(plan.identity, bucket, trash)
    assert keys(bucket) == before


def test_the_command_line_speaks_s3_and_reports_no_secret(bucket: s3.Bucket, tmp_path: Path, run: Run) -> None:
    caches.entry(tmp_path / "cache", 1)
    put(bucket, tmp_path / "cache")
    shown = run("evict", bucket.url, "--state", "hit", "--dry-run", "--json", "--i-am-alone")
    assert shown.returncode == 0, shown.stderr
    plan = json.loads(shown.stdout)["plans"][0]
    assert plan["root"] == bucket.url
    assert "within a day" in plan["exclusions"][0]["reason"]
    caches.entry(tmp_path / "cache", 2)
    text = run("copy", tmp_path / "cache", bucket.url, "--dry-run", "--i-am-alone").stdout
    assert "at the destination, before → after" in text
    assert "free" not in text, "a bucket has no end"
    refused = run("evict", bucket.url, "--state", "hit", "--yes")
    assert refused.returncode == 4
    assert run("verify", bucket.url).returncode == 0
    for result in (shown, refused):
        assert "made-up" not in result.stdout + result.stderr
    kept = "".join(path.read_text(errors="replace") for path in (tmp_path / "state").rglob("*") if path.is_file())
    assert "made-up" not in kept
