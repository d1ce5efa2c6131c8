"""Notebooks whose cells are documents, as VS Code and JupyterLab open them."""

import json

import pytest
from lsprotocol import types

from tests.lsp.client import Editor, short
from tests.lsp.protocol.test_server import PROJECT
from tests.written_project import write_files

SQL = "select 1;\nmerge into a.b t\nusing c.d s on t.id = s.id\nwhen matched then delete"
CODE = f'spark.sql("""\n{SQL.partition(chr(10))[2]}\n""")'
JSON = json.dumps({"cells": [{"cell_type": "code", "source": CODE, "metadata": {}}], "metadata": {}, "nbformat": 4})


@pytest.fixture(params=["shop", ""], ids=["in a project", "outside"])
def notebook(tmp_path, request):
    write_files(tmp_path / "shop", PROJECT)
    return tmp_path / request.param / "my load.ipynb"


def text_change(uri, version, text):
    whole = types.TextDocumentContentChangeWholeDocument(text)
    content = types.NotebookDocumentCellContentChanges(types.VersionedTextDocumentIdentifier(version, uri), [whole])
    return types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[content]))


def structure_change(start, deleted, cells=()):
    listed = [types.NotebookCell(types.NotebookCellKind.Code, item.uri) for item in cells]
    array = types.NotebookCellArrayChange(start, deleted, listed)
    structure = types.NotebookDocumentCellChangeStructure(array, did_open=list(cells))
    return types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(structure=structure))


def test_findings_are_in_the_cell_that_has_them(editor, notebook):
    cells = editor.open_notebook(notebook, ("python", "x = 1"), ("sql", SQL), ("python", CODE), ("markdown", SQL))
    found = [short(editor.cell_diagnostics(uri)) for uri in cells]
    editor.change_notebook(notebook, 2, text_change(cells[1], 2, SQL.replace("when matched", "when mat")))
    typed = [short(editor.cell_diagnostics(uri)) for uri in cells]
    editor.change_notebook(notebook, 3, structure_change(0, 1))
    moved = [short(editor.cell_diagnostics(uri)) for uri in cells[1:]]
    editor.close_notebook(notebook, cells)
    assert found == [[], ["P001 3:16"], ["P001 3:16"], []]
    assert typed == [[], ["C010 4:1"], ["P001 3:16"], []]
    assert moved == typed[1:]
    assert editor.cell_diagnostics(cells[1]) == ()


def test_a_cell_that_is_added_is_looked_at(editor, notebook):
    (first,) = editor.open_notebook(notebook, ("python", "x = 1"))
    assert short(editor.cell_diagnostics(first)) == []
    added = types.TextDocumentItem(f"{first}-new", "sql", 1, SQL)
    editor.change_notebook(notebook, 2, structure_change(0, 0, [added]))
    assert short(editor.cell_diagnostics(added.uri)) == ["P001 3:16"]
    editor.close_notebook(notebook, [first, added.uri])


def test_a_client_that_does_not_ask_is_sent_what_is_in_each_cell(notebook):
    editor = Editor(pulls=False)
    cells = editor.open_notebook(notebook, ("python", "x = 1"), ("sql", SQL))
    found = [short(editor.wait_for_cell(uri)) for uri in cells]
    editor.close_notebook(notebook, cells)
    editor.stop()
    assert found == [[], ["P001 3:16"]]


SCALA = 'val frame = spark.sql("""\n' + SQL.partition("\n")[2] + '\n""")'
LINE = SQL.partition("\n")[2].replace("\n", " ")
COMMENTS = {
    "SQL": ("sql", SQL, 3, "--"),
    "a magic of SQL": ("python", "%%sql\n" + SQL, 4, "--"),
    "a line of SQL": ("python", f"x = 1\n%sql {LINE}", 2, "--"),
    "a string of Python": ("python", CODE, 3, "--"),
    "a line of Python": ("python", f'spark.sql("{LINE}")', 1, "#"),
    "a string of Scala": ("scala", SCALA, 3, "--"),
    "a line of Scala": ("scala", f'spark.sql("{LINE}")', 1, "//"),
    "a magic of Scala": ("python", f'%scala\nspark.sql("{LINE}")', 2, "//"),
}


@pytest.mark.parametrize("case", COMMENTS)
def test_a_noqa_comment_is_one_of_the_language_of_its_cell(editor, tmp_path, case):
    language, text, line, mark = COMMENTS[case]
    notebook = tmp_path / "load.ipynb"
    (cell,) = editor.open_notebook(notebook, (language, text))
    (action,) = editor.actions_at(cell, line)
    ((edit,),) = action.edit.changes.values()
    lines = text.split("\n")
    lines[edit.range.start.line] += edit.new_text
    editor.change_notebook(notebook, 2, text_change(cell, 2, "\n".join(lines)))
    hidden = short(editor.cell_diagnostics(cell))
    editor.close_notebook(notebook, [cell])
    assert (edit.new_text.split()[0], hidden) == (mark, [])


def test_a_notebook_that_is_open_as_a_text_has_its_findings_at_its_beginning(editor, notebook):
    editor.open(notebook, JSON)
    found = short(editor.diagnostics(notebook))
    actions = editor.actions(notebook, 1)
    editor.close(notebook)
    assert (found, actions) == (["P001 1:1"], ())
