"""A command of `merge-runner`: what its callback gets, how its help is laid out, what completes its words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from merge_runner.cache_folder import VARIABLE
from merge_runner.cli.dbt_flags import accepted, messages
from merge_runner.cli.display.messages import debugging, say
from merge_runner.cli.environment import noted, used
from merge_runner.cli.multi_word_option import Names
from merge_runner.cli.parameters import parameters
from merge_runner.options.output import OutputOptions

_Options = TypeVar("_Options", bound=OutputOptions)
_HYPHEN = "\u2011"
"""U+2011 NON-BREAKING HYPHEN: replaces `-` while a text is wrapped, since textwrap breaks a line after a `-`."""


class _Formatter(click.HelpFormatter):
    """Wraps help at blanks alone, so that neither `merge-runner` nor `--log-format` is broken in two."""

    def write(self, string: str) -> None:
        super().write(string.replace(_HYPHEN, "-"))

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _HYPHEN))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args.replace("-", _HYPHEN), prefix)

    def write_dl(self, rows: Iterable[tuple[str, str]], *args: Any, **settings: Any) -> None:
        super().write_dl([(name, text.replace("-", _HYPHEN)) for name, text in rows], *args, **settings)


class Context(click.Context):
    """A context whose help is as wide as the terminal, 80 columns where there is none; `-h` asks for it too."""

    formatter_class = _Formatter

    def __init__(self, *args: Any, **settings: Any) -> None:
        # Not in context_settings: a command keeps the help option of the first context that it is used with.
        super().__init__(*args, **{"help_option_names": ["-h", "--help"], **settings})


class Command(click.Command):
    """A command whose callback gets its options as a value."""

    context_class = Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does; an option that another command has says so."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from merge_runner.cli.other_tools import OPTIONS_ELSEWHERE

            hint = OPTIONS_ELSEWHERE.get(error.option_name)
            if hint is None:
                raise
            raise click.UsageError(f"`{self.name}` has no option {error.option_name}: {hint}", ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a further name after an option that takes several (`-s a b`); else as click does."""
        takes_no_words = not any(isinstance(param, click.Argument) for param in self.params)
        if takes_no_words and not incomplete.startswith("-"):
            for param in self.params:
                if isinstance(param, Names) and ctx.params.get(str(param.name)):
                    return param.shell_complete(ctx, incomplete)
        return super().shell_complete(ctx, incomplete)


def command(
    name: str, kind: type[_Options], *, offers: tuple[type, ...] | None = None, ignores: tuple[str, ...] = ()
) -> Callable[[Callable[[_Options], int]], Command]:
    """Make a command of a function that takes its options, a dataclass `kind`, and returns the exit status.

    `offers` are the groups of options that it has, in addition to those of project and output; None: all of `kind`. It
    accepts the options that it `ignores`, and its help does not show them.
    """
    groups = offers
    if offers is not None:
        from merge_runner.options.project import ProjectOptions

        groups = (*offers, ProjectOptions, OutputOptions)

    def decorate(function: Callable[[_Options], int]) -> Command:
        def call(**values: Any) -> int:
            _debug_options(click.get_current_context())
            if values.get("cache_dir") is not None:  # the processes that it starts have the same folder
                os.environ[VARIABLE] = os.fspath(values["cache_dir"].absolute())
            return function(kind(**values))

        params = [*parameters(kind, groups, ignores), *accepted()]
        return Command(name, params=params, callback=call, help=function.__doc__)

    return decorate


def _debug_options(ctx: click.Context) -> None:
    """With --debug, say which options have no effect or come from the environment."""
    if debugging():
        for message in (*messages(ctx), *noted(ctx)):
            say(message, "debug")


def names_on_command_line() -> frozenset[str]:
    """Return the names of the parameters of the current command that the command line has values for.

    What a variable of the environment sets is not among them.
    """
    context = click.get_current_context()
    sources = {name: context.get_parameter_source(name) for name in context.params}
    default, of_environment = click.core.ParameterSource.DEFAULT, used(context)
    inherited = click.core.ParameterSource.DEFAULT_MAP
    return frozenset(
        name
        for name, source in sources.items()
        if source is not default and not (source is inherited and name in of_environment)
    )
