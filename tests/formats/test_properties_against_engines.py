"""What we say of properties, confs and clauses, against the engines: the lists both ways, every value, every probe."""

import itertools
import re
from pathlib import Path

import pytest

from merge_runner.engine.spark.jvm_util import active_session
from merge_runner.formats import confs, syntax
from merge_runner.formats.delta.properties import INSTEAD
from merge_runner.formats.lines import LINES, RECOMMENDED, installed_line
from merge_runner.formats.properties import RESERVED, known_properties
from merge_runner.formats.rules import rules
from merge_runner.formats.table_clauses import DeclaredColumn, DeclaredTable
from tests.yaml_data import read_yaml

CLAUSES = read_yaml(Path(__file__).parent / "table_clauses.yml")
SOURCE = "(select 1L as id, 'n' as name, true as flag, 1.0D as amount, named_struct('a', 1) as st)"
WRONG = {"boolean": "perhaps", "interval": "30", "feature": "perhaps", "columns": "nope", "computed": "3"}
RIGHT = {"boolean": "TRUE", "interval": "interval 30 days", "feature": "supported", "columns": "id"}
NOT_ALONE = ("delta.enableIcebergCompat", "delta.feature.", "delta.castIceberg", "delta.ignoreIceberg")
"""Right values that need other properties, or a catalog that this Spark does not have."""
_NUMBERS = itertools.count()


def columns_of(case):
    found = []
    for name, text in case["columns"].items():
        data_type, generated = re.match(r"(.*?)((?:generated|default) .*)?\Z", text).groups()
        found.append(DeclaredColumn(name, data_type.strip(), generated or ""))
    return found


def declared(case, line):
    clauses = (case.get(key, []) for key in ("partition_by", "cluster_by"))
    return DeclaredTable(*clauses, columns_of(case), case.get("properties", {}), line)


def refused(case, line):
    """The key for which a line refuses the table; None where it creates it."""
    return case.get("refused") or case.get("refused_on", {}).get(line.spark)


@pytest.mark.parametrize("case", CLAUSES, ids=str)
def test_we_refuse_the_clauses(case):
    for line in LINES.values():
        keys = {each.key for each in rules(case["format"]).clause_faults(declared(case, line))}
        wanted = {refused(case, line)} - {None}
        assert keys >= wanted if line != RECOMMENDED and wanted else keys == wanted


def test_nothing_is_said_of_columns_that_are_not_known():
    assert not list(rules("delta").clause_faults(DeclaredTable(["a"])))
    assert not list(rules("delta").clause_faults(DeclaredTable(cluster_by=["a", "B"])))


@pytest.mark.parametrize("key", [*INSTEAD, *confs.INSTEAD])
def test_what_only_looks_real_is_not_known_and_its_replacement_is(key):
    hint = {**INSTEAD, **confs.INSTEAD}[key]
    for name in re.findall(r"\bspark\.[\w.]*\w", hint):
        assert confs.status(name) == "known", name
    for name in re.findall(r"\bdelta\.[\w.]*\w", re.sub(r"spark\.[\w.]+", "", hint)):
        assert name in known_properties("delta"), name
    if key.startswith("delta."):
        assert rules("delta").property_fault(key, "1", None, RECOMMENDED).kind == "refused"
    else:
        assert confs.status(key) == "unknown"


@pytest.fixture(scope="module")
def session(driver, tmp_path_factory):
    spark = driver.spark.newSession()
    if "iceberg" in installed_line().formats:
        spark.conf.set("spark.sql.catalog.probed", "org.apache.iceberg.spark.SparkCatalog")
        spark.conf.set("spark.sql.catalog.probed.type", "hadoop")
        spark.conf.set("spark.sql.catalog.probed.warehouse", str(tmp_path_factory.mktemp("iceberg")))
        spark.sql("create namespace if not exists probed.table_properties")
    # Statements of a row or none: compiling code and reading plans again costs more than they do.
    for key in ("codegen.wholeStage", "adaptive.enabled"):
        spark.conf.set(f"spark.sql.{key}", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    spark.sql("create schema if not exists table_properties")
    if installed_line() != LINES["3.5"]:  # the first with session variables is 4.0
        spark.sql("declare or replace variable probed bigint default 1")
    return spark


def table(name):
    return f"{'probed.' if name == 'iceberg' else ''}table_properties.t{next(_NUMBERS)}"


def runs(session, sql):
    return raised(lambda: session.sql(sql))


def raised(call):
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        call()
    except (PySparkException, Py4JJavaError) as error:
        return str(error)
    return None


def create(name, properties=(), columns="id bigint, name string", clauses="", at=None):
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in dict(properties).items())
    clauses += f" tblproperties ({listed})" if listed else ""
    return f"create table {at or table(name)} ({columns}) using {name} {clauses}"


