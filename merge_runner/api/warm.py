"""The warm driver of a project: whether there is one, and its end."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WarmStatus:
    """A warm driver: process `jvm`, kept by process `keeper`, used by process `user`, None: free."""

    jvm: int
    keeper: int
    user: int | None
    ready: bool
    """Whether Spark has started."""
    left: float
    """Seconds until it ends without a run."""


def warm_status(path: str | Path = ".") -> WarmStatus | None:
    """Return the state of the warm driver of the project in a folder; None where there is none."""
    from merge_runner.engine.warm import client

    state = client.status(client.socket_path(Path(path), os.environ))
    if state is None:
        return None
    return WarmStatus(state["jvm"], state["pid"], state["user"], state["ready"], state["limit"] - state["idle"])


def stop_warm(path: str | Path = ".") -> bool:
    """End the warm driver of the project in a folder, whatever runs there; False where there is none."""
    from merge_runner.engine.warm import client

    return client.stop(client.socket_path(Path(path), os.environ))
