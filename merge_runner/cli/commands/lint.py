"""`merge-runner lint`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.command import names_on_command_line
from merge_runner.cli.display.messages import counted, may_colour, say, terminal_columns
from merge_runner.cli.display.problems import ShownMessages
from merge_runner.cli.loading import COLUMNS_NEED_STATE, recording_env
from merge_runner.cli.run_pages import add_step_summary
from merge_runner.lint.outputs import Format, render
from merge_runner.lint.selection import FailOn, fails
from merge_runner.options.declaration import argument, flag, option, several
from merge_runner.options.project import FullRefresh, ProjectOptions, Selection
from merge_runner.text import as_source

if TYPE_CHECKING:
    from merge_runner.lint.report import Report
    from merge_runner.lint.request import LintRequest, LintResult


@dataclass(frozen=True)
class ReportOptions(ProjectOptions):
    """What is linted, by which rules, and how the report is written."""

    paths: tuple[Path, ...] = argument(())
    format_: Format = option("--format", default="text", help="How the report is written.")
    output: Path | None = option(
        "-o", "--output", path="file", help="The file to write the report to, instead of standard output."
    )
    rules: tuple[str, ...] = several(
        "--rules", metavar="RULES", help="Only these rules: codes, names or beginnings, by comma."
    )
    ignore: tuple[str, ...] = several("--ignore", metavar="RULES", help="Leave these rules out.")
    fail_on: FailOn | None = option(
        "--fail-on",
        help="From which severity on a finding fails the command; default: error, or warning with --warn-error.",
    )
    layout: Path | None = option("--layout", path="file", help="A file with the layouts of tables.")
    changed: str | None = option("--changed", metavar="REF", bare="HEAD", help="Models changed since a commit.")
    stdin_filename: str | None = option(
        "--stdin-filename", metavar="FILE", help="Read the text of this file from standard input."
    )
    baseline: Path | None = option("--baseline", path="file", help="A baseline, instead of that of the settings.")
    write_baseline: str | None = option(
        "--write-baseline", metavar="FILE", bare="", help="Hide what is found now from now on."
    )
    fix: bool = flag("--fix", help="Apply the safe fixes.")
    unsafe_fixes: bool = flag("--unsafe-fixes", help="With --fix: apply the other fixes as well.")
    statistics: bool = flag("--statistics", help="Count the findings by rule.")
    verbose: bool = flag("-v", "--verbose", help="Show the proof of every verdict.")


@dataclass(frozen=True)
class Options(ReportOptions, Selection, FullRefresh):
    """The options of `lint`."""


_OF_CI = ("github", "gitlab", "sarif", "markdown")
"""Formats whose readers take paths relative to the root of the repository."""
_WIDTH = 100


@make("lint", Options)
def command(options: Options) -> int:
    """Prove what each MERGE will scan, and flag what is wrong.

    PATHS are models or folders of a project or of a dbt project (after `dbt parse`), or files with MERGEs in them: .sql
    scripts, notebooks, Python and Scala. Any other file of a project means the models that depend on it. Needs neither
    Spark nor a network.
    """
    from merge_runner.api.lint import linted
    from merge_runner.lint.request import ArgumentsError

    _check_usage(options)
    try:
        result = linted(_request(options), recording_env(), ShownMessages(options))
    except ArgumentsError as error:
        raise click.UsageError(str(error)) from None
    if options.write_baseline is not None:
        return _show_baseline(result, options)
    report = result.report
    if options.format_ in _OF_CI:
        from merge_runner.lint.outputs.repository import from_repository

        report = from_repository(report, result.folder)
    _write(report, options)
    add_step_summary(lambda: render(report, "markdown"))
    return 1 if fails(report, _fail_on(options)) else 0


def _check_usage(options: Options) -> None:
    """Raises UsageError for options that do not go together."""
    if options.unsafe_fixes and not options.fix:
        raise click.UsageError("--unsafe-fixes needs --fix.")
    if options.stdin_filename and (options.paths or options.fix):
        raise click.UsageError("--stdin-filename reads one text and changes no file: leave out PATHS and --fix.")
    if options.columns and options.state is None:
        raise click.UsageError(COLUMNS_NEED_STATE)
    baseline: str | None = options.write_baseline
    if baseline and not baseline.endswith(".json"):
        hint = "a baseline is a .json file. Put PATHS before an option that may take a value"
        raise click.UsageError(f"--write-baseline would write {baseline}, but {hint}.")
    part = next((name for name in _NO_BASELINE if getattr(options, name)), None)
    if baseline is not None and part is not None:
        raise click.UsageError(f"--write-baseline is about all there is: leave out --{part.replace('_', '-')}.")


_NO_BASELINE = ("select", "exclude", "selector", "changed", "stdin_filename", "baseline", "fix")
"""Options that do not go together with --write-baseline: it would forget what they leave out."""


def _fail_on(options: Options) -> FailOn:
    level: FailOn | None = options.fail_on
    return level or ("warning" if options.warn_error else "error")


def _request(options: Options) -> LintRequest:
    """What the options ask for; the text of --stdin-filename is read."""
    from merge_runner.lint.request import LintRequest

    text, paths = None, options.paths
    if options.stdin_filename:
        text = as_source(sys.stdin.buffer.read().decode("utf-8", "replace"))
        paths = (Path(options.stdin_filename),)
    baseline = options.write_baseline
    fix: Literal["safe", "unsafe"] = "unsafe" if options.unsafe_fixes else "safe"
    return LintRequest(
        paths=paths,
        text=text,
        project_dir=options.project_dir,
        profiles_dir=options.profiles_dir,
        profile=options.profile,
        target=options.target,
        vars=options.vars_text,
        target_path=options.target_path,
        full_refresh=options.full_refresh,
        select=options.select,
        exclude=options.exclude,
        selector=options.selector,
        state=None
        if options.paths and "state" not in names_on_command_line()
        else options.state,  # paths have no use for a variable
        columns=options.columns,
        changed=options.changed,
        rules=_words(options.rules),
        ignore=_words(options.ignore),
        layout=options.layout,
        baseline=options.baseline,
        write_baseline=None if baseline is None else Path(baseline) if baseline else True,
        fix=fix if options.fix else None,
        cache=not options.no_cache,
    )


def _words(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for text in texts for word in text.replace(",", " ").split())


def _write(report: Report, options: Options) -> None:
    def note(text: str) -> None:
        if not options.quiet:
            say(text)

    file: Path | None = options.output
    colour = None if file is not None else _colour()
    terminal = terminal_columns(sys.stdout) if file is None else None
    text = render(
        report,
        options.format_,
        colour=colour,
        unicode=file is not None or _carries_unicode(),
        width=terminal or _columns(),
        wrap=terminal is not None,
        statistics=options.statistics,
        verbose=options.verbose,
    )
    if file is not None:
        _write_file(file, text + "\n")
        from merge_runner.lint.outputs.summary import summary

        note(f"{summary(report)}; written to {file}")
    else:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # an excerpt can hold any character
        click.echo(text, color=colour is not None)
    if report.files == 0 and not report.findings:
        note("there was nothing to lint")
    if report.stale:
        entries = "1 entry" if report.stale == 1 else f"{report.stale} entries"
        note(f"{entries} of the baseline matched nothing: --write-baseline rewrites it")


def _columns() -> int:
    """Return how wide a report is that goes to no terminal: as $COLUMNS or the terminal says, else 100 columns."""
    columns = os.environ.get("COLUMNS", "")  # as shutil does, whose import takes longer
    return (int(columns) if columns.isdecimal() else 0) or terminal_columns(sys.__stdout__) or _WIDTH


def _write_file(file: Path, text: str) -> None:
    """Puts the report into a file in one step; a pipe or a device is written to."""
    from merge_runner.atomic import write_atomic

    if file.exists() and not file.is_file():
        file.write_text(text, encoding="utf-8", newline="")
    else:
        write_atomic(file, text)


def _show_baseline(result: LintResult, options: Options) -> int:
    if not options.quiet:
        how = "" if result.usual else "; --baseline reads it, or `baseline` in [tool.merge-runner.lint]"
        say(f"{counted(len(result.report.findings), 'finding')} written to {result.baseline}{how}")
    return 0


def _colour() -> Any:
    """click's style where standard output may be coloured; NO_COLOR wins over FORCE_COLOR."""
    return click.style if sys.stdout is not None and may_colour(sys.stdout) else None


def _carries_unicode() -> bool:
    try:
        "✓✗…│─".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError, AttributeError):  # there is no stdout where it was closed before
        return False
    return True
