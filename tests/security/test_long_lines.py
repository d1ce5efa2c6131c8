"""Long lines of one character, or of two, for which a pattern would take the square of their length, or for ever."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.security.bounded_run import SECONDS, run
from tests.written_project import write_files, write_project

LONG = 100_000
MERGE = "merge into t using s on t.id = s.id when matched then delete"
LINTED = {
    "dashes_after_merge.sql": "select 1 as merge " + "-" * 200 + " x\n;" + MERGE,
    "comments_after_merge.sql": "merge " + "/**/" * LONG + "x",
    "tags_after_merge.sql": "merge " + "{% %}" * 200 + "x",
    "tags.sql": "-- {{\n" + "{{" * LONG + MERGE,
    "blocks.sql": "{% if " * LONG + MERGE,
    "quotes.sql": "select " + "\\'" * LONG + ";\n" + MERGE,
    "quotes.toml": 'a = "' + '\\"' * LONG + "\n# noqa\n",
    "triple_quotes.toml": 'a = """' + '\\"""' * LONG + "\n# noqa\n",
    "quotes.scala": '\\"' * LONG + " // noqa\n",
    "comments.scala": "/*" * LONG + " // noqa\n",
}
MODELS = {
    "blocks_open": "{% if " * LONG,
    "outputs_open": "select 1 as is_incremental {{ " + "{{ " * LONG,
    "comments_open": "select '{#' as is_incremental " + "{#" * LONG,
    "quotes_in_a_tag": "select {{ is_incremental(" + "\\'" * LONG + ") }}",
    "raw_open": "{% raw %}" * LONG,
    "percent_names": "{% set a = '" + "%(" * 50_000 + "' % 1 %}select 1 as a",
    "type": "{{ config(columns=[]) }}select cast(1 as " + "'" * 99_999 + ") as a",
}
CODE = {
    "noqa under a cursor": """
from merge_runner.lsp.names.symbol import rule_at
assert rule_at("--" * N + " noqa", 0, 3) is None and rule_at("noqa:" * N, 0, 3) is None
""",
    "noqa before a cursor": """
from merge_runner.lsp.answers.sql_completion import noqa_codes
assert noqa_codes("--" * N + " noqa", 2 * N) is None and noqa_codes("-- noqa:" + " " * N + "!", 9 + N) is None
""",
    "a word before a cursor": """
from merge_runner.lsp.answers.sql_completion import in_sql
from merge_runner.lsp.syntax.statements import statements
for before in ("a" * N + "!", "a." + " " * N + "!", "`" * N, "a" + " " * N + "."):
    assert list(in_sql(None, None, statements(""), before, 0)) == []
""",
    "a header before a cursor": """
from merge_runner.lsp.answers.yaml_completion import _TABLE
for text in ("[" * N, "\\n" * N, " " * N):
    assert list(_TABLE.finditer(text)) == []
""",
    "the comment before a macro": """
from merge_runner.lsp.documents.project_index import _comment
assert _comment("{#" * N) == "" and _comment("{#" * N + " a #}").endswith(" a ")
""",
    "a sort order": """
from merge_runner.engine.tables.drift import sort_key
from merge_runner.pruning.layout.layout import sorted_columns
assert sort_key("a" + " " * N + "b")[3:] == ("asc", "first")
assert sorted_columns(["a" + " " * N + "b"], ())
""",
    "IS NULL": """
from merge_runner.merge.parse import parse
from merge_runner.testing.mutants import mutants
on = "t.id = s.id when not matched and s.id " + " " * N + "is not null then insert (id) values (s.id)"
assert mutants(parse("merge into t using s on " + on), None)
""",
    "comments before a hook": """
from merge_runner.engine.steps.hooks import is_of_the_session
for text in (" " * N, "/*" * N, "--\\n" * N, "/**/" * N):
    assert not is_of_the_session(text)
""",
    "the words of a MERGE in code": """
from merge_runner.lint.containers.unread_text import IN_CODE, merge_in_parts
assert IN_CODE.search("merge" + " " * N + "x") is None
assert merge_in_parts(["merge into " + "." * 300 + " a b c"] * 1000) is None
""",
    "a type": """
from merge_runner.formats.types import parse_type
for text in ("'" * N, "`" * N, "int" + " " * N + "!", "struct<a: int comment '" + "\\\\'" * N):
    parse_type(text)
""",
    "strings of SQL with Jinja": """
from merge_runner.lsp.syntax.tokens import scanned
for text in ("'" + "{{" * 2 * N, '"{{ a ' * N, "'" + "{{ a " * 2 * N, "'" + "{" * N):
    scanned(text)
""",
    "strings of Jinja": """
