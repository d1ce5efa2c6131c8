"""The first looks at documents, by a second process, while this one imports the protocol and then what looks.

An editor that starts waits for the diagnostics of one document. Half of that time this process takes for the messages
of the protocol, the other half for what lint needs: a fork of it, which is made before both, does the second half on
another core. It serves until this process can look itself, and ends then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.lsp.documents.looking_process import Question

if TYPE_CHECKING:
    from merge_runner.forked import Fork
    from merge_runner.lsp.documents.open_documents import OpenDocuments
    from merge_runner.lsp.documents.remark import Looked, Remark

_PATIENCE = 10.0
"""Seconds for which a document waits for the second process alone: a cold project of a thousand models takes less."""


class FirstLooks:
    """Has documents looked at, one at a time: by the second process until this one can do it, and by this one then."""

    def __init__(self, documents: OpenDocuments, fork: Fork | None = None, patience: float = _PATIENCE) -> None:
        self.documents = documents
        self._fork = fork
        self._patience = patience
        self._has_changes = True
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Sequence[Remark] | None]] = {}
        self._own: asyncio.Task[Looked] | None = None
        """The first look of this process, which imports what it needs."""

    def check_files(self) -> None:
        """See what has changed on disk when something is next asked."""
        self._has_changes = True
        self.documents.check_files()

    async def done(self) -> None:
        """Wait until this process looks itself, where it has begun to: it does with the first look."""
        if self._own is not None:
            await asyncio.shield(self._own)

    async def remarks(
        self, file: Path, texts: Mapping[Path, str], look: Callable[[Path, Mapping[Path, str]], Looked]
    ) -> Sequence[Remark] | None:
        """Return what the second process finds in a document; None where this one is to `look` at it, as it can now.

        `look` is called in a thread once the second process has answered first, or has not for too long.
        """
        if self._fork is None:
            return None
        answer = asyncio.ensure_future(self._ask(self._fork, file, texts))
        try:
            if self._own is None:
                await asyncio.wait([answer], timeout=self._patience)
                self._own = asyncio.ensure_future(self._look(file, texts, look))
            await asyncio.wait([answer, self._own], return_when=asyncio.FIRST_COMPLETED)
            if answer.done() and (found := answer.result()) is not None:
                return found
        finally:
            answer.cancel()
        await self.done()
        return None

    async def _look(
        self, file: Path, texts: Mapping[Path, str], look: Callable[[Path, Mapping[Path, str]], Looked]
    ) -> Looked:
        try:
            return await asyncio.to_thread(look, file, texts)
        finally:
            self._end()

    async def _ask(self, fork: Fork, file: Path, texts: Mapping[Path, str]) -> Sequence[Remark] | None:
        loop = asyncio.get_running_loop()
        self._number += 1
        question = Question(self._number, file, texts, self._has_changes)
        answer: asyncio.Future[Sequence[Remark] | None] = loop.create_future()
        self._waiting[self._number] = answer
        try:
            fork.connection.send(question)
        except OSError:  # it was killed
            return None
        self._has_changes = False
        loop.add_reader(fork.connection.fileno(), self._receive, fork)
        try:
            return await answer
        finally:
            self._waiting.pop(question.number, None)

    def _receive(self, fork: Fork) -> None:
        try:
            number, remarks = fork.connection.recv()
        except (EOFError, OSError):  # it was killed
            asyncio.get_running_loop().remove_reader(fork.connection.fileno())
            for each in self._waiting.values():
                _give(each, None)
            return
        if number in self._waiting:
            _give(self._waiting[number], remarks)

    def _end(self) -> None:
        fork, self._fork = self._fork, None
        if fork is None:
            return
        asyncio.get_running_loop().remove_reader(fork.connection.fileno())
        for each in self._waiting.values():
            _give(each, None)
        fork.end()


def _give(answer: asyncio.Future[Sequence[Remark] | None], remarks: Sequence[Remark] | None) -> None:
    if not answer.done():
        answer.set_result(remarks)
