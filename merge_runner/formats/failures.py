"""What Spark and the table formats raise that is not the author's mistake, as data: what it means, what may be done.

What no row names is the statement's own fault, or that of its data: it would fail again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from merge_runner.formats import Format


class Kind(Enum):
    """What may be done about a failure."""

    USER = "user"
    """The statement or its data: running it again would fail again."""
    CONFLICT = "conflict"
    """Another writer committed first, and nothing of this statement did: it may be run again as a whole."""
    TRANSIENT = "transient"
    """Something around the statement broke: it may be run again, once the table says that it has not committed."""
    COMMIT_UNKNOWN = "commit_unknown"
    """The answer to the commit was lost: only the table has it, and is read before anything else."""
    LOST = "lost"
    """The connection to the engine broke, which may go on alone: the table knows once the engine has ended it."""
    CANCELLED = "cancelled"
    """merge-runner stopped it."""


MOST_RETRIES = {
    Kind.CONFLICT: 100,
    Kind.TRANSIENT: 3,
    Kind.COMMIT_UNKNOWN: 1,
    Kind.LOST: 1,
    Kind.CANCELLED: 0,
    Kind.USER: 0,
}
"""How often a statement is run again at most after each kind, even where its model allows more `retries`."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that an engine raises.

    `error` is the simple name of an exception's class or an error condition (DELTA_…); `text` is a pattern that the
    beginning of its message matches (without class and condition). `retries` is the most for this error, where that is
    less than for its kind. `format` None: Spark's own. `source` says where the row is from.
    """

    error: str
    kind: Kind
    source: str
    format: Format | None = None
    text: str = ""
    retries: int | None = None

    def matches(self, error: str, message: str) -> bool:
        """Return whether a class name or condition with this message is the one of the row."""
        return error == self.error and re.match(self.text, message) is not None


_MEASURED = "raised by Spark 4.1.4 with Delta 4.4.0 and Iceberg 1.12.0, when another session committed in between"
_DELTA = "delta.exceptions of delta-spark 4.4.0; not a subclass of its DeltaConcurrentModificationException"
_ICEBERG = "org.apache.iceberg.exceptions and the callers of SnapshotProducer.validate, Iceberg 1.12.0"
_SPARK = "Spark 4.1.4: error-conditions.json, DAGScheduler, TaskEndReason"
_NETWORK = "java.net; raised by stores and catalogs far away"

# A task's own exception is in the same text: it must not look like the loss of its executor.
_STAGE = r"Job aborted due to stage failure: (?:(?!Exception|Error).)*?"

FAILURES: tuple[Failure, ...] = (
    # Whether the commit has happened comes before all: what follows such an error in the chain of causes may be a
    # conflict or a broken connection, and neither would say that nothing was committed.
    Failure("CommitStateUnknownException", Kind.COMMIT_UNKNOWN, _ICEBERG, "iceberg"),
    Failure("DELTA_COMMIT_STATE_UNKNOWN", Kind.COMMIT_UNKNOWN, "named for catalogs that commit, Delta 4.4.0", "delta"),
    # The catalog's database was busy or did not answer: an update that was sent may have been done.
    Failure("UncheckedSQLException", Kind.COMMIT_UNKNOWN, "JdbcTableOperations.doCommit, Iceberg 1.12.0", "iceberg"),
    Failure("ServiceFailureException", Kind.COMMIT_UNKNOWN, _ICEBERG, "iceberg"),
    # The client has lost the server or the JVM, which may have gone on alone.
    Failure("Py4JNetworkError", Kind.LOST, "py4j.protocol: the JVM does not answer"),
    Failure("Py4JError", Kind.LOST, "py4j.protocol: the JVM died", text=r"An error occurred while calling \S+\Z"),
    Failure(
        *("Py4JError", Kind.LOST, "PySpark asks for py4j.reflection.TypeUtil to find what was raised; the JVM died"),
        text=r"(?:py4j|java|org)[\w.]* does not exist in the JVM",
    ),
    Failure("ConnectionRefusedError", Kind.LOST, "Python: the JVM does not listen any more"),
    Failure("ConnectionResetError", Kind.LOST, "Python: the JVM died"),
    Failure("BrokenPipeError", Kind.LOST, "Python: the JVM died"),
    Failure("SparkConnectGrpcException", Kind.LOST, "pyspark.errors.exceptions", text=r"<_\w+ of RPC"),
    Failure("RetriesExceeded", Kind.LOST, "pyspark.errors: no answer from the server"),
    Failure("_InactiveRpcError", Kind.LOST, "grpc: no answer from the server"),
    Failure("_MultiThreadedRendezvous", Kind.LOST, "grpc: no answer from the server"),
    # Spark has stopped: its JVM is ending (an OutOfMemoryError of a task, in a local driver), or its master gave it up.
    Failure("SparkException", Kind.LOST, _SPARK, text=r"Job \S+ cancelled because SparkContext was shut down"),
    Failure("IllegalStateException", Kind.LOST, _SPARK, text=r"Cannot call methods on a stopped SparkContext"),
    # Stopped by merge-runner.
    Failure("OPERATION_CANCELED", Kind.CANCELLED, "Spark Connect, after interruptAll"),
    Failure("SPARK_JOB_CANCELLED", Kind.CANCELLED, _SPARK),
    Failure("SparkException", Kind.CANCELLED, _SPARK, text=r"Job \S+ (?:was )?cancelled\b"),
    # Another writer was first.
    Failure("ConcurrentAppendException", Kind.CONFLICT, _MEASURED, "delta"),
    Failure("ConcurrentDeleteReadException", Kind.CONFLICT, _MEASURED, "delta"),
    Failure("ConcurrentDeleteDeleteException", Kind.CONFLICT, _DELTA, "delta"),
    # The same txnAppId committed meanwhile: the statement run again is then skipped by the table, or runs.
    Failure("ConcurrentTransactionException", Kind.CONFLICT, _MEASURED, "delta"),
    Failure("ConcurrentWriteException", Kind.CONFLICT, _DELTA, "delta"),
    # A statement that runs again is resolved again, against the new schema.
    Failure("MetadataChangedException", Kind.CONFLICT, _MEASURED, "delta"),
    # The table may need a writer that this Delta is not; once is enough to see.
    Failure("ProtocolChangedException", Kind.CONFLICT, _DELTA, "delta", retries=1),
    Failure("CommitFailedException", Kind.CONFLICT, _ICEBERG, "iceberg"),
    Failure("ValidationException", Kind.CONFLICT, _MEASURED, "iceberg", r"Found conflicting files that can contain"),
    Failure("ValidationException", Kind.CONFLICT, _MEASURED, "iceberg", r"Found (?:new )?conflicting delete"),
    Failure("ValidationException", Kind.CONFLICT, _MEASURED, "iceberg", r"Cannot commit, missing data files"),
    Failure("ValidationException", Kind.CONFLICT, _MEASURED, "iceberg", r"Missing required files to delete"),
    Failure("ValidationException", Kind.CONFLICT, _ICEBERG, "iceberg", r"Cannot commit, found new delete"),
    Failure("IllegalStateException", Kind.CONFLICT, _ICEBERG, "iceberg", r"Runtime file filtering is not possible"),
    # What carries the statement broke. An executor without memory (status 52) would lack it the next time.
    Failure(
        "SparkException", Kind.USER, _SPARK, text=_STAGE + r"\bExecutorLostFailure \(.*\bCommand exited with code 52\b"
    ),
    # Spark 4.1.4 sends the tasks of an executor that is ending back to it until the stage fails, all in a second.
    Failure(
        *("SparkException", Kind.TRANSIENT, _SPARK),
        text=_STAGE + r"java\.util\.concurrent\.RejectedExecutionException: Task org\.apache\.spark\.executor\.",
        retries=1,
    ),
    Failure("SparkException", Kind.TRANSIENT, _SPARK, text=_STAGE + r"\bExecutorLostFailure \("),
    Failure("SparkException", Kind.TRANSIENT, _SPARK, text=_STAGE + r"\bFetchFailed\("),
    Failure("SparkException", Kind.TRANSIENT, _SPARK, text=_STAGE + r"\bResubmitted\b"),
    Failure("SparkException", Kind.TRANSIENT, _SPARK, text=r"Could not find BlockManager"),
    Failure("BlockNotFoundException", Kind.TRANSIENT, _SPARK),
    Failure("FetchFailedException", Kind.TRANSIENT, _SPARK),
    Failure("MetadataFetchFailedException", Kind.TRANSIENT, _SPARK),
    Failure("RpcTimeoutException", Kind.TRANSIENT, _SPARK),
    Failure("SQLITE_BUSY", Kind.TRANSIENT, "org.sqlite, as a JDBC source"),
    Failure("SQLITE_LOCKED", Kind.TRANSIENT, "org.sqlite, as a JDBC source"),
    Failure("SQLTransientException", Kind.TRANSIENT, "java.sql"),
    Failure("SQLTransientConnectionException", Kind.TRANSIENT, "java.sql"),
    Failure("SQLRecoverableException", Kind.TRANSIENT, "java.sql"),
    Failure("ConnectException", Kind.TRANSIENT, _NETWORK),
    Failure("NoRouteToHostException", Kind.TRANSIENT, _NETWORK),
    Failure("SocketException", Kind.TRANSIENT, _NETWORK),
    Failure("SocketTimeoutException", Kind.TRANSIENT, _NETWORK),
    Failure("UnknownHostException", Kind.TRANSIENT, _NETWORK),
    Failure("NoHttpResponseException", Kind.TRANSIENT, "org.apache.http"),
    Failure("ConnectTimeoutException", Kind.TRANSIENT, "org.apache.hadoop.net and org.apache.http"),
    Failure("AWSServiceThrottledException", Kind.TRANSIENT, "org.apache.hadoop.fs.s3a"),
    Failure("AWSServiceIOException", Kind.TRANSIENT, "org.apache.hadoop.fs.s3a"),
    Failure("SlowDownException", Kind.TRANSIENT, "software.amazon.awssdk, through Iceberg's S3FileIO"),
)

READING = "FAILED_READ_FILE.NO_HINT"
"""The error condition that names the file in which the cause below it was found."""
WRAPPERS = frozenset(
    {
        "TASK_WRITE_FAILED",
        "FAILED_EXECUTE_UDF",
        "STAGE_MATERIALIZATION_MULTIPLE_FAILURES",  # Spark 4.1: several stages of one adaptive plan failed
        "_LEGACY_ERROR_TEMP_2235",  # the same until Spark 4.0
        READING,
    }
)
"""Error conditions that only say where it happened: the cause below says what is wrong."""

DUPLICATE_MATCHES = frozenset({"DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "MERGE_CARDINALITY_VIOLATION"})
"""Error conditions of a MERGE in which several source rows match one target row, of Delta and of Iceberg."""

UNREADABLE = "_LEGACY_ERROR_TEMP_1121"
"""The error condition of a table that cannot be read as rows. Spark 4.1.4 leaves Delta's tables as such in the
plan of an Iceberg MERGE that copies files (1.12.0); merge-on-read and insert-only ones have them replaced. Delta
(4.4.0) leaves the target as such in some subqueries of USING (`target_subqueries.py`)."""

VIOLATED = "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"
"""The error condition of a CHECK that is added to a table, and that rows of the table violate."""

HINTS = {
    UNREADABLE: (
        "Spark does not read Delta in the plan of an Iceberg MERGE that copies files: a build computes the source "
        "once, and `write.merge.mode` merge-on-read reads it as it is. In a MERGE into Delta, USING reads the target "
        "in a subquery: read it in FROM; a build makes a view of the source"
    ),
    "CAST_INVALID_INPUT": "correct the value in the source, or use try_cast where NULL is meant",
    "CAST_OVERFLOW": "widen the column, or use try_cast where NULL is meant",
    "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE": "widen the column, or keep such values out of the source",
    "DIVIDE_BY_ZERO": "use try_divide where NULL is meant",
    "DELTA_NOT_NULL_CONSTRAINT_VIOLATED": "keep rows with NULL there out of the source, or declare the column nullable",
    VIOLATED: "put these rows right, or change the check: the next build adds it",
    "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES": "keep such rows out of the source, or change the constraint",
    # In most cases a driver of ours has Spark's rule before Delta's (engine/spark); a server of Spark Connect has not.
    "DELTA_MERGE_UNEXPECTED_ASSIGNMENT_KEY": "the extension of Delta, which is loaded too, refuses to set a field of a "
    "struct of an Iceberg table in a MERGE that casts implicitly: write each cast of ON, of WHEN and of the values, as "
    "`t.id = cast(s.id as int)`, or set the whole column: `s = named_struct(…)`",
    "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE": "keep one source row for each key: GROUP BY, or "
    "row_number() = 1",
    "MERGE_CARDINALITY_VIOLATION": "keep one source row for each key: GROUP BY, or row_number() = 1",
    "DELTA_NON_PARTITION_COLUMN_REFERENCE": "write partition columns alone into `where` of the config key optimize",
}
"""What to do about error conditions that are the statement's own fault, where the engine does not say."""

