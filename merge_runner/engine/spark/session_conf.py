"""Confs that a session is given: for good, or for a while."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def set_confs(session: SparkSession, confs: Mapping[str, str]) -> None:
    """Gives the session these confs, which win over what it has. Raises what PySpark raises."""
    for key, value in confs.items():
        session.conf.set(key, value)


@contextmanager
def temporary_confs(session: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    """The session has these confs inside the block; afterwards they are as before. Raises what PySpark raises."""
    before = {key: session.conf.get(key, None) for key in confs}
    try:
        set_confs(session, confs)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, old)
