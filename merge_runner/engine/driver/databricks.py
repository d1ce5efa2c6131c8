"""Sessions of Databricks Connect: its own builder knows host, credentials and compute, from the environment.

That is `DATABRICKS_HOST`, `DATABRICKS_TOKEN`, `DATABRICKS_CLUSTER_ID`, `DATABRICKS_SERVERLESS_COMPUTE_ID`,
`DATABRICKS_CONFIG_PROFILE`, or what a notebook or a job has. The package `databricks-connect` takes the place of
PySpark: it holds a package `pyspark` with the client of Spark Connect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats import DEFAULT
from merge_runner.formats.registry import capabilities

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMOTE = "databricks"
"""The `remote` of an output that runs there."""


class DatabricksServer:
    """The compute that Databricks Connect finds. `builder` makes its sessions, else that of the installed package."""

    def __init__(self, builder: Any = None) -> None:
        self._builder = builder or _builder()

    def wait(self) -> None:
        """Do nothing: the builder waits for compute that has to start."""

    def session(self) -> SparkSession:
        """Open a new session."""
        session: SparkSession = self._builder.create()
        return session


def check_metadata(session: SparkSession) -> None:
    """Refuse compute where commits cannot be stamped: a retry could not find them, and would write rows twice.

    Serverless compute takes few confs (`CONFIG_NOT_AVAILABLE`). Raises ProblemsError `connect-metadata`.
    """
    key = capabilities(DEFAULT).commit_metadata_conf
    try:
        session.conf.set(key, "")
        session.conf.unset(key)
    except Exception as error:
        message = f"this compute does not take {key}, by which a retry finds what has committed: {error}"
        hint = "run these models on a cluster, or as a job with its own compute"
        raise ProblemsError([Problem("connect-metadata", message, hint=hint)]) from error


def _builder() -> Any:
    try:
        from databricks.connect import DatabricksSession  # type: ignore[import-not-found]
    except ImportError as error:
        message = f"`remote: {REMOTE}` needs Databricks Connect, which is not installed"
        hint = "pip install databricks-connect, of the version of the cluster's runtime, without pyspark"
        raise ProblemsError([Problem("connect-missing", message, hint=hint)]) from error
    return DatabricksSession.builder