def module(session, name):
    jvm = session._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    return jvm.java.lang.Class.forName(name, True, loader)


def scala_object(session, name):
    return module(session, f"{name}$").getField("MODULE$").get(None)


def strings(session, name):
    """The values of a class's constants of type String."""
    found = {}
    for each in module(session, name).getDeclaredFields():
        if each.getType().getName() == "java.lang.String":
            each.setAccessible(True)
            found[each.getName()] = each.get(None)
    return found


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.lines
def test_delta_has_these_properties(session):
    configs = values_of(scala_object(session, "org.apache.spark.sql.delta.DeltaConfigs").getAllConfigs())
    with active_session(session):  # its confs say which features are previews
        features = values_of(scala_object(session, "org.apache.spark.sql.delta.TableFeature").allSupportedFeaturesMap())
    named = {each.key() for each in configs} | {f"delta.feature.{each.name()}" for each in features}
    assert set(known_properties("delta", installed_line())) == named


def values_of(scala_map):
    """The values of a map of Scala 2.12 or 2.13."""
    return [scala_map.apply(key) for key in scala_map.keys().mkString("\n").split("\n")]


@pytest.mark.spark
@pytest.mark.nightly
def test_iceberg_has_these_properties(session):
    found = strings(session, "org.apache.iceberg.TableProperties")
    named = {value for key, value in found.items() if not key.endswith("_DEFAULT") and "_DEFAULT_SINCE_" not in key}
    assert set(known_properties("iceberg")) == named - {None, "none", "hash", "range"}
    reserved = module(session, "org.apache.iceberg.TableProperties").getField("RESERVED_PROPERTIES").get(None)
    dropped = {key for key, takes in known_properties("iceberg").items() if takes == "reserved"}
    assert dropped | {"format-version"} == {str(each) for each in reserved}


ALTERNATIVES = {
    "spark.sql.execution.arrow.transformWithStateInPandas.maxRecordsPerBatch",
    "spark.sql.legacy.parquet.datetimeRebaseModeInRead",
}
"""Other names of entries, which an entry's text does not tell."""


LOST = 3
"""In some sessions Spark's registry misses one of its 1,500 entries, another each time; nothing else is known of it."""


@pytest.mark.spark
@pytest.mark.slow
def test_spark_has_these_confs(session):
    jvm = session._jvm
    for name in ("sql.delta.sources.DeltaSQLConf", "sql.hive.HiveUtils", "sql.connect.config.Connect"):
        module(session, f"org.apache.spark.{name}$")  # their confs are registered when they are loaded
    sql = scala_object(session, "org.apache.spark.sql.internal.SQLConf")
    text = jvm.java.util.Arrays.toString(sql.getConfigEntries().toArray())
    named = set(re.findall(r"ConfigEntry\(key=([^,]+), ", text)) | ALTERNATIVES
    named |= {value for value in strings(session, "org.apache.iceberg.spark.SparkSQLProperties").values() if value}
    named |= {str(key) for key in jvm.scala.jdk.javaapi.CollectionConverters.asJava(sql.removedSQLConfigs())}
    prefixes = ("spark.sql.", "spark.databricks.")
    ours = {key for key in confs.known_confs() if key.startswith(prefixes)}
    assert {key for key in named if key.startswith(prefixes)} - ours == set()
    assert len(ours - named) <= LOST, ours - named


@pytest.mark.spark
@pytest.mark.nightly
def test_a_running_session_refuses_what_belongs_to_the_start(session):
    conf = session.newSession().conf
    fixed = [key for key in confs.known_confs() if confs.status(key) in ("static", "launch")]
    assert [key for key in fixed if raised(lambda key=key: conf.set(key, "1")) is None] == []


