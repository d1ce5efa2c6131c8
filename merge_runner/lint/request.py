"""What is asked of lint by paths, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from merge_runner.errors import Messages
from merge_runner.lint.options import LintOptions
from merge_runner.plan.load.flags import Flags

if TYPE_CHECKING:
    from merge_runner.errors import Problem
    from merge_runner.lint.report import Report
    from merge_runner.project.load.not_read import UnreadPart


class ArgumentsError(ValueError):
    """Arguments that do not go together."""


@dataclass(frozen=True)
class LintRequest:
    """What is to be linted, each as the option of `lint` of that name; relative paths begin in the working directory.

    Without paths that is the project there, or above.
    """

    paths: tuple[Path, ...] = ()
    text: str | None = None
    """The text of the only one of the paths, as an editor has it; None: as the files are."""
    project_dir: Path | None = None
    profiles_dir: Path | None = None
    profile: str | None = None
    target: str | None = None
    vars: Mapping[str, Any] | str | None = None
    """By name, or as a text in YAML."""
    target_path: str | None = None
    full_refresh: bool = False
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    selector: str | None = None
    state: Path | None = None
    columns: bool = False
    changed: str | None = None
    rules: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    layout: Path | None = None
    baseline: Path | None = None
    write_baseline: Path | Literal[True] | None = None
    """The file for all that is found; True: where lint looks for a baseline; None: none is written."""
    fix: Literal["safe", "unsafe"] | None = None
    """Which fixes are applied to the files; `unsafe`: the safe ones, too."""
    cache: bool = True
    processes: int | None = None
    """How many processes render models; None: as many as pay."""

    @property
    def flags(self) -> Flags:
        """What loading a project depends on. Raises ProblemsError where `vars` are no mapping."""
        return Flags(
            self.profile, self.target, self.profiles_dir, self.vars_by_name, self.target_path, self.full_refresh
        )

    @property
    def vars_by_name(self) -> Mapping[str, Any]:
        """The vars by name. Raises ProblemsError where they are no mapping."""
        if not isinstance(self.vars, str):
            return self.vars or {}
        from merge_runner.project.load.load import parse_vars

        return parse_vars(self.vars)

    @property
    def rule_options(self) -> LintOptions:
        """What the rules are given."""
        return LintOptions(self.rules, self.ignore, self.layout, self.baseline, self.write_baseline is None)


@dataclass(frozen=True)
class LintResult:
    """A report whose paths are relative to `folder`. `of_models`: it depends on files of the project there alone.

    `warnings` are about the project rather than one of its MERGEs, and have been passed to `LintMessages`.
    """

    report: Report
    folder: Path
    of_models: bool = False
    warnings: tuple[Problem, ...] = ()
    baseline: Path | None = None
    """The baseline that was written."""
    usual: bool = False
    """Whether lint reads that baseline by itself."""


class LintMessages(Messages, Protocol):
    """Receives what is to be known in addition to the report."""

    def not_read(self, items: Sequence[UnreadPart]) -> None:
        """Receive what of a dbt project is not read."""
