"""What keeps a project from running on a cluster manager, and what is missing there: found without the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from merge_runner.errors import Problem
from merge_runner.graph.graph import Graph, SeedNode, SourceNode
from merge_runner.project.schema.profile import Profile
from merge_runner.project.schema.warehouse import keeping_catalog

_IMAGE = ("spark.kubernetes.container.image", "spark.kubernetes.driver.container.image")
_UPLOAD = "spark.kubernetes.file.upload.path"
_HADOOP = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
_SITE = "yarn-site.xml"
_CODE = "cluster-set-up"


def faults(profile: Profile, env: Mapping[str, str]) -> Iterator[Problem]:
    """Yield what keeps the output from running on its cluster, each as a problem `cluster-set-up`."""
    of = f"the output {profile.target} in profiles.yml"
    master = profile.master or ""
    if profile.remote is not None:
        yield Problem(_CODE, f"{of} runs on a Spark Connect server: nothing is submitted", hint="see `debug --spark`")
        return
    if master.startswith("local"):
        yield Problem(_CODE, f"{of} has no cluster", hint="set `master: k8s://…`, yarn or spark://…")
        return
    if profile.warehouse is not None and "://" not in profile.warehouse and not master.startswith("spark:"):
        message = f"{of}: the warehouse {profile.warehouse} is a folder, and the driver's is not that of the executors"
        yield Problem(_CODE, message, hint="leave `warehouse` out, and name a catalog in `conf` or `catalogs`")
    if profile.warehouse is None and keeping_catalog(profile.conf) is None and not profile.catalogs:
        message = f"{of} names no catalog: each run would begin without tables"
        yield Problem(_CODE, message, hint="set `spark.sql.catalogImplementation: hive` in `conf`, or `catalogs`")
    if master.startswith("k8s:"):
        yield from _kubernetes(profile, of)
    elif master == "yarn":
        yield from _yarn(env)


def local_files(graph: Graph) -> list[str]:
    """Return the sources and seeds whose files are of this machine: executors must see them by the same path."""
    found = []
    for node in graph.nodes.values():
        if isinstance(node, SourceNode) and any("://" not in path for path in node.files):
            found.append(f"source {node.full_name}")
        elif isinstance(node, SeedNode):
            found.append(f"seed {node.name}")
    return found


def _kubernetes(profile: Profile, of: str) -> Iterator[Problem]:
    if not profile.master or not profile.master.startswith(("k8s://https://", "k8s://http://")):
        message = f"{of}: {profile.master} is no address of a Kubernetes API server"
        yield Problem(_CODE, message, hint="k8s://https://HOST:PORT, as `kubectl cluster-info` has it")
    if not any(profile.conf.get(key) for key in _IMAGE):
        yield Problem(_CODE, f"{of}: no image for the driver and the executors", hint=f"set {_IMAGE[0]} in `conf`")
    if profile.jars == "pinned" and not profile.conf.get(_UPLOAD):
        message = f"{of}: the pinned jars are files of this machine, and pods cannot see them"
        hint = f"copy them into the image (`merge-runner deps` names them) and set `jars: provided`, or set {_UPLOAD}"
        yield Problem(_CODE, message, hint=hint)


def _yarn(env: Mapping[str, str]) -> Iterator[Problem]:
    named = [(name, Path(env[name])) for name in _HADOOP if env.get(name)]
    if not named:
        hint = "set it to the folder of the cluster's client configuration"
        yield Problem(_CODE, f"neither {_HADOOP[0]} nor {_HADOOP[1]} is set: YARN's address is not known", hint=hint)
    elif not any((folder / _SITE).is_file() for _, folder in named):
        folders = " and ".join(f"{name} ({folder})" for name, folder in named)
        yield Problem(_CODE, f"{folders} has no {_SITE}", hint="name the folder of the cluster's client configuration")
