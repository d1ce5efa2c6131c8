"""`merge-runner ls`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import load_project, recording_env, selected, with_default_selector
from merge_runner.options.declaration import option, several
from merge_runner.options.project import ProjectOptions, Selection
from merge_runner.project.load.answer_cache import AnswerCache
from merge_runner.project.load.state import nearest_project, profiles_outside
from merge_runner.project.syntax.secret_names import holds_value, secret_values, secret_vars

if TYPE_CHECKING:
    from merge_runner.project.load.files import ProjectFiles
    from merge_runner.project.syntax.environment import RecordingEnv

ListedType = Literal["model", "seed", "source", "test", "unit_test", "exposure", "analysis", "all", "default"]
_NOT_BY_DEFAULT = "analysis"
"""The type that is listed only where it is asked for, as in dbt."""
_HOMES = ("HOME", "USERPROFILE")
"""Where profiles.yml may be; the path of a project may begin with it."""
_OUTSIDE = ("state:", "result:", "git:")
"""Methods of selection that look at more than the project."""
_OF_TABLES, _OF_RUNS = "older_rows", "batches"
"""The keys of JSON for which tables, and the kept runs, are read."""


@dataclass(frozen=True)
class ListOptions(ProjectOptions):
    """Which nodes are listed, and how."""

    output: Literal["name", "path", "json", "levels", "dot"] = option(
        "--output", default="name", help="How nodes are written."
    )
    resource_type: tuple[ListedType, ...] = several(
        *("--resource-type", "--resource-types"),
        words=True,
        help="Only nodes of these types; default: all but analyses.",
    )
    output_keys: tuple[str, ...] = several(
        "--output-keys",
        words=True,
        help="The keys of --output json; a node leaves out those that it does not have. older_rows reads its table, "
        "batches has those of its last kept run.",
    )


@dataclass(frozen=True)
class Options(Selection, ListOptions):
    """The options of `ls`."""


@make("ls", Options)
def command(options: Options) -> int:
    """List the selected nodes."""
    from merge_runner.cli.display.messages import show
    from merge_runner.columns import printable_json

    env = recording_env()
    cache = _cache(options, env)
    lines = cache.get(env) if cache is not None else None
    for line in _lines(options, env, cache) if lines is None else lines:
        show(printable_json(line) if options.output == "json" else line)
    return 0


def _lines(options: Options, env: RecordingEnv, cache: AnswerCache | None) -> list[str]:
    """Return the lines of the project; the cache gets them where there are no messages besides."""
    from merge_runner.cli.display.problems import show_not_read, show_warnings
    from merge_runner.errors import Problem
    from merge_runner.graph.output import output

    project = load_project(options, env)
    prepared = project.prepared
    show_not_read(prepared.files.not_read, options)
    with_selector = with_default_selector(project, options)
    selection = selected(project, with_selector)
    ids = selection.ids
    listed_ids = tuple(node for node in ids if _is_listed(node.partition(".")[0], options.resource_type))
    hidden = [node for node in ids if node.partition(".")[0] == _NOT_BY_DEFAULT]
    if hidden and not listed_ids and not options.resource_type:
        names = ", ".join(project.graph.nodes[node].name for node in hidden)
        message = f"nothing but analyses is selected, which are not listed: {names}"
        hint = "list them with --resource-type analysis, or all"
        show_warnings([Problem("nothing-selected", message, hint=hint)], as_errors=options.warn_error)
    extra_values: dict[str, dict[str, Any]] = {}
    if _OF_TABLES in options.output_keys:
        extra_values[_OF_TABLES] = {node: asdict(rows) for node, rows in project.older_rows(listed_ids).items()}
    if _OF_RUNS in options.output_keys:
        extra_values[_OF_RUNS] = {**project.last_batches(listed_ids)}
    lines = list(output(project.graph, listed_ids, options.output, options.output_keys, extra_values))
    has_messages = prepared.not_read or prepared.unread_vars or selection.warnings or (hidden and not listed_ids)
    depends_on_files = with_selector.selector is None and not _may_hold_secret(lines, prepared.files, env)
    if cache is not None and prepared.files.root == cache.state.root and depends_on_files and not has_messages:
        cache.put(lines, env)
    return lines


def _may_hold_secret(lines: list[str], files: ProjectFiles, env: RecordingEnv) -> bool:
    """Return whether the project has secrets, or a line has the value of an environment variable."""
    if [*files.profile.secrets, *secret_values(env.reads), *secret_vars(files.vars)]:
        return True
    return holds_value(json.dumps(lines), (value for name, value in env.reads.items() if name not in _HOMES))


def _is_listed(kind: str, types: tuple[ListedType, ...]) -> bool:
    if kind in types or "all" in types:
        return True
    return kind != _NOT_BY_DEFAULT and (not types or "default" in types)


def _cache(options: Options, env: RecordingEnv) -> AnswerCache | None:
    """Return where the lines are kept; None where they depend on more than the files of the project.

    A named selector may, and so do the methods state, result and git, and what tables and kept runs have. `--vars` is a
    text that is not read here.
    """
    outside = any(method in text for text in (*options.select, *options.exclude) for method in _OUTSIDE)
    if (
        outside
        or {_OF_TABLES, _OF_RUNS} & {*options.output_keys}
        or options.selector
        or options.vars_text
        or options.debug
        or options.no_cache
    ):
        return None
    folder = options.project_dir
    root = nearest_project(Path.cwd()) if folder is None else Path.cwd() / folder
    if root is None:
        return None
    return AnswerCache.of(
        root,
        ["ls", repr(options)],
        env.whole,
        target_path=options.target_path,
        other_files=[profiles_outside(env.whole, options.profiles_dir)],
    )
