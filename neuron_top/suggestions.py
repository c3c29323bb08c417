"""What a person probably meant who gave a name that nothing has."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(given: str, names: Iterable[str]) -> str:
    """The name that is nearest to a wrong one, to stand behind it in a sentence; "" if none is near."""
    near = get_close_matches(given, list(names), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""
