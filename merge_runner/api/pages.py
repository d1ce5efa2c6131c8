"""The pages of a project: where they are written, and a server for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.atomic import write_atomic
from merge_runner.errors import Problem, ProblemsError
from merge_runner.pages.project.project_page import project_page
from merge_runner.pages.runs.comparison import RUNS, changes
from merge_runner.pages.runs.history import LastResult, kept_runs, last_results
from merge_runner.pages.runs.run_summary import run_summary
from merge_runner.pages.runs.runs_page import comparable, write_report
from merge_runner.project_file import Boundary, read_file, read_json
from merge_runner.run.older_rows import OlderRowsReader
from merge_runner.run.results.artifacts import compiled_path

if TYPE_CHECKING:
    from merge_runner.lint.report import Report
    from merge_runner.plan.load.project_context import Prepared

STATIC = "docs.html"
FOLDER = "docs"
_HTTP = 80
"""The port that a Host need not name."""


def write_docs(prepared: Prepared, report: Report, manifest: Path | None) -> Path:
    """Write the page of a project into a folder next to a copy of its manifest, or as one file; return its path."""
    freshness = _freshness(prepared.target_path / "sources.json")
    rows = OlderRowsReader(prepared).by_id(prepared.graph.nodes)
    html = project_page(prepared, report, _last(prepared), freshness=freshness, older_rows=rows)
    page = prepared.target_path / STATIC
    if manifest is not None:
        page = prepared.target_path / FOLDER / "index.html"
        content = read_file(manifest, Boundary(prepared.target_path), artifact=True)
        write_atomic(page.with_name("manifest.json"), content, below=prepared.target_path)
    write_atomic(page, html, below=prepared.target_path)
    return page


def write_run_report(target: Path, file: Path | None = None) -> Path:
    """Write the page of the runs that a target folder keeps, and return its path. Raises ProblemsError for none."""
    page = write_report(target, file)
    if page is None:
        raise _no_runs(target)
    return page


def run_markdown(target: Path) -> str:
    """Return the summary of the last run in Markdown. Raises ProblemsError where none is kept."""
    records = [run.record for run in kept_runs(target, RUNS + 1)]
    if not records:
        raise _no_runs(target)
    newest, *earlier = records
    return run_summary(newest, changes(newest, comparable(newest, earlier)))


def _no_runs(target: Path) -> ProblemsError:
    hint = "`merge-runner build` keeps a record of itself"
    return ProblemsError([Problem("no-runs", f"no run is kept in {target}", hint=hint)])


def serve_folder(folder: Path, host: str, port: int, on_address: Callable[[str], None]) -> None:
    """Serve a folder over HTTP until it is interrupted; port 0: any free one. `on_address` receives where.

    Raises ProblemsError where the folder has no page, or the address cannot be used.
    """
    if folder.is_symlink() or not _is_file(folder / "index.html"):
        hint = "`merge-runner docs generate` writes it, as a file in a folder; links are not followed"
        raise ProblemsError([Problem("no-docs", f"there is no {folder / 'index.html'}", hint=hint)])
    try:
        server = ThreadingHTTPServer((host, port), partial(_Handler, folder, host))
    except OSError as error:
        hint = "--port 0 takes any free port"
        raise ProblemsError([Problem("address", f"{host}:{port}: {error.strerror}", hint=hint)]) from error
    with server:
        on_address(f"http://{host}:{server.server_port}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


class _Handler(SimpleHTTPRequestHandler):
    """Answers with regular files of a folder, to requests that name this server as their host."""

    def __init__(self, folder: Path, host: str, *request: Any) -> None:
        self._folder, self._host = folder.resolve(), host
        super().__init__(*request, directory=str(self._folder))

    def send_head(self) -> Any:
        """Send the headers, and return the file to send; None where an error was sent."""
        if not self._is_meant():
            # The page of another site can have its name lead to this address, and read what is served (DNS rebinding).
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, f"This server is {self._host}, see --host")
            return None
        if self.path.partition("?")[0] == "/":
            self.path = "/index.html"
        path = Path(self.translate_path(self.path))
        if "\0" in str(path) or path.resolve() != path or not _is_file(path):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def _is_meant(self) -> bool:
        """Return whether the header Host is loopback, or the address that the server listens at or was reached at."""
        port = self.connection.getsockname()[1]
        hosts = {"localhost", "127.0.0.1", "[::1]", self._host.lower(), self.connection.getsockname()[0]}
        host = self.headers.get("Host", "").lower()
        return host in {f"{host}:{port}" for host in hosts} | (hosts if port == _HTTP else set())

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of requests."""


def _is_file(path: Path) -> bool:
    """Return whether a path is a regular file, and no link to one."""
    return path.is_file() and not path.is_symlink()


def _last(prepared: Prepared) -> dict[str, LastResult]:
    """The last result of each node in the runs that are kept in this target; with the text of the last invocation."""
    results = last_results(prepared.target_path, prepared.files.profile.target)
    nodes = prepared.graph.nodes
    for unique_id, text in _compiled(prepared.target_path / "run_results.json").items():
        if unique_id in results and unique_id in nodes:
            path = f"run/{compiled_path(prepared, unique_id)}"
            results[unique_id] = replace(results[unique_id], compiled_code=text, run_path=path)
    return {unique_id: result for unique_id, result in results.items() if unique_id in nodes}


def _compiled(run_results: Path) -> dict[str, str]:
    """The compiled texts of the last invocation by node."""
    try:
        results = read_json(run_results, Boundary(run_results.parent))["results"]
        texts = {str(entry["unique_id"]): entry["compiled_code"] for entry in results}
        return {unique_id: text for unique_id, text in texts.items() if isinstance(text, str) and text}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _freshness(sources: Path) -> dict[str, Any]:
    """What `source freshness` has found, by the ids of sources; nothing where it has written no such file."""
    try:
        results = read_json(sources, Boundary(sources.parent))["results"]
        return {str(entry["unique_id"]): dict(entry) for entry in results}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
