"""A real standalone cluster on this machine: a master and workers, each a process of its own."""

import os
import re
import subprocess
import time
from pathlib import Path


def until(log, pattern):
    """The first match in a log that another process is writing."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        match = re.search(pattern, log.read_text()) if log.exists() else None
        if match:
            return match
        time.sleep(0.1)
    raise TimeoutError(f"no {pattern!r} in\n{log.read_text()}")


def end(processes):
    """Terminate processes, those that were started last before the others, and wait for them."""
    for process in reversed(processes):
        process.terminate()
    for process in reversed(processes):
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Cluster:
    """A master, from the beginning of the block to its end; workers are added."""

    def __init__(self, folder):
        import pyspark

        from merge_runner.engine.spark.java import require_java

        self.folder = folder
        self.home = Path(pyspark.__file__).parent
        self.env = {**os.environ, "SPARK_HOME": str(self.home), "JAVA_HOME": str(require_java(os.environ))}
        self.processes = []

    def __enter__(self):
        self._start("master", "master.Master")
        said = until(self.folder / "master.log", r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        self.address = said.group(1)
        return self

    def __exit__(self, *_):
        end(self.processes)  # a worker takes its executors with it

    def add_worker(self, name):
        """A worker of one core that is on its way; its executors have their folders in one of its name."""
        work = str(self.folder / name)
        return self._start(name, "worker.Worker", "-c", "1", "-m", "1g", "--work-dir", work, self.address)

    def wait_for(self, *names):
        """Waits until workers are part of the cluster."""
        for name in names:
            until(self.folder / f"{name}.log", "Successfully registered with master")

    def _start(self, name, *arguments):
        with (self.folder / f"{name}.log").open("w") as output:
            command = [self.home / "bin" / "spark-class", f"org.apache.spark.deploy.{arguments[0]}"]
            process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *arguments[1:]],
                cwd=self.folder,
                env=self.env,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process
