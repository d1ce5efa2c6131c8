"""The Spark confs of a session: what merge-runner needs, what suits the master, and what the user says on top."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.engine.spark.embedded_catalog import embedded_catalog
from merge_runner.engine.spark.storage import local_files
from merge_runner.engine.spark.storage.object_stores import store_confs, stores
from merge_runner.engine.spark.user_confs import (
    CLASS_PATH,
    EXTENSIONS,
    JARS,
    OPTIONS,
    merge_confs,
    required_confs,
    user_confs,
    with_their_jars,
)
from merge_runner.formats import Format
from merge_runner.formats.registry import FORMATS, capabilities
from merge_runner.location import location
from merge_runner.project.schema.warehouse import DELTA_CATALOG, DIR, IMPLEMENTATION, SESSION_CATALOG

if TYPE_CHECKING:
    from merge_runner.project.schema.profile import Profile

_EXTENSIONS = {
    "delta": "io.delta.sql.DeltaSparkSessionExtension",
    "iceberg": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}
_ICEBERG_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
_ONE_PROCESS_MASTER = re.compile(r"local(\[|\Z)")
_LOOPBACK_MASTER = re.compile(r"(local\b|spark://(127\.[0-9.]+|localhost)(:|\Z))")

_JVM_OPTIONS = {
    # Short runs are JIT warm-up, not data: the client compiler alone halved eight small merges (two cores). Its code
    # cache would have 48 MB, out of which Spark's code drops after twenty merges, to be compiled again and again. New
    # objects get a young generation of fixed size: a heap that grows with every merge pays for new pages. And up to the
    # 160 MB of metaspace that Spark's classes take, each step was a full collection. After fifteen calls Java 17 makes
    # a class for each method and constructor that is called by reflection, over a thousand in fifty unit tests (Java 18
    # and newer have another way, and no such option).
    "fast-start": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseParallelGC -Xmn256m -XX:MetaspaceSize=256m "
        "-Dsun.reflect.inflationThreshold=1000"
    ),
    "throughput": "-XX:+UseG1GC",
    "custom": "",
}

_PLAN_TEXTS = "spark.sql.ui.explainMode"
_READ_PLAN_TEXTS = ("spark.ui.enabled", "spark.eventLog.enabled")
_FOR_SHORT_RUNS = {
    # Compiling generated code takes longer than a short run gains by it (eight small merges: 13.4 against 15.3 s).
    "spark.sql.codegen.wholeStage": "false",
    # Each sort, shuffle and hash map of a task takes one page at least: 64 MB of zeros with a heap of 8 GB.
    "spark.buffer.pageSize": "4m",
    # Spark writes the text of each plan for its UI and event log, by default with all details of each node.
    _PLAN_TEXTS: "simple",
}


def table_formats(profile: Profile) -> tuple[Format, ...]:
    """The table formats that a profile needs: Delta always, Iceberg where a catalog is one."""
    return tuple(name for name in FORMATS if profile.iceberg_catalogs or not capabilities(name).needs_catalog)


def jar_groups(profile: Profile) -> tuple[str, ...]:
    """The groups of jars that a profile needs: for formats, catalogs in SQLite, object stores, streams, local files.

    Where its Spark has jars already, ours alone.
    """
    if profile.jars == "provided":
        return tuple(store.ours for store in stores(profile) if store.ours is not None)
    in_sqlite = any(settings.get("uri", "").startswith("jdbc:sqlite:") for settings in profile.catalogs.values())
    sqlite = ("sqlite",) if profile.embedded_catalogs or in_sqlite else ()
    of_stores = (group for store in stores(profile) for group in store.groups)
    own_files = (local_files.GROUP,) if profile.is_local else ()
    return (*table_formats(profile), *sqlite, *of_stores, *profile.connectors, *own_files)


def spark_confs(
    profile: Profile, root: Path, jars: Sequence[Path], defaults: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return all confs to start a classic Spark driver with.

    Those of the profile win over `defaults`, which are those of spark-defaults.conf, and these over ours.
    """
    theirs = user_confs(profile, defaults or {})
    ours = _ours(profile, root) | _jars(profile, jars, theirs)
    if any(theirs.get(key, "false").strip().lower() == "true" for key in _READ_PLAN_TEXTS):
        ours.pop(_PLAN_TEXTS, None)
    return merge_confs(ours, theirs) | required_confs(profile, ours, theirs)


