"""The messages of a client, also those that are not as the protocol wants them."""

from __future__ import annotations

from typing import Any

from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol


class Messages(LanguageServerProtocol):
    """The protocol of pygls, which leaves a request without an answer whose params cannot be read."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a message. Raises JsonRpcException for one that cannot be read: a request is answered with it."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise
