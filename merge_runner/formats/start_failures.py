"""Why a JVM or Spark in it does not start, as its log has it, and what to do about it.

Texts of JDK 17 and Spark 4.1.4, for settings in profiles.yml that a new user gets wrong.
"""

from __future__ import annotations

import re

START_FAILURES: tuple[tuple[str, str], ...] = (
    (
        r"Invalid (?:maximum|initial) heap size: \S+",
        "write conf spark.driver.memory in profiles.yml as a number and a unit: 4g, 1500m",
    ),
    (r"Too small (?:maximum|initial) heap", "raise conf spark.driver.memory in profiles.yml: 1g is enough for a start"),
    (
        r"System memory \d+ must be at least \d+",
        "raise conf spark.driver.memory in profiles.yml: 1g is enough for a start",
    ),
    (
        r"Native memory allocation \(\w+\) failed to (?:map|allocate) \d+ bytes"
        r"|Could not reserve enough space for[^\n]+|insufficient memory for the Java Runtime Environment",
        "lower conf spark.driver.memory in profiles.yml: this machine or container has less",
    ),
    (
        r"Unrecognized (?:VM )?option:? '?[^\s']+'?",
        "correct spark.driver.extraJavaOptions, in conf or spark-defaults.conf",
    ),
    (
        r"Could not parse Master URL: '?[^\s']+'?",
        "`master` in profiles.yml is local[*], local[N] with a number N, yarn, spark://HOST:PORT or k8s://URL",
    ),
    (
        r"Address already in use: Service '\w+'[^\n!]*|Cannot assign requested address[^\n!]*",
        "choose another port, or none, for spark.driver.port and spark.blockManager.port; without a network interface "
        "set SPARK_LOCAL_IP=127.0.0.1",
    ),
    (
        r"All masters are unresponsive! Giving up",
        "check `master` in profiles.yml: no Spark master answers there, or it is of another Spark version",
    ),
)


def start_failure(log: str) -> tuple[str, str] | None:
    """Return what the log of a JVM that did not start says, and what to do about it; None where no row fits."""
    for pattern, advice in START_FAILURES:
        if match := re.search(pattern, log):
            return match[0], advice
    return None
