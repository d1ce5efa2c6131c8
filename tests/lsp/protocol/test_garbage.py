"""A server that runs all day keeps the projects that it needs, however often they were loaded again."""

import signal
import sys
import time

import pytest

from tests.lsp.client import Editor
from tests.lsp.protocol.test_server import PROJECT
from tests.written_project import write_files

MODEL, PARENT, MACRO = "models/fct.sql", "models/stg.sql", "macros/window.sql"
RELOADS = 8
MOST = 4
"""Projects: the one that is known, those with the newest text of a model, and one of another kind of run."""
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the server counts at a signal")
TEXTS = {
    "the config of a model": (MODEL, lambda number: PROJECT[MODEL].replace("config(", f"config(tags=['t{number}'], ")),
    "a macro": (MACRO, lambda number: PROJECT[MACRO].replace("2024", f"20{number + 10}")),
}


class CountedEditor:
    """A client whose server writes how many projects it has."""

    def __init__(self, folder):
        self._file = folder / "count"
        self.client = Editor(server=("tests.lsp.counting_server", str(self._file)))

    def look(self, path, text):
        self.client.open(path, text)
        self.client.diagnostics(path)

    def count(self):
        self._file.unlink(missing_ok=True)
        self.client.signal(signal.SIGUSR1)
        while not self._file.exists():
            self.client.wait(0.02)
        return int(self._file.read_text())

    def least(self, bound, seconds=10.0):
        """The projects that the server has, once they are no more than `bound` or this time is over."""
        end = time.monotonic() + seconds
        while (found := self.count()) > bound and time.monotonic() < end:
            self.client.wait(0.1)
        return found


@pytest.fixture
def shop(tmp_path):
    return write_files(tmp_path / "shop", PROJECT)


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    found = CountedEditor(tmp_path_factory.mktemp("counted"))
    yield found
    found.client.stop()


@pytest.mark.parametrize("text", TEXTS)
def test_projects_that_were_loaded_again_are_freed(shop, editor, text):
    path, changed = TEXTS[text]
    bound = editor.count() + MOST
    for number in range(RELOADS):
        editor.look(shop / path, changed(number))
        editor.look(shop / PARENT, PROJECT[PARENT])
    assert editor.least(bound) <= bound


def test_documents_that_are_not_looked_at_keep_no_project(shop, editor):
    path, changed = TEXTS["the config of a model"]
    bound = editor.count() + MOST
    for number in range(RELOADS):
        editor.look(shop / f"models/new_{number}.sql", PROJECT[PARENT])
        editor.look(shop / path, changed(number))
    assert editor.least(bound) <= bound
