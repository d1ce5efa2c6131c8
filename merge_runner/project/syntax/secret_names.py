"""What must never be shown: found by names of environment variables, confs, options and vars, and in URLs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# The names that Spark's own default of spark.redaction.regex hides, those of cloud storage, and SASL's.
_SECRET = re.compile(
    r"(?i)secret|passw|passphrase|(?<![a-z])pass(?![a-z])|[._-]pwd\Z|token|credential|jaas|"
    r"(?:access|account|api|private|encryption)[._-]?key"
)
_PARTS_OF_SECRET = ("secret", "pass", "pwd", "token", "credent", "jaas", "key")
"""One of these is in whatever `_SECRET` finds; to look for them takes a tenth of the time."""
_NO_SECRET = re.compile(r"(?i)(?:true|false|yes|no|on|off|none|null|auto|default|-?\d{1,5})?")
"""Values that reveal nothing, and whose masking would hide much else: `x.key.enabled: true`."""
_KEY = re.compile(r"(?i)(?<![a-z])key(?![a-z])|key\Z")
PLACEHOLDER = "withheld_secret"
"""What templates get in place of a secret where nothing runs: it reveals nothing."""
_IN_URL = re.compile(
    r"://[^/?#\s:@]*:([^/?#\s@]+)@"  # user:password@host
    r"|[?&;](?:[\w.-]*(?:secret|passw|token|signature)[\w.-]*|(?:[\w.-]*[._-])?key|pwd|sig)=([^&;\s]+)",
    re.IGNORECASE,
)


def secret_values(texts: Mapping[str, str | None]) -> Iterator[str]:
    """The values of variables, confs or options that must never be shown by their names, and such parts of URLs."""
    for name, value in texts.items():
        if value is not None and not _NO_SECRET.fullmatch(value):
            if _is_secret_name(name) and value != PLACEHOLDER:
                yield value
            yield from secrets_in_url(value)


def is_secret_variable(name: str, value: str | None) -> bool:
    """Return whether an environment variable is a secret's by its name, set or not, or holds one in a URL."""
    return _is_secret_name(name) or (value is not None and any(secrets_in_url(value)))


def _is_secret_name(name: str) -> bool:
    return _SECRET.search(name) is not None or _KEY.search(name) is not None


def secret_vars(values: Mapping[str, Any]) -> Iterator[str]:
    """The same of vars. A `key` alone says nothing there: it is the name of a column as a rule."""
    for name, value in values.items():
        if isinstance(value, str) and not _NO_SECRET.fullmatch(value) and _SECRET.search(str(name)):
            yield value


def secrets_in_url(text: str) -> Iterator[str]:
    """The password of a URL's user, and the values of its parameters that say that they are secret."""
    for user, parameter in _IN_URL.findall(text):
        if (user or parameter) != PLACEHOLDER:
            yield user or parameter


def holds_value(text: str, values: Iterable[str | None]) -> bool:
    """Return whether a JSON text has one of these values."""
    return any(value and json.dumps(value)[1:-1] in text for value in values)


def may_name_secrets(text: str) -> bool:
    """Return whether a file may hold a secret in plain text: by a name in it, in a URL, or in options of any name."""
    if "options" in text:
        return True
    folded = text.casefold()
    if any(part in folded for part in _PARTS_OF_SECRET) and _SECRET.search(text) is not None:
        return True
    return ("=" in text or "@" in text) and any(secrets_in_url(text))
