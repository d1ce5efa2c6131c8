"""The frames in which messages come: also those whose header is none, or names a length that cannot be true."""

from __future__ import annotations

import re
from typing import BinaryIO, Protocol, cast

from pygls.lsp.server import LanguageServer

_CHUNK = 65_536
_LONGEST_LINE = 8_192
"""Bytes of a header; a longer line is none."""
_LARGEST = 2**28
"""Bytes of a body; a header that names more is not believed."""
_HEADER = re.compile(rb"content-length[ \t]*:[ \t]*0*(?P<length>\d{1,9})[ \t]*\r?\n\Z", re.IGNORECASE)
_IN_BODY = re.compile(rb"Content-Length: \d{1,9}\r\n")
_NO_HEADER = b"-\r\n"
_NO_BODY = b"-"


class Stream(Protocol):
    """What messages come from."""

    def read1(self, size: int, /) -> bytes:
        """Return what has come, as soon as something has; nothing at the end."""
        ...


class Frames:
    """The input of a server as pygls asks for it: headers as lines, and bodies.

    JSON has no line that is a header. So a header in a body, or after something else in its line, begins the next
    message: a wrong length costs the message that has it, and seldom the one after it.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._buffer = bytearray()

    def readline(self) -> bytes:
        """Return a line with its end: a header as pygls reads it, or anything that is none; nothing at the end."""
        while (end := self._buffer.find(b"\n") + 1) == 0:
            if len(self._buffer) > _LONGEST_LINE:
                del self._buffer[: -_LONGEST_LINE // 2]
            if not self._more():
                return b""
        line = self._take(end)
        header = _HEADER.search(line)
        if header is None:
            return line if not line.strip() else _NO_HEADER
        length = int(header["length"])
        return b"Content-Length: %d\r\n" % length if length <= _LARGEST else _NO_HEADER

    def read(self, size: int) -> bytes:
        """Return a body of `size` bytes, of fewer where another message begins before, or where the input ends."""
        searched = 0
        while True:
            header = _IN_BODY.search(self._buffer, searched)
            if header is not None and header.start() < size:
                return self._take(header.start()) or _NO_BODY
            if len(self._buffer) >= size:
                return self._take(size)
            # A header may be in two chunks: as much as one can have of the end is searched again.
            searched = max(0, len(self._buffer) - _LONGEST_LINE)
            if not self._more():
                return self._take(len(self._buffer))

    def _more(self) -> bool:
        chunk = self._stream.read1(_CHUNK)
        self._buffer += chunk
        return bool(chunk)

    def _take(self, size: int) -> bytes:
        body = bytes(self._buffer[:size])
        del self._buffer[:size]
        return body


def serve(server: LanguageServer, stream: BinaryIO, output: BinaryIO) -> None:
    """Have a server answer the messages of a buffered stream until it ends."""
    server.start_io(cast(BinaryIO, Frames(cast(Stream, stream))), output)
