"""The options of `merge-runner lint`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from merge_runner.lint.outputs import Format
from merge_runner.lint.selection import FailOn
from merge_runner.options.declaration import argument, flag, option, several
from merge_runner.options.project import FullRefresh, ProjectOptions, Selection


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
    no_cache: bool = flag("--no-cache", help="Neither read nor write the cache in the target folder.")


@dataclass(frozen=True)
class LintCommand(ReportOptions, Selection, FullRefresh):
    """The options of `lint`."""
