"""What paths mean in a dbt project: its models, whether the paths are their files or dbt's own in target/run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems
from merge_runner.lint.dbt.config import DbtConfig
from merge_runner.lint.dbt.manifest import DbtNode
from merge_runner.lint.dbt.merge import Unknown
from merge_runner.lint.dbt.model import DbtModel
from merge_runner.lint.dbt.project import MANIFEST, DbtProject, read_dbt_project, target_folder
from merge_runner.lint.run.plain_file import PlainFile, display_path, sql_files
from merge_runner.merge.find import holds_merge
from merge_runner.project.load.not_read import DBT_PROJECT
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.project_file import Boundary
from merge_runner.text import SourceText


@dataclass(frozen=True)
class PathResolution:
    """What a path means: models of a dbt project, and files that are none of its models'."""

    models: tuple[PlainFile, ...] = ()
    others: tuple[Path, ...] = ()


@dataclass(frozen=True)
class _Settings:
    """What dbt_project.yml says of folders."""

    target: str = "target"
    models: tuple[str, ...] = ("models",)
    packages: str = "dbt_packages"


class DbtFiles:
    """Finds the models that paths mean; each project is read once. Models are shown relative to `root`."""

    def __init__(self, root: Path, problems: Problems) -> None:
        self._root = root
        self._problems = problems
        self._projects: dict[Path, DbtProject] = {}
        self._settings: dict[Path, _Settings] = {}
        self._roots: dict[Path, Path | None] = {}
        self._read: dict[Path, YamlTree | None] = {}
        self._by_file: dict[Path, dict[Path, list[DbtNode]]] = {}

    def resolve(self, path: Path) -> PathResolution | None:
        """Return what a path means; None where it is in no dbt project, or is none of its models' files."""
        place = Path(os.path.abspath(path))  # noqa: PTH100 -- `..` ends, links stay
        home = self._home(place if place.is_dir() else place.parent)
        target = home / self._settings_of(home).target if home is not None else None
        if (target is None or not place.is_relative_to(target)) and (other := target_folder(place)) is not None:
            target = other
        if target is not None and place.is_relative_to(target):
            return self._in_target(place, target, home) if (target / MANIFEST).is_file() else None
        if home is None or target is None or not place.exists():
            return None
        if not (target / MANIFEST).is_file():
            return self._without_manifest(place, home, target)
        return self._in_project(place, home, self._project(target))

    def _in_target(self, place: Path, target: Path, home: Path | None) -> PathResolution:
        project = self._project(target)
        run = target / "run"
        files = sql_files(run if run.is_relative_to(place) else place) if place.is_dir() else [place]
        models, others = [], []
        for file in files:
            node = project.node(file)
            if node is None or not node.merges:
                others.append(file)
                continue
            text = _read(file, project.boundary)
            has_merge = text is not None and holds_merge(text)
            models.append(self._file(project, home, node, text, file) if has_merge else self._next(project, home, node))
        return PathResolution(tuple(models), tuple(others))

    def _in_project(self, place: Path, home: Path, project: DbtProject) -> PathResolution | None:
        nodes = project.linted_nodes
        if place.name == DBT_PROJECT:
            return self._models(project, home, nodes)
        by_file = self._files(project, home)
        if place.is_dir():
            here = [node for file, in_file in by_file.items() if file.is_relative_to(place) for node in in_file]
        else:
            here = by_file.get(place, [])
        if here:
            return self._models(project, home, here)
        if place.suffix in (".yml", ".yaml"):
            described = place.relative_to(home).as_posix()
            return self._models(project, home, [node for node in nodes if node.patch == described])
        return None

    def _without_manifest(self, place: Path, home: Path, target: Path) -> PathResolution | None:
        """A dbt project whose manifest is missing: its statements in target/run are plain files then."""
        folders = [home, *(home / folder for folder in self._settings_of(home).models)]
        if not any(place.is_relative_to(folder) for folder in folders[1:]) and place != home:
            return None
        if place == home and (target / "run").is_dir():
            return PathResolution(others=tuple(sql_files(target / "run")))
        message = f"{place if place == home else home} is a dbt project without {target.name}/{MANIFEST}"
        self._problems.add("no-such-file", message, None, "run `dbt parse`, which needs no warehouse, and lint again")
        return PathResolution()

    def _models(self, project: DbtProject, home: Path, nodes: Iterable[DbtNode]) -> PathResolution:
        return PathResolution(
            tuple(self._next(project, home, node) for node in sorted(nodes, key=lambda node: node.file or ""))
        )

    def _next(self, project: DbtProject, home: Path | None, node: DbtNode) -> PlainFile:
        """The MERGE that dbt will run next; where only dbt knows it, the one that it ran last."""
        if not node.merges:
            return self._file(project, home, node)
        text = project.next_merge(node)
        if isinstance(text, str):
            return self._file(project, home, node, text)
        last = project.last_merge(node)
        if last is not None and node.file is not None:
            return self._file(project, home, node, last, project.target / "run" / node.file)
        if node.kind == "snapshot":
            return self._file(project, home, node)  # its first run has no MERGE, and the next one is dbt's alone
        return self._file(project, home, node, unknown=text)

    def _file(
        self,
        project: DbtProject,
        home: Path | None,
        node: DbtNode,
        text: str | None = None,
        generated: Path | None = None,
        unknown: Unknown | None = None,
    ) -> PlainFile:
        file = self._path(node, home if home is not None else project.target.parent)
        place = file if file is not None else project.target / MANIFEST
        path = display_path(place, self._root)
        has_text = node.kind != "seed" and file is not None and file.is_file()
        source = read_text(place, path, Problems(), project.boundary) if has_text else None
        if source is None and node.raw_code:
            source = SourceText(path, node.raw_code)
        if source is None and generated is not None:
            place, path = generated, display_path(generated, self._root)
            source = SourceText(path, text or "")
        source = source or SourceText(path, "")
        config = DbtConfig(node.name, source, self._yaml_reader(project, node, place, file))
        into = display_path(generated, self._root) if generated is not None else None
        own = file if file is not None and file.is_file() else None
        model = DbtModel(project, node, config, text, unknown, into, own)
        return PlainFile(path, place, source, model=model)

    def _yaml_reader(
        self, project: DbtProject, node: DbtNode, place: Path, file: Path | None
    ) -> Callable[[], YamlTree | None]:
        """Reads the YAML that describes a node: its path begins in the folder that the node's own path begins in."""
        if node.patch is None or node.path is None or file is None:
            return lambda: None
        package = Path(*place.parts[: len(place.parts) - len(Path(node.path).parts)])
        return partial(self._yaml, package / node.patch, project.boundary)

    def _yaml(self, file: Path, boundary: Boundary) -> YamlTree | None:
        if file not in self._read:
            source = read_text(file, display_path(file, self._root), Problems(), boundary)
            self._read[file] = yaml_tree(source, Problems()) if source is not None else None
        return self._read[file]

    def _path(self, node: DbtNode, home: Path) -> Path | None:
        """The file of a node; those of packages are where dbt installs them."""
        if node.path is None:
            return None
        own = self._settings_of(home).packages
        installed = home / own / node.package
        return (installed if installed.is_dir() else home) / node.path

    def _files(self, project: DbtProject, home: Path) -> dict[Path, list[DbtNode]]:
        """The nodes of a project by their files."""
        if project.target not in self._by_file:
            by_file: dict[Path, list[DbtNode]] = {}
            for node in project.linted_nodes:
                if (file := self._path(node, home)) is not None:
                    by_file.setdefault(file, []).append(node)
            self._by_file[project.target] = by_file
        return self._by_file[project.target]

    def _project(self, target: Path) -> DbtProject:
        if target not in self._projects:
            self._projects[target] = read_dbt_project(target, self._problems)
        return self._projects[target]

    def _home(self, folder: Path) -> Path | None:
        """The nearest folder, from this one upwards, that is a dbt project; those of packages are in another one."""
        if folder not in self._roots:
            homes = [parent for parent in (folder, *folder.parents) if (parent / DBT_PROJECT).is_file()]
            outer = [home for home in homes[1:] if homes[0].is_relative_to(home / self._settings_of(home).packages)]
            self._roots[folder] = outer[0] if outer else next(iter(homes), None)
        return self._roots[folder]

    def _settings_of(self, home: Path) -> _Settings:
        if home not in self._settings:
            self._settings[home] = _settings(home)
        return self._settings[home]


