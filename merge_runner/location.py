"""Where a table or file is: on a disk of this machine, or on a file system that Spark knows by its URI."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

_URI = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(frozen=True)
class Uri:
    """A place on an object store or HDFS: `s3a://bucket/path`, without a slash at its end."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __truediv__(self, name: str) -> Uri:
        return Uri(f"{self.text}/{name}")

    @property
    def scheme(self) -> str:
        """The scheme, in lower case."""
        return scheme(self.text) or ""

    @property
    def store(self) -> str:
        """The scheme and the bucket, container or host that it is in, without a slash at its end."""
        return "/".join(self.text.split("/", 3)[:3])

    @property
    def parent(self) -> Uri:
        """The folder that it is in."""
        return Uri(self.text.rpartition("/")[0])

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.text.rpartition("/")[2]


Location = Path | Uri


def scheme(place: str) -> str | None:
    """Return the scheme of a URI, in lower case; None for a path."""
    match = _URI.match(place)
    return match["scheme"].lower() if match is not None else None


def local_path(place: str) -> Path:
    """Return the path of a file that is named by a path or a `file:` URI."""
    return Path(unquote(place.removeprefix("file:")) if place.startswith("file:") else place)


def location(root: Path, place: str) -> Location:
    """Return a place that is written as a URI, or as a path relative to `root`."""
    return Uri(place.rstrip("/")) if scheme(place) is not None else root / place
