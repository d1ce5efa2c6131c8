"""The environment variables that a user may set."""

from __future__ import annotations

from collections.abc import Mapping

ENVIRONMENT: Mapping[str, str] = {
    "JAVA_HOME": "the Java 17 or 21 of the driver; without it `java` on `PATH`, then the usual folders",
    "SPARK_HOME": "the Spark installation of the driver; without it the one of the package pyspark",
    "SPARK_CONF_DIR": "the folder with `spark-defaults.conf`; without it `conf` in the Spark installation",
    "SPARK_DRIVER_MEMORY": "the memory of the driver, where neither the profile nor `spark-defaults.conf` sets it",
    "MERGE_RUNNER_CACHE": "the folder of downloaded jars; without it `merge-runner` in `XDG_CACHE_HOME` or `~/.cache`",
    "XDG_CACHE_HOME": "the folder of caches",
    "MERGE_RUNNER_MAVEN_URL": "the Maven repository from which jars are fetched; without it Maven Central",
    "MERGE_RUNNER_WARM": "`0`: the project's warm driver is not used; `1`: it is used also with `CI`",
    "MERGE_RUNNER_CDS": "`0`: no AppCDS archive of the driver is used or created; `1`: it is created also with `CI`",
    "CI": "set by CI servers: no warm driver is used and no AppCDS archive is created, but see above",
    "XDG_RUNTIME_DIR": "the folder of the warm driver's socket; without it the temporary folder",
    "NO_COLOR": "no colours in the output",
    "FORCE_COLOR": "colours also where the output is no terminal",
    "COLUMNS": "the width of the terminal",
    "DBT_TARGET_PATH": "the target folder of a dbt project, for `lint` of that project",
}
"""What each variable does. `env_var` in templates and profiles reads any other one."""
