"""`merge-runner lint`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.lint.options import LintCommand
from merge_runner.cli.loading import recording_env
from merge_runner.lint.outputs import render
from merge_runner.lint.selection import FailOn, fails

if TYPE_CHECKING:
    from merge_runner.lint.report import Report
    from merge_runner.lint.run.lint_project import LintOptions

_OF_CI = ("github", "gitlab", "sarif")
"""Formats whose readers take paths relative to the root of the repository."""


@make("lint", LintCommand)
def command(options: LintCommand) -> int:
    """Prove what each MERGE will scan, and flag what is wrong.

    PATHS are models or folders of a project or of a dbt project (after `dbt parse`), or plain .sql files. Any other
    file of a project means the models that depend on it. Needs neither Spark nor a network.
    """
    _check_usage(options)
    report, folder = _report(options)
    if options.write_baseline is not None:
        return _write_baseline(report, options)
    if options.format_ in _OF_CI:
        from merge_runner.cli.lint.repository import from_repository

        report = from_repository(report, folder)
    _write(report, options)
    return 1 if fails(report, _fail_on(options)) else 0


def _check_usage(options: LintCommand) -> None:
    """Raises UsageError for options that do not go together."""
    if options.unsafe_fixes and not options.fix:
        raise click.UsageError("--unsafe-fixes needs --fix.")
    if options.stdin_filename and (options.paths or options.fix):
        raise click.UsageError("--stdin-filename reads one text and changes no file: leave out PATHS and --fix.")
    baseline: str | None = options.write_baseline
    if baseline and not baseline.endswith(".json"):
        hint = "a baseline is a .json file. Put PATHS before an option that may take a value"
        raise click.UsageError(f"--write-baseline would write {baseline}, but {hint}.")
    part = next((name for name in _NO_BASELINE if getattr(options, name)), None)
    if baseline is not None and part is not None:
        raise click.UsageError(f"--write-baseline is about all there is: leave out --{part.replace('_', '-')}.")


_NO_BASELINE = ("select", "exclude", "selector", "changed", "stdin_filename", "baseline", "fix")
"""Options that do not go together with --write-baseline: it would forget what they leave out."""


def _fail_on(options: LintCommand) -> FailOn:
    level: FailOn | None = options.fail_on
    return level or ("warning" if options.warn_error else "error")


def _report(options: LintCommand) -> tuple[Report, Path]:
    """The report, from the cache where nothing has changed since, and the folder that its paths are relative to."""
    from merge_runner.cli.lint.report_cache import report_cache

    cache = report_cache(options)
    kept = cache.get(os.environ) if cache is not None else None
    if cache is not None and kept is not None:
        if kept.warnings:
            from merge_runner.cli.display.problems import show_warnings

            show_warnings(kept.warnings, as_errors=options.warn_error)
        return kept.report, cache.root
    from merge_runner.cli.lint.inputs import lint

    env = recording_env()
    linted = lint(options, env, said(options))
    # It is kept where it is about the project that the key is made of, and nothing has changed while it was made.
    same = cache is not None and linted.of_models and linted.folder == cache.root
    if cache is not None and same and report_cache(options) == cache:
        cache.put(linted.report, env.asked, linted.warnings)
    return linted.report, linted.folder


def said(options: LintCommand) -> LintOptions:
    """The options that the rules are about."""
    from merge_runner.lint.run.lint_project import LintOptions

    return LintOptions(
        rules=_words(options.rules),
        ignore=_words(options.ignore),
        layout=options.layout,
        baseline=options.baseline,
        use_baseline=options.write_baseline is None,
    )


def _words(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for text in texts for word in text.replace(",", " ").split())


def _write(report: Report, options: LintCommand) -> None:
    from merge_runner.cli.display.messages import say

    def tell(text: str) -> None:
        if not options.quiet:
            say(text)

    file: Path | None = options.output
    from merge_runner.cli.display.messages import terminal_columns

    colour = None if file is not None else _colour()
    terminal = terminal_columns(sys.stdout) if file is None else None
    text = render(
        report,
        options.format_,
        colour=colour,
        unicode=file is not None or _carries_unicode(),
        width=terminal or shutil.get_terminal_size((100, 24)).columns,
        wrap=terminal is not None,
        statistics=options.statistics,
        verbose=options.verbose,
    )
    if file is not None:
        _write_file(file, text + "\n")
        from merge_runner.lint.outputs.summary import summary

        tell(f"{summary(report)}; written to {file}")
    else:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # an excerpt can hold any character
        click.echo(text, color=colour is not None)
    if report.files == 0 and not report.findings:
        tell("there was nothing to lint")
    if report.stale:
        entries = "1 entry" if report.stale == 1 else f"{report.stale} entries"
        tell(f"{entries} of the baseline matched nothing: --write-baseline rewrites it")


def _write_file(file: Path, text: str) -> None:
    """Puts the report into a file in one step; a pipe or a device is written to."""
    from merge_runner.atomic import write_atomic

    if file.exists() and not file.is_file():
        file.write_text(text, encoding="utf-8", newline="")
    else:
        write_atomic(file, text)


def _write_baseline(report: Report, options: LintCommand) -> int:
    from merge_runner.cli.display.messages import counted, say
    from merge_runner.cli.lint.inputs import baseline_file
    from merge_runner.lint.suppress.baseline import Baseline

    file, usual = baseline_file(options)
    Baseline.of(report.findings).write(file)
    if not options.quiet:
        how = "" if usual else "; --baseline reads it, or `baseline` in [tool.merge-runner.lint]"
        say(f"{counted(len(report.findings), 'finding')} written to {file}{how}")
    return 0


def _colour() -> Any:
    """click's style where standard output may be coloured; NO_COLOR wins over FORCE_COLOR."""
    from merge_runner.cli.display.messages import may_colour

    return click.style if sys.stdout is not None and may_colour(sys.stdout) else None


def _carries_unicode() -> bool:
    try:
        "✓✗…│─".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError, AttributeError):  # there is no stdout where it was closed before
        return False
    return True