def values():
    for name in ("delta", "iceberg"):
        for written, takes in known_properties(name).items():
            if takes in ("text", "reserved"):
                continue
            key = f"{written}id" if written.endswith(".") else written
            wrong = WRONG.get(takes) or ("-9" if ">=" in takes else "perhaps")
            right = RIGHT.get(takes) or ("40" if takes.startswith("int") else takes.split("|")[0])
            if takes == "columns" and name == "iceberg":
                yield name, key.removesuffix("id") + "nope", "full", False
                right = "full"
            else:
                yield name, key, wrong, False
            if takes != "computed" and not key.startswith(NOT_ALONE):
                yield name, key, right, True
    for key in RESERVED:
        yield "delta", key, "x", False
        yield "iceberg", key, "x", False
    for key in INSTEAD:
        yield "delta", key, "x", False


@pytest.mark.spark
@pytest.mark.nightly
def test_values_are_taken_and_refused_as_we_say(session):
    wrong = []
    for name, key, value, taken in values():
        said = rules(name).property_fault(key, value, ("id", "name"), RECOMMENDED)
        assert (said is None) is taken, (name, key, value)
        refused = _refusal(session, name, key, value)
        if (refused is None) is not taken:
            wrong.append((name, key, value, taken, refused and refused[:200]))
    assert wrong == []


def _refusal(session, name, key, value):
    """Why the table cannot be made with the property; or, on Iceberg, why a MERGE into it fails."""
    if name == "delta":
        if value in RIGHT.values() and not key.startswith("delta.feature."):
            # The check that CREATE TABLE makes, without the table.
            configs = scala_object(session, "org.apache.spark.sql.delta.DeltaConfigs").getAllConfigs()
            config = configs.apply(key.lower().removeprefix("delta."))
            return raised(lambda: config.apply(value))
        return runs(session, create(name, {key: value}))
    at = table(name)
    refused = runs(session, create(name, {key: value}, at=at))
    if refused is None and (value == "perhaps" or value.startswith("-")):
        refused = runs(session, f"insert into {at} values (1, 'a')")
        merge = f"merge into {at} t using (select 1L id) s on t.id = s.id when matched then update set name = 'b'"
        refused = refused or runs(session, merge)
    return refused


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.lines
def test_clauses_are_refused_as_we_say(session):
    wrong = []
    for case in (case for case in CLAUSES if case["format"] in installed_line().formats):
        columns = ", ".join(f"`{name}` {text}" for name, text in case["columns"].items())
        clauses = ""
        if "partition_by" in case:
            clauses += f" partitioned by ({', '.join(case['partition_by'])})"
        if "cluster_by" in case:
            clauses += f" cluster by ({', '.join(case['cluster_by'])})"
        error = runs(session, create(case["format"], case.get("properties", {}), columns, clauses))
        if (error is not None) is not (refused(case, installed_line()) is not None):
            wrong.append((case, error and error[:200]))
    assert wrong == []


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.lines
def test_every_row_of_the_syntax(session):
    wrong = []
    made = {}
    for row in (row for row in syntax.ROWS if row.format in installed_line().formats):
        key = row.format, row.table, *row.properties.items()
        at = made.get(key)
        if at is None:
            at = made[key] = table(row.format)
            if runs(session, create(row.format, row.properties, row.table, at=at)) is not None:
                assert not creates(row.table, row.format)
                continue
            if row.format == "delta":
                # It refuses some statements only where a row matches, when it plans the write.
                session.sql(f"insert into {at} (id) values (1)")
        refused = _not_run(session, row, at)
        if (refused is None) is not row.supported_on(installed_line()):
            wrong.append((row.feature, row.format, row.probe, refused and refused[:300]))
    assert wrong == []


def creates(columns, form):
    """Whether the installed line creates a table with these columns, given as DDL."""
    named = [column.split(None, 2) for column in re.split(r",\s*(?![^<]*>)", columns)]
    table = DeclaredTable(columns=[DeclaredColumn(*each) for each in named], line=installed_line())
    return not list(rules(form).clause_faults(table))


def _not_run(session, row, at):
    """Why a probe cannot run on a table. Spark refuses what Iceberg cannot do when it plans; Delta's MERGE has to run.

    A MERGE with schema evolution into Iceberg runs on Spark 4.0 as well, without the new column.
    """
    sql = row.probe.format(t=at, s=SOURCE)
    if row.feature == "schema evolution":
        return runs(session, sql) or (None if "added" in session.table(at).columns else "it has not added the column")
    if row.format == "delta":
        return runs(session, sql)
    refused = runs(session, f"explain {sql}")
    plan = "" if refused else session.sql(f"explain {sql}").first()[0]
    return refused or (plan if "Error occurred" in plan or "AnalysisException: " in plan else None)  # 3.5 names it
