"""The command `merge-runner`: a command is one module of `cli/commands`, loaded when it is called."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import threading
from collections.abc import Sequence
from io import StringIO, TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from merge_runner.cli.command import Context
from merge_runner.cli.completion import PROGRAM, VARIABLE
from merge_runner.cli.dbt_flags import accepted
from merge_runner.cli.display.messages import as_json, debugging, fitted, reset_style, say, terminal_columns
from merge_runner.cli.environment import note_used, options_of, speaks_dbt
from merge_runner.cli.host import Host
from merge_runner.cli.parameters import parameters
from merge_runner.columns import printable
from merge_runner.options.output import OutputOptions

_PYTHONS_COLLECTIONS = gc.get_threshold()
"""When Python collects garbage by itself; a command that ends does so more rarely (`process`)."""

if TYPE_CHECKING:
    from types import FrameType

    from merge_runner.errors import Problem

_AGAIN_SECONDS = 0.05
"""After which an interrupt that Python ignored comes again: what ignored it is over then."""
_COMMANDS = {
    "build": "run and test the models in DAG order",
    "clean": "remove the generated files",
    "clone": "clone Delta tables of another target, branch Iceberg ones",
    "compile": "render the models' SQL",
    "completion": "make bash, zsh or fish complete commands, options and models",
    "debug": "check the set-up",
    "deps": "fetch and verify the jars",
    "diff": "compare rows with another target, a version or a rebuild",
    "docs": "the project as a page: search, DAG, verdicts, column lineage",
    "eject": "write the MERGE of a pattern's macro into the model",
    "explain": "the plan, without running it",
    "help": "this help, or that of a command",
    "import": "make models of the MERGEs in scripts, notebooks and code",
    "init": "make a new project",
    "lineage": "which columns each column comes from, and which depend on it",
    "lint": "prove what each MERGE will scan, and flag what is wrong",
    "ls": "the selected nodes",
    "lsp": "a language server: what lint finds, in an editor",
    "mcp": "tools for agents: lint, show, test, guarded builds",
    "optimize": "compact the tables of the selected models",
    "parse": "check the project and write the manifest",
    "post-comment": "post the comment of `diff --pr`, or update it",
    "publish": "move main of the Iceberg tables to a branch that was built",
    "report": "the runs that are kept as a page: timelines, merges, history",
    "retry": "run what failed or was skipped in the last invocation",
    "rule": "what a rule means, why, a bad and a good example",
    "run": "run the models in DAG order",
    "run-operation": "call a macro that executes statements",
    "schema": "JSON Schemas of the files of a project, for editors",
    "seed": "load the seeds",
    "show": "some rows of a model or of a query",
    "source": "how fresh the sources are (`source freshness`)",
    "stream": "merge micro-batches of streams into all models that they feed",
    "test": "run data tests and unit tests",
    "warm": "keep a Spark driver running for the next runs",
}
"""Each command and what it does. The help needs nothing else: no command is imported for it."""
ALIASES = {"list": "ls"}
_MODULES = {"import": "import_merges", "post-comment": "post_comment", "run-operation": "run_operation"}
"""The modules of commands whose names are none of Python."""
_HELP_COLUMNS = 160
"""Help is not laid out wider than this: longer lines are hard to read."""


class _Commands(click.Group):
    context_class = Context

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"merge_runner.cli.commands.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            from merge_runner.cli.other_tools import ELSEWHERE
            from merge_runner.errors import did_you_mean

            if not args or args[0].startswith("-"):
                raise
            name = args[0].replace("_", "-")
            hint = ELSEWHERE.get(name.lower()) or did_you_mean(name, _COMMANDS)
            message = f"there is no command {args[0]!r}"
            raise click.UsageError(f"{message}: {hint}" if hint else f"{message}.", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("More"):
            more = {
                f"{PROGRAM} help COMMAND": "the options of a command",
                f"{PROGRAM} rule CODE": "what a finding of lint means",
            }
            formatter.write_dl(list(more.items()))


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from merge_runner.version import version

        name_and_version = f"merge-runner {version()}"
        # dbt 2 has no adapters in Python: its clients take an older one for dbt-core, and look for its adapter.
        click.echo(f"dbt 2.0.0 (in its place {name_and_version})" if speaks_dbt(os.environ) else name_and_version)
        ctx.exit()


@click.command(cls=_Commands, context_settings={"max_content_width": _HELP_COLUMNS})
@click.option(
    *("-V", "--version"), is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version."
)
@click.pass_context
def cli(ctx: click.Context, /, **options: Any) -> None:
    """SQL MERGE models on Spark: what each MERGE will scan, built in parallel as a DAG.

    These options may also follow the command.
    """
    overrides = {
        name: value
        for name, value in options.items()
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    variables = {name: value for name, value in options_of(os.environ).items() if name not in overrides}
    note_used(ctx, {name: variable for name, (variable, _) in variables.items()})
    values = {name: value for name, (_, value) in variables.items()}
    ctx.default_map = {command: {**values, **overrides} for command in (*_COMMANDS, *ALIASES)}


cli.params.extend((*parameters(OutputOptions), *accepted()))


def process() -> None:
    """What a process of the command line does: `main`, and an end without taking everything apart."""
    sys.unraisablehook = _repeat_interrupt
    _end_as_by_ctrl_c()
    if isinstance(sys.stdout, TextIOWrapper) and sys.stdout.errors == "strict":
        # As standard error has it: an arrow is `\u2190` where the encoding has none, and no text of SQL is lost.
        sys.stdout.reconfigure(errors="backslashreplace")
    # Loading makes hundreds of thousands of small objects that stay: looking through them took a third of `ls`.
    gc.set_threshold(200_000, 20, 100)
    try:
        main()
    except SystemExit as end:
        if "pyspark" in sys.modules or threading.active_count() > 1:
            raise
        # Nothing is left to be closed, and the objects of a large project take a third of a second one by one.
        os._exit(end.code if isinstance(end.code, int) else 1)


def _end_as_by_ctrl_c() -> None:
    """Have SIGTERM and SIGHUP (the end of the terminal) do what Ctrl-C does: cancel, tidy up, exit status 2."""
    ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN  # as in the background of a shell script
    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]  # Windows has none
    for number in numbers:
        if signal.getsignal(number) == signal.SIG_DFL:  # nohup has a process ignore SIGHUP
            signal.signal(number, signal.default_int_handler if ignored else _press_ctrl_c)


def _press_ctrl_c(_number: int, _frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGINT)


def _repeat_interrupt(ignored: sys.UnraisableHookArgs) -> None:
    """Have an interrupt come again that came where Python ignores it: in a callback of an import, or a destructor."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(ignored)


