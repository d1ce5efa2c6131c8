"""Closes the catalogs that a session has opened when the session is no longer needed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from merge_runner.engine.spark.jvm_util import java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_JDBC_CATALOG = "org.apache.iceberg.jdbc.JdbcCatalog"


def close_catalogs(session: SparkSession) -> None:
    """Closes the connections of Iceberg's JDBC catalogs that the session has opened.

    Every session has its own catalogs, and nothing in Spark closes them: with SQLite each would keep two files open
    as long as the driver lives (Iceberg 1.12.0), and a stream has a session for each model of each batch. Raises
    nothing: a driver that is lost keeps nothing open.
    """
    with suppress(Exception):
        manager = session._jsparkSession.sessionState().catalogManager()
        everything = java_class(session, "scala.Option").empty()
        for name in str(manager.listCatalogs(everything).mkString("\n")).splitlines():
            catalog = manager.catalog(name)  # those that are listed are loaded
            if catalog.getClass().getName() == _SPARK_CATALOG:
                own = catalog.icebergCatalog()
                if own.getClass().getName() == _JDBC_CATALOG:
                    own.close()
