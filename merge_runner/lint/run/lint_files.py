"""Lints files outside of any project, and the MERGEs that dbt generates for its models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems
from merge_runner.lint.check import check_file
from merge_runner.lint.dbt.project import DbtProject, read_dbt_project, target_folder
from merge_runner.lint.options import LintOptions
from merge_runner.lint.report import Report
from merge_runner.lint.run.contents_linter import ContentsLinter, ContentsReader
from merge_runner.lint.run.dbt_units import DbtUnits, find_not_judged, property_sources, unknown_merges
from merge_runner.lint.run.plain_file import PlainFile
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.suppress.apply import finish
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.plan.layout.layout_file import Namespace, RecordedLayouts, recorded_layouts
from merge_runner.project.schema.settings import LintSettings
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.project.syntax.secret_names import secret_values, secret_vars
from merge_runner.project.syntax.toml_tree import TomlTree
from merge_runner.project_file import Boundary
from merge_runner.pruning.query.source import KnownTable, Lookup
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText


@dataclass(frozen=True)
class Surroundings:
    """What holds for plain files: the settings, macros and vars of the folder `root` that they are in.

    A baseline is searched in `root`. `places` finds where a key of [tool.merge-runner] is written.
    """

    root: Path
    settings: LintSettings = field(default_factory=LintSettings)
    places: TomlTree | None = None
    macros: Sequence[SourceText] = ()
    vars: Mapping[str, Any] = field(default_factory=dict)


def lint_files(
    files: Sequence[PlainFile],
    options: LintOptions,
    env: Mapping[str, str],
    around: Surroundings,
) -> Report:
    """Lint files that hold a MERGE; the others are counted, and read for the tables that they create.

    Their format and layouts are those of --layout and, below a dbt project's target folder, of its manifest. Raises
    ProblemsError for options or settings that are wrong.
    """
    settings, vars = around.settings, around.vars
    selection = RuleSelection.from_settings(settings, around.places, rules=options.rules, ignore=options.ignore)
    baseline = Baseline.of_options(options, around.root, settings.baseline)
    env = env if isinstance(env, RecordingEnv) else RecordingEnv(env)
    tables = _KnownTables(options, around.root)
    templates = Templates(around.macros)
    contents = ContentsReader(templates, vars, env).read([file for file in files if file.model is None])
    linter = ContentsLinter.of(contents, selection, tables.of_file)
    linted_contents = [linter.lint(file_contents) for file_contents in contents]
    results = [item for content in linted_contents for item in content.results]
    texts = {name: text for content in linted_contents for name, text in content.texts.items()}
    models = [file.model for file in files if file.model is not None]
    dbt_units = DbtUnits(tables.lookup, selection, templates, vars)
    results += [unit.check(selection) for model in models for unit in dbt_units.of_model(model)]
    texts |= property_sources(models, results)
    unread = list(unknown_merges(models, around.root))
    results += [check_file(file, None, selection) for file in unread]
    texts |= {file.path: file.source for file in files if file.model is not None and file.source is not None}
    texts |= {file.path: file.source for file in unread}
    merges = [item.merge for item in results if item.merge is not None]
    parsed = {merge.place.text_name for merge in merges}
    return finish(
        [finding for item in results for finding in item.findings],
        merges,
        texts,
        selection,
        baseline,
        secrets=frozenset((*secret_values(dict(env.reads)), *secret_vars(vars))),
        files=len(files),
        models={file.path: file.model.node.name for file in files if file.model is not None},
        not_judged=(
            *find_not_judged(models, selection),
            *(item for content in linted_contents for item in content.not_judged),
        ),
        ran=lambda name, rule: rule.check_project is None and rule.ran_on(name in parsed),
        embedded={name: comments for content in linted_contents for name, comments in content.comments.items()},
    )


class _KnownTables:
    """Finds tables in the file of --layout, and in the manifests of dbt projects."""

    def __init__(self, options: LintOptions, root: Path) -> None:
        problems = Problems()
        layouts = [(options.layout, str(options.layout))] if options.layout is not None else []
        self._recorded: RecordedLayouts = recorded_layouts(layouts, Namespace(), problems, Boundary(root))
        problems.check()
        self._dbt: dict[Path, DbtProject] = {}
        self._lookups: dict[Path, Lookup | None] = {}

    def of_file(self, file: PlainFile, parts: tuple[str, ...]) -> KnownTable | None:
        """Return a table that a file names, below the target folder of a dbt project also by its manifest."""
        if file.file not in self._lookups:
            self._lookups[file.file] = self._of_dbt(file.file)
        return self.lookup(self._lookups[file.file])(parts)

    def lookup(self, dbt: Lookup | None) -> Lookup:
        """Return what finds a recorded table, else that of a dbt project."""

        def find(parts: tuple[str, ...]) -> KnownTable | None:
            return self._recorded.lookup(parts) or (dbt(parts) if dbt is not None else None)

        return find

    def _of_dbt(self, file: Path) -> Lookup | None:
        target = target_folder(file)
        if target is None:
            return None
        if target not in self._dbt:
            problems = Problems()
            self._dbt[target] = read_dbt_project(target, problems)
            problems.check()
        project = self._dbt[target]
        node = project.node(file)
        return project.lookup(node, project.last_rows(node) if node is not None else None)
