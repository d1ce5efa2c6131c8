"""Tables of an Iceberg REST catalog, read without an engine: the part of its protocol that loads a table.

Iceberg's REST catalog specification: `GET v1/config`, whose settings complete those of the client, then `GET
v1/{prefix}/namespaces/{namespace}/tables/{table}`, whose answer has the metadata of the table. urllib3 asks for both.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote_plus, urlencode

from merge_runner.engine.table_format.iceberg.rest_settings import are_followed, plans_scans_itself
from merge_runner.version import version

_CONNECT_SECONDS = 3.0
_SECONDS = 5.0
"""How long an answer may take."""
_PAUSE_SECONDS = 60.0
"""How long a catalog is not asked that has failed: each request would wait for it."""
_REQUESTS = 16
_CHUNK = 1 << 16
_DELEGATION = "x-iceberg-access-delegation"
"""The header that asks for credentials of the files of a table, which are not read."""


class RestTable:
    """A table of a REST catalog. Its text is that of its metadata file."""

    def __init__(self, catalog: RestCatalog, namespace: str, name: str) -> None:
        self._catalog, self._namespace, self._name = catalog, namespace, name

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the metadata as the catalog has it now. Raises OSError, also where there is no such table."""
        found = self._catalog.load_table(self._namespace, self._name)
        metadata, config = found.get("metadata"), found.get("config") or {}
        if not isinstance(metadata, dict) or not isinstance(config, dict) or plans_scans_itself(config):
            raise OSError(f"the catalog does not say what is in {self._namespace}.{self._name}")
        return json.dumps(metadata)


class RestCatalog:
    """A REST catalog by its settings (`rest_settings`). Safe for many threads.

    What it does not answer is an OSError. Where it fails as a whole, it is not asked again for a minute.
    """

    def __init__(self, settings: Mapping[str, str], pool: Any) -> None:
        self._given, self._pool = settings, pool
        self._guard = threading.Lock()
        self._settings: Mapping[str, str] | None = None
        self._authorization: str | None = None
        self._failed: tuple[float, str] | None = None

    @property
    def failure(self) -> str | None:
        """Why it is not asked at present; None: it is."""
        failed = self._failed
        return failed[1] if failed is not None and time.monotonic() < failed[0] else None

    def load_table(self, namespace: str, name: str) -> dict[str, Any]:
        """Return the answer of the catalog about a table in a namespace of one level. Raises OSError."""
        try:
            settings = self._configured()
            prefix = [settings["prefix"]] if settings.get("prefix") else []
            path = "/".join(["v1", *prefix, "namespaces", _encoded(namespace), "tables", _encoded(name)])
            url = f"{_url(settings, path)}?snapshots=all"  # the parents of the newest one are looked at
            used = self._authorization
            try:
                return self._asked("GET", url, _headers(settings, used))
            except _ExpiredError:
                return self._asked("GET", url, _headers(settings, self._renewed(settings, used)))
        except _NoTableError:
            raise
        except OSError as error:
            self._fail(error)
            raise

    def _configured(self) -> Mapping[str, str]:
        """Return the settings with those of the server, as the protocol puts them together. Raises OSError."""
        with self._guard:
            if (failure := self.failure) is not None:
                raise OSError(failure)
            self._failed = None
            if self._settings is None:
                try:
                    self._settings = self._completed()
                except OSError as error:
                    self._fail(error)  # before another thread asks for the same
                    raise
            return self._settings

    def _fail(self, error: OSError) -> None:
        if self._failed is None:
            self._failed = (time.monotonic() + _PAUSE_SECONDS, str(error))

    def _completed(self) -> Mapping[str, str]:
        self._authorization = self._authenticated(self._given)
        settings = _merged(self._given, self._config())
        if not are_followed(settings):
            raise OSError("the catalog asks for what is not known here")
        if not self._given.get("credential"):  # else the token that it has given holds
            self._authorization = self._authenticated(settings)
        return settings

    def _config(self) -> dict[str, Any]:
        given = self._given
        query = f"?{urlencode({'warehouse': given['warehouse']})}" if "warehouse" in given else ""
        try:
            return self._asked("GET", _url(given, "v1/config") + query, _headers(given, self._authorization))
        except _NoTableError as error:
            raise OSError(str(error)) from error

    def _renewed(self, settings: Mapping[str, str], used: str | None) -> str | None:
        """Return another value of the header Authorization than one that has expired. Raises OSError."""
        with self._guard:
            if self._authorization == used:
                self._authorization = self._authenticated(settings)
            return self._authorization

    def _authenticated(self, settings: Mapping[str, str]) -> str | None:
        """Return the value of the header Authorization; None: there is none. Raises OSError."""
        kind = settings.get("rest.auth.type", "oauth2").lower()
        if kind == "basic":
            names = ("rest.auth.basic.username", "rest.auth.basic.password")
            return f"Basic {base64.b64encode(':'.join(settings.get(name, '') for name in names).encode()).decode()}"
        token, credential = settings.get("token"), settings.get("credential")
        if kind == "none" or not (token or credential):
            return None
        bearer = f"Bearer {token}" if token else None
        if not credential or (bearer and not self._given.get("credential")):
            return bearer
        headers = _headers(settings, bearer) | {"Content-Type": "application/x-www-form-urlencoded"}
        place = _url(settings, settings.get("oauth2-server-uri", "v1/oauth/tokens"))
        try:
            answer = self._asked("POST", place, headers, urlencode(_client_credentials(settings, credential)))
        except (_NoTableError, _ExpiredError) as error:
            raise OSError(str(error)) from error
        if "access_token" not in answer:
            raise OSError("the catalog gives no token")
        return f"Bearer {answer['access_token']}"

    def _asked(self, method: str, url: str, headers: Mapping[str, str], body: str | None = None) -> dict[str, Any]:
        """Return the JSON object that a URL answers. Raises OSError."""
        from urllib3.exceptions import HTTPError

        until = time.monotonic() + _SECONDS
        try:
            answer = self._pool.request(method, url, body=body, headers=headers, redirect=False, preload_content=False)
            text = _text(answer, until)
            _check_status(answer.status)
            found = json.loads(text)
        except (HTTPError, ValueError) as error:
            raise OSError(f"the catalog cannot be asked: {type(error).__name__}") from error
        if not isinstance(found, dict):
            raise OSError("the catalog answers with no object")
        return found


