"""Runs in an environment with kubernetes-validate and databricks-bundles: FOLDER → JSON."""

import json
import sys
from pathlib import Path

import kubernetes_validate
import yaml
from databricks.bundles.jobs import Job

folder = Path(sys.argv[1])
report = {}
for path in sorted((folder / "kubernetes").glob("*.yaml")):
    documents = list(yaml.safe_load_all(path.read_text()))
    for document in documents:
        kubernetes_validate.validate(document, "1.33", strict=True)
    report[path.name] = [document["kind"] for document in documents]
document["spec"]["template"]["spec"]["restart_policy"] = "Never"
try:
    kubernetes_validate.validate(document, "1.33", strict=True)
except kubernetes_validate.ValidationError:
    report["broken"] = "refused"
bundle = yaml.safe_load((folder / "databricks/databricks.yml").read_text())
for name, given in bundle["resources"]["jobs"].items():
    job = Job.from_dict(given)
    assert job.as_dict().keys() == given.keys(), "a key that the bundle does not know"
    report[name] = {
        "tasks": [task.task_key for task in job.tasks],
        "clusters": [cluster.job_cluster_key for cluster in job.job_clusters],
        "concurrent": job.max_concurrent_runs,
    }
sys.stdout.write(json.dumps(report) + "\n")
