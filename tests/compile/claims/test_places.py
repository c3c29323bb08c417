"""What every place of claims must do: PostgreSQL and a bucket, each a real server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from neuron_top.compile.claims.bucket import BucketClaims
from neuron_top.compile.claims.claim import Claims, ClaimsUnreachable
from neuron_top.compile.claims.database import DatabaseClaims
from tests import s3_server

KEY = "/shared/cache/neuronxcc-2.21.1.0+0a1b2c3d/MODULE_00000000000000000061+e30acd3a"
OTHER = f"{KEY}-other"
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
