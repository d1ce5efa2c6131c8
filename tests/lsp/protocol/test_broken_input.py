"""Messages and texts as no client should send them: the server answers, and goes on with the last good state."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.client import Editor, short
from tests.lsp.protocol.test_server import PROJECT
from tests.written_project import write_files

MODEL = "models/fct.sql"
WRONG = PROJECT[MODEL].replace("when matched", "when mat")
FOUND = ["C010 5:1"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("broken") / "shop", PROJECT)


class Wire:
    """A server to which any bytes are sent."""

    def __init__(self):
        command = [sys.executable, "-m", "merge_runner", "lsp"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.count = 0
        pulls = {"textDocument": {"diagnostic": {}}}
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": pulls})
        self.send("initialized", {})

    def write(self, content):
        self.process.stdin.write(content)
        self.process.stdin.flush()

    def frame(self, body):
        self.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, method, params, **more):
        self.frame(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode())

    def ask(self, method, params):
        """The answer to a request, its result or its error."""
        self.count += 1
        self.send(method, params, id=self.count)
        return self.answer(self.count)

    def answer(self, number):
        output = self.process.stdout
        while True:
            length = 0
            while (line := output.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            assert line, "the server has ended"
            message = json.loads(output.read(length))
            if message.get("id") == number and "method" not in message:
                return message.get("result", message.get("error"))

    def open(self, path, text, version=1):
        document = {"uri": path.as_uri(), "languageId": "sql", "version": version, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})

    def change(self, path, version, *changes):
        document = {"uri": path.as_uri(), "version": version}
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def found(self, path):
        answer = self.ask("textDocument/diagnostic", {"textDocument": {"uri": path.as_uri()}})
        starts = [(each["code"], each["range"]["start"]) for each in answer["items"]]
        return [f"{code} {start['line'] + 1}:{start['character'] + 1}" for code, start in starts]

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()
        return self.process.returncode


@pytest.fixture(scope="module")
def wire():
    found = Wire()
    yield found
    if found.process.poll() is None:
        found.end()


BODIES = {
    "no JSON": b"{nope",
    "half of a message": b'{"jsonrpc": "2.0", "id": 9, "meth',
    "no UTF-8": b'{"jsonrpc": "2.0", "method": "\xff\xfe"}',
    "a list": b"[1, 2]",
    "a number": b"3",
    "null": b"null",
    "no method": b'{"jsonrpc": "2.0", "id": 99}',
    "an unknown method": b'{"jsonrpc": "2.0", "id": 98, "method": "no/such"}',
    "an unknown notification": b'{"jsonrpc": "2.0", "method": "no/such", "params": {}}',
    "an answer that nobody asked for": b'{"jsonrpc": "2.0", "id": 97, "result": [{}]}',
    "a notification without params": b'{"jsonrpc": "2.0", "method": "textDocument/didChange"}',
    "deep JSON": b"[" * 100_000,
}
HEADERS = {
    "a line of something else": b"hello\r\n\r\n",
    "a length that is no number": b"Content-Length: many\r\n\r\n",
    "a length of nothing": b"Content-Length: 0\r\n\r\n",
    "a length beyond memory": b"Content-Length: 999999999999\r\n\r\n{}",
    "a length that no number holds": b"Content-Length: 99999999999999999999999999\r\n\r\n{}",
    "more than the body has": b"Content-Length: 5000\r\n\r\n{}",
    "fewer than the body has": b'Content-Length: 3\r\n\r\n{"jsonrpc": "2.0", "method": "no/such"}',
    "a line without an end": b"x" * 200_000,
    "a header of another name": b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n",
}


@pytest.mark.parametrize("case", [*BODIES, *HEADERS])
def test_a_message_that_is_none_changes_nothing(wire, shop, case):
    path = shop / MODEL
    wire.open(path, WRONG)
    if case in BODIES:
        wire.frame(BODIES[case])
    else:
        wire.write(HEADERS[case])
    assert wire.found(path) == FOUND


AT = {"line": 1, "character": 3}
REQUESTS = {
    "textDocument/hover": {"position": "here"},
    "textDocument/completion": {"position": AT, "context": {}},
    "textDocument/rename": {"position": AT},
    "textDocument/inlayHint": {"range": [0, 1]},
    "textDocument/codeAction": {"range": {"start": AT, "end": {"line": "last"}}, "context": {"diagnostics": []}},
}


@pytest.mark.parametrize("method", REQUESTS)
def test_a_request_that_cannot_be_read_is_answered_with_an_error(wire, shop, method):
    uri = (shop / MODEL).as_uri()
    answer = wire.ask(method, {"textDocument": {"uri": uri}, **REQUESTS[method]})
    assert answer["code"] in (-32602, -32603)
    assert wire.ask(method, None)["code"] in (-32602, -32603)


POSITIONS = [(5_000, 70_000), (2**31 - 1, 2**31 - 1), (0, 2**31 - 1), (2**31 - 1, 0)]
ASKED = ("hover", "definition", "references", "completion", "signatureHelp", "prepareRename", "documentSymbol")


@pytest.mark.parametrize("position", POSITIONS)
def test_a_position_that_the_text_does_not_have(wire, shop, position):
    path = shop / MODEL
    wire.open(path, PROJECT[MODEL])
    at = dict(zip(("line", "character"), position, strict=True))
    for name in ASKED:
        params = {"textDocument": {"uri": path.as_uri()}, "position": at}
        if name == "references":
            params["context"] = {"includeDeclaration": True}
        answer = wire.ask(f"textDocument/{name}", params)
        refused = "no name of the project here" in str(answer)
        assert refused if name == "prepareRename" else not isinstance(answer, dict) or "code" not in answer
    assert wire.found(path) == []


def edit(start, end, text):
    lines = [dict(zip(("line", "character"), each, strict=True)) for each in (start, end)]
    return {"range": {"start": lines[0], "end": lines[1]}, "text": text}


EDITS = {
    "after the end": edit((999, 9), (1_000, 99), "\nwhen mat"),
    "from back to front": edit((3, 5), (0, 2), "x"),
    "within a character": edit((0, 4), (0, 5), "y"),
    "of half a character": {"text": "-- \ud83d\n" + WRONG},
    "with the other half": {"text": "-- \ude00\ud83d" + WRONG},
    "of no range": {"range": None, "text": "nothing"},
    "with the character U+0000": {"text": "\0" + PROJECT[MODEL]},
    "deep SQL": {"text": PROJECT[MODEL].replace("s.id and", "s.id and " + "(" * 3_000 + "1" + ")" * 3_000 + " and")},
    "deep Jinja": {"text": "{% if 1 %}" * 3_000 + PROJECT[MODEL]},
    "Jinja without an end": {"text": "{% for x in range(10 ** 9) %}{% endfor %}" + PROJECT[MODEL]},
    "a number without an end": {"text": "{{ 9 ** 9 ** 9 }}" + PROJECT[MODEL]},
    "a giant": {"text": "-- " + "x" * 3_000_000 + "\n" + PROJECT[MODEL]},
}


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_that_no_editor_makes(wire, shop, case):
    path = shop / MODEL
    wire.open(path, "-- 😀\n" + PROJECT[MODEL])
    wire.change(path, 2, EDITS[case])
    found = wire.found(path)
    wire.change(path, 3, {"text": WRONG})
    assert (wire.found(path), "internal" in " ".join(found)) == (FOUND, False)


def test_a_giant_says_that_it_is_not_looked_at(wire, shop):
    path = shop / "jobs/giant.sql"
    wire.open(path, "merge into a.b t using c.d s on t.id = s.id when matched then delete;\n" * 30_000)
    assert wire.found(path) == ["too-large 1:1"]
    wire.send("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})


UNOPENED = [
    ("textDocument/didChange", {"textDocument": {"uri": "file:///no.sql", "version": 2}, "contentChanges": []}),
    ("textDocument/didClose", {"textDocument": {"uri": "file:///no.sql"}}),
    ("textDocument/didSave", {"textDocument": {"uri": "file:///no.sql"}}),
    ("notebookDocument/didChange", {"notebookDocument": {"uri": "file:///no.ipynb", "version": 2}, "change": {}}),
    ("notebookDocument/didClose", {"notebookDocument": {"uri": "file:///no.ipynb"}, "cellTextDocuments": []}),
    ("textDocument/didClose", {"textDocument": {"uri": "file://\\x%zz/%00a.sql"}}),
]


@pytest.mark.parametrize(("method", "params"), UNOPENED, ids=[method for method, _ in UNOPENED])
def test_what_is_said_of_a_document_that_is_not_open(wire, shop, method, params):
    wire.send(method, params)
    wire.open(shop / MODEL, WRONG)
    assert wire.found(shop / MODEL) == FOUND


def test_half_of_a_frame_and_the_end_of_the_input_end_the_server():
    wire = Wire()
    wire.write(b"Content-Length: 1000\r\n\r\n{half")
    assert wire.end() == 0


def answers(editor, path):
    """What a client gets of a model, with an edit that is not saved."""
    editor.open(path, WRONG)
    found = short(editor.wait_for_push(path, 1))
    editor.open(path, PROJECT[MODEL])
    document, at = types.TextDocumentIdentifier(path.as_uri()), types.Position(1, 2)
    hover = editor.run(editor.client.text_document_hover_async(types.HoverParams(document, at)))
    items = editor.run(editor.client.text_document_completion_async(types.CompletionParams(document, at)))
    return found, hover.contents.value, [each.label for each in items.items]


@pytest.mark.slow
def test_a_server_that_was_killed_is_replaced_by_one_with_the_same_answers(shop):
    first = Editor(pulls=False)
    path = shop / MODEL
    before = answers(first, path)
    first.open(path, WRONG)  # it looks at this when it is killed
    first.wait(0.05)
    first.kill(signal.SIGKILL)
    second = Editor(pulls=False)
    after = answers(second, path)
    second.stop()
    assert before[0] == FOUND
    assert after == before


@pytest.mark.slow
def test_no_process_of_a_killed_server_stays(shop):
    editor = Editor(folders=[shop])
    asked = editor.workspace()
    deadline = time.monotonic() + 30
    while not (children := editor.processes()) and time.monotonic() < deadline:
        editor.wait(0.01)
    assert children
    editor.kill(signal.SIGKILL)
    asked.cancel()
    while any(Path(f"/proc/{each}").exists() for each in children):
        assert time.monotonic() < deadline
        time.sleep(0.05)
