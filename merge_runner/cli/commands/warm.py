"""`merge-runner warm`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import load_project, project_root
from merge_runner.options.declaration import argument, option
from merge_runner.options.project import ProjectOptions


@dataclass(frozen=True)
class Options(ProjectOptions):
    """The options of `warm`."""

    action: Literal["start", "stop", "status"] = argument()
    idle: float = option(
        "--idle",
        default=30.0,
        least=0,
        above=True,
        metavar="MINUTES",
        shows_default=True,
        help="It ends after so long without a run.",
    )


@make("warm", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Keep a Spark driver running for the project: what runs next uses it, and starts in half a second.

    It knows nothing of earlier runs, and is used by one run at a time. Where CI is set it is used only with
    MERGE_RUNNER_WARM=1; MERGE_RUNNER_WARM=0 leaves it alone. `status` ends with 1 where there is none.
    """
    return {"start": _start, "stop": _stop, "status": _status}[options.action](options)


def _start(options: Options) -> int:
    from merge_runner.cli.display.messages import say

    load_project(options, secrets=True).start_warm(idle=options.idle, on_message=say)
    return _status(options)


def _stop(options: Options) -> int:
    from merge_runner.api import stop_warm

    has_ended = stop_warm(project_root(options.project_dir))
    click.echo("the warm driver has ended" if has_ended else "there is no warm driver")
    return 0


def _status(options: Options) -> int:
    from merge_runner.api import warm_status

    driver = warm_status(project_root(options.project_dir))
    if driver is None:
        click.echo("there is no warm driver")
        return 1
    state = "starting"
    if driver.user is not None:
        state = f"in use by process {driver.user}"
    elif driver.ready:
        state = f"ready, ends after {driver.left / 60:.0f} more minutes without a run"
    click.echo(f"the warm driver is process {driver.jvm}, kept by {driver.keeper}: {state}")
    return 0