_REBUILD = "or move the table's folder away (in a catalog: drop the table) and build its model again"
SURROUNDINGS: tuple[tuple[str, str], ...] = (
    (
        r"No space left on device|Disk quota exceeded",
        "free space there (the tables hold whole commits only), then `merge-runner retry`",
    ),
    (
        r"No AWS Credentials provided|Unable to load credentials|NoAuthWithAWSException|NoAwsCredentialsException",
        "give the environment keys: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    ),
    (
        r"Invalid configuration value detected for fs\.azure\.account\.key",
        "give the environment a key of the account: AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, or AZURE_TENANT_ID, "
        "AZURE_CLIENT_ID and AZURE_CLIENT_SECRET",
    ),
    (r"Server failed to authenticate the request", "check the key or token of the account in the environment"),
    (
        r"abfss?://\S+ has invalid authority",
        "write abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/… as `warehouse` in profiles.yml",
    ),
    (
        r"Error getting access token from metadata server",
        "set GOOGLE_APPLICATION_CREDENTIALS to the file with the key of a service account",
    ),
    (r"UnknownStoreException|NoSuchBucket|Bucket does not exist", "create the bucket, or correct its name"),
    (
        r"AccessDeniedException|\(Service: S3, Status Code: 403|InvalidAccessKeyId|SignatureDoesNotMatch",
        "give the key the right to list, read, write and delete objects there; on a server other than Amazon's check "
        "`endpoint`, `region` and `path_style` of `storage` in profiles.yml",
    ),
    (r"Read-only file system|Permission denied", "let this user read and write there, then `merge-runner retry`"),
    (
        r"Java heap space|GC overhead limit exceeded|OutOfMemoryError: [^\n`]+|out of memory: [^\n(]+"
        r"|Unable to acquire \d+ bytes of memory|Not enough memory to build and broadcast|exited with code 52",
        "give the JVM more memory (conf in profiles.yml: spark.driver.memory, on a cluster spark.executor.memory), or "
        "run fewer models at the same time (--threads), then `merge-runner retry`",
    ),
    (
        r"rejected from java\.util\.concurrent\.ThreadPoolExecutor|\bExecutorLostFailure\b|\bFetchFailed\b",
        "executors end under their tasks: the log of one, in its worker's folder, says why (without memory: conf "
        "spark.executor.memory); then `merge-runner retry`",
    ),
    (
        r"/_delta_log/\d+\.|\.metadata\.json|Metadata file for version \d+ is missing",
        f"the table's own record is damaged: bring the file back from a copy, {_REBUILD}",
    ),
    (
        r"File \S+\.(?:parquet|orc|avro) does not exist|Encountered error while reading file \S+\. File does not exist",
        "a file of a table is gone: bring it back from a copy, take the table back to a version without it "
        f"(RESTORE, rollback_to_snapshot), {_REBUILD}",
    ),
)
"""What to do about what the engine needs: disks, memory, the files of a table. A pattern is searched in the whole text
of an error and its causes (measured: tests/run/builds/test_engine_faults.py); the first row that matches counts."""


def surroundings(text: str) -> tuple[str, str] | None:
    """Return what an error and its causes report of disks, memory or files, and what to do; None: nothing."""
    for pattern, advice in SURROUNDINGS:
        if match := re.search(pattern, text):
            return match[0], advice
    return None


def known_failure(errors: tuple[tuple[str, str], ...]) -> Failure | None:
    """Return the row of an error; None: the statement itself is wrong.

    `errors` are class names and conditions with their messages, from the error that was raised down to its last cause.
    """
    for row in FAILURES:
        if any(row.matches(error, message) for error, message in errors):
            return row
    return None
