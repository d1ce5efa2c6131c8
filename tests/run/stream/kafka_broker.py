"""A real Kafka broker of one node (KRaft) on the loopback interface, from its pinned Maven artifacts."""

import json
import os
import socket
import subprocess
import time
from pathlib import Path

from merge_runner.engine.spark.jars import Jar, fetch
from merge_runner.engine.spark.java import require_java

PINNED = Path(__file__).with_suffix(".json")
CLUSTER = "MkU3OEVBNTcwNTJENDM2Qk"
SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/logs
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


class Broker:
    """A broker that runs as long as the block does."""

    def __init__(self, folder):
        self._folder = folder
        self._java = str(require_java(os.environ) / "bin" / "java")
        jars = fetch([Jar(**entry) for entry in json.loads(PINNED.read_text())], os.environ)
        self._class_path = os.pathsep.join(map(str, jars))
        self.port = free_port()

    def __enter__(self):
        self._folder.mkdir(parents=True, exist_ok=True)
        settings = self._folder / "server.properties"
        settings.write_text(SETTINGS.format(port=self.port, controller=free_port(), folder=self._folder))
        self._run("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", settings)
        with (self._folder / "broker.log").open("w") as log:
            command = [self._java, "-Xmx512m", "-cp", self._class_path, "kafka.Kafka", str(settings)]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + 90
        while not listens(self.port):
            assert self._process.poll() is None, (self._folder / "broker.log").read_text()[-3000:]
            assert time.monotonic() < deadline
            time.sleep(0.2)
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def create(self, topic, partitions):
        """A topic with so many partitions."""
        arguments = ("--create", "--topic", topic, "--partitions", partitions, "--replication-factor", 1)
        self._run("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", self.address, *arguments)

    def send(self, topic, *messages):
        """Sends pairs of key and value."""
        properties = ("--property", "parse.key=true", "--property", "key.separator=|")
        self._run(
            "org.apache.kafka.tools.ConsoleProducer",
            *("--bootstrap-server", self.address, "--topic", topic, *properties),
            text="".join(f"{key}|{value}\n" for key, value in messages),
        )

    def _run(self, name, *arguments, text=""):
        command = [self._java, "-Xmx256m", "-cp", self._class_path, name, *map(str, arguments)]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
