"""Who hears of a run: the `notify` of an output in profiles.yml."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import SplitResult, urlsplit

from merge_runner.project.schema.accepts import Exactly, also, exclusive, one_of
from merge_runner.project.syntax.annotations import CLOSED, After, Before
from merge_runner.project.syntax.environment import NOT_ALLOWED, SECRET

_ADDRESS = r"^https?://[!-~]+$"
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")
_URL = "an address https://HOST/…, without a user; http:// is for this machine alone (localhost, 127.0.0.1)"


def _url(value: str) -> str:
    if value not in (SECRET, NOT_ALLOWED) and not _is_url(value):  # these stand for a variable where nothing runs
        raise ValueError(_URL)
    return value


def _is_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises where it is no number
    except ValueError:
        return False
    has_host = re.match(_ADDRESS, value) is not None and parts.hostname is not None and "@" not in parts.netloc
    return has_host and (parts.scheme == "https" or is_loopback(parts))


def is_loopback(parts: SplitResult) -> bool:
    """Return whether an address is one of this machine."""
    return _LOOPBACK.fullmatch(parts.hostname or "") is not None


def _words(value: Any) -> Any:
    """Return the words of a command that is one text, as a shell would split it; no shell runs it."""
    if not isinstance(value, str):
        return value
    try:
        return shlex.split(value)
    except ValueError:
        raise ValueError("a list of words, or a text whose quotes are closed") from None


def _command(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value or not value[0]:
        raise ValueError("a command: its program and its arguments")
    return value


@dataclass(frozen=True)
class Notification:
    """A webhook or a command that gets the results of a run."""

    __pydantic_config__: ClassVar[Any] = CLOSED
    ACCEPTS: ClassVar[Any] = {**exclusive("url", "command"), **one_of("url", "command")}

    on: Literal["failure", "always"] = "failure"
    """Which runs are reported: those in which something failed, or all.
    Example: `on: always`"""
    url: Annotated[str, After(_url), Exactly({"type": "string"})] | None = field(default=None, repr=False)
    """The webhook: the results are sent by POST. An address https://…, which is hidden as a secret everywhere.
    Example: `url: "https://ops.example.com/runs"`"""
    command: Annotated[tuple[str, ...], Before(_words), After(_command), also({"type": "string"})] | None = None
    """A program with its arguments, which gets the results as JSON on its standard input. It runs in the folder of the
    project, without a shell. Excludes `url`.
    Example: `command: [python, ops/page.py, --team, data]`"""
    format: Literal["json", "slack", "teams"] = "json"
    """What the webhook takes: `json` is [the document](../guides/notifications.md#json), `slack` and `teams` are texts
    for their webhooks.
    Example: `format: slack`"""

    def __post_init__(self) -> None:
        if (self.url is None) == (self.command is None):
            raise ValueError('one of "url" and "command" is needed, and not both')
        if self.command is not None and self.format != "json":
            raise ValueError('a command gets "format: json"')

    @property
    def receiver(self) -> str:
        """Who is notified, as it may be shown: the host of the webhook, or the program."""
        return urlsplit(self.url).hostname or "" if self.url is not None else (self.command or ("",))[0]
