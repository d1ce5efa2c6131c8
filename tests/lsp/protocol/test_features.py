"""What a real client gets for its questions: each once, on flights; the answers themselves are tested as data."""

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException

from tests.lsp.cases import ROOT, saved
from tests.lsp.client import Editor

PATH = ROOT / "models/facts/fct_flight.sql"
TEXT = saved().text("models/facts/fct_flight.sql")
TESTS = ROOT / "models/facts/_facts.yml"


@pytest.fixture(scope="module")
def editor():
    found = Editor(encodings=["utf-16"])
    found.open(PATH, TEXT)
    found.open(TESTS, saved().text("models/facts/_facts.yml"))
    yield found
    found.stop()


def at(part, text=TEXT):
    """The document and position of the cursor `|` in a part of its text."""
    before, _, after = part.partition("|")
    written = text[: text.index(before + after) + len(before)]
    line = written.rpartition("\n")[2]
    position = types.Position(written.count("\n"), len(line.encode("utf-16-le")) // 2)
    return types.TextDocumentIdentifier(PATH.as_uri()), position


def places(locations):
    return [
        f"{each.uri.rpartition('/')[2]}:{each.range.start.line + 1}:{each.range.start.character + 1}"
        for each in locations
    ]


def test_a_hover_has_the_verdict(editor):
    found = editor.run(editor.client.text_document_hover_async(types.HoverParams(*at("mer|ge into"))))

    assert found.contents.value.startswith("**static**")
    assert (found.range.start.character, found.range.end.character) == (0, len("merge into "))


def test_a_definition_and_its_references(editor):
    found = editor.run(editor.client.text_document_definition_async(types.DefinitionParams(*at("in_win|dow('f."))))
    assert places(found) == ["window.sql:19:10"]

    params = types.ReferenceParams(types.ReferenceContext(include_declaration=False), *at("in_win|dow('f."))
    assert "window.sql:19:10" not in (used := places(editor.run(editor.client.text_document_references_async(params))))
    assert "fct_flight.sql:26:14" in used


def test_completion_of_a_text_that_is_not_saved(editor):
    text = TEXT.replace("and t.carrier = s.carrier", "and t.note = '😀' and s.ta")
    editor.open(PATH, text)
    try:
        found = editor.run(
            editor.client.text_document_completion_async(types.CompletionParams(*at("'😀' and s.ta|", text)))
        )
    finally:
        editor.open(PATH, TEXT)

    assert found.items[0].label == "tailnum"
    edit = found.items[0].text_edit
    line = text.split("\n")[edit.range.start.line].encode("utf-16-le")
    assert line[2 * edit.range.start.character : 2 * edit.range.end.character].decode("utf-16-le") == "ta"


def test_hints_symbols_folding_and_lenses(editor):
    document = types.TextDocumentIdentifier(PATH.as_uri())
    whole = types.Range(types.Position(0, 0), types.Position(100, 0))
    client = editor.client
    hints = editor.run(client.text_document_inlay_hint_async(types.InlayHintParams(document, whole)))
    symbols = editor.run(client.text_document_document_symbol_async(types.DocumentSymbolParams(document)))
    folding = editor.run(client.text_document_folding_range_async(types.FoldingRangeParams(document)))
    tests = types.TextDocumentIdentifier(TESTS.as_uri())
    lenses = editor.run(client.text_document_code_lens_async(types.CodeLensParams(tests)))
    named = editor.run(client.workspace_symbol_async(types.WorkspaceSymbolParams("fct_fl")))

    assert hints[0].label == "scan: static"
    assert [child.name for child in symbols[0].children] == ["using s", "when matched", "when not matched"]
    assert (folding[1].start_line, folding[1].end_line) == (6, 33)
    commands = [each.command.arguments[0]["arguments"] for each in lenses]
    assert ["test", "--select", "a_late_correction_wins"] in commands
    assert places([each.location for each in named]) == ["fct_flight.sql:1:1"]


def test_a_signature(editor):
    params = types.SignatureHelpParams(*at("in_window('f.|"))

    assert (
        editor.run(editor.client.text_document_signature_help_async(params)).signatures[0].label == "in_window(column)"
    )


def test_a_rename_and_its_refusal(editor):
    document, position = at("in_win|dow('f.")
    params = types.RenameParams(document, position, "in_days")
    found = editor.run(editor.client.text_document_rename_async(params)).document_changes

    edits = {each.text_document.uri.rpartition("/")[2]: [edit.new_text for edit in each.edits] for each in found}
    assert edits["window.sql"] == ["in_days"]
    assert edits["fct_flight.sql"] == ["in_days"] * 2
    prepare = types.PrepareRenameParams(*at("and t.car|rier = s"))
    with pytest.raises(JsonRpcException, match="columns are not renamed"):
        editor.run(editor.client.text_document_prepare_rename_async(prepare))


def test_columns_of_a_model_are_known_while_a_tag_in_it_has_a_fault(editor):
    text = TEXT.replace("on {{ in_window('t.flight_date') }}", "on {{ in_window('t. ")
    editor.open(PATH, text)
    try:
        editor.diagnostics(PATH)
        found = editor.run(
            editor.client.text_document_completion_async(types.CompletionParams(*at("on {{ in_window('t.|", text)))
        )
    finally:
        editor.open(PATH, TEXT)

    assert "tailnum" in [item.label for item in found.items]


def view(editor, name, part, text=TEXT):
    asked = types.TextDocumentPositionParams(*at(part, text))
    params = types.ExecuteCommandParams(f"merge-runner.view.{name}", [get_converter().unstructure(asked)])
    return editor.run(editor.client.workspace_execute_command_async(params))


def test_views_of_a_text_that_is_not_saved(editor):
    text = TEXT.replace("f.tailnum,", "'😀' || f.tailnum as tailnum,")
    editor.open(PATH, text)
    try:
        compiled, lineage = (view(editor, name, "f.ori|gin,", text) for name in ("compiled", "lineage"))
    finally:
        editor.open(PATH, TEXT)

    assert compiled["title"] == "fct_flight (compiled)"
    line = compiled["text"].split("\n").index("        '😀' || f.tailnum as tailnum,")
    (link,) = [each for each in compiled["links"] if each["range"]["start"]["line"] == line]
    assert (link["location"]["uri"], link["isCopy"], link["range"]["end"]["character"]) == (PATH.as_uri(), True, 37)
    assert lineage["text"].startswith("stg_flight.origin\n  comes from\n  └─ raw.flight.origin")
    assert lineage["links"][0]["location"]["uri"].endswith("/models/staging/_staging.yml")


def test_there_is_no_view_of_a_macro(editor):
    path = ROOT / "macros/window.sql"
    editor.open(path, path.read_text())
    asked = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 0, "character": 0}}
    params = types.ExecuteCommandParams("merge-runner.view.compiled", [asked])
    found = editor.run(editor.client.workspace_execute_command_async(params))
    editor.close(path)

    assert found is None
