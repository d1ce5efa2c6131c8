"""What a real client is shown of MERGEs outside of models, in a project and outside of any."""

import pytest
from lsprotocol import types

from tests.lsp.protocol.test_server import PROJECT
from tests.written_project import write_files

SQL = "merge into a.b t\nusing c.d s on t.id = s.id\nwhen matched then delete"
CALLED = 't.alias("t").merge(s.alias("s"), "t.id = s.id").whenMatchedDelete().execute()'
BUILDER = f't = DeltaTable.forName(spark, "a.b")\n{CALLED}\n'

HEAD = "**none**: no condition of ON skips a file"
CONDITION = "- ✗ `t.id = s.id` it joins `id` to the source"
HINT = "scan: none"
# the name of a file, its text; a cursor and the beginning of what is shown there, its range; the text before the hint
CASES = {
    "a script": ("job.sql", f"select 1;\n{SQL};\n", "mer|ge into", HEAD, "merge into a.b", "merge into a.b"),
    "a condition": ("job.sql", f"select 1;\n{SQL};\n", "t.|id = s.id", CONDITION, "t.id = s.id", "merge into a.b"),
    "Python": ("job.py", f'x = "😀"; spark.sql("""{SQL}""")', "mer|ge into", HEAD, "merge into a.b", "merge into a.b"),
    "Scala": ("Job.scala", f'spark.sql("""{SQL}""")', "t.id |= s.id", CONDITION, "t.id = s.id", "merge into a.b"),
    "a call": ("job.py", BUILDER, "t.id |= s.id", CONDITION, "t.id = s.id", CALLED),
    "half written": ("job.sql", SQL.replace("then delete", "the"), "mer|ge into", None, None, None),
}


def position(text, offset):
    before = text[:offset]
    return types.Position(before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2)


def shown(editor, uri, text, cursor):
    """What is shown at a cursor with its range, and the hints with their positions."""
    document, end = types.TextDocumentIdentifier(uri), position(text, len(text))
    before, _, after = cursor.partition("|")
    at = position(text, text.index(before + after) + len(before))
    hover = editor.run(editor.client.text_document_hover_async(types.HoverParams(document, at)))
    whole = types.InlayHintParams(document, types.Range(types.Position(0, 0), end))
    hints = editor.run(editor.client.text_document_inlay_hint_async(whole))
    return hover, [(each.label, each.position) for each in hints or ()]


@pytest.mark.parametrize("inner", ["shop/jobs", ""], ids=["in a project", "outside"])
@pytest.mark.parametrize("case", CASES)
def test_the_verdict_on_a_merge_outside_of_models(editor, tmp_path, case, inner):
    write_files(tmp_path / "shop", PROJECT)
    name, text, cursor, begins, span, hinted = CASES[case]
    path = tmp_path / inner / name
    editor.open(path, text)
    hover, hints = shown(editor, path.as_uri(), text, cursor)
    editor.close(path)
    if begins is None:
        assert (hover, hints) == (None, [])
        return
    assert hover.contents.value.startswith(begins)
    start = text.index(span)
    assert hover.range == types.Range(position(text, start), position(text, start + len(span)))
    assert hints == [(HINT, position(text, text.index(hinted) + len(hinted)))]


def test_the_verdict_on_a_merge_in_a_cell(editor, tmp_path):
    path = tmp_path / "load.ipynb"
    cells = editor.open_notebook(path, ("python", "x = 1"), ("sql", SQL))
    hover, hints = shown(editor, cells[1], SQL, "mer|ge into")
    first = shown(editor, cells[0], "x = 1", "x| = 1")
    editor.close_notebook(path, cells)
    assert hover.contents.value.startswith(HEAD)
    assert hints == [(HINT, position(SQL, len("merge into a.b")))]
    assert first == (None, [])


def compiled(editor, uri):
    """The view of what Spark gets: its text, and the links as what they are on and what they lead to."""
    asked = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    params = types.ExecuteCommandParams("merge-runner.view.compiled", [asked])
    return editor.run(editor.client.workspace_execute_command_async(params))


def between(text, range):
    """The text of a range in one line."""
    line = text.split("\n")[range["start"]["line"]].encode("utf-16-le")
    return line[2 * range["start"]["character"] : 2 * range["end"]["character"]].decode("utf-16-le")


F_STRING = f'source = load()\nspark.sql(f"""{SQL.replace("c.d", "{source}")}""")  # 😀\n'
VIEWS = {
    "a script": (
        "job.sql",
        f"select 1;\n{SQL};\n{SQL.replace('a.b', 'a.c')}",
        f"{SQL};\n\n{SQL.replace('a.b', 'a.c')};\n",
    ),
    "a macro": ("job.sql", SQL.replace("t.id = s.id", "{{ in_window('t.id') }}"), None),
    "an f-string": ("job.py", F_STRING, SQL.replace("c.d", "{source}") + ";\n"),
    "Scala": ("Job.scala", f'spark.sql("""{SQL}""")', SQL + ";\n"),
}


@pytest.mark.parametrize("case", VIEWS)
def test_what_spark_gets_is_shown_with_its_places(editor, tmp_path, case):
    root = write_files(tmp_path / "shop", PROJECT)
    name, text, expected = VIEWS[case]
    path = root / "jobs" / name
    editor.open(path, text)
    view = compiled(editor, path.as_uri())
    editor.close(path)
    assert view["text"] == (expected or SQL.replace("t.id = s.id", "t.id >= date'2024-01-01'") + ";\n")
    assert view["title"] == f"{name} (compiled)"
    copies = [each for each in view["links"] if each["isCopy"]]
    assert copies
    for link in copies:
        assert link["location"]["uri"] == path.as_uri()
        assert between(view["text"], link["range"]) == between(text, link["location"]["range"])


def test_there_is_nothing_to_show_of_a_text_without_a_merge(editor, tmp_path):
    editor.open(tmp_path / "job.py", "x = 1")
    assert compiled(editor, (tmp_path / "job.py").as_uri()) is None
    editor.close(tmp_path / "job.py")


def test_a_cell_has_its_merges_alone(editor, tmp_path):
    path = tmp_path / "load.ipynb"
    cells = editor.open_notebook(path, ("python", f'spark.sql("""{SQL.replace("a.b", "a.c")}""")'), ("sql", SQL))
    view = compiled(editor, cells[1])
    editor.close_notebook(path, cells)
    assert view["text"] == SQL + ";\n"
    assert {each["location"]["uri"] for each in view["links"]} == {cells[1]}


def test_commands_above_a_merge(editor, tmp_path):
    path = tmp_path / "job.py"
    editor.open(path, f'x = 1\nspark.sql("""\n{SQL}""")')
    params = types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))
    found = editor.run(editor.client.text_document_code_lens_async(params))
    editor.close(path)
    at = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 2, "character": 0}}
    asked = {"root": str(tmp_path), "at": at}
    assert [(each.range.start.line, each.command.command, *each.command.arguments) for each in found] == [
        (2, "merge-runner.compile", asked | {"arguments": []}),
        (2, "merge-runner.lineage", asked | {"arguments": []}),
        (2, "merge-runner.lint", asked | {"arguments": ["lint", "job.py"]}),
    ]
