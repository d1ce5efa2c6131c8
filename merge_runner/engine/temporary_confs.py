"""Confs that a session has for a while."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def temporary_confs(session: SparkSession, confs: Mapping[str, str]) -> Iterator[None]:
    """The session has these confs inside the block; afterwards they are as before. Raises what PySpark raises."""
    before = {key: session.conf.get(key, None) for key in confs}
    try:
        for key, value in confs.items():
            session.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                session.conf.unset(key)
            else:
                session.conf.set(key, old)
