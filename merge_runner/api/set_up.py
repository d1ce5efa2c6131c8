"""What a machine and a project need: jars, checks of the set-up, and generated files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from merge_runner.api.logged_messages import LoggedMessages
from merge_runner.errors import Messages, Problem, Problems, ProblemsError

if TYPE_CHECKING:
    from merge_runner.api.loaded_project import LoadedProject
    from merge_runner.plan.load.project_context import Prepared
    from merge_runner.project.load.packages import LockedPackage
    from merge_runner.project.schema.profile import Profile


@dataclass(frozen=True)
class Check:
    """What a check of the set-up has found: a line of text, or problems."""

    name: str
    text: str | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def debug(
    load: Callable[[], LoadedProject],
    *,
    spark: bool = False,
    write_catalog: str | Path | Literal[True] | None = None,
    messages: Messages | None = None,
) -> Iterator[Check]:
    """Check the set-up, one part after the other: versions, Java, jars, the project that `load` returns, its Spark.

    `spark` starts Spark and runs a query on it. `write_catalog` records how the project's tables are laid out, in a
    file or in catalog.yml of the project (True). `messages` receives warnings, instead of the logger
    `merge_runner.debug`.
    """
    for name, check in _checks(load, spark, write_catalog, messages or LoggedMessages("debug")):
        try:
            yield Check(name, check())
        except ProblemsError as error:
            yield Check(name, problems=error.problems)


def _checks(
    load: Callable[[], LoadedProject],
    spark: bool,
    write_catalog: str | Path | Literal[True] | None,
    messages: Messages,
) -> Iterator[tuple[str, Callable[[], str]]]:
    from merge_runner.run import set_up

    prepared = _LoadStep(load)

    def project() -> str:
        messages.warn(prepared().unread_vars)
        return set_up.project(prepared())

    yield "versions", set_up.versions
    yield "java", lambda: set_up.java(prepared.profile)
    yield "jars", lambda: set_up.jars(prepared.profile, prepared.root, messages.say)
    yield "project", project
    yield "merges", lambda: set_up.merges(prepared())
    yield "catalogs", lambda: set_up.catalogs(prepared(), messages.say)
    yield "home", lambda: set_up.spark_home(prepared(), lambda note: messages.say(f"warning: {note}", "warn"))
    yield "archive", lambda: set_up.archive(prepared())
    if spark:
        yield "spark", lambda: set_up.spark_version(prepared())
    if write_catalog is not None:
        file = None if write_catalog is True else Path(write_catalog)
        yield "catalog", lambda: set_up.write_catalog(prepared(), file)


class _LoadStep:
    """The project, loaded when it is first needed; the checks that need one that cannot be loaded all report why."""

    def __init__(self, load: Callable[[], LoadedProject]) -> None:
        self._load = load
        self._prepared: Prepared | ProblemsError | None = None

    def __call__(self) -> Prepared:
        if self._prepared is None:
            try:
                self._prepared = self._load().prepared
            except ProblemsError as error:
                self._prepared = error
        if isinstance(self._prepared, ProblemsError):
            raise self._prepared
        return self._prepared

    @property
    def profile(self) -> Profile | None:
        """The profile of the project; None for one that cannot be loaded."""
        with suppress(ProblemsError):
            return self().files.profile
        return None

    @property
    def root(self) -> Path:
        """The folder of the project; that of this process for one that cannot be loaded."""
        with suppress(ProblemsError):
            return self().files.root
        return Path.cwd()


def fetch_jars(
    *,
    iceberg: bool = False,
    sqlite: bool = False,
    kafka: bool = False,
    store: Literal["s3", "azure", "gcs"] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> list[Path]:
    """Fetch the jars of the table formats into the cache folder, verify their checksums, and return their paths.

    That is Delta's; `iceberg`, `sqlite` (with Iceberg), `kafka` and the object store `store` are for profiles and
    projects that need them.
    `on_message` receives a line for each download, instead of the logger `merge_runner.spark`.
    """
    from merge_runner.engine.spark import jars

    return jars.fetch_jars(
        _groups(iceberg, sqlite, kafka, store), os.environ, on_message or LoggedMessages("spark").say
    )


def install_packages(
    path: str | Path = ".", *, upgrade: bool = False, on_message: Callable[[str], None] | None = None
) -> tuple[LockedPackage, ...]:
    """Install the packages of macros that the project in a folder declares, and return them; none: it declares none.

    They are pinned in packages.lock, with checksums. With `upgrade` the revisions of packages.yml count again, and not
    the locked commits. Raises ProblemsError where one cannot be fetched, or is not what it was.
    """
    from merge_runner.project.install import install_packages as install

    return install(Path(path).absolute(), upgrade=upgrade, notify=on_message or LoggedMessages("packages").say)


def make_archive(**_options: object) -> NoReturn:
    """Raise ProblemsError: the JVM of the first build writes the class-data archive, and no function does."""
    message = "make_archive is gone: the JVM of the first build writes the class-data archive when it ends"
    hint = "build with MERGE_RUNNER_CDS=1, which waits for the archive, and writes it in CI, too"
    raise ProblemsError([Problem("no-archive", message, hint=hint)])


def _groups(iceberg: bool, sqlite: bool, kafka: bool, store: str | None) -> list[str]:
    stores = dict.fromkeys({"s3": ("s3", "log-store")}.get(store, (store,)), True) if store is not None else {}
    choices = {"delta": True, "iceberg": iceberg or sqlite, "sqlite": sqlite, **stores, "kafka": kafka}
    return [group for group, is_wanted in choices.items() if is_wanted]


def target_folder(root: Path, target_path: str | None = None) -> Path:
    """Return the folder of generated files of the project at `root`. Raises ProblemsError for wrong settings."""
    from merge_runner.project.load.find_project import read_settings
    from merge_runner.project.load.target_folder import target_path_of

    root = root.absolute()
    return root / target_path_of(root, read_settings(root, Problems()), target_path)


def clean(path: str | Path = ".", *, target_path: str | None = None, keep_runs: bool = False) -> Path | None:
    """Remove the folder of generated files of the project in a folder, and return it; None where there is none.

    With `keep_runs` the records of runs stay, and with them what `report` shows.

    Raises ProblemsError where that is no folder inside the project, or holds files of the project's own.
    """
    from merge_runner.pages.runs.history import FOLDER
    from merge_runner.project.load.find_project import read_settings
    from merge_runner.project.load.target_folder import target_path_of

    root = Path(path).absolute()
    settings = read_settings(root, Problems())
    target = (root / target_path_of(root, settings, target_path)).resolve()
    if target == root.resolve() or root.resolve() not in target.parents:
        hint = "target-path must be a folder inside the project to be removed"
        raise ProblemsError([Problem("clean-outside", f"{target} is not below {root}: nothing was removed", hint=hint)])
    for folder in (root / name for name in settings.own_paths):
        if folder.exists() and (folder.resolve() == target or target in folder.resolve().parents):
            hint = "target-path must be a separate folder to be removed"
            message = f"{target} holds the project's own {folder.name}: nothing was removed"
            raise ProblemsError([Problem("clean-outside", message, hint=hint)])
    if not target.is_dir():
        return None
    if not keep_runs or not (target / FOLDER).is_dir():
        shutil.rmtree(target)
        return target
    for entry in target.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            if entry.name != FOLDER:
                shutil.rmtree(entry)
        else:
            entry.unlink()
    return target
