"""The example projects, each in a copy of its own."""

import itertools
import json
import shutil
from pathlib import Path

import pytest
import yaml

from tests.dbt_schemas import schema_errors
from tests.yaml_data import read_yaml

EXAMPLES = Path(__file__).parents[2] / "examples"
_NUMBERS = itertools.count()


@pytest.fixture
def example(tmp_path):
    """Copies an example and gives its folder and schema: its own, since all tests share the catalog of one driver.

    The artifacts that a test leaves are held against dbt's schemas.
    """
    roots = []

    def copy(name):
        root = tmp_path / name
        roots.append(root)
        shutil.copytree(EXAMPLES / name, root, ignore=shutil.ignore_patterns("target", "warehouse", "landing"))
        profiles = read_yaml(root / "profiles.yml")
        (output,) = profiles[name]["outputs"].values()
        output["schema"] += str(next(_NUMBERS))
        (root / "profiles.yml").write_text(yaml.safe_dump(profiles))
        return root, output["schema"]

    yield copy
    for root in roots:
        for path in (root / "target").glob("*.json"):
            document = json.loads(path.read_text())
            if "dbt_schema_version" in document.get("metadata", ()):
                assert schema_errors(document) == [], path
