"""Commands that answer with a text for an editor to show, and the places that its parts come from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import PositionCodec

from merge_runner.lsp.answers.compiled_view import compiled_view
from merge_runner.lsp.answers.lineage_view import lineage_view
from merge_runner.lsp.answers.plain_lineage import plain_lineage
from merge_runner.lsp.answers.plain_names import PlainSql
from merge_runner.lsp.answers.view import plain_view
from merge_runner.lsp.protocol.positions import Positions
from merge_runner.lsp.protocol.request import Find, FindPlain, Plain, Request
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.lsp.answers.view import View
    from merge_runner.lsp.documents.project_index import ProjectIndex


def add_views(server: LanguageServer, find: Find, find_plain: FindPlain) -> None:
    """Have a server take the commands `merge-runner.view.compiled` and `merge-runner.view.lineage`.

    Each takes a document and a position in it, as a hover does. The answer is an object with the view's `title`, `text`
    and `links`: the `range` of each in the text, the `location` that it comes from, and whether it `isCopy` of what is
    there; null where there is nothing to show.
    """

    async def answer(
        params: types.TextDocumentPositionParams, ask: Callable[[ProjectIndex, str, str, int], View | None]
    ) -> dict[str, Any] | None:
        document = await find(params.text_document.uri)
        if document is None:
            return None
        request = Request(server, document)
        view = await asyncio.to_thread(ask, *request.at(params.position))
        return _as_json(view, request.codec, request.location) if view is not None else None

    async def answer_outside(plain: Plain | None, ask: Callable[[Plain], View | None]) -> dict[str, Any] | None:
        view = await asyncio.to_thread(ask, plain) if plain is not None else None
        if plain is None or view is None:
            return None
        return _as_json(view, server.workspace.position_codec, plain.location)

    @server.command("merge-runner.view.compiled")
    async def on_compiled(params: types.TextDocumentPositionParams) -> dict[str, Any] | None:
        uri = params.text_document.uri
        compiled = await answer(params, compiled_view)
        if compiled is not None:
            return compiled
        return await answer_outside(await find_plain(uri), lambda plain: plain_view(_name(uri), plain.merges()))

    @server.command("merge-runner.view.lineage")
    async def on_lineage(params: types.TextDocumentPositionParams) -> dict[str, Any] | None:
        uri, position = params.text_document.uri, params.position
        lineage = await answer(params, lineage_view)
        if lineage is not None:
            return lineage

        def outside(plain: Plain) -> View | None:
            offset = plain.positions.offset(position)
            sql = PlainSql(plain.language, plain.positions.text, offset)
            return plain_lineage(plain.tables(), _name(uri), plain.merges(), sql, position.line + 1)

        return await answer_outside(await find_plain(uri), outside)


def _name(uri: str) -> str:
    return PurePath(unquote(uri)).name


def _as_json(view: View, codec: PositionCodec, location: Callable[[Place], types.Location | None]) -> dict[str, Any]:
    positions = Positions(view.text, codec)
    located = ((link, location(link.place)) for link in view.links)
    links = [
        {
            "range": _range(positions.span(link.span)),
            "location": {"uri": target.uri, "range": _range(target.range)},
            "isCopy": link.is_copy,
        }
        for link, target in located
        if target is not None
    ]
    return {"title": view.title, "text": view.text, "links": links}


def _range(range: types.Range) -> dict[str, Any]:
    return {
        name: {"line": position.line, "character": position.character}
        for name, position in (("start", range.start), ("end", range.end))
    }
