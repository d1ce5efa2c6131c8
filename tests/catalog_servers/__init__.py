"""Real catalog servers, each a Java process on the loopback interface: a Hive metastore, Iceberg's REST catalog, Nessie.

The sources of the first two are next to this file and run as they are (`java Source.java`), where there is a JDK. The
metastore is made of the jars that PySpark brings; those of the REST catalog, which Iceberg publishes for tests, and
Nessie's server are pinned in jars.json.
"""

import json
import os
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.connect_server import free_port
from tests.s3_server import KEYS

FOLDER = Path(__file__).parent
_SECONDS = 120
_FOR_A_MINUTE = ("-XX:TieredStopAtLevel=1", "-Xmx512m")
"""Options of a JVM that runs for a minute: the client compiler alone."""


class JavaServer:
    """A server that runs as long as the block does; `command` starts it on a port of the loopback interface."""

    def __init__(self, folder, port, command, env=()):
        self.folder, self.port = Path(folder), port
        self._command = command
        self._env = {**os.environ, **dict(env)}

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._log.open("w") as output:
            self._process = subprocess.Popen(
                self._command, cwd=self.folder, env=self._env, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        deadline = time.monotonic() + _SECONDS
        while not self._answers():
            assert self._process.poll() is None, self.log
            assert time.monotonic() < deadline, self.log
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    @property
    def _log(self):
        return self.folder / "server.log"

    @property
    def log(self):
        """The end of what its process has printed."""
        return self._log.read_text(errors="replace")[-4000:]

    def _answers(self):
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False


def hive_metastore(folder):
    """Return a Hive metastore whose `port` speaks Thrift."""
    return _from_source("HiveMetastore.java", folder, [_spark_jars()])


def iceberg_rest(folder, warehouse, groups=(), env=(), **settings):
    """Return a REST catalog of Iceberg on `port`, whose tables are below a warehouse.

    `groups` are those of jars for its file system, `settings` Hadoop's own.
    """
    from merge_runner.engine.spark.jars import fetch_jars

    jars = [*pinned_jars("iceberg-rest"), *fetch_jars(["sqlite", *groups], os.environ), _spark_jars()]
    words = [str(warehouse), *(f"{key}={value}" for key, value in settings.items())]
    return _from_source("IcebergRest.java", folder, jars, words, env)


def nessie(folder, java, store):
    """Return a server of Nessie on `port`, whose tables are in a bucket of an S3 server. It needs Java 21 or newer."""
    (jar,) = pinned_jars("nessie")
    port, store_settings = free_port(), "nessie.catalog.service.s3.default-options"
    settings = {
        "quarkus.http.host": "127.0.0.1",
        "quarkus.http.port": port,
        "quarkus.management.host": "127.0.0.1",
        "quarkus.management.port": free_port(),
        "nessie.version.store.type": "IN_MEMORY",
        "nessie.catalog.default-warehouse": "lake",
        "nessie.catalog.warehouses.lake.location": f"s3://{store.bucket}/nessie",
        f"{store_settings}.endpoint": store.endpoint,
        f"{store_settings}.path-style-access": "true",
        f"{store_settings}.region": KEYS["AWS_REGION"],
        # Its address for signatures is not the one that Iceberg 1.12.0 asks: clients have keys of their own.
        f"{store_settings}.request-signing-enabled": "false",
        f"{store_settings}.access-key": "urn:nessie-secret:quarkus:store",
        "store.name": KEYS["AWS_ACCESS_KEY_ID"],
        "store.secret": KEYS["AWS_SECRET_ACCESS_KEY"],
    }
    words = [f"-D{key}={value}" for key, value in settings.items()]
    return JavaServer(folder, port, [java, *_FOR_A_MINUTE, *words, "-jar", jar])


def pinned_jars(group):
    """Return the paths of the jars of a group of jars.json, fetched and verified."""
    from merge_runner.engine.spark.jars import Jar, fetch

    return fetch([Jar(**entry) for entry in json.loads((FOLDER / "jars.json").read_text())[group]], os.environ)


def _from_source(source, folder, jars, words=(), env=()):
    from merge_runner.engine.spark.java import require_java

    java = require_java(os.environ) / "bin"
    if not (java / "javac").exists():
        pytest.skip("no compiler of Java is here")
    port, errors = free_port(), f"-Dderby.stream.error.file={folder}/derby.log"
    program = ["-cp", os.pathsep.join(map(str, jars)), FOLDER / source, str(port), str(folder), *words]
    return JavaServer(folder, port, [java / "java", *_FOR_A_MINUTE, errors, *program], env)


def _spark_jars():
    from merge_runner.engine.spark.spark_home import spark_home

    return spark_home() / "jars" / "*"
