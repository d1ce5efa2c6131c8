"""Which files of a project are what: by the folders that its settings name, and by suffix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from merge_runner.errors import Problems
from merge_runner.project.load.scan import Folder, scan
from merge_runner.project.schema.profile import FILE as PROFILES
from merge_runner.project.schema.selectors import FILE as SELECTORS
from merge_runner.project.schema.settings import Settings

_YAML = (".yml", ".yaml")
_NOT_PROPERTIES = frozenset({PROFILES, SELECTORS})


@dataclass(frozen=True)
class ProjectFile:
    """A file: `path` relative to the project, `stem` its name without the suffix, `folder` those below the path."""

    path: str
    stem: str
    folder: tuple[str, ...]


@dataclass
class ProjectPaths:
    """The files of a project by kind, in the order of their paths, and the folders of its models and seeds.

    `python` are the paths of the Python files in its model paths, which are not read.
    """

    models: list[ProjectFile] = field(default_factory=list)
    seeds: list[ProjectFile] = field(default_factory=list)
    macros: list[ProjectFile] = field(default_factory=list)
    singular_tests: list[ProjectFile] = field(default_factory=list)
    fixtures: list[ProjectFile] = field(default_factory=list)
    analyses: list[ProjectFile] = field(default_factory=list)
    docs: dict[str, None] = field(default_factory=dict)
    """Markdown files, which may hold docs blocks."""
    property_files: dict[str, None] = field(default_factory=dict)
    model_folders: set[tuple[str, ...]] = field(default_factory=set)
    seed_folders: set[tuple[str, ...]] = field(default_factory=set)
    python: list[str] = field(default_factory=list)


def project_paths(root: str, settings: Settings, problems: Problems) -> ProjectPaths:
    """Finds the files of the project.

    Property files may be in the folders of models, seeds, macros and analyses. In a test path, `fixtures` holds the
    rows of unit tests, `generic` macros (as in dbt). A folder with Python files, or below one, holds nothing of the
    project: a package keeps its own tests there.
    """
    paths = ProjectPaths()
    skip = frozenset({settings.target_path})

    def folders(starts: Iterable[str], key: str, skip_python: bool = False) -> Iterable[Folder]:
        for index, start in enumerate(starts):
            empty = True
            for folder in scan(root, start, problems, skip=skip, skip_python=skip_python):
                empty = False
                yield folder
            if empty and settings.places is not None and key in settings.places.data:
                place = settings.places.place((key, index))
                problems.add("no-such-folder", f'there is no folder "{start}" in the project', place, "create it")

    for folder in folders(settings.model_paths, "model-paths"):
        paths.model_folders.add(folder.parts)
        paths.models += _files_with(folder, ".sql")
        paths.python += [file.path for file in _files_with(folder, ".py")]
        _add_property_files(folder, paths)
    for folder in folders(settings.seed_paths, "seed-paths"):
        paths.seed_folders.add(folder.parts)
        paths.seeds += _files_with(folder, ".csv")
        _add_property_files(folder, paths)
    for folder in folders(settings.macro_paths, "macro-paths"):
        paths.macros += _files_with(folder, ".sql")
        _add_property_files(folder, paths)
    for folder in folders(settings.test_paths, "test-paths", skip_python=True):
        if folder.parts[:1] == ("fixtures",):
            paths.fixtures += [*_files_with(folder, ".csv"), *_files_with(folder, ".sql")]
        elif folder.parts[:1] == ("generic",):
            paths.macros += _files_with(folder, ".sql")
        else:
            paths.singular_tests += _files_with(folder, ".sql")
    for folder in folders(settings.analysis_paths, "analysis-paths"):
        paths.analyses += _files_with(folder, ".sql")
        _add_property_files(folder, paths)
    return paths


def _files_with(folder: Folder, suffix: str) -> list[ProjectFile]:
    suffix_start = -len(suffix)
    return [
        ProjectFile(folder.join(name), name[:suffix_start], folder.parts)
        for name in folder.files
        if name[suffix_start:].lower() == suffix
    ]


def _add_property_files(folder: Folder, paths: ProjectPaths) -> None:
    for name in folder.files:
        if name.lower().endswith(".md"):
            paths.docs[folder.join(name)] = None
        if name.lower().endswith(_YAML) and not (folder.path == "." and name in _NOT_PROPERTIES):
            paths.property_files[folder.join(name)] = None
