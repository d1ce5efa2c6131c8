"""The command `merge-runner`: a command is one module of this package, loaded when it is called."""

from __future__ import annotations

import gc
import importlib
import os
import sys

import click

_COMMANDS = {
    "build": "run and test the models in DAG order",
    "clean": "remove the generated files",
    "compile": "render the models' SQL",
    "debug": "check the set-up",
    "deps": "fetch and verify the jars",
    "explain": "the plan, without running it",
    "init": "make a new project",
    "ls": "the selected nodes",
    "parse": "check the project and write the manifest",
    "run": "run the models in DAG order",
    "test": "run the data tests",
}
"""Each command and what it does. The help needs nothing else: no command is imported for it."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "list":
            cmd_name = "ls"
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"merge_runner.cli.{cmd_name}_command")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from merge_runner.errors import did_you_mean

            hint = did_you_mean(args[0], _COMMANDS) if args else None
            raise click.UsageError(f"{error.message} {hint or ''}".strip(), ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from merge_runner.version import version

        click.echo(f"merge-runner {version()}")
        ctx.exit()


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
def cli() -> None:
    """SQL MERGE models on Spark: what each MERGE will scan, built in parallel as a DAG."""


def main() -> None:
    """Runs the command line; the exit status is 0 (well), 1 (a model or test failed) or 2 (could not run)."""
    # Loading makes hundreds of thousands of small objects that stay: looking through them took a third of `ls`.
    gc.set_threshold(200_000, 20, 100)
    try:
        status = cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        status = 2
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 0
    except Exception as error:
        from merge_runner.errors import ProblemsError

        if not isinstance(error, ProblemsError):
            raise
        from merge_runner.cli.problems import show_problems

        show_problems(error.problems)
        status = 2
    sys.exit(status if isinstance(status, int) else 0)