def _ours(profile: Profile, root: Path) -> dict[str, str]:
    confs = {
        "spark.app.name": f"merge-runner {profile.name}",
        "spark.master": profile.master or "local[*]",
        EXTENSIONS: ",".join(_EXTENSIONS[name] for name in table_formats(profile)),
        SESSION_CATALOG: DELTA_CATALOG,
        "spark.scheduler.mode": "FAIR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # The metrics of a statement are read from the status store, which must still hold it when it ends.
        "spark.sql.ui.retainedExecutions": "1000",
        OPTIONS: _java_options(profile),
    }
    if profile.warehouse is not None:
        confs[DIR] = str(location(root, profile.warehouse))
        confs[IMPLEMENTATION] = "in-memory"
    if profile.is_local:
        confs |= _local(profile)
    if _ONE_PROCESS_MASTER.match(confs["spark.master"]):
        # Every user of the machine reaches the ports of the driver. For these masters Spark makes a random secret in
        # the JVM itself (SecurityManager.initializeAuth), which no file, conf, variable or command line has.
        confs["spark.authenticate"] = "true"
    if _LOOPBACK_MASTER.match(confs["spark.master"]):
        # Who listens on the loopback interface has all its workers here: no other one need reach the driver. Spark
        # would take the address of the host's name, which a firewall may close and a laptop changes with its network.
        confs |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for name in profile.embedded_catalogs:
        confs |= _catalog(name, embedded_catalog(profile, root, name))
    return confs | store_confs(profile) | _session(profile)


def session_confs(profile: Profile) -> dict[str, str]:
    """The confs that a single session can have: all that may be said to a Spark that runs already."""
    return _session(profile) | dict(profile.conf)


def running_confs(profile: Profile, root: Path) -> dict[str, str]:
    """The confs for a Spark that runs in this process already: those of a session, and the embedded catalogs."""
    confs = session_confs(profile)
    for name in profile.embedded_catalogs:
        confs |= _catalog(name, embedded_catalog(profile, root, name))
    return confs


def _session(profile: Profile) -> dict[str, str]:
    confs = {"spark.sql.session.timeZone": "UTC"}  # a run means the same on every machine
    for name, catalog in profile.catalogs.items():
        if name not in profile.embedded_catalogs:
            confs |= _catalog(name, catalog)
    return confs


def _jars(profile: Profile, jars: Sequence[Path], theirs: Mapping[str, str]) -> dict[str, str]:
    if not jars:
        return {}
    if profile.is_local and not with_their_jars(theirs):
        # On the driver's class path they need not be copied, unlike spark.jars.
        own_files = local_files.CONFS if any(jar.name == local_files.JAR for jar in jars) else {}
        return {CLASS_PATH: os.pathsep.join(map(str, jars)), **own_files}
    # The driver serves these files to the executors, whatever the cluster manager.
    return {JARS: ",".join(map(str, jars))}


def _umask() -> int:
    """Return the umask of this process, without changing it where Linux tells it: other threads write files."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return int(next(line for line in lines if line.startswith("Umask:")).split()[1], 8)
    before = os.umask(0o077)
    os.umask(before)
    return before


def _local(profile: Profile) -> dict[str, str]:
    cores = os.cpu_count() or 1
    return (_FOR_SHORT_RUNS if _kind(profile) == "fast-start" else {}) | {
        "spark.driver.memory": f"{_driver_memory()}m",
        # Hadoop sets the permissions of folders and files by a mask of its own, whose default is 022.
        "spark.hadoop.fs.permissions.umask-mode": f"{_umask():03o}",
        # Adaptive execution joins small partitions; the default of 200 is made for a cluster.
        "spark.sql.shuffle.partitions": str(cores if profile.jvm != "throughput" else 4 * cores),
        # Delta computes the state of a small table with 50 tasks by default.
        "spark.databricks.delta.snapshotPartitions": "1" if profile.jvm != "throughput" else str(cores),
        # VACUUM lists the folder of a table with 10,000 tasks by default.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": str(4 * cores),
    }


def _java_options(profile: Profile) -> str:
    folder, options = Path(__file__).parent, _JVM_OPTIONS[_kind(profile)]
    if any(parent.is_file() for parent in folder.parents):  # in a wheel of `--py-files`, which starts no JVM
        return options
    return f"{options} {log_option(folder)}".strip()


def log_option(folder: Path) -> str:
    """Return the JVM option that names the log settings in a folder: one word, whatever the path holds."""
    return f'-Dlog4j2.configurationFile="{(folder / "log4j2.properties").as_uri()}"'


def _kind(profile: Profile) -> str:
    return profile.jvm or ("fast-start" if profile.is_local else "throughput")


def _driver_memory() -> int:
    """MiB for a local driver, which is the executor too: half of the machine, between 1 and 8 GiB."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1 << 20)
    return max(1024, min(8192, total // 2))


def _catalog(name: str, settings: Mapping[str, str]) -> dict[str, str]:
    prefix = f"spark.sql.catalog.{name}"
    items = dict(settings)
    confs = {prefix: items.pop("class", _ICEBERG_CATALOG)}
    return confs | {f"{prefix}.{key}": value for key, value in items.items()}
