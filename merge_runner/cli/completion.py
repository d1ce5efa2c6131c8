"""What completes the words of a command line: read from the names of files, without loading the project.

A shell waits for it with every TAB. Nothing here raises: a project that cannot be read completes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, shell_complete

PROGRAM = "merge-runner"
VARIABLE = "_MERGE_RUNNER_COMPLETE"
"""The environment variable by which a shell asks for completions, `bash_complete` or the like, as click names it."""

_METHODS = (
    *("config.", "exposure:", "file:", "git:", "path:", "result:", "selector:", "source:", "tag:", "test_name:"),
    *(f"resource_type:{kind}" for kind in ("model", "seed", "source", "test", "unit_test", "exposure", "analysis")),
    *(f"state:{what}" for what in ("inputs", "modified", "new", "old", "older-rows", "unmodified")),
    *(f"test_type:{kind}" for kind in ("data", "generic", "singular", "unit")),
)
_OPERATORS = re.compile(r"(?:@|\d*\+)?")
"""What may come before a name in a selection."""

_Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def complete(command: click.Command, instruction: str) -> int:
    """Answer a shell: print what completes its words. Return the exit status."""
    return shell_complete(command, {}, PROGRAM, VARIABLE, instruction)


def _completes(names: Callable[[click.Context], Iterable[str]]) -> _Complete:
    """Make a function for `shell_complete` of a parameter of one that yields all names."""

    @wraps(names)
    def complete(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return _beginning(_all(names, ctx), incomplete)

    return complete


def _all(names: Callable[[click.Context], Iterable[str]], ctx: click.Context) -> list[str]:
    try:
        return sorted(set(names(ctx)))
    except Exception:  # whatever is wrong with the project: there is nowhere to report it between two keys
        return []


def _beginning(names: Iterable[str], incomplete: str, before: str = "") -> list[CompletionItem]:
    return [CompletionItem(before + name) for name in names if name.startswith(incomplete)]


def selection(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last part of a selection: `+stg,fct` by names that begin with `fct`."""
    before, comma, last = incomplete.rpartition(",")
    operator = _OPERATORS.match(last)
    length = operator.end() if operator else 0
    names = [*_all(_nodes, ctx), *_METHODS]
    return _beginning(names, last[length:], before + comma + last[:length])


def _nodes(ctx: click.Context) -> Iterator[str]:
    root = _root(ctx)
    from merge_runner.errors import Problems
    from merge_runner.project.load.find_project import read_settings
    from merge_runner.project.load.project_paths import project_paths

    paths = project_paths(str(root), read_settings(root, Problems()), Problems())
    yield from (path.stem for path in (*paths.models, *paths.seeds, *paths.singular_tests, *paths.analyses))


@_completes
def model_names(ctx: click.Context) -> Iterable[str]:
    """Names of models, by their files."""
    return _nodes(ctx)


@_completes
def macro_names(ctx: click.Context) -> Iterable[str]:
    """Names of macros, by the texts of their files."""
    from merge_runner.errors import Problems
    from merge_runner.project.load.find_project import read_settings
    from merge_runner.project.load.project_paths import project_paths
    from merge_runner.project_file import Boundary, read_file
    from merge_runner.template.static.macro_definitions import macro_definitions
    from merge_runner.text import SourceText

    root = _root(ctx)
    files = project_paths(str(root), read_settings(root, Problems()), Problems()).macros
    texts = (SourceText(file.path, read_file(root / file.path, Boundary(root)).decode()) for file in files)
    return [macro.name for text in texts for macro in macro_definitions(text)]


@_completes
def targets(ctx: click.Context) -> Iterable[str]:
    """The outputs of the project's profile; of all profiles where that is not found."""
    profiles = _profiles(ctx)
    name = str(ctx.params.get("profile"))
    outputs_of = [profiles[name]] if name in profiles else list(profiles.values())
    return [output for profile in outputs_of for output in profile.get("outputs") or {}]


@_completes
def profiles(ctx: click.Context) -> Iterable[str]:
    """The names of profiles."""
    return list(_profiles(ctx))


@_completes
def selectors(ctx: click.Context) -> Iterable[str]:
    """The names of selectors.yml."""
    document = _yaml(_root(ctx) / "selectors.yml")
    definitions = document.get("selectors", document)
    return definitions if isinstance(definitions, Mapping) else [definition["name"] for definition in definitions]


@_completes
def rule_codes(_ctx: click.Context) -> Iterable[str]:
    """The codes of rules: each is a module, `p001_unbounded_target`."""
    import merge_runner.lint as package

    files = (Path(str(package.__file__)).parent / "rules").glob("[a-z][0-9][0-9][0-9]_*.py")
    return [file.name[:4].upper() for file in files]


@_completes
def command_names(ctx: click.Context) -> Iterable[str]:
    """The names of commands."""
    outer = ctx.find_root()
    return outer.command.list_commands(outer) if isinstance(outer.command, click.Group) else ()


def _root(ctx: click.Context) -> Path:
    from merge_runner.cli.loading import project_root

    return project_root(ctx.params.get("project_dir"))


def _profiles(ctx: click.Context) -> Mapping[str, Any]:
    folder = ctx.params.get("profiles_dir")
    places = [folder] if folder else [_root(ctx), Path.home() / ".merge-runner"]
    return _yaml(next(place / "profiles.yml" for place in places if (place / "profiles.yml").is_file()))


def _yaml(file: Path) -> Mapping[str, Any]:
    import yaml

    from merge_runner.project_file import Boundary, read_file

    document = yaml.safe_load(read_file(file, Boundary(file.parent)))
    return document if isinstance(document, Mapping) else {}
