"""Hashes that are the same for two runs of a node that ask the engine for the same, over whatever tables.

They are made of the steps as they are planned: compiled texts, layout, config. What only says where something is
written, or who shares an input, is left out.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from merge_runner.engine.spark.spark_home import installed_spark
from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import Node, run_config
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.steps.inputs import ShareInputs
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.runtime_filter import FilterPlan
from merge_runner.project.syntax.environment import whole_env
from merge_runner.pruning.judge.merge_analysis import JudgedMerge
from merge_runner.text import Place, Span
from merge_runner.version import package_version, version

_JAVA = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""What sets system properties of a JVM, its time zone for example."""
_CREDENTIALS = frozenset({"credential", "token"})
"""What says of a REST catalog who asks, and not what: tokens last an hour."""
_DERIVED = (JudgedMerge, FilterPlan, Place, Span)
"""Types of values that follow from the rest, or change nothing of what runs.

Positions in a unit test's text depend on the names of its tables, which are other ones in each invocation.
"""


Fingerprint = Mapping[str, str]
"""Hashes by what they are of: the keys of `_CHANGED`."""
_CHANGED = {
    "text": "its compiled text has changed",
    "config": "its config has changed",
    "steps": "its columns or its layout have changed",
    "confs": "confs, catalogs or the time zone have changed",
    "versions": "the version of merge-runner or of Spark has changed",
}


def fingerprint(environment: Fingerprint, node: Node, plan: NodePlan, scratch: Scratch) -> Fingerprint:
    """Return the fingerprint of a node.

    `environment` is what `environment_of` returns, `scratch` where the unit tests of this invocation are.
    """
    steps = [step for form in plan.forms for step in form.steps if not isinstance(step, ShareInputs)]
    config = replace(run_config(node), build_after=None)  # when it runs is not what it runs
    texts = {
        "text": [getattr(step, "sql", None) for step in steps],
        "config": plain(config),
        "steps": [[type(step).__name__, plain(step)] for step in steps],
    }
    own = {part: _hash(_without(scratch, json.dumps(value, sort_keys=True))) for part, value in texts.items()}
    return {**own, **environment}


def difference(before: Fingerprint, now: Fingerprint) -> str | None:
    """Return in which parts two fingerprints differ; None: in none."""
    other = [part for part in _CHANGED if before.get(part) != now.get(part)]
    if "text" in other or "config" in other:  # the steps are made of both
        other = [part for part in other if part != "steps"]
    return "; ".join(_CHANGED[part] for part in other) if other else None


def environment_of(prepared: Prepared) -> Fingerprint:
    """Return what all nodes of an invocation depend on: versions, confs, options of Java, the time zone."""
    profile, env = prepared.files.profile, _environ(prepared)
    confs = {
        "schema": profile.schema,
        "defaults": defaults(prepared),
        "java": {name: env[name] for name in _JAVA if name in env},
        "conf": dict(profile.conf),
        "catalogs": {name: _without_credentials(settings) for name, settings in profile.catalogs.items()},
        "zone": [time.tzname, time.timezone],
    }
    versions = {"merge-runner": version(), "spark": package_version("pyspark")}
    return {part: _hash(json.dumps(plain(value))) for part, value in (("confs", confs), ("versions", versions))}


def _without_credentials(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings of a catalog by which two runs read the same: in a REST catalog a new token changes nothing."""
    is_rest = settings.get("type", "").lower() == "rest"
    return {key: value for key, value in settings.items() if not is_rest or key not in _CREDENTIALS}


def _without(scratch: Scratch, text: str) -> str:
    return text.replace(str(scratch.folder), "").replace(scratch.prefix, "")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def defaults(prepared: Prepared) -> dict[str, str]:
    """Return the confs of spark-defaults.conf; none where it cannot be read, as a build will say."""
    try:
        return dict(installed_spark(prepared.files.root, _environ(prepared)).defaults)
    except ProblemsError:
        return {}


def _environ(prepared: Prepared) -> Mapping[str, str]:
    return whole_env(prepared.invocation.env)


def plain(value: Any) -> Any:
    """Return a value as JSON, the same in each process for equal values."""
    if isinstance(value, _DERIVED):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return {
            attribute.name: plain(getattr(value, attribute.name)) for attribute in fields(value) if attribute.compare
        }
    if isinstance(value, Mapping):
        return [[plain(key), plain(item)] for key, item in sorted(value.items(), key=lambda item: repr(item[0]))]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else f"{type(value).__name__} {value}"
