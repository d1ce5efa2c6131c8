"""`merge-runner rule`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.completion import rule_codes
from merge_runner.cli.display.messages import show_text
from merge_runner.errors import Problems
from merge_runner.lint.documentation import summary, text
from merge_runner.lint.registry import rules
from merge_runner.lint.selector import match_rules, suggestion
from merge_runner.options.declaration import argument, flag, option
from merge_runner.options.output import OutputOptions

if TYPE_CHECKING:
    from merge_runner.lint.rule import Rule


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `rule`."""

    codes: tuple[str, ...] = argument((), metavar="[CODE]...", complete=rule_codes)
    every: bool = flag("--all", help="All rules, explained.")
    output: Literal["text", "json"] = option("--output", default="text", help="How rules are written.")


@make("rule", Options, ignores=("warn_error", "quiet"))
def command(options: Options) -> int:
    """Say what a rule means and why, with a bad and a good example.

    CODE is a rule's code or name, or the beginning of codes: P is all about pruning. Without one, the rules are listed.
    """
    if options.codes and options.every:
        raise click.UsageError("--all takes no codes.")
    matching = _matching_rules(options.codes) if options.codes else rules()
    if options.output == "json":
        click.echo(json.dumps([_document(rule) for rule in matching], indent=2, ensure_ascii=False))
    elif options.codes or options.every:
        show_text("\n\n\n".join(text(rule) for rule in matching), hanging=0)
    else:
        widths = [max(len(part) for part in column) for column in zip(*map(_head, matching), strict=True)]
        for rule in matching:
            head = (part.ljust(width) for part, width in zip(_head(rule), widths, strict=True))
            show_text(f"{'  '.join(head)}  {summary(rule)}", hanging=sum(widths) + 2 * len(widths))
    return 0


def _matching_rules(codes: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules that the words mean, each once; raises ProblemsError with every word that means none."""
    problems = Problems()
    by_code: dict[str, Rule] = {}
    for word in codes:
        matching = match_rules(word, rules())
        if not matching:
            problems.add("unknown-rule", f'there is no rule "{word}"', None, suggestion(word, rules()))
        by_code.update({rule.code: rule for rule in matching})
    problems.check()
    return tuple(by_code.values())


def _head(rule: Rule) -> tuple[str, str, str]:
    return rule.code, rule.name, rule.severity


def _document(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "summary": summary(rule),
        "documentation": rule.documentation.strip(),
    }
