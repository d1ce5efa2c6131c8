"""The jars of table formats and the embedded catalog: fetched once from a Maven repository, verified, kept in a cache.

`jars.json` pins path and SHA-256 of every jar, by line of Spark; some fit `every` line. Spark itself brings all other
dependencies of these jars, so that they are enough, and passing them as files spares Ivy at every start.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from merge_runner.cache_folder import cache_folder
from merge_runner.engine.spark.storage import local_files
from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats.lines import LINES, Line, installed_line
from merge_runner.formats.registry import capabilities, table_format_of

DEFAULT_REPOSITORY = "https://repo1.maven.org/maven2"
_CHUNK = 1 << 20
_OURS: Mapping[str, str] = {
    "log-store": "storage/merge-runner-log-store.jar",
    local_files.GROUP: f"storage/{local_files.JAR}",
}
"""Jars that merge-runner brings itself, by group."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned jar: `path` below a Maven repository, `sha256` in hex."""

    path: str
    sha256: str

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.rsplit("/", 1)[-1]


def pinned_jars(groups: Iterable[str], line: Line | None = None) -> list[Jar]:
    """Return the jars of groups (`delta`, `iceberg`, `sqlite`, `s3`, …) for a line of Spark, else the installed one's.

    Raises ProblemsError `no-runtime` for a group that has no build for the line.
    """
    line = line or installed_line()
    lock = json.loads(files("merge_runner.engine.spark").joinpath("jars.json").read_text(encoding="utf-8"))
    entries = lock["every"] | lock[line.spark]
    groups = [group for group in groups if group not in _OURS]
    if missing := [group for group in groups if group not in entries]:
        raise ProblemsError(
            _no_runtime(group, line, [other for other in LINES if group in lock[other]]) for group in missing
        )
    return [Jar(**entry) for group in groups for entry in entries[group]]


def _no_runtime(group: str, line: Line, lines: Sequence[str]) -> Problem:
    format = table_format_of(group)
    name = capabilities(format).label if format is not None else group
    return Problem(
        "no-runtime",
        f"{name} has no build for {line}: it runs on Spark {', '.join(lines[:-1])} or {lines[-1]}",
        hint=f"pip install 'merge-runner[{LINES[lines[-1]].extra}]'",
    )


def runtime_folder(env: Mapping[str, str]) -> Path:
    """Return the folder of jars and of what is made of them: the user's cache folder."""
    return cache_folder(env) or Path.home() / ".cache" / "merge-runner"


def fetch_jars(
    groups: Iterable[str], env: Mapping[str, str], notify: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Paths of the groups' jars, as `fetch` gives them, and our own."""
    groups = tuple(groups)
    return [*fetch(pinned_jars(groups), env, notify), *_ours(groups, env)]


def fetch(jars: Iterable[Jar], env: Mapping[str, str], notify: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Return the paths of jars, each verified by its checksum; missing ones are downloaded first.

    The repository is $MERGE_RUNNER_MAVEN_URL or Maven Central. `notify` is called for every download.
    Raises ProblemsError `jar-download` or `jar-checksum`.
    """
    repository = env.get("MERGE_RUNNER_MAVEN_URL", DEFAULT_REPOSITORY).rstrip("/")
    paths = _paths(jars, env)
    for path, jar in paths.items():
        if not _intact(path, jar):
            notify(f"fetching {jar.name}")
            _download(f"{repository}/{jar.path}", path, jar)
    return list(paths)


def jars_at_hand(groups: Iterable[str], env: Mapping[str, str]) -> list[Path] | None:
    """Paths of the groups' jars, verified, where all of them are there already; else None."""
    groups = tuple(groups)
    paths = _paths(pinned_jars(groups), env)
    return [*paths, *_ours(groups, env)] if all(_intact(path, jar) for path, jar in paths.items()) else None


def _ours(groups: Iterable[str], env: Mapping[str, str]) -> list[Path]:
    """The jars of ours, as files: those of a package in an archive are copied into the cache."""
    paths = []
    for name in (_OURS[group] for group in groups if group in _OURS):
        jar = files("merge_runner.engine.spark").joinpath(name)
        if not isinstance(jar, Path):
            copy = runtime_folder(env) / "jars" / f"{hashlib.sha256(jar.read_bytes()).hexdigest()[:8]}-{jar.name}"
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                part = copy.with_suffix(f".{os.getpid()}.part")
                part.write_bytes(jar.read_bytes())
                part.replace(copy)
            jar = copy
        paths.append(jar)
    return paths


def _paths(jars: Iterable[Jar], env: Mapping[str, str]) -> dict[Path, Jar]:
    folder = runtime_folder(env) / "jars"
    return {folder / jar.name: jar for jar in jars}


def _intact(path: Path, jar: Jar) -> bool:
    return path.exists() and _sha256(path) == jar.sha256


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _download(url: str, path: Path, jar: Jar) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=jar.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file, urllib.request.urlopen(url, timeout=60) as response:
            while chunk := response.read(_CHUNK):
                digest.update(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        if digest.hexdigest() != jar.sha256:
            raise ProblemsError(
                [
                    Problem(
                        "jar-checksum",
                        f"{url} has SHA-256 {digest.hexdigest()}, and {jar.sha256} is pinned",
                        hint="the repository serves another file than Maven Central did: nothing of it was kept",
                    )
                ]
            )
        Path(name).replace(path)
    except (urllib.error.URLError, TimeoutError, OSError) as error:
        raise ProblemsError(
            [
                Problem(
                    "jar-download",
                    f"{url} could not be fetched: {error}",
                    hint="check the network, or name a mirror in MERGE_RUNNER_MAVEN_URL, "
                    f"or put the file into {path.parent}",
                )
            ]
        ) from error
    finally:
        Path(name).unlink(missing_ok=True)
