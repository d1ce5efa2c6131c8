"""A second process that looks at documents: a fork of the server from before it imports the protocol.

It prepares for the project in the working directory, where editors start a server, and ends with the server.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from merge_runner.forked import Fork, serving_fork
from merge_runner.lsp.documents.open_documents import OpenDocuments

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from merge_runner.lsp.documents.remark import Remark


class Question(NamedTuple):
    """A document with the texts of all open ones. `has_changes`: files may have changed since the last question."""

    number: int
    file: Path
    texts: Mapping[Path, str]
    has_changes: bool


def fork_to_look(env: Mapping[str, str]) -> Fork | None:
    """Return a process that looks at documents, and prepares for those in the working directory; None: none is safe.

    It is to be made before this process imports anything that it has no need of.
    """
    return serving_fork(partial(_answer, env))


def _answer(env: Mapping[str, str], connection: Connection) -> None:
    """What the second process does."""
    questions: SimpleQueue[Question] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, questions), daemon=True).start()
    documents = OpenDocuments(env)
    with suppress(Exception):  # the question for a document has it reported
        documents.prepare(Path.cwd())
    while True:
        question = questions.get()
        if question.has_changes:
            documents.check_files()
        remarks: Sequence[Remark] | None = None
        with suppress(Exception):  # the first process reports it
            remarks = documents.look(question.file, question.texts).remarks
        connection.send((question.number, remarks))


def _receive(connection: Connection, questions: SimpleQueue[Question]) -> None:
    with suppress(EOFError, OSError):
        while True:
            questions.put(connection.recv())
    os._exit(0)  # whatever it is doing: the server has ended
