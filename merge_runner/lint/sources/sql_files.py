"""Which SQL files paths mean outside of a project: files, folders, and the models of dbt projects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from merge_runner.errors import Problems
from merge_runner.lint.sources.dbt_model import DbtModel
from merge_runner.project.syntax.read_text import read_text
from merge_runner.text import SourceText


@dataclass(frozen=True)
class PlainFile:
    """A file as it is to be shown (`path`), and its text; None where it could not be read, and `problem` says why.

    `model` is the dbt model that the file is of.
    """

    path: str
    file: Path
    source: SourceText | None
    problem: str | None = None
    model: DbtModel | None = None


def plain_files(paths: Iterable[Path], root: Path) -> Iterator[PlainFile]:
    """Give the files that are meant: a file itself, of a folder all .sql files below it, hidden ones left out.

    In a dbt project these are its models, also where its target/run is named. They are shown relative to `root` where
    they are in it. A file that holds no SQL by its name is left out: a hook is given whatever has changed. Raises
    ProblemsError for a path that does not exist, and for a dbt project without a manifest.
    """
    from merge_runner.lint.sources.dbt_files import DbtFiles

    problems = Problems()
    dbt = DbtFiles(root, problems)
    models: dict[tuple[str, str], PlainFile] = {}
    found: dict[Path, None] = {}
    for path in paths:
        meant = dbt.meant(path)
        if meant is not None:
            models.update({(file.path, file.model.node.name): file for file in meant.models if file.model is not None})
            found.update(dict.fromkeys(meant.others))
        elif path.is_dir():
            found.update(dict.fromkeys(sql_files(path)))
        elif path.exists() or path.is_symlink():
            if not holds_no_sql(path.name):
                found[path] = None
        else:
            problems.add("no-such-file", f"there is no file or folder {path}")
    problems.check()
    yield from models.values()
    for file in found:
        yield read_plain(file, shown(file, root))


def with_text(file: PlainFile, text: str) -> PlainFile:
    """Return a file as if `text` was written in it."""
    source = SourceText(file.path, text)
    if file.model is None:
        return replace(file, source=source, problem=None)
    return replace(file, source=source, model=replace(file.model, config=replace(file.model.config, source=source)))


def sql_files(folder: Path) -> list[Path]:
    """Return all .sql files below a folder, hidden ones left out."""
    inside = (file for file in sorted(folder.rglob("*.sql")) if not _is_hidden(file.relative_to(folder)))
    return [file for file in inside if not file.is_dir()]


def holds_no_sql(file: str) -> bool:
    """Return whether the name of a file says that it holds something else than SQL."""
    return file.lower().endswith((".yml", ".yaml", ".toml", ".json", ".csv", ".md", ".py"))


def read_plain(file: Path, path: str) -> PlainFile:
    """Return a file with its text, shown as `path`."""
    problems = Problems()
    source = read_text(file, path, problems)
    return PlainFile(path, file, source, next((problem.message for problem in problems), None))


def shown(file: Path, root: Path) -> str:
    """Return the path of a file relative to `root`; as a whole where it is elsewhere."""
    absolute = Path(os.path.abspath(file))  # noqa: PTH100 -- `..` ends, links stay
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else absolute.as_posix()


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
