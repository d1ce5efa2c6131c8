"""Import MERGEs of scripts, notebooks and code, or a dbt project, as a project; write out what macros write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.graph.graph import named_model
from merge_runner.project_file import Boundary, read_file

if TYPE_CHECKING:
    from merge_runner.conversion.dbt.conversion import ImportedModel
    from merge_runner.conversion.dbt.todo import Todo
    from merge_runner.conversion.project_files import Decision
    from merge_runner.plan.load.project_context import Prepared

REPORT = "IMPORT.md"
"""The file of a project that lists what was imported, and what is left to decide."""


@dataclass(frozen=True)
class ImportResult:
    """What an import has written: `models` and all `files`, what is left to decide, and MERGEs that were left out."""

    models: tuple[Path, ...]
    files: tuple[Path, ...]
    decisions: tuple[Decision, ...]
    left_out: tuple[Problem, ...]


@dataclass(frozen=True)
class ImportedDbt:
    """What an import from dbt has written: all `files`, the `models` among them, and what is left to decide."""

    models: tuple[ImportedModel, ...]
    files: tuple[Path, ...]
    todos: tuple[Todo, ...]


def import_dbt(
    path: str | Path, to: str | Path, *, adapter: str | None = None, env: Mapping[str, str] | None = None
) -> ImportedDbt:
    """Write a project into the folder `to` that does what the dbt project in the folder `path` does; needs no Spark.

    Its incremental models and snapshots become MERGEs; what has no counterpart is left out, and is in the report
    (import_report.md, import_report.json) with its place. dbt's manifest is read where there is one. `adapter` is
    that of dbt, where neither the manifest nor a profile has it. Raises ProblemsError, and writes nothing, where `path`
    is no dbt project, cannot be read, a file to be written is there already, or rows depend on an adapter that is not
    known.
    """
    from merge_runner.conversion.dbt.loadable_conversion import convert
    from merge_runner.conversion.dbt.project import copied_file, read_dbt_folder
    from merge_runner.conversion.dbt.report import JSON, MARKDOWN, as_json, markdown

    folder = Path(to)
    env = os.environ if env is None else env
    project = read_dbt_folder(Path(path), env, Path(env["HOME"]) if "HOME" in env else None, adapter)
    files = convert(project, project.name, env).files
    contents: dict[str, str | bytes] = {**files.texts, MARKDOWN: markdown(files), JSON: as_json(files)}
    contents |= {name: copied_file(project, name) for name in files.copies}
    _write_new(folder, contents)
    return ImportedDbt(tuple(files.models), tuple(folder / name for name in contents), tuple(files.todos))


def import_merges(paths: str | Path | Sequence[str | Path], to: str | Path) -> ImportResult:
    """Write a model for each MERGE of files and folders into the project folder `to`; needs no Spark.

    What the DDL of the same files says of tables becomes their layout; tables that no MERGE writes become sources. A
    folder without pyproject.toml gets one, and a profile. Raises ProblemsError, and writes nothing, where a path does
    not exist, no MERGE can be read, or a file to be written is there already.
    """
    from merge_runner.conversion.merge_to_import import find_merges
    from merge_runner.conversion.project_files import project_files, report
    from merge_runner.lint.run.plain_files import plain_files
    from merge_runner.project.load.find_project import PYPROJECT

    folder = Path(to)
    roots = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    merges, left_out = find_merges(plain_files(roots, Path.cwd()))
    if not merges:
        hint = "name .sql, .py, .scala or .ipynb files, or folders of them"
        raise ProblemsError(left_out or [Problem("no-merge", "there is no MERGE in these paths", hint=hint)])
    files = project_files(merges, folder, is_project=(folder / PYPROJECT).is_file())
    texts = {**files.texts, REPORT: report(files, left_out)}
    _write_new(folder, texts)
    models = tuple(folder / path for path in files.models)
    return ImportResult(models, tuple(folder / path for path in texts), tuple(files.decisions), tuple(left_out))


def _write_new(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Write files by their paths in a folder. Raises ProblemsError, and writes nothing, where one is there already."""
    from merge_runner.atomic import write_atomic

    problems = Problems()
    for path in contents:
        if (folder / path).exists():
            hint = "nothing was written: name another folder with --to, or move the file"
            problems.add("file-exists", f"{folder / path} is there already", hint=hint)
    problems.check()
    for path, content in contents.items():
        write_atomic(folder / path, content)


def eject_model(prepared: Prepared, name: str) -> Path:
    """Write out the MERGE of a model that a macro writes: see `Project.eject`."""
    from merge_runner.atomic import write_atomic
    from merge_runner.conversion.eject import eject
    from merge_runner.text import SourceText, as_source

    node = named_model(prepared.graph, name)
    file = prepared.files.root / node.path
    before = read_file(file, Boundary(prepared.files.root))
    source = SourceText(node.path, as_source(before.decode("utf-8")))
    macros = {macro.name: macro.text for macro in prepared.templates.macros()}
    text = eject(source, lambda given, change: prepared.compiler.variant(node, given, change), macros)
    if b"\r\n" in before:
        text = text.replace("\n", "\r\n")
    write_atomic(file, text)
    return file
