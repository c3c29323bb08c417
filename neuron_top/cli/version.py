"""`neurontop --version`: the version, and what else is installed that matters."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_top.cli.output import table
from neuron_top.escapes import visible
from neuron_top.services.installation import Installation, installation


def print_version() -> None:
    """The version on the first line, for scripts; below it what a bug report needs."""
    found = installation()
    print(f"neurontop {found.neurontop}")
    print(table(("", ""), _rows(found)).lstrip("\n"))


def _rows(found: Installation) -> Iterator[tuple[str, str]]:
    yield "Python", f"{found.python}, {found.system}"
    for extra in found.extras:
        missing = f"not installed: pip install 'neuron-top[{extra.name}]'"
        yield f"[{extra.name}]", missing if extra.version is None else f"{extra.library} {extra.version}"
    packages = ", ".join(f"{name} {version}" for name, version in found.sdk.items())
    yield "Neuron packages", packages or "none in the environment of python3"
    yield "Neuron tools", ", ".join(map(visible, found.tools.values())) or "none on the PATH"
