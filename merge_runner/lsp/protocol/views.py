"""Commands that answer with a text for an editor to show, and the places that its parts come from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.lsp.server import LanguageServer

from merge_runner.lsp.answers.compiled_view import compiled_view
from merge_runner.lsp.answers.lineage_view import lineage_view
from merge_runner.lsp.answers.view import View
from merge_runner.lsp.documents.known_project import KnownProject
from merge_runner.lsp.protocol.asked import Asked, Find
from merge_runner.lsp.protocol.positions import Positions


def add_views(server: LanguageServer, find: Find) -> None:
    """Have a server take the commands `merge-runner.view.compiled` and `merge-runner.view.lineage`.

    Each takes a document and a position in it, as a hover does. The answer is an object with the view's `title`, `text`
    and `links`: the `range` of each in the text, the `location` that it comes from, and whether it `isCopy` of what is
    there; null where there is nothing to show.
    """
    converter = get_converter()

    async def answer(
        params: types.TextDocumentPositionParams, ask: Callable[[KnownProject, str, str, int], View | None]
    ) -> dict[str, Any] | None:
        opened = await find(params.text_document.uri)
        if opened is None:
            return None
        asked = Asked(server, opened)
        found = await asyncio.to_thread(ask, *asked.at(params.position))
        return as_json(asked, found) if found is not None else None

    @server.command("merge-runner.view.compiled")
    async def on_compiled(params: types.TextDocumentPositionParams) -> dict[str, Any] | None:
        return await answer(params, lambda project, path, text, _offset: compiled_view(project, path, text))

    @server.command("merge-runner.view.lineage")
    async def on_lineage(params: types.TextDocumentPositionParams) -> dict[str, Any] | None:
        return await answer(params, lineage_view)

    def as_json(asked: Asked, view: View) -> dict[str, Any]:
        positions = Positions(view.text, asked.codec)
        links = [
            {
                "range": converter.unstructure(positions.span(link.span)),
                "location": converter.unstructure(asked.location(link.place)),
                "isCopy": link.is_copy,
            }
            for link in view.links
        ]
        return {"title": view.title, "text": view.text, "links": links}