from merge_runner.lsp.syntax.tokens import scanned
for part in ("'", "' ", "'(", "'x", "' {", "','"):
    scanned("{{ '" + ("\\\\" + part) * 2 * N)
    scanned("{{ '" + ("\\\\" + part + "\\\\" + chr(34)) * N)
""",
    "mappings of Jinja without an end": """
from merge_runner.lsp.syntax.tokens import scanned
for text in ("{{ { \\nselect " * N, "{{ { " * 2 * N, "{{ {{ {{ " * N, "{{ { \\nselect {% " * N, "{{ " * 2 * N + "\\nselect"):
    scanned(text)
""",
    "blocks of dbt without an end": """
from merge_runner.conversion.dbt import conversion, model_text, project
for text in ("{% materialization a " * N, "{%" + " " * N, "{% materialization a endmaterialization" * N):
    assert not list(project.blocks(text, conversion._MATERIALIZATION, conversion._END))
for text in ("{% snapshot a %}" * N, "{% snapshot a %}{% endsnapshot" * N, "{% snapshot " + "a" * N):
    assert not list(project.blocks(text, project._SNAPSHOT, project._END_OF_SNAPSHOT))
for part in ("{#", "{% set a %}", "{% macro a() %}{% endset %}", "{%", "{% call a", "{% set a %}{% endset"):
    model_text._puts_out_nothing(part * N)
assert model_text._puts_out_nothing("{# a #} {% set a %} x {% endset %}{% set b = 1 %}-- c" + " " * N)
assert not model_text._puts_out_nothing("{% set a %}" * N + "x")
""",
    "tokens of SQL": """
from merge_runner.merge.syntax.lexer import scan
parts = ("1", "a``", "${", "${ {a ", " \\x01", "r'", "\\\\'", "--\\\\", "1.", "${a}", "a${")
for text in (*(part * 2 * N for part in parts), "`" + "a``" * 2 * N, " " * 5 * N + "\\x01", "1" * 5 * N + "x"):
    list(scan(text))
""",
    "values of TOML": """
from merge_runner.project.syntax.toml_tree import _STRING
for text in ('"' + '\\\\"' * 5 * N + '"', "'" * 3 + "''a" * N + "'" * 3, '"' * 3 + ('\\\\' + '"' * 3) * N, '"' + "a" * 5 * N):
    _STRING.match(text)
""",
    "a message of an engine": """
from merge_runner.engine.spark import errors, java_exception
for text in ("\\n" * 5 * N, " " * 5 * N + "x", "a" * 5 * N, "a." * 5 * N, "Cannot resolve a in " * N, "a. " * N, "[A_A" * N):
    text = "x" + text + "x"
    errors._trim(text)
    assert errors._EMBEDDED.search(text) is None and errors._UNRESOLVED.search(text) is None
    java_exception._of_text(text, "a")
    java_exception._remote_text(text)
""",
    "a format with %": """
from merge_runner.template.growth import operation_size
assert operation_size("%", "%(" * N, 1) < 10 * N and operation_size("%", "%(a(b))9999999s", {}) > 9999999
""",
}


@pytest.mark.parametrize("name", LINTED)
def test_a_long_line_is_linted_soon(tmp_path, name):
    write_files(tmp_path, {name: LINTED[name], "well.sql": MERGE})
    ended = run(tmp_path, "lint", "--no-cache", "--format", "json", name, "well.sql")
    assert ended.returncode in (0, 1), ended.stderr
    assert "well.sql" in {merge["path"] for merge in json.loads(ended.stdout)["merges"]}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_with_a_long_line_is_linted_soon(tmp_path, name):
    write_project(tmp_path, "s", {"models/m.sql": MODELS[name], "models/well.sql": "select 1 as a"})
    assert run(tmp_path, "lint", "--no-cache").returncode in (0, 1, 2)


def test_a_macro_with_a_long_comment_is_ejected_soon(tmp_path):
    call = "{{ merge_patterns.upsert(target=this, source=ref('a'), unique_key='id') }}"
    models = {"models/a.sql": "select 1 as id", "models/m.sql": "{# " + "\\'{{" * LONG + " #}\n" + call}
    write_project(tmp_path, "s", models)
    assert run(tmp_path, "eject", "m").returncode in (0, 1, 2)


@pytest.mark.parametrize("name", CODE)
def test_a_long_text_is_read_soon(name):
    code = f"N = {LONG}\n{CODE[name]}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ended.returncode == 0, ended.stderr


def test_many_numbers_in_the_place_of_texts_are_read_soon(tmp_path):
    tags = "\n".join(f"  - {number}" for number in range(3 * LONG))
    write_project(
        tmp_path, "s", {"models/a.sql": "select 1 as id", "models/a.yml": f"models:\n- name: a\n  tags:\n{tags}"}
    )
    assert run(tmp_path, "ls").returncode == 0