def rest_catalog(settings: Mapping[str, str]) -> RestCatalog | None:
    """Return a catalog by its settings; None where urllib3 is not installed."""
    return _opened(frozenset(settings.items()))


@lru_cache(maxsize=16)
def _opened(settings: frozenset[tuple[str, str]]) -> RestCatalog | None:
    try:
        from urllib3 import PoolManager, Timeout
    except ImportError:
        return None
    timeout = Timeout(connect=_CONNECT_SECONDS, read=_SECONDS)
    return RestCatalog(dict(settings), PoolManager(maxsize=_REQUESTS, timeout=timeout, retries=False))


class _NoTableError(OSError):
    """The catalog answers that there is no such table, or that it may not be seen."""


class _ExpiredError(OSError):
    """The catalog does not know a token, or does not know it any longer."""


def _text(answer: Any, until: float) -> bytes:
    """Return the body of an answer. Raises OSError where it has not come by a time, and what urllib3 raises."""
    parts, is_whole = [], False
    try:
        while time.monotonic() < until and not is_whole:
            parts.append(answer.read1(_CHUNK))
            is_whole = not parts[-1]
    finally:
        if not is_whole:
            answer.close()  # what is left of it must not be the next answer
        answer.release_conn()
    if not is_whole:
        raise OSError(f"the catalog has not answered within {_SECONDS:.0f} seconds")
    return b"".join(parts)


def _check_status(status: int) -> None:
    """Raise OSError for what is no answer."""
    message = f"the catalog answers with the status {status}"
    if status in (403, 404):
        raise _NoTableError(message)
    if status in (401, 419):
        raise _ExpiredError(message)
    if status != 200:
        raise OSError(message)


def _merged(given: Mapping[str, str], config: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of a client completed by the defaults of a server, and replaced by its overrides."""
    try:
        merged = {**(config.get("defaults") or {}), **given, **(config.get("overrides") or {})}
    except TypeError as error:
        raise OSError("the catalog answers with another configuration than expected") from error
    return {key: str(value) for key, value in merged.items() if value is not None}


def _client_credentials(settings: Mapping[str, str], credential: str) -> dict[str, str]:
    """Return the form that asks for a token: of a credential `ID:SECRET`, or a secret alone."""
    first, separator, second = (part.strip() for part in credential.partition(":"))
    client = {"client_id": first, "client_secret": second} if separator else {"client_secret": first}
    more = {name: settings[name] for name in ("audience", "resource") if name in settings}
    return {"grant_type": "client_credentials", **client, "scope": settings.get("scope", "catalog"), **more}


def _url(settings: Mapping[str, str], path: str) -> str:
    return path if path.startswith(("http://", "https://")) else f"{settings['uri'].rstrip('/')}/{path.lstrip('/')}"


def _headers(settings: Mapping[str, str], authorization: str | None) -> dict[str, str]:
    headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"merge-runner/{version()}"}
    if authorization is not None:
        headers["Authorization"] = authorization
    own = {key.removeprefix("header."): value for key, value in settings.items() if key.startswith("header.")}
    replaced = {name.lower() for name in own}
    kept = {name: value for name, value in headers.items() if name.lower() not in replaced}
    return kept | {name: value for name, value in own.items() if name.lower() != _DELEGATION}


def _encoded(name: str) -> str:
    """Return a name as Iceberg's client in Java writes it into a path."""
    return quote_plus(name, safe="*")
