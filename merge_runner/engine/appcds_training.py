"""Makes a class-data archive: a small Spark does what a build does, and its JVM writes down the classes when it ends.

`python -m merge_runner.engine.appcds_training JAVA_HOME JVM GROUP…` (groups of jars) is run by `appcds.make_later`, and
by `deps --archive`. It is a separate process, as a JVM that writes an archive loads its classes twice as slowly,
and takes seconds to write it: no build should wait for that.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from merge_runner.atomic import write_atomic
from merge_runner.engine.driver.local_driver import open_driver
from merge_runner.engine.model_tests.unit_test import FOR_A_FEW_ROWS
from merge_runner.engine.spark.appcds import Archive, archive
from merge_runner.engine.spark.confs import jar_groups, spark_confs, table_formats
from merge_runner.engine.spark.embedded_catalog import prepare_catalogs
from merge_runner.engine.spark.errors import first_line
from merge_runner.engine.spark.jars import fetch_jars
from merge_runner.engine.spark.java import require_java
from merge_runner.engine.spark.jvm import launch
from merge_runner.engine.spark.spark_home import check_version, installed_spark
from merge_runner.engine.spark.sql import temporary_confs
from merge_runner.engine.table_format.protocol import TableFormat
from merge_runner.engine.table_format.registry import table_format
from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats.registry import FORMATS, capabilities
from merge_runner.project.schema.profile import EMBEDDED, Jvm, Profile
from merge_runner.project.schema.stream import CONNECTORS
from merge_runner.version import pyspark_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WRITE_SECONDS = 600.0

_MERGE = """
merge into {table} as t
using (select id, date_add(date'2024-01-01', cast(id % 2 as int)) as day, 'new' as label, id * 1.5 as amount
         from range({rows})) as s
   on t.id = s.id and t.day = s.day and t.day in (date'2024-01-01', date'2024-01-02')
