"""Which files paths mean outside of a project: files, folders, and the models of dbt projects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from merge_runner.errors import Problems
from merge_runner.lint.run.dbt_files import DbtFiles
from merge_runner.lint.run.plain_file import PlainFile, display_path, files_below, is_data_without_merge, read_plain
from merge_runner.project_file import Boundary


def plain_files(paths: Iterable[Path], root: Path) -> Iterator[PlainFile]:
    """Give the files that are meant: a file itself, of a folder all below it that can hold a MERGE (`files_below`).

    In a dbt project these are its models, also where its target/run is named. They are shown relative to `root` where
    they are in it. A file of data or documentation is left out unless it holds a MERGE: a hook is given whatever has
    changed. Raises ProblemsError for a path that does not exist, and for a dbt project without a manifest.
    """
    problems = Problems()
    dbt = DbtFiles(root, problems)
    models: dict[tuple[str, str], PlainFile] = {}
    boundary = Boundary(root)
    files: dict[Path, Boundary | None] = {}
    for path in paths:
        resolution = dbt.resolve(path)
        if resolution is not None:
            models.update(
                {(file.path, file.model.node.name): file for file in resolution.models if file.model is not None}
            )
            files.update(dict.fromkeys(resolution.others, Boundary(path if path.is_dir() else path.parent)))
        elif path.is_dir():
            files.update(dict.fromkeys(sorted(files_below(path)), Boundary(path)))
        elif path.exists() or path.is_symlink():
            files[path] = boundary.of_named(path)
        else:
            problems.add("no-such-file", f"there is no file or folder {path}")
    problems.check()
    yield from models.values()
    for file, inside in files.items():
        plain = read_plain(file, display_path(file, root), inside)
        if not is_data_without_merge(plain):
            yield plain
