"""The conversion until its result can be loaded: what does not work is left out, one thing after the other."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from merge_runner.conversion.dbt.conversion import Conversion, Files
from merge_runner.conversion.dbt.project import DbtFolder, copied_file
from merge_runner.conversion.dbt.settings_files import BASELINE
from merge_runner.conversion.dbt.todo import Todo
from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.graph.graph import ModelNode, named_model
from merge_runner.lint.finding import Finding
from merge_runner.lint.run.lint_project import lint_project
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import Prepared, prepare
from merge_runner.plan.load.query import check_queries, query
from merge_runner.plan.load.run_hooks import check_run_hooks
from merge_runner.plan.model_tests.unit_tests import check_unit_tests
from merge_runner.plan.plan import asked_first
from merge_runner.project.load.not_read import DBT_PROJECT
from merge_runner.pruning.query.read_using import source_facts

_NO_MERGE = frozenset({"C010", "J001"})
"""Rules whose findings say that a model cannot run at all."""
_TO_DECIDE = frozenset({"C021"})
"""Rules whose findings are decisions of the author: dbt's MERGE loses rows as well."""


@dataclass(frozen=True)
class LoadableConversion:
    """The files of a project that can be loaded, and what lint reports of it."""

    files: Files
    findings: tuple[Finding, ...] = ()


def convert(project: DbtFolder, name: str, env: Mapping[str, str]) -> LoadableConversion:
    """Return the files of the project `name`. Raises ProblemsError with what no conversion can leave out."""
    conversion = Conversion(project, name)
    with TemporaryDirectory(prefix="merge-runner-import-") as folder:
        while True:
            files = conversion.files()
            root = Path(folder) / "project"
            write(files, project, root)
            try:
                prepared = prepare(root, Flags(), env)
                _check(prepared)
            except ProblemsError as error:
                if not _leave_out(conversion, error.problems, files):
                    raise ProblemsError(_of_new_files(project, error.problems, files)) from None
                continue
            if unknown := conversion.columns_needed - conversion.columns.keys() - conversion.left_out.keys():
                conversion.columns |= {model: _query_columns(prepared, model) for model in unknown}
                continue
            findings = lint_project(prepared, prepared.graph.nodes, layouts=Layouts.load(prepared)).findings
            faults = (finding for finding in findings if finding.code in _NO_MERGE)
            problems = [Problem(finding.code, finding.message, finding.place, finding.hint) for finding in faults]
            if _leave_out(conversion, problems, files):
                continue
            if not [
                finding for finding in findings if finding.code in _TO_DECIDE and conversion.decide(finding, files)
            ]:
                break
    errors = [finding for finding in findings if finding.severity == "error"]
    final_files = conversion.files(has_findings=bool(errors))
    if errors:
        final_files.texts[BASELINE] = Baseline.of(errors).text
    final_files.todos += [_of_finding(finding) for finding in findings]
    return LoadableConversion(final_files, tuple(findings))


def _of_new_files(project: DbtFolder, problems: Iterable[Problem], files: Files) -> list[Problem]:
    """Problems as they can be shown: a place in a file of the new project, which is not written, is none."""
    problems_shown = []
    for problem in problems:
        place, message = problem.place, problem.message
        if place is not None and not (project.root / place.path).is_file():
            line = files.texts.get(place.path, "").split("\n")[place.line - 1 : place.line]
            message = f"{DBT_PROJECT} cannot be imported: {message}" + (f" (in `{line[0].strip()}`)" if line else "")
            place = None
        problems_shown.append(Problem(problem.code, message, place, problem.hint))
    return problems_shown


def write(files: Files, project: DbtFolder, root: Path) -> None:
    """Write the files of a dbt project, as they are converted, for a look at them. Raises ProblemsError."""
    shutil.rmtree(root, ignore_errors=True)
    for path, text in files.texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for path in files.copies:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(copied_file(project, path))


def _check(prepared: Prepared) -> None:
    """Check what `merge-runner parse` does, and that each model renders to a MERGE or a query, in a first run as well.

    The text of a model that asks the engine is known only when it runs. Raises ProblemsError.
    """
    problems = Problems()
    for check in (
        prepared.templates.check,
        lambda: check_run_hooks(prepared),
        lambda: check_queries(prepared.graph),
        lambda: check_unit_tests(prepared),
    ):
        with problems.collecting():
            check()
    for run in (prepared, prepared.first_run):
        for unique_id, node in run.graph.nodes.items():
            with problems.collecting(), _if_known():
                if node.materialized == "merge":
                    run.compiler.merge(unique_id)
                elif isinstance(node, ModelNode):
                    query(run.compiler.render(unique_id))
    problems.check()


def _leave_out(conversion: Conversion, problems: Iterable[Problem], files: Files) -> bool:
    """Leave out what problems are about, all that can be; return whether anything is left out now that was not."""
    left_out = [conversion.leave_out(problem, files) for problem in problems]
    return any(left_out)


def _query_columns(prepared: Prepared, model: str) -> tuple[str, ...] | None:
    """The columns of the query in the MERGE of a model, None where they are not all known."""
    first = prepared.first_run
    with _if_known():
        statement = first.compiler.merge(named_model(first.graph, model).unique_id)
        facts = source_facts(statement, Layouts.load(first).lookup)
        return tuple(column.name for column in facts.known_columns) if facts.names_known else None
    return None


@contextmanager
def _if_known() -> Iterator[None]:
    """End the block at a text that asks the engine."""
    try:
        yield
    except ProblemsError as error:
        asked_first(error)


def _of_finding(finding: Finding) -> Todo:
    hidden = ", in the baseline" if finding.severity == "error" else ""
    message = f"{finding.severity}[{finding.code}]{hidden}: {finding.message}"
    return Todo("finding", message, None, finding.hint, finding.place)
