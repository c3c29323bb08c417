"""What to do about a package manager that refuses something is about that one."""

from __future__ import annotations

import pytest

from neuron_top.ingest.advised import diagnose


@pytest.mark.parametrize(
    ("log", "advised", "others"),
    [
        (
            "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.example/tea - Not found\n",
            "npm says",
            ("Python", "venv"),
        ),
        ("npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\n", "npm says", ("Python", "venv")),
        ("error: externally-managed-environment\n", "python -m venv", ("npm",)),
        (
            "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 41 (apt-get)\n",
            "released the lock",
            ("npm", "venv"),
        ),
    ],
)
def test_the_advice_is_about_the_package_manager_of_the_log(log: str, advised: str, others: tuple[str, ...]) -> None:
    cause = diagnose(log.encode(), "log:x", 1).cause
    assert cause is not None
    assert advised in cause.advice
    assert not [word for word in others if word in cause.advice]
