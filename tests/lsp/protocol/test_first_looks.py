"""The first diagnostics come from a second process: they are those of the server, whatever happens to that process."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.lsp.client import Editor, short
from tests.lsp.protocol.test_server import PROJECT, linted
from tests.written_project import write_files

MODEL = "models/fct.sql"
WRONG = PROJECT[MODEL].replace("when matched", "when mat")
FILES = {
    "a model": (MODEL, {}),
    "a model that is wrong": (MODEL, {MODEL: WRONG}),
    "a project that cannot be loaded": ("pyproject.toml", {"pyproject.toml": '[tool.merge-runner]\nnmae = "shop"\n'}),
    "a file of code": ("jobs/load.py", {"jobs/load.py": PROJECT["jobs/load.py"].replace("then delete", "the delete")}),
}
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a fork is safe on Linux alone")


class WaitingEditor:
    """A client of a server that looks at nothing itself before `let`."""

    def __init__(self, folder, patience="60", **options):
        self._gate = folder / "gate"
        self.client = Editor(server=("tests.lsp.waiting_server", str(self._gate), patience), **options)

    def let(self):
        """Have the server look itself, and wait until the second process has ended."""
        self._gate.touch()
        assert ended(lambda: not self.client.processes())


def ended(is_ended, seconds=30.0):
    """Whether something has ended in this time."""
    end = time.monotonic() + seconds
    while not is_ended() and time.monotonic() < end:
        time.sleep(0.02)
    return is_ended()


@pytest.fixture
def shop(tmp_path):
    return write_files(tmp_path / "shop", PROJECT)


def test_they_are_those_of_the_server(tmp_path):
    editor = WaitingEditor(tmp_path)
    found, expected = {}, {}
    for name, (path, changed) in FILES.items():
        root = write_files(tmp_path / name.replace(" ", "_"), PROJECT | changed)
        editor.client.open(root / path, (root / path).read_text())
        found[name] = editor.client.diagnostics(root / path)
        expected[name] = linted(root, root / path)
    editor.let()
    for name, (path, _) in FILES.items():
        file = tmp_path / name.replace(" ", "_") / path
        editor.client.saved(file)  # nothing that was found before counts
        assert editor.client.diagnostics(file) == found[name], name
        assert short(found[name]) == expected[name], name
    editor.client.stop()
    assert [bool(each) for each in expected.values()] == [False, True, True, True]


@pytest.mark.parametrize("pulls", [True, False])
def test_a_text_that_has_changed_before_the_answer_is_the_one_that_counts(tmp_path, shop, pulls):
    editor = WaitingEditor(tmp_path, pulls=pulls)
    path, client = shop / MODEL, editor.client
    client.open(path, PROJECT[MODEL])
    client.open(path, WRONG)
    found = client.diagnostics(path) if pulls else client.wait_for_push(path, 2)
    client.open(path, PROJECT[MODEL])
    after = client.diagnostics(path) if pulls else client.wait_for_push(path, 3)
    editor.let()
    client.stop()
    assert (short(found), short(after)) == (["C010 5:1"], [])


def test_a_file_that_was_saved_meanwhile_counts(tmp_path, shop):
    editor = WaitingEditor(tmp_path)
    path, client = shop / MODEL, editor.client
    client.open(path, PROJECT[MODEL])
    before = short(client.diagnostics(path))
    (shop / "macros/window.sql").write_text(PROJECT["macros/window.sql"].replace("{{ column }} >=", "upper(t.v) ="))
    client.saved(shop / "macros/window.sql")
    after = short(client.diagnostics(path))
    editor.let()
    client.stop()
    assert before == []
    assert after == linted(shop, path) != []


def test_questions_wait_until_the_server_knows_the_project(tmp_path, shop):
    editor = WaitingEditor(tmp_path)
    path, client = shop / MODEL, editor.client
    client.open(path, PROJECT[MODEL])
    client.diagnostics(path)
    lens = client._loop.create_task(client.client.text_document_code_lens_async(lens_params(path)))
    client.wait(0.2)
    waits = not lens.done()
    editor.let()
    found = client.run(lens)
    client.stop()
    assert waits
    assert found


def lens_params(path):
    from lsprotocol import types

    return types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))


def test_without_the_second_process_the_server_looks(shop):
    editor = Editor()
    (second,) = editor.processes()
    os.kill(second, signal.SIGKILL)
    editor.open(shop / MODEL, WRONG)
    found = short(editor.diagnostics(shop / MODEL))
    editor.stop()
    assert found == ["C010 5:1"]


def test_one_that_is_too_slow_is_not_waited_for(tmp_path, shop):
    editor = WaitingEditor(tmp_path, patience="0.1")
    (second,) = editor.client.processes()
    os.kill(second, signal.SIGSTOP)
    (tmp_path / "gate").touch()
    editor.client.open(shop / MODEL, WRONG)
    found = short(editor.client.diagnostics(shop / MODEL))
    editor.let()
    editor.client.stop()
    assert found == ["C010 5:1"]


def test_it_ends_with_a_server_that_was_killed():
    editor = Editor()
    (second,) = editor.processes()
    editor.kill(signal.SIGKILL)
    assert ended(lambda: not Path(f"/proc/{second}").exists() or is_zombie(second))


def is_zombie(process):
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
