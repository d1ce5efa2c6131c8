"""A real YARN of this machine: a resource manager and a node manager, each a process of its own, without HDFS."""

import json
import os
import subprocess
import time
import urllib.request
from pathlib import Path

from merge_runner.engine.spark.jars import Jar, fetch
from merge_runner.engine.spark.java import require_java
from merge_runner.engine.spark.spark_home import spark_home
from tests.connect_server import free_port
from tests.standalone_cluster import end

_JARS = [
    Jar(f"{path}/{path.split('/')[-2]}-{path.split('/')[-1]}.jar", digest)
    for path, digest in {
        "org/apache/hadoop/hadoop-client-minicluster/3.4.2": "ae2406c544825b7734b8aad4f87eff60d9ec422284f0b16c2856032083b63c77",
        "org/bouncycastle/bcprov-jdk18on/1.78.1": "add5915e6acfc6ab5836e1fd8a5e21c6488536a8c1f21f386eeb3bf280b702d7",
        "org/bouncycastle/bcpkix-jdk18on/1.78.1": "4b48ea084e5232b9d79ebca1887b9de037b124931807cd60710748c2aee08cc9",
        "org/bouncycastle/bcutil-jdk18on/1.78.1": "d9fa56f97b0f761ce3bc8d9d74c5d7137a987bf5bd3abfe1003f9bafa45a1d2f",
        "javax/xml/bind/jaxb-api/2.3.1": "88b955a0df57880a26a74708bc34f74dcaf8ebf4e78843a28b50eae945732b06",
        "javax/activation/javax.activation-api/1.2.0": "43fdef0b5b6ceb31b0424b208b930c74ab58fac2ceeb7b3f6fd3aeb8b5ca4393",
        "com/sun/xml/bind/jaxb-impl/2.3.9": "3ba42e1fe670bc9d04409f2493f5482dc96cac21caa11adb27b897e57386fef6",
        "com/sun/xml/bind/jaxb-core/2.3.0.1": "d2ecba63615f317a11fb55c6468f6a9480f6411c10951d9881bafd9a9a8d0467",
    }.items()
]
"""The servers of Hadoop, and what they take from Java 8; the rest of Hadoop is among the jars of PySpark."""
_DAEMONS = ("resourcemanager.ResourceManager", "nodemanager.NodeManager")


class YarnCluster:
    """A resource manager and one node with 4 GiB, from the beginning of the block to its end.

    `env` has HADOOP_CONF_DIR, JAVA_HOME and SPARK_HOME; `logs` is the folder of the containers' output.
    """

    def __init__(self, folder):
        self.folder = folder
        self.logs = folder / "logs"
        self.conf = folder / "conf"
        self.home = spark_home()
        java = require_java(os.environ)
        self.env = {**os.environ, "HADOOP_CONF_DIR": str(self.conf), "JAVA_HOME": str(java)}
        self.env["SPARK_HOME"] = str(self.home)
        self.processes = []

    def __enter__(self):
        self._configure()
        jars = ":".join([str(self.conf), *map(str, fetch(_JARS, os.environ)), f"{self.home}/jars/*"])
        for name in _DAEMONS:
            with (self.folder / f"{name}.log").open("w") as output:
                command = [Path(self.env["JAVA_HOME"]) / "bin/java", "-Xmx256m", "-XX:TieredStopAtLevel=1"]
                command += ["--add-opens", "java.base/java.lang=ALL-UNNAMED", "-cp", jars]
                process = subprocess.Popen(
                    [*command, f"org.apache.hadoop.yarn.server.{name}"],
                    cwd=self.folder,
                    env=self.env,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            self.processes.append(process)
        self._wait()
        return self

    def __exit__(self, *_):
        end(self.processes)  # the node manager ends its containers

    def output(self, name):
        """What the containers have written to `stdout` or `stderr`, the drivers' and the executors'."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.logs.rglob(name)))

    def _configure(self):
        manager = "yarn.resourcemanager"
        services = ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")
        ports = {service: free_port() for service in services}
        self.web = f"http://127.0.0.1:{ports['webapp.address']}"
        node = "yarn.nodemanager"
        site = {
            f"{manager}.hostname": "127.0.0.1",
            **{f"{manager}.{service}": f"127.0.0.1:{port}" for service, port in ports.items()},
            f"{node}.hostname": "127.0.0.1",
            **{f"{node}.{name}": "127.0.0.1:0" for name in ("address", "localizer.address", "webapp.address")},
            f"{node}.local-dirs": self.folder / "local",
            f"{node}.log-dirs": self.logs,
            f"{node}.resource.memory-mb": 4096,
            f"{node}.vmem-check-enabled": "false",
            f"{node}.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.9,
            "yarn.scheduler.minimum-allocation-mb": 256,
        }
        queues = "yarn.scheduler.capacity"
        scheduler = {f"{queues}.root.queues": "default", f"{queues}.root.default.capacity": 100}
        scheduler[f"{queues}.maximum-am-resource-percent"] = 1.0
        core = {"fs.defaultFS": "file:///", "hadoop.tmp.dir": self.folder / "hadoop"}
        self.conf.mkdir()
        for name, keys in {"yarn-site": site, "core-site": core, "capacity-scheduler": scheduler}.items():
            rows = [f"<property><name>{key}</name><value>{value}</value></property>" for key, value in keys.items()]
            (self.conf / f"{name}.xml").write_text(f"<configuration>{''.join(rows)}</configuration>")

    def _wait(self):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.web}/ws/v1/cluster/nodes", timeout=10) as answer:
                    nodes = json.load(answer)["nodes"]
            except OSError:
                nodes = None
            if nodes and any(node["state"] == "RUNNING" for node in nodes):
                return
            time.sleep(0.5)
        logs = "\n".join((self.folder / f"{name}.log").read_text()[-3000:] for name in _DAEMONS)
        raise TimeoutError(f"no node of YARN after two minutes\n{logs}")
