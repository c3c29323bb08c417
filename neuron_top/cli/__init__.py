"""The command line: one module per command."""

import sys

if "msgspec" not in sys.modules and "typing_extensions" not in sys.modules:
    # msgspec takes three names from typing_extensions where it can be imported, else from typing, which has had them
    # since Python 3.11. Importing it, with inspect, ast, dis and tokenize behind it, takes as long as the rest of
    # msgspec, and commands that scripts wait for need none of these. No other thread runs yet.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]
