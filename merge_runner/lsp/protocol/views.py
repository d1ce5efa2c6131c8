"""Commands that answer with a text for an editor to show, and the places that its parts come from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.lsp.server import LanguageServer
from pygls.workspace import PositionCodec

from merge_runner.lsp.answers.compiled_view import compiled_view
from merge_runner.lsp.answers.lineage_view import lineage_view
from merge_runner.lsp.answers.plain_view import plain_view
from merge_runner.lsp.answers.view import View
from merge_runner.lsp.documents.known_project import KnownProject
from merge_runner.lsp.protocol.asked import Asked, Find, FindPlain
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.text import Place


def add_views(server: LanguageServer, find: Find, find_plain: FindPlain) -> None:
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
        return as_json(found, asked.codec, asked.location) if found is not None else None

    @server.command("merge-runner.view.compiled")
    async def on_compiled(params: types.TextDocumentPositionParams) -> dict[str, Any] | None:
        uri = params.text_document.uri
        found = await answer(params, compiled_view)
        plain = await find_plain(uri) if found is None else None
        if plain is None:
            return found
        view = await asyncio.to_thread(lambda: plain_view(PurePath(unquote(uri)).name, plain.merges()))
        if view is None:
            return None
        positions = plain.positions
        return as_json(view, server.workspace.position_codec, lambda place: types.Location(uri, positions.range(place)))

    @server.command("merge-runner.view.lineage")
    async def on_lineage(params: types.TextDocumentPositionParams) -> dict[str, Any] | None:
        return await answer(params, lineage_view)

    def as_json(view: View, codec: PositionCodec, location: Callable[[Place], types.Location]) -> dict[str, Any]:
        positions = Positions(view.text, codec)
        links = [
            {
                "range": converter.unstructure(positions.span(link.span)),
                "location": converter.unstructure(location(link.place)),
                "isCopy": link.is_copy,
            }
            for link in view.links
        ]
        return {"title": view.title, "text": view.text, "links": links}
