"""What `debug --cluster` writes: the command and the files for each cluster manager, and what it refuses."""

import json
import os
import shlex
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from merge_runner import Project
from merge_runner.run.cluster.checks import faults
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "cluster_faults.yml")
MODELS = {
    "models/s.yml": "sources: [{name: raw, tables: [{name: orders, path: data/orders.csv, format: csv}, {name: far, path: 's3a://b/far', format: parquet}]}]\n",
    "models/fct.sql": "merge into {{ this }} as t using (select 1 as id) as s on t.id = s.id when not matched then insert *",
}


@pytest.fixture
def project(make_project):
    """Make a project with an output; gives its folder."""

    def make(output):
        return make_project({**MODELS, "profiles.yml": yaml.safe_dump({"shop": {"outputs": {"dev": output}}})})

    return make


@pytest.fixture
def debug(project, call, tmp_path):
    """Run `debug --cluster` in a project with an output; gives the process and the folder of what it has written."""

    def run(output):
        (tmp_path / "yarn-site.xml").touch()
        root = project(output)
        return call("debug", "--cluster", cwd=root, env={"HADOOP_CONF_DIR": str(tmp_path)}), root / "target/cluster"

    return run


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_what_keeps_an_output_from_running_on_its_cluster(project, tmp_path, case):
    folders = {"EMPTY": tmp_path / "empty", "HADOOP": tmp_path / "hadoop"}
    for folder in folders.values():
        folder.mkdir()
    (folders["HADOOP"] / "yarn-site.xml").touch()
    env = {name: str(folders[value]) for name, value in case.get("env", {}).items()}
    profile = Project.load(project(case["output"])).prepared.files.profile
    said = [f"{each.message} / {each.hint}".replace(str(folders["EMPTY"]), "EMPTY") for each in faults(profile, env)]
    wanted = case.get("problems", [])
    assert len(said) == len(wanted)
    assert [(part, text) for part, text in zip(wanted, said, strict=True) if part not in text] == []


def test_nothing_is_written_where_something_is_missing(debug):
    process, folder = debug({**K8S, "conf": {"spark.sql.catalogImplementation": "hive"}})
    assert process.returncode == 2
    assert "no image for the driver and the executors" in process.stderr
    assert not folder.exists()


def words(folder):
    """The command of the script, as a shell reads it."""
    text = (folder / "submit.sh").read_text()
    return shlex.split(text[text.index("exec ") + 5 :].replace("\\\n", " "))


K8S = {
    "master": "k8s://https://10.0.0.1:6443",
    "schema": "shop",
    "jars": "provided",
    "conf": {
        "spark.kubernetes.container.image": "registry/shop:1",
        "spark.kubernetes.namespace": "data",
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.fs.s3a.secret.key": "hush-hush",
    },
}


def test_kubernetes_gets_pod_templates_and_the_project_of_its_image(debug):
    process, folder = debug(K8S)
    assert "cluster   OK" in process.stdout
    command = words(folder)
    assert command[:5] == ["spark-submit", "--master", "k8s://https://10.0.0.1:6443", "--deploy-mode", "cluster"]
    assert command[-7:] == [
        "local:///opt/project/run.py",
        "build",
        "--project-dir",
        "/opt/project",
        "--target",
        "dev",
        "$@",
    ]
    assert "--jars" not in command
    driver = yaml.safe_load((folder / "driver-pod.yaml").read_text())
    assert driver["spec"]["containers"] == [
        {"name": "spark-kubernetes-driver", "envFrom": [{"secretRef": {"name": "shop-env", "optional": True}}]}
    ]
    account, role, binding = yaml.safe_load_all((folder / "service-account.yaml").read_text())
    assert account["metadata"] == {"name": "spark", "namespace": "data"}
    assert binding["roleRef"]["name"] == role["metadata"]["name"] == "spark"
    written = "".join(path.read_text() for path in folder.iterdir())
    assert "hush-hush" not in written + process.stdout + process.stderr
    assert "spark.hadoop.fs.s3a.secret.key may be secret" in process.stderr
    assert "executors open the files of source raw.orders by the path" in process.stderr


def test_yarn_gets_the_project_and_its_python_as_archives(debug):
    conf = {"spark.sql.catalogImplementation": "hive"}
    _, folder = debug({"master": "yarn", "schema": "shop", "jars": "provided", "conf": conf})
    command = words(folder)
    archives = command[command.index("--archives") + 1].split(",")
    assert archives == [f"{folder}/environment.tar.gz#environment", f"{folder}/project.tar.gz#project"]
    assert "spark.yarn.appMasterEnv.PYSPARK_PYTHON=./environment/bin/python" in command
    assert command[-7:] == [f"{folder}/run.py", "build", "--project-dir", "project", "--target", "dev", "$@"]
    script = (folder / "submit.sh").read_text()
    packing = script[script.index("tar ") : script.index("\nexec")]
    subprocess.run(["/bin/sh", "-ec", packing], check=True)
    names = subprocess.run(
        ["tar", "-tzf", folder / "project.tar.gz"], capture_output=True, text=True, check=True
    ).stdout
    assert "./models/fct.sql\n" in names
    assert "target" not in names


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


@pytest.mark.spark
@pytest.mark.slow
def test_spark_submits_the_pod_that_is_meant(debug):
    from merge_runner.engine.spark.java import require_java
    from merge_runner.engine.spark.spark_home import spark_home

    with ThreadingHTTPServer(("127.0.0.1", 0), _Api) as server:
        server.sent = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        conf = {
            **K8S["conf"],
            "spark.kubernetes.submission.waitAppCompletion": "false",
            "spark.executor.instances": "3",
        }
        _, folder = debug({**K8S, "master": f"k8s://http://127.0.0.1:{server.server_port}", "conf": conf})
        env = {
            **os.environ,
            "PATH": f"{spark_home()}/bin:{os.environ['PATH']}",
            "JAVA_HOME": str(require_java(os.environ)),
            "SPARK_HOME": str(spark_home()),
        }
        done = subprocess.run(
            [folder / "submit.sh", "--batch-id", "7"], env=env, capture_output=True, text=True, timeout=180, check=False
        )
        server.shutdown()
    assert done.returncode == 0, done.stderr[-4000:]
    (pod,) = [each for each in server.sent if each["kind"] == "Pod"]
    assert pod["path"] == "/api/v1/namespaces/data/pods"
    assert pod["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "merge-runner"
    assert pod["spec"]["serviceAccountName"] == "spark"
    (container,) = pod["spec"]["containers"]
    assert container["image"] == "registry/shop:1"
    assert container["envFrom"] == [{"secretRef": {"name": "shop-env", "optional": True}}]
    arguments = container["args"]
    assert arguments[-8:] == [
        "local:///opt/project/run.py",
        *["build", "--project-dir", "/opt/project", "--target", "dev", "--batch-id", "7"],
    ]
    properties = "".join(text for each in server.sent if each["kind"] == "ConfigMap" for text in each["data"].values())
    assert "spark.executor.instances=3" in properties
    assert "io.delta.sql.DeltaSparkSessionExtension" in properties
    assert "hush-hush" not in json.dumps(server.sent)
