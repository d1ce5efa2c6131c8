"""What names mean outside of models, to a real client: tables that the folder creates, and those of the project."""

import pytest
from lsprotocol import types

from tests.lsp.protocol.test_plain_merges import between, position
from tests.lsp.protocol.test_server import PROJECT
from tests.written_project import write_files

FILES = {
    "ddl.sql": (
        "create table sales.orders (id bigint, dt date, amount decimal(9, 2)) using delta partitioned by (dt);\n"
        "alter table sales.orders add columns (region string);\n"
        "create view sales.recent as select o.id as order_id, o.dt from sales.orders as o;\n"
    ),
    "setup.py": 'x = "😀"; spark.sql("create table staging.orders (id bigint, dt date, note string) using delta")\n',
}
MERGE = (
    "with c as (select o.id, o.dt, upper(o.note) as region from staging.orders o)\n"
    "merge into sales.orders as t\nusing c as s on t.id = s.id and t.dt = s.dt\n"
    "when matched then update set region = s.region\n"
    "when not matched then insert (id, dt, region) values (s.id, s.dt, s.region)\n"
)
OWN = "select f.v, s.id from shop.fct f join {{ ref('stg') }} s on f.id = s.id where f.dt > '2024-01-01'\n"
SQL = {
    "a column of the target": ("t.|id = s", "**id** bigint of sales.orders", ["ddl.sql:1:28"]),
    "in a condition": ("t.d|t = s.dt", "`t.dt = s.dt`", ["ddl.sql:1:39"]),
    "in SET": ("set reg|ion", "**region** string of sales.orders", ["ddl.sql:2:39"]),
    "in a list": ("insert (i|d", "**id** bigint of sales.orders", ["ddl.sql:1:28"]),
    "a column of a source in Python": ("o.|note", "**note** string of staging.orders", ["setup.py:1:71"]),
    "a computed column": ("= s.|region\n", "**region**", ["job:1:48"]),
    "an alias": ("on |t.id", "partitioned by `dt`", ["job:2:28"]),
    "a table": ("into sales.or|ders", "| `region` | string |", ["ddl.sql:1:20"]),
    "a schema": ("into sa|les.orders", "**sales.orders**", ["ddl.sql:1:20"]),
    "a CTE": ("using |c as", "| `region` |", ["job:1:6"]),
    "a keyword": ("when mat|ched then up", None, []),
}
PROJECT_SQL = {
    "a column of a model": ("f.|v", "**v** string of fct", ["_models.yml:7:16"]),
    "a partition column": ("f.|dt >", "partitioned by `dt`", ["_models.yml:6:16"]),
    "the table of a model": ("shop.|fct", "**fct** (merge) `shop.fct`", ["fct.sql:1:1", "_models.yml:2:11"]),
    "a model by ref": ("ref('st|g')", "**stg** (view)", ["stg.sql:1:1"]),
    "a column of a ref": ("s.|id from", "**id** int not null of stg", ["stg.sql:1:1"]),
}


@pytest.fixture(scope="module", params=["shop/jobs", ""], ids=["in a project", "outside"])
def root(tmp_path_factory, request):
    base = tmp_path_factory.mktemp("plain")
    write_files(base / "shop", PROJECT)
    return write_files(base / request.param, FILES)


def asked(uri, text, cursor):
    before, _, after = cursor.partition("|")
    assert text.count(before + after) == 1
    return types.TextDocumentIdentifier(uri), position(text, text.index(before + after) + len(before))


def names(editor, uri, text, cursor):
    """What the hover has at a cursor, and where the name is defined."""
    at = asked(uri, text, cursor)
    hover = editor.run(editor.client.text_document_hover_async(types.HoverParams(*at)))
    found = editor.run(editor.client.text_document_definition_async(types.DefinitionParams(*at)))
    return hover.contents.value if hover is not None else None, found or ()


def places(found, document):
    def name(uri):
        return "job" if uri == document else uri.rpartition("/")[2]

    return [f"{name(each.uri)}:{each.range.start.line + 1}:{each.range.start.character + 1}" for each in found]


@pytest.mark.parametrize("case", SQL)
def test_a_name_in_plain_sql(editor, root, case):
    cursor, has, defined = SQL[case]
    path = root / "job.sql"
    editor.open(path, MERGE)
    hover, found = names(editor, path.as_uri(), MERGE, cursor)
    editor.close(path)
    assert hover is None if has is None else has in hover
    assert places(found, path.as_uri()) == defined


@pytest.mark.parametrize("case", SQL)
def test_a_name_in_a_string_of_python(editor, root, case):
    cursor, has, defined = SQL[case]
    path, text = root / "job.py", f'y = "😀"\nspark.sql("""{MERGE}""")\n'
    editor.open(path, text)
    hover, found = names(editor, path.as_uri(), text, cursor)
    editor.close(path)
    first = len('spark.sql("""')  # in the line of the SQL that is the second one of the file
    moved = [
        f"job:{int(line) + 1}:{int(column) + (first if line == '1' else 0)}"
        if file == "job"
        else f"{file}:{line}:{column}"
        for file, line, column in (each.split(":") for each in defined)
    ]
    assert hover is None if has is None else has in hover
    assert places(found, path.as_uri()) == moved


