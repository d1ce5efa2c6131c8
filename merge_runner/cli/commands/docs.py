"""`merge-runner docs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from merge_runner.api.pages import FOLDER, serve_folder
from merge_runner.cli.browser import open_in_browser
from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import counted, say, show
from merge_runner.cli.loading import load_project
from merge_runner.cli.node_commands import display_for
from merge_runner.options.declaration import argument, flag, option
from merge_runner.options.project import ProjectOptions


@dataclass(frozen=True)
class Options(ProjectOptions):
    """The options of `docs`."""

    action: Literal["generate", "serve"] = argument()
    static: bool = flag("--static", help="With generate: one file, target/docs.html, and no folder.")
    spark: bool = flag(
        "--spark", help="With generate: start Spark, and ask it for the tables that are not files of this machine."
    )
    open_page: bool = flag("--open", help="Open the page in a browser.")
    host: str = option("--host", default="127.0.0.1", help="With serve: the address to listen on.")
    port: int = option("--port", default=8080, least=0, most=65535, help="With serve: the port; 0: any free one.")


@make("docs", Options)
def command(options: Options) -> int:
    """Write the project as a page with search, DAG, proofs and column lineage, or serve the page until Ctrl-C.

    The page opens from disk, without a server; `serve` is for others to read it. With `generate` goes catalog.json, the
    columns and sizes of the tables that are there. Needs no Spark, unless tables are in a catalog or an object store:
    `--spark` asks for these.
    """
    return {"generate": _generate, "serve": _serve}[options.action](options)


def _generate(options: Options) -> int:
    project = load_project(options, secrets=options.spark)
    page = project.docs(static=options.static)
    catalog = project.catalog(
        spark=options.spark, on_event=display_for(options, project.graph) if options.spark else None
    )
    if not options.quiet:
        unread = len(catalog.unread)
        where = "not there" if options.spark else "not built, or not on this machine (--spark asks Spark)"
        left_out = f"; {counted(unread, 'table')} {where}" if unread else ""
        say(f"catalog.json: {counted(catalog.count, 'relation')}{left_out}")
    show(str(page))
    if options.open_page:
        open_in_browser(page.as_uri())
    return 0


def _serve(options: Options) -> int:
    def started(address: str) -> None:
        if not options.quiet:
            say(f"serving {folder} at {address}, until Ctrl-C")
        if options.open_page:
            open_in_browser(address)

    folder = load_project(options).prepared.target_path / FOLDER
    serve_folder(folder, options.host, options.port, started)
    return 0