when matched and s.amount <> t.amount then update set *
when not matched then insert *
"""
_TABLE = (
    "create table {table} (id bigint not null, day date, label string, amount double) "
    "using {format} partitioned by (day)"
)
_STATEMENTS = (
    "create schema if not exists {schema}",
    _TABLE,
    _MERGE.replace("{rows}", "100"),
    _MERGE.replace("{rows}", "200"),
    "create schema if not exists spark_catalog.trained",
    "create or replace view {view} as select * from {table} where day >= date'2024-01-01'",
    "create or replace table {schema}.daily using {format} as "
    "select day, count(*) as n, sum(amount) as total, max(label) as label from {view} group by day",
    "select count(*), count(*) != 0 from (select day from {schema}.daily group by day having count(*) > 1)",
    "select r.*, d.n, row_number() over (partition by r.day order by r.id) as place "
    "from {view} as r left join {schema}.daily as d on r.day = d.day",
    "delete from {table} where id = 7",
    "show tblproperties {table}",
)


def make_archive(fitting: Archive, profile: Profile, java_home: Path, confs: Mapping[str, str]) -> None:
    """Runs the statements in a JVM that writes the archive, and puts it in its place.

    Raises OSError (also where the JVM wrote none), and what PySpark raises where Spark does not start.
    """
    made = fitting.folder / f"{fitting.key}.{os.getpid()}.part"
    options = f'{confs["spark.driver.extraJavaOptions"]} -XX:ArchiveClassesAtExit="{made}"'
    try:
        with tempfile.TemporaryDirectory(prefix="merge-runner-") as folder:
            root = Path(folder)
            own = {
                "spark.driver.extraJavaOptions": options,
                "spark.sql.warehouse.dir": str(root / "warehouse"),
                "spark.local.dir": str(root / "local"),
            }
            log = root / "spark.log"
            _run(profile, {**confs, **own}, java_home, root)
            if not made.exists():
                lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
                raise OSError(next((line for line in reversed(lines) if "rchive" in line), "the JVM wrote no archive"))
        fitting.publish(made)
    finally:
        made.unlink(missing_ok=True)


def _run(profile: Profile, confs: Mapping[str, str], java_home: Path, root: Path) -> None:
    jvm = launch(confs, java_home, root, root / "spark.log")
    try:
        driver = open_driver(confs, jvm)
        with driver.session() as session:
            for name in table_formats(profile):
                schema = "ice.trained" if capabilities(name).needs_catalog else "trained"
                _train(session, root, table_format(name), f"{schema}.facts")
        driver.stop()
        jvm.process.wait(_WRITE_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"the JVM wrote no archive in {_WRITE_SECONDS:.0f} s") from error
    finally:
        jvm.end()


def _train(session: SparkSession, root: Path, format: TableFormat, table: str) -> None:
    schema, view = table.rpartition(".")[0], f"spark_catalog.trained.{format.name}_recent"
    for statement in _STATEMENTS:
        session.sql(statement.format(schema=schema, table=table, view=view, format=format.name)).collect()
    rows = root / f"{format.name}.csv"
    rows.write_text("id,day\n1,2024-01-01\n2,2024-01-02\n", encoding="utf-8")
    session.read.options(header=True, inferSchema=True).csv(str(rows)).createOrReplaceTempView("rows")
    session.sql("select id, cast(day as date) as day from rows").collect()
    # What a unit test does.
    with temporary_confs(session, FOR_A_FEW_ROWS):
        session.sql(_MERGE.format(table=table, rows="250")).collect()
        with temporary_confs(session, format.quick_read_confs):
            session.sql(f"select true, * from {table} union all select false, * from {table}").collect()


def training_profile(java: Jvm, groups: Sequence[str], root: Path) -> Profile:
    """The profile of a local driver that needs these groups of jars, and sets nothing else."""
    ice = {"type": EMBEDDED} if "sqlite" in groups else {"type": "hadoop", "warehouse": str(root / "ice")}
    profile = Profile("training", "training", "trained", master="local[2]", warehouse="warehouse")
    streams = tuple(name for name in groups if name in CONNECTORS)
    needs_catalog = any(capabilities(name).needs_catalog for name in FORMATS if name in groups)
    catalogs = {"ice": ice} if needs_catalog else {}
    return replace(profile, jvm=java, catalogs=catalogs, connectors=streams)


def groups_of_driver(profile: Profile, groups: Iterable[str]) -> list[str]:
    """Return these groups of jars, and what each driver of the profile has: the key has all files of the class path."""
    return list(dict.fromkeys((*groups, *jar_groups(profile))))


def made_archive(
    groups: Sequence[str],
    env: Mapping[str, str],
    java_home: Path | None = None,
    java: Jvm = "fast-start",
    *,
    wait: bool = True,
) -> Path:
    """The archive of local drivers that need these groups of jars; made where it is missing, by one process at a time.

    Without `wait`, nothing is done where another process is at it.
    Raises ProblemsError `no-archive` where it cannot be made, and what finding Java and jars raises.
    """
    home = java_home or require_java(env)
    with tempfile.TemporaryDirectory(prefix="merge-runner-") as scratch:
        profile = training_profile(java, groups, Path(scratch))
        spark = installed_spark(Path(scratch), env)
        check_version(spark, pyspark_version())
        confs = spark_confs(profile, Path(scratch), fetch_jars(groups_of_driver(profile, groups), env), spark.defaults)
        prepare_catalogs(profile, Path(scratch))
        fitting = archive(profile, confs, home, env, spark.defaults)
        if fitting is None:
            raise ProblemsError([Problem("no-archive", "class-data archives are switched off, or this Spark has none")])
        try:
            fitting.folder.mkdir(parents=True, exist_ok=True)
            with _alone(fitting.folder, wait):
                if not fitting.is_whole():
                    make_archive(fitting, profile, home, confs)
                fitting.tidy()
        except BlockingIOError:
            return fitting.path
        except Exception as error:  # whatever it is, runs go on without an archive
            with suppress(OSError):
                write_atomic(fitting.failed, f"{first_line(error)}\n")
            message = f"the class-data archive could not be made: {first_line(error)}"
            raise ProblemsError([Problem("no-archive", message)]) from error
    return fitting.path


@contextmanager
def _alone(folder: Path, wait: bool) -> Iterator[None]:
    """Only one process at a time makes archives in the folder. The lock dies with its process."""
    handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def main(arguments: list[str]) -> int:
    """Makes the archive where it is missing; status 1 where it cannot be made."""
    java_home, java, *groups = arguments
    try:
        made_archive(groups, os.environ, Path(java_home), cast(Jvm, java), wait=False)
    except ProblemsError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
