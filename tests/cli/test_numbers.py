"""Numbers that are out of bounds or none: a usage error that says what is expected."""

from __future__ import annotations

import pytest

from neuron_top.cli.main import main


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("demo --web --port -3", "'-3' is no port: must be between 0 and 65535"),
        ("serve --port 65536", "'65536' is no port: must be between 0 and 65535"),
        ("serve --port 8.5", "'8.5' is no port: must be between 0 and 65535"),
        ("replay last --speed x", "'x' is not a number"),
        ("replay last --speed nan", "must lie between 0.001 and 1000"),
        ("report last --price -1", "must be an amount of money, 0 or more"),
        ("check last --max-compile-share 1.5", "must lie between 0 and 1"),
        ("check last --max-late x", "'x' is not a number"),
    ],
)
def test_a_number_out_of_bounds_is_a_usage_error(
    command: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(command.split())
    assert end.value.code == 2
    assert expected in capsys.readouterr().err
