"""Every request in every state of a text that is being typed: an answer, or none, and never an error."""

import pytest

from merge_runner.lsp.answers.code_lenses import code_lenses
from merge_runner.lsp.answers.completion import completions
from merge_runner.lsp.answers.definition import definition
from merge_runner.lsp.answers.hover import hover
from merge_runner.lsp.answers.inlay_hints import inlay_hints
from merge_runner.lsp.answers.plain_completion import plain_completions
from merge_runner.lsp.answers.plain_lineage import plain_lineage
from merge_runner.lsp.answers.plain_names import PlainSql, plain_definition, plain_hover, plain_references
from merge_runner.lsp.answers.references import references
from merge_runner.lsp.answers.rename import RefusedRenameError, rename
from merge_runner.lsp.answers.signature_help import signature_help
from merge_runner.lsp.answers.symbols import document_symbols, folding_ranges, merge_symbols
from merge_runner.lsp.documents.open_documents import OpenDocuments
from merge_runner.text import SourceText
from tests.lsp.cases import saved
from tests.lsp.protocol.test_plain_names import FILES as FOLDER
from tests.lsp.protocol.test_plain_names import MERGE

FILES = [
    "models/facts/fct_flight.sql",
    "models/aggregates/agg_route_day.sql",
    "macros/window.sql",
    "models/facts/_facts.yml",
    "pyproject.toml",
]


def ask(path, text, offset):
    """Ask everything at a cursor."""
    project = saved()
    for request in (completions, definition, hover):
        request(project, path, text, offset)
    signature_help(project, text, offset)
    document_symbols(path, text)
    folding_ranges(path, text)
    if path.endswith(".sql"):
        inlay_hints(project, path, text, 0, len(text))
    code_lenses(project, path, text)


@pytest.mark.parametrize("path", FILES)
def test_a_text_of_which_the_rest_is_not_written_yet(path):
    text = saved().text(path)[:4_000]
    for end in range(0, len(text), 97):
        ask(path, text[:end], end)


@pytest.mark.parametrize("path", FILES)
def test_a_word_that_is_being_replaced(path):
    text = saved().text(path)[:4_000]
    for at in range(0, len(text), 131):
        ask(path, text[:at] + text[at + 3 :], at)


@pytest.mark.parametrize("path", FILES[:3])
def test_references_and_renames_anywhere(path):
    text = saved().text(path)
    for at in range(0, len(text), 61):
        references(saved(), path, text, at)
        try:
            rename(saved(), path, text, at, "another")
        except RefusedRenameError as refused:
            assert str(refused)


PLAIN = {
    "sql": f"create table a.b (x int);\n{MERGE};\nselect b.x, r.* from a.b, sales.recent r -- noqa: P001\n",
    "python": f'day = "1"\nspark.sql(f"""{MERGE} and t.x = {{day}}""")  # noqa: P001\n',
}


@pytest.mark.parametrize("language", PLAIN)
def test_plain_sql_and_code_in_every_state(language, tmp_path):
    for name, content in FOLDER.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    documents, whole = OpenDocuments({}), PLAIN[language]
    path = tmp_path / ("job.sql" if language == "sql" else "job.py")
    for at in range(0, len(whole), 7):
        for text in (whole[:at], whole[:at] + whole[at + 3 :]):
            tables, source = documents.tables(path, {path: text}), SourceText(str(path), text)
            plain_completions(tables, language, text, at)
            plain_hover(tables, language, text, at)
            plain_definition(tables, language, source, at, None)
            plain_references(tables, language, source, at, None)
            merges = documents.merges(path, text)
            merge_symbols(text, merges)
            plain_lineage(tables, path.name, merges, PlainSql(language, text, at), 2)
