"""The job in examples/ci/kubernetes: the pod that Spark asks a Kubernetes API server for, which is a recording one here."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from merge_runner.engine.spark.java import require_java
from merge_runner.engine.spark.spark_home import spark_home

ROOT = Path(__file__).parents[2]
JOB = ROOT / "examples/ci/kubernetes/cronjob.yaml"


class _Api(BaseHTTPRequestHandler):
    """What Spark's submission client asks of a Kubernetes API server: it takes what it is sent, and has nothing."""

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.sent.append({**sent, "path": self.path})
        self._answer(201, {**sent, "metadata": {**sent["metadata"], "uid": "1", "namespace": "data"}})

    do_PUT = do_PATCH = do_POST  # noqa: N815

    def do_GET(self):
        self._answer(
            404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound"}
        )

    def _answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def container():
    """Return the container of the job's own pod."""
    job = next(yaml.safe_load_all(JOB.read_text(encoding="utf-8")))
    (found,) = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    return found


def test_the_guide_has_the_job():
    job = JOB.read_text(encoding="utf-8").partition("---\n")[0]
    assert f"```yaml\n{job}```\n" in (ROOT / "docs/guides/run-on-a-cluster.md").read_text(encoding="utf-8")


def test_the_account_of_the_job_is_that_of_the_driver():
    job, account, role, binding = yaml.safe_load_all(JOB.read_text(encoding="utf-8"))
    name, namespace = account["metadata"]["name"], account["metadata"]["namespace"]
    assert job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["serviceAccountName"] == name
    assert f"spark.kubernetes.authenticate.driver.serviceAccountName={name}" in container()["args"]
    assert {document["metadata"]["namespace"] for document in (job, account, role, binding)} == {namespace}
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


@pytest.mark.spark
@pytest.mark.slow
def test_spark_asks_for_the_pod_that_is_meant():
    home = spark_home()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Api) as server:
        server.sent = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        arguments = container()["args"]
        master = arguments[arguments.index("--master") + 1]
        here = [master, f"k8s://http://127.0.0.1:{server.server_port}"]
        given = [here[1] if word == here[0] else word for word in arguments]
        leaves = ["--conf", "spark.kubernetes.submission.waitAppCompletion=false"]
        done = subprocess.run(
            [home / "bin" / Path(container()["command"][0]).name, *leaves, *given, "--batch-id", "7"],
            env={**os.environ, "JAVA_HOME": str(require_java(os.environ)), "SPARK_HOME": str(home)},
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        server.shutdown()
    assert done.returncode == 0, done.stderr[-4000:]
    (pod,) = [document for document in server.sent if document["kind"] == "Pod"]
    assert pod["path"] == "/api/v1/namespaces/data/pods"
    assert pod["spec"]["serviceAccountName"] == "spark"
    (driver,) = pod["spec"]["containers"]
    assert driver["image"] == "registry.example.com/shop:1"
    (variable,) = [entry for entry in driver["env"] if entry["name"] == "CATALOG_TOKEN"]
    assert variable["valueFrom"]["secretKeyRef"] == {"name": "shop-env", "key": "CATALOG_TOKEN"}
    assert driver["args"][-8:] == [
        "local:///opt/project/run.py",
        *["build", "--project-dir", "/opt/project", "--target", "k8s", "--batch-id", "7"],
    ]