def _settings(home: Path) -> _Settings:
    source = read_text(home / DBT_PROJECT, DBT_PROJECT, Problems(), Boundary(home))
    tree = yaml_tree(source, Problems()) if source is not None else None
    data: dict[str, Any] = tree.data if tree is not None and isinstance(tree.data, dict) else {}
    usual = _Settings()
    target = os.environ.get("DBT_TARGET_PATH") or data.get("target-path")
    models, packages = data.get("model-paths"), data.get("packages-install-path")
    return _Settings(
        target if isinstance(target, str) and "{{" not in target else usual.target,
        tuple(map(str, models)) if isinstance(models, list) else usual.models,
        packages if isinstance(packages, str) and "{{" not in packages else usual.packages,
    )


def _read(file: Path, boundary: Boundary) -> str | None:
    source = read_text(file, str(file), Problems(), boundary)
    return source.text if source is not None else None


def models_by_project(models: Iterable[DbtModel]) -> Iterator[tuple[DbtProject, list[DbtModel]]]:
    """Give the models whose MERGE only a run of dbt makes known, by their projects."""
    by_target: dict[Path, tuple[DbtProject, list[DbtModel]]] = {}
    for model in models:
        if model.unknown is not None and not model.unknown.needs_query:
            by_target.setdefault(model.project.target, (model.project, []))[1].append(model)
    yield from by_target.values()
