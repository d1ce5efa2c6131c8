"""Real catalog servers, each a Java process on the loopback interface: a Hive metastore, and Iceberg's REST catalog.

Their sources are next to this file and run as they are (`java Source.java`), where there is a JDK. The metastore is made of
the jars that PySpark brings; those of the REST catalog, which Iceberg publishes for tests, are pinned in jars.json.
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

FOLDER = Path(__file__).parent
_SECONDS = 120


class JavaServer:
    """A server that runs as long as the block does; `words` come after the port and its folder."""

    def __init__(self, source, folder, jars, words=(), env=()):
        self.folder, self.port = Path(folder), free_port()
        self._command = [
            "-cp",
            os.pathsep.join(map(str, jars)),
            str(FOLDER / source),
            str(self.port),
            str(folder),
            *words,
        ]
        self._env = {**os.environ, **dict(env)}

    def __enter__(self):
        from merge_runner.engine.spark.java import require_java

        java = require_java(os.environ) / "bin"
        if not (java / "javac").exists():
            pytest.skip("no compiler of Java is here")
        self.folder.mkdir(parents=True, exist_ok=True)
        # The client compiler alone: such a server runs for a minute.
        options = ["-XX:TieredStopAtLevel=1", "-Xmx512m", f"-Dderby.stream.error.file={self.folder}/derby.log"]
        with self._log.open("w") as output:
            self._process = subprocess.Popen(
                [java / "java", *options, *self._command],
                cwd=self.folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
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
    return JavaServer("HiveMetastore.java", folder, [_spark_jars()])


def iceberg_rest(folder, warehouse, groups=(), env=(), **settings):
    """Return a REST catalog of Iceberg on `port`, whose tables are below a warehouse.

    `groups` are those of jars for its file system, `settings` Hadoop's own.
    """
    from merge_runner.engine.spark.jars import Jar, fetch, fetch_jars

    pinned = [Jar(**entry) for entry in json.loads((FOLDER / "jars.json").read_text())["iceberg-rest"]]
    jars = [*fetch(pinned, os.environ), *fetch_jars(["sqlite", *groups], os.environ), _spark_jars()]
    words = [str(warehouse), *(f"{key}={value}" for key, value in settings.items())]
    return JavaServer("IcebergRest.java", folder, jars, words, env)


def _spark_jars():
    from merge_runner.engine.spark.spark_home import spark_home

    return spark_home() / "jars" / "*"
