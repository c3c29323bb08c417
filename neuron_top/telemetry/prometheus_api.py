"""Reads samples of many nodes from servers with the Prometheus HTTP API: Prometheus, VictoriaMetrics, Amazon's.

Credentials come from the environment; they are never printed, and are sent only to the named server: a redirect is an
error. `botocore` is loaded only for requests that Amazon's service wants signed.
"""

from __future__ import annotations

import base64
import math
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from neuron_top.calendar_bounds import is_in_calendar
from neuron_top.decoders import MALFORMED
from neuron_top.errors import NeuronTopError, UsageError
from neuron_top.escapes import visible
from neuron_top.http_refusals import NoRedirects, body_of, reason_of

TOKEN, USER, PASSWORD = (f"NEURONTOP_PROMETHEUS_{name}" for name in ("TOKEN", "USER", "PASSWORD"))
"""Variables that hold the credentials."""
SECONDS = 20.0
"""How long one answer may take."""
_LARGEST_ANSWER = 256 << 20
_AMAZON = re.compile(r"aps-workspaces(?:-fips)?\.([a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)\Z")

Headers = dict[str, str]
Sign = Callable[[str], Headers]
"""Returns the headers that authorize a request for a URL."""


class PrometheusUnusable(NeuronTopError):
    """The server cannot be reached, or does not answer the query."""


class LabeledSeries(msgspec.Struct, frozen=True):
    """One series of an answer: (seconds since the epoch, value), oldest first, without NaN and impossible times."""

    labels: dict[str, str]
    points: tuple[tuple[float, float], ...]

    @property
    def last(self) -> float | None:
        """The newest value."""
        return self.points[-1][1] if self.points else None


class _Result(msgspec.Struct):
    metric: dict[str, str] = {}
    value: tuple[float, str] | None = None
    values: list[tuple[float, str]] = []


class _Data(msgspec.Struct):
    result_type: str = msgspec.field(name="resultType")
    result: list[_Result]


class _Answer(msgspec.Struct):
    status: str
    data: _Data | None = None
    error: str = ""


class PrometheusApi:
    """A server by its URL, up to and without `/api/v1`."""

    def __init__(self, url: str, sign: Sign) -> None:
        self.url, self._sign = url.rstrip("/"), sign
        self._opener = urllib.request.build_opener(NoRedirects)

    def query(self, expression: str, at: float | None = None) -> list[LabeledSeries]:
        """Every series of an expression now, or at a time. Raises PrometheusUnusable."""
        return self._ask("query", {"query": expression} | ({} if at is None else {"time": f"{at:.3f}"}))

    def query_range(self, expression: str, start: float, end: float, step: float) -> list[LabeledSeries]:
        """The same between two times, a point each `step` seconds. Raises PrometheusUnusable."""
        span = {"start": f"{start:.3f}", "end": f"{end:.3f}", "step": f"{step:.3f}"}
        return self._ask("query_range", {"query": expression} | span)

    def _ask(self, endpoint: str, parameters: Mapping[str, str]) -> list[LabeledSeries]:
        # Blanks as %20, as the signature must be over the same bytes as those that are sent.
        url = f"{self.url}/api/v1/{endpoint}?{urlencode(parameters, quote_via=quote)}"
        request = urllib.request.Request(url, headers={"Accept": "application/json", **self._sign(url)})  # noqa: S310 (http or https: see `prometheus_api`)
        try:
            with self._opener.open(request, timeout=SECONDS) as response:
                body = body_of(response, _LARGEST_ANSWER, SECONDS)
        except urllib.error.HTTPError as problem:
            with problem:
                raise PrometheusUnusable(self._refused(problem)) from None
        except (OSError, HTTPException, ValueError) as problem:
            reason = getattr(problem, "reason", None) or problem
            raise PrometheusUnusable(f"Prometheus at {self.url} cannot be reached: {reason}") from None
        if len(body) > _LARGEST_ANSWER:
            raise PrometheusUnusable(
                f"Prometheus at {self.url} gave more than {_LARGEST_ANSWER} bytes; request a shorter time or fewer "
                "series"
            )
        return self._series(body)

    def _refused(self, answer: urllib.error.HTTPError) -> str:
        status = answer.code
        if status in (401, 403):
            return (
                f"Prometheus at {self.url} refuses us ({status}): set {TOKEN}, or {USER} and {PASSWORD}, or "
                "NEURONTOP_PROMETHEUS_AUTH=sigv4 with AWS's own variables"
            )
        if 300 <= status < 400:
            return f"Prometheus at {self.url} sends us elsewhere ({status}): name the address that it redirects to"
        said = reason_of(answer)
        return f"Prometheus at {self.url} answers {status}{f': {said}' if said else ', which is no answer of its API'}"

    def _series(self, body: bytes) -> list[LabeledSeries]:
        try:
            answer = msgspec.json.decode(body, type=_Answer)
            found = [_series(result) for result in answer.data.result] if answer.data is not None else None
        except (ValueError, *MALFORMED) as problem:
            raise PrometheusUnusable(f"{self.url} does not answer as the Prometheus API does: {problem}") from None
        if found is None or answer.status != "success":
            raise PrometheusUnusable(
                f"Prometheus at {self.url} does not answer: {visible(answer.error or answer.status)}"
            )
        return found


