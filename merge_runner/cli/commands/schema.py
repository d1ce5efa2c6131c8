"""`merge-runner schema`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import project_root
from merge_runner.json_schemas import FOLDER, NAMES, Name, text, write_copies
from merge_runner.options.declaration import argument, flag
from merge_runner.options.project import FolderOptions


@dataclass(frozen=True)
class Options(FolderOptions):
    """The options of `schema`."""

    name: Name | None = argument(metavar="[NAME]", required=False)
    write: bool = flag("--write", help=f"Write the schema, or all of them, into {FOLDER}/ of the project.")


@make("schema", Options, ignores=("warn_error", "target_path", "quiet"))
def command(options: Options) -> int:
    """Print the JSON Schema (draft 7) of a kind of file, by which editors complete, check and explain its keys.

    NAME is properties, selectors, profiles, catalog, settings or pyproject. Without one, the schemas are listed.
    """
    if options.write:
        root = project_root(options.project_dir)
        for file in write_copies(root, NAMES if options.name is None else (options.name,)):
            click.echo(file)
    elif options.name is not None:
        click.echo(text(options.name), nl=False)
    else:
        for name, meaning in NAMES.items():
            click.echo(f"{name:<11} {meaning}")
    return 0
