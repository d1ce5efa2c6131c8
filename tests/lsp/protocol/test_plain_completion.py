"""What a real client is offered outside of models: columns of the tables that the folder creates, tables, rule codes."""

import pytest
from lsprotocol import types

from tests.lsp.protocol.test_plain_merges import position
from tests.lsp.protocol.test_server import PROJECT
from tests.written_project import write_files

FILES = {
    "ddl.sql": (
        "create table sales.orders (id bigint, dt date, amount decimal(9, 2)) using delta;\n"
        "alter table sales.orders add columns (region string);\n"
        "create table sales.hosts (id bigint, `host name` string) using iceberg;\n"
        "create view sales.recent as select o.id as order_id, o.dt from sales.orders as o;\n"
    ),
    "setup.py": 'spark.sql("create table staging.orders (id bigint, note string) using delta")\n',
    "broken.sql": "create table sales.broken (id bigint, \n",
    "notes.txt": "create table sales.no (nothing string)",
}
MERGE = "merge into sales.orders as t using (select * from staging.orders) as s on t.id = s.id when matched then "
ORDERS = ["id", "dt", "amount", "region"]
CASES = {
    "columns of the target": ("job.sql", MERGE + "update set note = t.|", ORDERS),
    "columns of a star": ("job.sql", MERGE + "update set region = s.|", ["id", "note"]),
    "half of a name": ("job.sql", MERGE + "update set region = s.no|", ["note"]),
    "columns of the target in SET": ("job.sql", MERGE + "update set re|", ["region"]),
    "a name with a blank": ("job.sql", "select h.| from sales.hosts as h", ["id", "host name"]),
    "a view": ("job.sql", "select r.| from sales.recent as r", ["order_id", "dt"]),
    "a table by its name": ("job.sql", "select orders.| from sales.orders", ORDERS),
    "a table of the same text": ("job.sql", "create table a.b (x int) using delta; select c.| from a.b c", ["x"]),
    "tables": (
        "job.sql",
        "select * from |",
        ["sales.hosts", "sales.orders", "sales.recent", "staging.orders"],
    ),
    "tables of a schema": ("job.sql", "select * from sales.or|", ["sales.orders"]),
    "USE": ("job.sql", "use sales; select h.| from hosts h", ["id", "host name"]),
    "a string of Python": ("job.py", f'x = 1\nspark.sql(f"""{MERGE}update set note = t.|""")', ORDERS),
    "a string that is not closed": ("job.py", f'spark.sql("{MERGE}update set note = t.|\n', ORDERS),
    "code of Python": ("job.py", f'spark.sql("{MERGE}delete")\nt.|', []),
    "a comment of Python": ("job.py", f'# it\'s "{MERGE}\nspark.sql("select o.| from sales.orders o")', ORDERS),
    "a string of Scala": ("Job.scala", f'val x = spark.sql("""{MERGE}update set note = t.|""")', ORDERS),
    "a string of SQL": ("job.sql", "select 't.|' from sales.orders t", []),
    "a table of no file": ("job.sql", "select x.| from sales.unknown x", []),
    "a code": ("job.sql", "select 1 -- noqa: P00|", ["P001", "P002"]),
    "a code in Python": ("job.py", "x = 1  # noqa: P001, C00|", ["C001", "C002"]),
}


@pytest.fixture(scope="module", params=["shop/jobs", ""], ids=["in a project", "outside"])
def root(tmp_path_factory, request):
    base = tmp_path_factory.mktemp("plain")
    write_files(base / "shop", PROJECT)
    return write_files(base / request.param, FILES)


def offered(editor, uri, text):
    document, offset = types.TextDocumentIdentifier(uri), text.index("|")
    params = types.CompletionParams(document, position(text, offset))
    found = editor.run(editor.client.text_document_completion_async(params))
    return [each.label for each in found.items]


@pytest.mark.parametrize("case", CASES)
def test_what_is_offered(editor, root, case):
    name, text, expected = CASES[case]
    path = root / name
    editor.open(path, text.replace("|", "", 1))
    found = [each for each in offered(editor, path.as_uri(), text) if not each.startswith("shop.")]  # of the project
    editor.close(path)
    if case.startswith("a code"):
        assert found[: len(expected)] == expected
    elif not expected:
        assert not {*ORDERS, *FILES} & {*found}
    else:
        assert found[: len(expected)] == expected


CELLS = [
    ("sql", "select o.| from sales.orders o", ORDERS),
    ("python", 'spark.sql("select n.| from a.cell n")', ["z"]),
    ("python", "%sql create table a.cell (z int)|", []),
]


def test_what_is_offered_in_cells(editor, root):
    path = root / "a.ipynb"
    uris = editor.open_notebook(path, *((language, text.replace("|", "", 1)) for language, text, _ in CELLS))
    found = [offered(editor, uri, text) for uri, (_, text, _) in zip(uris, CELLS, strict=True)]
    editor.close_notebook(path, uris)
    assert found == [expected for _, _, expected in CELLS]


def test_what_another_document_creates_counts_before_it_is_saved(editor, root):
    ddl, job = root / "ddl.sql", root / "job.sql"
    text = "select o.| from sales.orders o"
    editor.open(job, text.replace("|", ""))
    editor.open(ddl, "create table sales.orders (typed int) using delta")
    found = offered(editor, job.as_uri(), text)
    editor.open(ddl, "create table sales.orders (typed int, ")
    half = offered(editor, job.as_uri(), text)
    editor.close(ddl)
    after = offered(editor, job.as_uri(), text)
    editor.close(job)
    assert (found, half, after) == (["typed"], ["typed"], ORDERS)
