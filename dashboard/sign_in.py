"""The pages that need no sign-in, plain HTML without a script: the form for the token, and that of a wrong address."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
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
<input type="hidden" name="to" value="${back}">
<p id="hint" class="quiet">The person who started <code>neurontop serve</code> has it: the read token to look, the act
token to change caches too.</p>
<ul class="quiet"><li>In the terminal where it runs: the act token is printed when it starts and none was given.</li>
<li>In the file behind <code>--read-token-file</code> or <code>--act-token-file</code>.</li>
<li>In the environment: <code>NEURONTOP_READ_TOKEN</code>, <code>NEURONTOP_ACT_TOKEN</code>.</li></ul>
${note}
<button type="submit">Sign in</button></form></main></body></html>
""")


_WRONG = Template("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>No such page – neurontop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${prefix}assets/neurontop.css"><link rel="icon" href="${prefix}assets/icon.svg"></head>
<body><main class="sign-in"><h1>There is nothing at this address</h1><p>${reason}</p>
<p>Pages: ${pages}. Programs find <a href="${prefix}api/openapi.json">what the API answers</a>.</p></main></body></html>
""")


def wrong_page(prefix: str, links: Sequence[tuple[str, str]], reason: str) -> str:
    """The page of an address that is not served; `links`: path and name of each page of the navigation."""
    pages = ", ".join(f'<a href="{escape(prefix + path)}">{escape(name)}</a>' for path, name in links)
    return _WRONG.substitute(prefix=prefix, pages=pages, reason=escape(reason))


def sign_in_page(prefix: str, *, wrong: bool = False, back: str = "") -> str:
    """The page; `wrong`: the last token was wrong; `back`: where to go after signing in."""
    note = '<p role="alert" class="bad">That token is not valid here.</p>' if wrong else ""
    return _PAGE.substitute(prefix=prefix, note=note, back=escape(back or prefix))
