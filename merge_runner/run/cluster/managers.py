"""What each cluster manager needs of a submission: Kubernetes, YARN and a standalone master."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import yaml

from merge_runner.project.schema.profile import Profile
from merge_runner.run.cluster.submission import RUNNER, Manager

IN_IMAGE = "/opt/project"
"""Where the image of Kubernetes has the project, and next to its files `run.py`."""
DRIVER_POD, EXECUTOR_POD, ACCOUNT = "driver-pod.yaml", "executor-pod.yaml", "service-account.yaml"
NAMESPACE = "spark.kubernetes.namespace"
SERVICE_ACCOUNT = "spark.kubernetes.authenticate.driver.serviceAccountName"
_TEMPLATE = "spark.kubernetes.{}.podTemplateFile"
_ARCHIVES = ("environment.tar.gz", "project.tar.gz")


def manager(profile: Profile, root: Path, folder: Path) -> Manager:
    """Return what the master of an output needs; files go into `folder`."""
    master = profile.master or ""
    if master.startswith("k8s:"):
        return _kubernetes(profile, folder)
    if master == "yarn":
        return _yarn(profile, root, folder)
    # Spark has no cluster mode for Python on a standalone cluster (SparkSubmit.scala, Spark 3.5 to 4.2).
    return Manager("client", str(folder / RUNNER), str(root))


def _kubernetes(profile: Profile, folder: Path) -> Manager:
    secret = f"{_dns_name(profile.name)}-env"
    account = profile.conf.get(SERVICE_ACCOUNT, "spark")
    files = {
        DRIVER_POD: _pod("spark-kubernetes-driver", {"envFrom": [{"secretRef": {"name": secret, "optional": True}}]}),
        EXECUTOR_POD: _pod("spark-kubernetes-executor", {}),
        ACCOUNT: _account(account, profile.conf.get(NAMESPACE, "default")),
    }
    given = {_TEMPLATE.format("driver"): DRIVER_POD, _TEMPLATE.format("executor"): EXECUTOR_POD}
    options = [f"{key}={folder / name}" for key, name in given.items() if key not in profile.conf]
    if SERVICE_ACCOUNT not in profile.conf:
        options.append(f"{SERVICE_ACCOUNT}={account}")
    named = [word for option in options for word in ("--conf", option)]
    return Manager(
        "cluster", f"local://{IN_IMAGE}/{RUNNER}", IN_IMAGE, ["--name", _dns_name(profile.name), *named], files
    )


def _yarn(profile: Profile, root: Path, folder: Path) -> Manager:
    environment, project = (folder / name for name in _ARCHIVES)
    python = "./environment/bin/python"
    options = [
        *("--name", f"merge-runner {profile.name}"),
        *("--archives", f"{environment}#environment,{project}#project"),
        *("--conf", f"spark.yarn.appMasterEnv.PYSPARK_PYTHON={python}"),
        *("--conf", f"spark.executorEnv.PYSPARK_PYTHON={python}"),
    ]
    # The archive is written into the folder that it leaves out.
    packed = f"tar -czf {shlex.quote(str(project))} -C {shlex.quote(str(root))} --exclude=./target --exclude=./.git ."
    return Manager("cluster", str(folder / RUNNER), "project", options, before=[packed])


def _pod(container: str, more: dict[str, object]) -> str:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": {"app.kubernetes.io/managed-by": "merge-runner"}},
        "spec": {"containers": [{"name": container, **more}]},
    }
    return yaml.safe_dump(pod, sort_keys=False)


def _account(name: str, namespace: str) -> str:
    """The account of the driver and its rights: it makes the executors' pods, services, config maps and claims."""
    meta = {"name": name, "namespace": namespace}
    rules = [
        {"apiGroups": [""], "resources": ["pods", "services", "configmaps", "persistentvolumeclaims"], "verbs": ["*"]}
    ]
    documents = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta, "rules": rules},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": meta,
            "subjects": [{"kind": "ServiceAccount", **meta}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        },
    ]
    return yaml.safe_dump_all(documents, sort_keys=False)


def _dns_name(name: str) -> str:
    """A name that Kubernetes takes: small letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "merge-runner"
