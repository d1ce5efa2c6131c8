"""What an editor waits for in a project whose models all call macros: a real client drives `merge-runner lsp`.

    python benchmarks/lsp.py [--models 1000] [--keys 100] [--reloads 10]

The project is that of benchmarks/incremental.py. The server starts in its folder, as editors start it. A model in its middle is opened, and a condition typed into it, key by
key; after each key the client asks for diagnostics, hover and completion, and waits for each. Then its config is
changed, which the whole graph may depend on.

first diagnostics   from the start of the process to the answer for the opened model; cold: without the cache folder
diagnostics         the answer for a text in which one key was typed; the server waits 30 ms for more keys before
config changed      the same where the config of the model has changed
saved               the same after a typed text was written into the file of the model
memory              the largest resident set of the server, without the fork that makes the first diagnostics

`processor` is the time that the server computes, which other work on the machine changes little: of a key for all that is
asked after it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any

from incremental import middle, write
from lint import models
from lsprotocol import types
from pygls.lsp.client import LanguageClient

TYPED = "coalesce(e.amount, 0) > 10 and upper(e.region) in ('north', 'south', 'east') and e.customer_id = 4711 and "


class Editor:
    """A client with a server of its own and one document."""

    def __init__(self, root: Path) -> None:
        file, self._root = middle(root), root
        self.client = LanguageClient("benchmark", "1")
        self.uri, self.text, self._version = file.as_uri(), file.read_text(), 0
        self._document = types.TextDocumentIdentifier(self.uri)

    async def start(self) -> float:
        """Start the server, open the document, and return the seconds until its diagnostics are there."""
        began = time.perf_counter()
        pulls = types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
        await self.client.start_io(sys.executable, "-m", "merge_runner", "lsp", cwd=self._root)
        capabilities = types.ClientCapabilities(text_document=pulls)
        self.able = (await self.client.initialize_async(types.InitializeParams(capabilities))).capabilities
        self.client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(self.uri, "sql", 0, self.text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self.diagnostics()
        return time.perf_counter() - began

    async def stop(self) -> None:
        """End the server."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    def change(self, text: str) -> None:
        """Send another text of the document."""
        self._version += 1
        changed = types.VersionedTextDocumentIdentifier(version=self._version, uri=self.uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(changed, [whole]))

    def save(self, file: Path, text: str) -> None:
        """Change the document, write its file and say so."""
        self.change(text)
        file.write_text(text)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self._document))

    def diagnostics(self) -> Awaitable[Any]:
        """Ask for diagnostics."""
        return self.client.text_document_diagnostic_async(types.DocumentDiagnosticParams(self._document))

    def hover(self, at: types.Position) -> Awaitable[Any]:
        """Ask for what is shown of a position."""
        return self.client.text_document_hover_async(types.HoverParams(self._document, at))

    def completion(self, at: types.Position) -> Awaitable[Any]:
        """Ask for what may be written at a position."""
        return self.client.text_document_completion_async(types.CompletionParams(self._document, at))

    @property
    def _process(self) -> Path:
        process = self.client._server  # the client has no other name for it
        assert process is not None
        return Path(f"/proc/{process.pid}")

    def memory(self) -> float:
        """The largest resident set of the server, in MB."""
        return int((self._process / "status").read_text().split("VmHWM:")[1].split()[0]) / 1024

    def processor(self) -> float:
        """The seconds of processor time that the server has used."""
        fields = (self._process / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def seconds(answer: Awaitable[Any]) -> float:
    """How long an answer takes."""
    began = time.perf_counter()
    await answer
    return time.perf_counter() - began


async def drive(root: Path, keys: int, reloads: int) -> None:
    """Measure, and print a table."""
    os.environ["MERGE_RUNNER_CACHE_DIR"] = str(root / ".cache")
    rows: list[tuple[str, Sequence[float], float | None]] = []
    for state in ("cold", "warm", "warm"):
        if state == "cold":
            shutil.rmtree(root / ".cache", ignore_errors=True)
        editor = Editor(root)
        rows.append((f"first diagnostics, {state}", [await editor.start()], editor.processor()))
        if len(rows) < 3:
            await editor.stop()
    begin = editor.text.index("    where ") + len("    where ")
    line, lead = editor.text[:begin].count("\n"), begin - editor.text.rindex("\n", 0, begin) - 1
    typed: dict[str, list[float]] = {"diagnostics": [], "hover": [], "completion": []}
    before = editor.processor()
    for count in range(1, keys + 1):
        part = (TYPED * (keys // len(TYPED) + 1))[:count]
        editor.change(editor.text[:begin] + part + " " + editor.text[begin:])
        at = types.Position(line, lead + count)
        if editor.able.completion_provider:
            typed["completion"].append(await seconds(editor.completion(at)))
        if editor.able.hover_provider:
            typed["hover"].append(await seconds(editor.hover(types.Position(line, lead + count // 2))))
        typed["diagnostics"].append(await seconds(editor.diagnostics()))
    rows += [(name, found, None) for name, found in typed.items() if found]
    rows.append(("all three after a key", [], (editor.processor() - before) / keys))
    before, config = editor.processor(), []
    for number in range(reloads):
        editor.change(editor.text.replace("tags=[", f"tags=['t{number}', ", 1))
        config.append(await seconds(editor.diagnostics()))
    rows.append(("config changed", config, (editor.processor() - before) / reloads))
    before, saved = editor.processor(), []
    for number in range(reloads):
        editor.save(middle(root), f"{editor.text}-- {number}\n")
        saved.append(await seconds(editor.diagnostics()))
    rows.append(("saved", saved, (editor.processor() - before) / reloads))
    print("| what | median | p95 | largest | processor |\n|---|---|---|---|---|")
    for name, found, processor in rows:
        last = sorted(found)[min(len(found) - 1, int(0.95 * len(found)))] if found else None
        times = [statistics.median(found), last, max(found)] if found else [None] * 3
        cells = ["" if each is None else f"{each:.3f} s" for each in (*times, processor)]
        print(f"| {name} | {' | '.join(cells)} |")
    print(f"| memory | {editor.memory():.0f} MB | | | |")
    await editor.stop()


def main() -> None:
    """Write the project and drive the server."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--reloads", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        write(root, models(options.models), dbt=False)
        asyncio.run(drive(root, options.keys, options.reloads))


if __name__ == "__main__":
    main()
