"""The pages of a project: where they are written, and a server for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.atomic import write_atomic
from merge_runner.errors import Problem, ProblemsError
from merge_runner.pages.project.project_page import project_page

if TYPE_CHECKING:
    from merge_runner.lint.report import Report
    from merge_runner.plan.load.project_context import Prepared

STATIC = "docs.html"
FOLDER = "docs"


def write_docs(prepared: Prepared, report: Report, manifest: Path | None) -> Path:
    """Write the page of a project into a folder next to a copy of its manifest, or as one file; return its path."""
    html = project_page(prepared, report, {}, freshness=_freshness(prepared.target_path / "sources.json"))
    page = prepared.target_path / STATIC
    if manifest is not None:
        page = prepared.target_path / FOLDER / "index.html"
        write_atomic(page.with_name("manifest.json"), manifest.read_bytes())
    write_atomic(page, html)
    return page


def serve_folder(folder: Path, host: str, port: int, on_address: Callable[[str], None]) -> None:
    """Serve a folder over HTTP until it is interrupted; port 0: any free one. `on_address` receives where.

    Raises ProblemsError where the folder has no page, or the address cannot be used.
    """
    if not (folder / "index.html").is_file():
        hint = "`merge-runner docs generate` writes it"
        raise ProblemsError([Problem("no-docs", f"there is no {folder / 'index.html'}", hint=hint)])
    try:
        server = ThreadingHTTPServer((host, port), partial(_Quiet, directory=str(folder)))
    except OSError as error:
        hint = "--port 0 takes any free port"
        raise ProblemsError([Problem("address", f"{host}:{port}: {error.strerror}", hint=hint)]) from error
    with server:
        on_address(f"http://{host}:{server.server_port}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of requests."""


def _freshness(sources: Path) -> dict[str, Any]:
    """What `source freshness` has found, by the ids of sources; nothing where it has written no such file."""
    try:
        results = json.loads(sources.read_text(encoding="utf-8"))["results"]
        return {entry["unique_id"]: dict(entry) for entry in results}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