def test_names_in_cells(editor, root):
    path = root / "load.ipynb"
    cells = editor.open_notebook(
        path, ("sql", "create table a.made (z int) using delta"), ("sql", "select m.z from a.made m")
    )
    hover, found = names(editor, cells[1], "select m.z from a.made m", "m.|z")
    editor.close_notebook(path, cells)
    assert hover.startswith("**z** int of a.made")
    assert [(each.uri, each.range.start.character) for each in found] == [(cells[0], len("create table a.made ("))]


@pytest.mark.parametrize("case", PROJECT_SQL)
def test_tables_of_the_project_outside_of_its_models(editor, tmp_path, case):
    cursor, has, defined = PROJECT_SQL[case]
    path = write_files(tmp_path / "shop", PROJECT) / "jobs/check.sql"
    editor.open(path, OWN)
    hover, found = names(editor, path.as_uri(), OWN, cursor)
    editor.close(path)
    assert has in hover
    assert places(found, path.as_uri()) == defined


def test_columns_and_tables_of_the_project_are_offered(editor, tmp_path):
    path = write_files(tmp_path / "shop", PROJECT) / "jobs/check.py"

    def offered(text):
        editor.open(path, text.replace("|", ""))
        params = types.CompletionParams(*asked(path.as_uri(), text.replace("|", ""), text))
        found = editor.run(editor.client.text_document_completion_async(params))
        editor.close(path)
        return [each.label for each in found.items]

    assert offered('spark.sql("select f.| from shop.fct f")') == ["id", "dt", "v"]
    assert offered('spark.sql("select * from shop.|")') == ["shop.fct", "shop.stg"]


def test_the_places_of_a_name_in_its_sql(editor, root):
    path = root / "job.sql"
    editor.open(path, MERGE)

    def found(cursor):
        params = types.ReferenceParams(types.ReferenceContext(True), *asked(path.as_uri(), MERGE, cursor))
        return places(editor.run(editor.client.text_document_references_async(params)) or (), path.as_uri())

    assert found("on |t.id") == ["job:2:28", "job:3:17", "job:3:33"]
    assert found("with |c") == ["job:1:6", "job:3:7"]
    assert found("t.|id = s") == ["job:3:19", "job:5:31"]
    editor.close(path)


def test_the_rule_that_a_comment_names(editor, root):
    path, text = root / "job.py", "x = 1  # noqa: P001, C002\n"
    editor.open(path, text)
    assert names(editor, path.as_uri(), text, "P0|01")[0].startswith("**P001**")
    assert names(editor, path.as_uri(), text, "C00|2")[0].startswith("**C002**")
    assert names(editor, path.as_uri(), text, "x |=")[0] is None
    editor.close(path)


LINEAGE = {
    "the whole": ("merge |into", "job", ["region  staging.orders.note (transformation)", "id      staging.orders.id"]),
    "a column of the target": ("set |region", "sales.orders.region", ["region  staging.orders.note (transformation)"]),
    "a column of the source": ("o.|note", "staging.orders.note", ["region  staging.orders.note (transformation)"]),
}


@pytest.mark.parametrize("kind", ["sql", "py"])
@pytest.mark.parametrize("case", LINEAGE)
def test_the_lineage_of_a_merge(editor, root, case, kind):
    cursor, title, lines = LINEAGE[case]
    path = root / f"job.{kind}"
    text = f"select 1;\n{MERGE};\n" if kind == "sql" else f'spark.sql("""{MERGE}""")\n'
    editor.open(path, text)
    document, at = asked(path.as_uri(), text, cursor)
    given = {"textDocument": {"uri": document.uri}, "position": {"line": at.line, "character": at.character}}
    params = types.ExecuteCommandParams("merge-runner.view.lineage", [given])
    view = editor.run(editor.client.workspace_execute_command_async(params))
    editor.close(path)
    assert view["title"] == f"{title if title != 'job' else path.name} (lineage)"
    written = view["text"].split("\n")
    assert written[0] == f"MERGE in line {text[: text.index('with c')].count(chr(10)) + 1}"
    assert [line for line in lines if f"  {line}" not in written] == [], view["text"]
    leads = {between(view["text"], each["range"]): each["location"] for each in view["links"]}
    assert leads[written[0]]["uri"] == path.as_uri()
    assert leads["staging.orders.note"]["uri"].endswith("setup.py")
    assert leads["staging.orders.note"]["range"]["start"]["character"] == 70


def test_the_symbols_and_ranges_of_plain_files(editor, root):
    sql, code = root / "job.sql", root / "job.py"
    editor.open(sql, MERGE)
    editor.open(code, f'spark.sql("""{MERGE}""")\n')
    document, other = types.TextDocumentIdentifier(sql.as_uri()), types.TextDocumentIdentifier(code.as_uri())
    symbols = editor.run(editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document)))
    of_code = editor.run(editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(other)))
    folds = editor.run(editor.client.text_document_folding_range_async(types.FoldingRangeParams(document)))
    tokens = editor.run(editor.client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document)))
    editor.close(sql)
    editor.close(code)
    assert [each.name for each in symbols] == ["c", "merge"]
    assert [(each.name, each.range.start.line, each.range.end.line) for each in of_code] == [
        ("merge into sales.orders", 0, 5)
    ]
    assert folds
    assert tokens.data