def collect_as_a_server() -> None:
    """Collect garbage as often as Python does by itself: a server loads its project again and again."""
    gc.set_threshold(*_PYTHONS_COLLECTIONS)


def main(arguments: Sequence[str] | None = None, host: Host | None = None) -> None:
    """Run the command line; `arguments` are those of the process by default. What one run sets is gone in the next.

    `host` is the program that calls it; None: a terminal.
    Raise SystemExit with 0 (well), 1 (a model or test failed) or 2 (could not run).
    """
    reset_style()
    try:
        if instruction := os.environ.get(VARIABLE):
            from merge_runner.cli.completion import complete

            status = complete(cli, instruction)
        else:
            words = sys.argv[1:] if arguments is None else list(arguments)
            try:
                # Not click's own main(): it ends with 1 where a reader of the output has gone.
                with cli.make_context(PROGRAM, words, obj=host) as ctx:
                    result = cli.invoke(ctx)
                status = result if isinstance(result, int) else 0
            except (click.exceptions.Exit, click.ClickException, KeyboardInterrupt, EOFError, click.Abort) as end:
                status = _show_end(end)
        _flush()
    except BrokenPipeError:
        # The reader of our output has closed it; Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 0
    except Exception as error:
        status = _show_failure(error)
    sys.exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # None where it was closed before we began
            stream.flush()


def _show_end(end: BaseException) -> int:
    """Show what ended a command early: a usage error, an interrupt, or nothing where it is its own exit status."""
    if isinstance(end, click.exceptions.Exit):
        return end.exit_code
    if not isinstance(end, click.ClickException):
        click.echo("interrupted", err=True)
        if type(end).__name__ == "EndedAtOnceError":
            # Python would wait for the threads that are still running; the JVM ends with us.
            _flush()
            os._exit(2)
    elif as_json():
        say(end.format_message(), "error", event="problem", code="usage")
    else:
        usage = StringIO()
        end.show(usage)
        text = printable(usage.getvalue().rstrip("\n"), colours=True)
        click.echo(fitted(text, terminal_columns(sys.stderr)), err=True)
    return 2


def _show_failure(error: Exception) -> int:
    """Report what ended a command: problems of the project, of the file system, or an internal error.

    Return the exit status: 1 where --warn-error made errors of warnings, else 2.
    """
    from merge_runner.cli.display.problems import WarningsError, show_problems
    from merge_runner.errors import Problem, ProblemsError
    from merge_runner.project_file import RefusedFileError

    if isinstance(error, ProblemsError):
        problems: Sequence[Problem] = error.problems
    elif isinstance(error, RefusedFileError):
        problems = [Problem(error.code, f"{error.filename}: {error.message}", None, error.hint)]
    elif isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        problems = [Problem("file-system", f"{where}{error.strerror or error}")]
    else:
        hint = "this is a fault of merge-runner, please report it; -d shows where it happened"
        problems = [Problem("internal", f"{type(error).__name__}: {error}", hint=hint)]
    try:
        if debugging() and not isinstance(error, ProblemsError):
            import traceback

            say("".join(traceback.format_exception(error)).rstrip(), "debug")
        show_problems(problems)
        _flush()
    except OSError:
        # Standard error or output cannot be written, so nothing can be reported; Python would try again at its end.
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    return 1 if isinstance(error, WarningsError) else 2
