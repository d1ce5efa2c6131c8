"""A real Spark Connect server with the jars of Delta and Iceberg, and a proxy before it that loses connections."""

import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
_SECONDS = 90


def free_port():
    """A port of this machine that no process listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class ConnectServer:
    """A server on the loopback interface, from the beginning of the block to its end; it can be killed and started."""

    def __init__(self, folder, **confs):
        from merge_runner.engine.spark.jars import fetch_jars
        from merge_runner.engine.spark.java import require_java
        from merge_runner.engine.spark.spark_home import spark_home
        from merge_runner.formats.lines import installed_line

        self.folder, self.port = Path(folder), free_port()
        self.home = spark_home()
        self.env = {**os.environ, "SPARK_HOME": str(self.home), "JAVA_HOME": str(require_java(os.environ))}
        jars = fetch_jars([name for name in ("delta", "iceberg") if name in installed_line().formats], os.environ)
        extensions = ["io.delta.sql.DeltaSparkSessionExtension"]
        if "iceberg" in installed_line().formats:
            extensions.append("org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        self.confs = {
            "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
            "spark.driver.memory": "2g",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.extensions": ",".join(extensions),
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "1",
            **confs,
        }
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill(signal.SIGTERM)

    @property
    def log(self):
        """What its process has printed."""
        return (self.folder / "server.log").read_text(errors="replace")

    def start(self):
        """Start it and wait until it listens."""
        self.folder.mkdir(parents=True, exist_ok=True)
        confs = [part for key, value in self.confs.items() for part in ("--conf", f"{key}={value}")]
        command = [self.home / "bin/spark-submit", "--master", "local[2]", "--class", _CLASS, *confs, "spark-internal"]
        with (self.folder / "server.log").open("a") as output:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.2)
        raise TimeoutError(self.log[-4000:])

    def kill(self, how=signal.SIGKILL):
        """End it as a signal does, and wait for its end."""
        self.process.send_signal(how)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Proxy:
    """Passes connections on to a port, and can cut them, or keep back what the server answers."""

    def __init__(self, port):
        self.to = port
        self.answers = threading.Event()
        self.answers.set()
        self._pairs, self._guard = [], threading.Lock()
        self._asked = bytearray()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answers.set()
        self._listening.close()
        self.cut()

    def has_passed_on(self, text):
        """Whether the server has a request that holds a text."""
        return text.encode() in self._asked

    def cut(self):
        """Close all connections that are open now; what a client opens afterwards is passed on."""
        with self._guard:
            pairs, self._pairs = self._pairs, []
        for each in (one for pair in pairs for one in pair):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                client.close()
                continue
            with self._guard:
                self._pairs.append((client, server))
            for source, target, held in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass_on, args=(source, target, held), daemon=True).start()

    def _pass_on(self, source, target, held):
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if held:
                    self.answers.wait()
                target.sendall(data)
                if not held:
                    self._asked += data
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