def _series(result: _Result) -> LabeledSeries:
    """Raises ValueError for a value that is no number."""
    given = result.values if result.value is None else [result.value]
    points = tuple((at, number) for at, text in given if is_in_calendar(at) and math.isfinite(number := float(text)))
    return LabeledSeries(result.metric, points)


def prometheus_api(url: str, authentication: str = "", environ: Mapping[str, str] = os.environ) -> PrometheusApi:
    """The server at a URL with the credentials of the environment. Raises UsageError.

    `authentication`: bearer, basic, sigv4 or none; "" chooses by what is set, and sigv4 for a host of Amazon's service.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as problem:
        raise UsageError(f"{url} is not the address of a Prometheus server: {problem}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"{url} is not the address of a Prometheus server: http://host:port or https://host/path")
    if parts.username or parts.password:
        raise UsageError(f"leave user and password out of the address of Prometheus and set {USER} and {PASSWORD}")
    if parts.query or parts.fragment:
        raise UsageError(f"give the address of Prometheus without /api/v1 and without a query: {url.partition('?')[0]}")
    return PrometheusApi(url, _signer(authentication or _by_what_is_set(host, environ), host, environ))


def _by_what_is_set(host: str, environ: Mapping[str, str]) -> str:
    if _AMAZON.fullmatch(host):
        return "sigv4"
    if environ.get(TOKEN):
        return "bearer"
    return "basic" if environ.get(USER) else "none"


def _signer(authentication: str, host: str, environ: Mapping[str, str]) -> Sign:
    if authentication == "none":
        return lambda _url: {}
    if authentication == "sigv4":
        return _sigv4(host, environ)
    needed = (TOKEN,) if authentication == "bearer" else (USER, PASSWORD)
    missing = [name for name in needed if not environ.get(name)]
    if missing:
        raise UsageError(f"{authentication} authentication at Prometheus needs {' and '.join(missing)}")
    if authentication == "bearer":
        header = f"Bearer {environ[TOKEN]}"
    else:
        header = "Basic " + base64.b64encode(f"{environ[USER]}:{environ[PASSWORD]}".encode()).decode()
    if not header.isascii() or not header.isprintable():
        raise UsageError(f"{' or '.join(needed)} holds characters that no HTTP header can carry")
    return lambda _url: {"Authorization": header}


def _sigv4(host: str, environ: Mapping[str, str]) -> Sign:
    """Amazon's signature, version 4, with the credentials that its own tools would use."""
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError
        from botocore.session import Session
    except ImportError:
        raise UsageError("signed requests need botocore: pip install 'neuron-top[s3]'") from None
    named = _AMAZON.fullmatch(host)
    region = named[1] if named else environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or ""
    if not region:
        raise UsageError("signed requests to Prometheus need a region: set AWS_REGION")
    session = Session()

    def sign(url: str) -> Headers:
        try:
            credentials = session.get_credentials()
            frozen = credentials.get_frozen_credentials() if credentials is not None else None
        except (BotoCoreError, OSError) as problem:  # a profile, a token's file or a service that is not there
            raise PrometheusUnusable(
                f"the AWS credentials to sign a request to Prometheus with cannot be read: {visible(str(problem))}"
            ) from None
        if frozen is None:
            raise PrometheusUnusable(
                "no AWS credentials to sign a request to Prometheus with: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY"
            )
        request = AWSRequest(method="GET", url=url)
        SigV4Auth(frozen, "aps", region).add_auth(request)
        return {str(name): str(value) for name, value in request.headers.items()}

    return sign
