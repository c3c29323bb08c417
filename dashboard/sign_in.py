"""The page that asks for a token: plain HTML without a script, the only page that is shown to everybody."""

from __future__ import annotations

from string import Template

_PAGE = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in · neurontop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${prefix}assets/neurontop.css"><link rel="icon" href="${prefix}assets/icon.svg"></head>
<body><main class="sign-in"><h1>neurontop</h1>
<form method="post" action="${prefix}sign-in">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus
 aria-describedby="hint">
<p id="hint" class="quiet">The person who started <code>neurontop serve</code> has it: the read token to look, the act
token to change caches too.</p>
${note}
<button type="submit">Sign in</button></form></main></body></html>
""")


def sign_in_page(prefix: str, *, wrong: bool = False) -> str:
    """The page; `wrong` says that the last token was none of ours."""
    note = '<p role="alert" class="bad">That token is not valid here.</p>' if wrong else ""
    return _PAGE.substitute(prefix=prefix, note=note)
