"""What every place of claims must do: PostgreSQL and a bucket, each a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from neuron_top.amounts import parse_seconds
from neuron_top.compile.claims.bucket import BucketClaims
from neuron_top.compile.claims.claim import Claims, ClaimsUnreachable
from neuron_top.compile.claims.database import DatabaseClaims
from neuron_top.settings import Settings
from tests import s3_server
from tests.s3_relay import Relay, relayed

KEY = "/shared/cache/neuronxcc-2.21.1.0+0a1b2c3d/MODULE_00000000000000000061+e30acd3a"
OTHER = f"{KEY}-other"
OTHER_LEASE = 61.0
"""Gives the object another tag; where a bucket encrypts with keys of its own, every write does."""
Holder = Callable[[str], Claims]
"""A node's name → a holder there."""


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of a server of its own."""
    with s3_server.served() as url:
        yield url


@pytest.fixture(params=["postgresql", "bucket"])
def holder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holder]:
    """Holders on nodes of this name, at one place of claims."""
    if request.param == "postgresql":
        address = request.getfixturevalue("postgres_url")

    made: list[Claims] = []

    def make(node: str) -> Claims:
        monkeypatch.setenv("NEURONTOP_NODE", node)
        if request.param == "postgresql":
            made.append(DatabaseClaims(address))
        else:
            made.append(BucketClaims(f"{request.getfixturevalue('bucket')}/{request.node.name}"))
        return made[-1]

    yield make
    for one in made:
        one.release(KEY)
        one.release(OTHER)
        one.rest()


def test_a_key_has_one_holder_until_it_is_given_back(holder: Holder) -> None:
    one, two = holder("n1"), holder("n2")
    assert one.claim(KEY, 60.0).mine
    reported = two.claim(KEY, 60.0)
    assert (reported.mine, reported.node) == (False, "n1")
    assert 50.0 < reported.seconds_left <= 60.0
    assert two.claim(OTHER, 60.0).mine
    assert one.renew(KEY, 60.0)
    two.release(KEY)  # not its own
    assert not two.claim(KEY, 60.0).mine
    one.release(KEY)
    assert two.claim(KEY, 60.0).mine
    assert not one.claim(KEY, 60.0).mine


def test_a_lease_that_ran_out_is_taken_over_and_its_holder_told_so(holder: Holder) -> None:
    one, two = holder("n1"), holder("n2")
    assert one.claim(KEY, 1.0).mine
    deadline = time.monotonic() + 60
    while not (taken := two.claim(KEY, 60.0)).mine:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert taken.taken_from == "n1"
    assert not one.renew(KEY, 60.0)
    one.release(KEY)
    assert two.renew(KEY, 60.0)


def test_of_many_that_come_at_once_one_gets_the_key(holder: Holder) -> None:
    holders = [holder(f"n{number}") for number in range(8)]
    together, mine = threading.Barrier(len(holders)), []

    def ask(one: Claims) -> None:
        together.wait()
        mine.append(one.claim(KEY, 60.0).mine)

    threads = [threading.Thread(target=ask, args=(one,)) for one in holders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(mine) == [False] * 7 + [True]


@pytest.fixture
def relay(bucket: str) -> Iterator[Relay]:
    """Between holders and their bucket."""
    with relayed() as relay:
        yield relay


@pytest.fixture
def lossy(bucket: str, relay: Relay, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Holder:
    """Holders whose requests go through the relay."""

    def make(node: str) -> Claims:
        monkeypatch.setenv("NEURONTOP_NODE", node)
        return BucketClaims(f"{bucket}/{request.node.name}")

    return make


def test_who_holds_a_key_is_not_refused_by_its_own_write_whose_answer_was_lost(lossy: Holder, relay: Relay) -> None:
    one, two = lossy("n1"), lossy("n2")
    relay.losing = 1
    assert one.claim(KEY, 60.0).mine
    assert not two.claim(KEY, 60.0).mine
    relay.losing = 1
    assert one.renew(KEY, OTHER_LEASE)
    assert relay.losing == 0
    assert one.renew(KEY, 60.0)
    one.release(KEY)
    assert two.claim(KEY, 60.0).mine
    assert not one.renew(KEY, 60.0)


def test_what_was_renewed_without_an_answer_can_be_given_back(lossy: Holder, relay: Relay) -> None:
    one, two = lossy("n1"), lossy("n2")
    assert one.claim(KEY, 60.0).mine
    relay.losing = 100
    with pytest.raises(ClaimsUnreachable):
        one.renew(KEY, OTHER_LEASE)
    relay.losing = 0
    one.release(KEY)
    assert two.claim(KEY, 60.0).mine


def test_a_lease_is_renewed_while_another_claim_gets_no_answer(lossy: Holder, relay: Relay) -> None:
    one = lossy("n1")
    assert one.claim(KEY, 60.0).mine
    relay.silent = relay.paths[-1]
    with ThreadPoolExecutor(2) as threads:
        asking = threads.submit(one.claim, OTHER, 60.0)
        while relay.paths[-1] == relay.silent:
            time.sleep(0.01)
        try:
            assert threads.submit(one.renew, KEY, 60.0).result(timeout=30)
            assert not asking.done()
        finally:
            relay.silent = ""
            relay.ended.set()
        assert asking.result().mine


@pytest.mark.parametrize(
    "date", ["", "soon", "Mon, 30 Nov 2026 07:00:00 -0000", "Mon, 30 Nov 2026 07:00:00 +99999999999999999"]
)
def test_a_date_that_cannot_be_read_ends_no_claim(bucket: str, request: pytest.FixtureRequest, date: str) -> None:
    """A gateway in front of the bucket had written it: a job ended with a ValueError or TypeError."""
    one, two = (BucketClaims(f"{bucket}/{request.node.name}") for _ in range(2))

    def answered(http_response: Any, parsed: dict[str, Any], **_: object) -> None:
        parsed["ResponseMetadata"]["HTTPHeaders"]["date"] = date

    two._bucket.client.meta.events.register("after-call.s3.GetObject", answered)
    assert one.claim(KEY, 1e9).mine
    assert not two.claim(KEY, 60.0).mine
    one.release(KEY)


def test_a_bucket_that_does_not_answer_is_given_up_before_a_lease_runs_out(bucket: str) -> None:
    config = BucketClaims(bucket)._bucket.client.meta.config
    longest = max(config.connect_timeout, config.read_timeout) * config.retries["total_max_attempts"]
    assert longest < parse_seconds(Settings().claim_lease)


def test_a_place_that_does_not_answer_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ClaimsUnreachable, match=r"127\.0\.0\.1"):
        DatabaseClaims("postgresql://127.0.0.1:9/none?connect_timeout=2").claim(KEY, 60.0)
    for name, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "made-up",
        "AWS_SECRET_ACCESS_KEY": "made-up-too",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ClaimsUnreachable, match=r"s3://caches/neurontop-claims: .* cannot be reached"):
        BucketClaims("s3://caches").claim(KEY, 60.0)
