"""An option that takes several words, as dbt's --select does: `-s stg_flight tag:daily`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click


class Names(click.Option):
    """An option whose values go on up to the next option: `-s a b` is `-s a -s b`."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        super().add_to_parser(parser, ctx)
        process = parser.parse_args
        if getattr(process, "takes_names", False):
            return  # another option of this kind was here first, and takes care of all

        def parse_args(args: list[str]) -> Any:
            return process(list(_repeated(args, _names(ctx.command))))

        parse_args.takes_names = True  # type: ignore[attr-defined]
        parser.parse_args = parse_args


def _names(command: click.Command) -> frozenset[str]:
    return frozenset(name for param in command.params if isinstance(param, Names) for name in param.opts)


def _repeated(arguments: Sequence[str], options: frozenset[str]) -> Iterator[str]:
    """The arguments with the option repeated before each further word that belongs to it."""
    option: str | None = None
    first = False
    for index, word in enumerate(arguments):
        if word == "--":
            yield from arguments[index:]
            return
        name, _, value = word.partition("=")
        if first:  # whatever it looks like, click takes it as the value
            first = False
            yield word
        elif name in options:
            option, first = name, not value
            yield word
        elif word.startswith("-") and word != "-":
            option = None
            yield word
        elif option is not None:
            yield from (option, word)
        else:
            yield word
