"""`merge-runner warm`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import load_project
from merge_runner.cli.project_root import project_root
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
    from merge_runner.engine.startup import start_warm

    prepared = load_project(options).prepared
    log = prepared.target_path / "logs" / "spark.log"
    files = prepared.files
    start_warm(files.profile, files.root, log, os.environ, options.idle * 60, say)
    return _status(options)


def _stop(options: Options) -> int:
    from merge_runner.engine.warm import client

    ended = client.stop(client.socket_path(project_root(options.project_dir), os.environ))
    click.echo("the warm driver has ended" if ended else "there is no warm driver")
    return 0


def _status(options: Options) -> int:
    from merge_runner.engine.warm import client

    reply = client.status(client.socket_path(project_root(options.project_dir), os.environ))
    if reply is None:
        click.echo("there is no warm driver")
        return 1
    state = "starting"
    if reply["user"] is not None:
        state = f"in use by process {reply['user']}"
    elif reply["ready"]:
        left = (reply["limit"] - reply["idle"]) / 60
        state = f"ready, ends after {left:.0f} more minutes without a run"
    click.echo(f"the warm driver is process {reply['jvm']}, kept by {reply['pid']}: {state}")
    return 0
