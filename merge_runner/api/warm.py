"""The warm driver of a project: whether there is one, and its end."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merge_runner.engine.startup import DriverStart
    from merge_runner.plan.load.project_context import Prepared
    from merge_runner.run.results.events import Events


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


class WarmStart:
    """Gives a project its warm driver, and starts one where there is none, which `close` ends.

    It ends by itself after `minutes` unused, or after the `keep_warm` of the profile where that is longer. Where none
    may be kept, as in CI, each run has a separate driver. `check` raises ProblemsError for a project that gets none.
    """

    def __init__(self, minutes: int, check: Callable[[Prepared], None]) -> None:
        self._minutes = minutes
        self._check = check
        self._root: Path | None = None
        """The folder of the project whose driver was started here."""

    def __call__(self, prepared: Prepared, events: Events) -> DriverStart:
        """Return the driver of a project on its way. Raises what `check` raises."""
        from merge_runner.run.execution.driver_scope import starting_driver

        self._check(prepared)
        files = prepared.files
        if self._root is None and warm_status(files.root) is None:
            self._root = files.root
        profile = replace(files.profile, keep_warm=max(files.profile.keep_warm, self._minutes))
        return starting_driver(replace(prepared, files=replace(files, profile=profile)), events)

    def close(self) -> None:
        """End the driver that was started here."""
        if self._root is not None:
            stop_warm(self._root)
