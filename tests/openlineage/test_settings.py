"""Where events go, by profile and environment."""

import json
from pathlib import Path

import pytest

from merge_runner.openlineage.settings import LineageSettings, RunRef, lineage_settings
from merge_runner.project.schema.profile import Profile

ROOT, TARGET = Path("/srv/shop"), Path("/srv/shop/target")
PARENT, TOP = RunRef("1f", "airflow/prod", "dag.task"), RunRef("2f", "airflow/prod", "dag")
REFS = {"parent": PARENT, "root": TOP}


def _context(**parts):
    return {"OPENLINEAGE_CONTEXT": json.dumps({"parent": parts})}


@pytest.mark.parametrize(
    ("profile", "env", "expected"),
    [
        ({}, {}, None),
        ({"transport": "file"}, {}, LineageSettings(file=TARGET / "openlineage.jsonl")),
        (
            {"transport": "file", "path": "logs/e.jsonl", "namespace": "n"},
            {},
            LineageSettings("n", ROOT / "logs/e.jsonl"),
        ),
        ({"transport": "file"}, {"OPENLINEAGE_NAMESPACE": "n"}, LineageSettings("n", TARGET / "openlineage.jsonl")),
        ({"transport": "file"}, {"OPENLINEAGE_DISABLED": "True"}, None),
        (
            {"transport": "http", "url": "http://marquez:5000", "auth": {"type": "api_key", "apiKey": "k"}},
            {"OPENLINEAGE_URL": "http://elsewhere"},
            LineageSettings(
                transport={"type": "http", "url": "http://marquez:5000", "auth": {"type": "api_key", "apiKey": "k"}}
            ),
        ),
        ({}, {"OPENLINEAGE_URL": "http://marquez:5000"}, LineageSettings()),
        ({}, {"OPENLINEAGE__TRANSPORT__TYPE": "console"}, LineageSettings()),
        ({}, {"OPENLINEAGE_NAMESPACE": "n"}, None),
        (
            {"transport": "console"},
            {"OPENLINEAGE_PARENT_ID": "airflow/prod/dag.task/1f", "OPENLINEAGE_ROOT_PARENT_ID": "airflow/prod/dag/2f"},
            LineageSettings(transport={"type": "console"}, **REFS),
        ),
        (
            {"transport": "console"},
            {"OPENLINEAGE_PARENT_ID": "airflow/prod/dag.task/1f"},
            LineageSettings(transport={"type": "console"}, parent=PARENT, root=PARENT),
        ),
        (
            {"transport": "console"},
            _context(**PARENT.as_json(), root=TOP.as_json()) | {"OPENLINEAGE_PARENT_ID": "x/y/z"},
            LineageSettings(transport={"type": "console"}, **REFS),
        ),
        (
            {"transport": "console"},
            {"OPENLINEAGE_CONTEXT": "{", "OPENLINEAGE_PARENT_ID": "no parent"},
            LineageSettings(transport={"type": "console"}),
        ),
    ],
)
def test_profile_and_environment(profile, env, expected):
    assert lineage_settings(Profile("shop", "dev", "shop", openlineage=profile), ROOT, TARGET, env) == expected
