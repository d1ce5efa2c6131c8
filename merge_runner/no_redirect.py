"""Requests whose content must not be sent to another address."""

from __future__ import annotations

from typing import Any
from urllib.request import HTTPRedirectHandler


class NoRedirect(HTTPRedirectHandler):
    """Follows no redirect: it would send the content, or the request without it, somewhere else."""

    def redirect_request(self, *_: Any) -> None:
        """Return None: the answer is an error."""
