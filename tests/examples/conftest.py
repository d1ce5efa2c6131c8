"""The example projects, each in a copy of its own."""

import itertools
import shutil
from pathlib import Path

import pytest
import yaml

EXAMPLES = Path(__file__).parents[2] / "examples"
_NUMBERS = itertools.count()


@pytest.fixture
def example(tmp_path):
    """Copies an example and gives its folder and schema: its own, since all tests share the catalog of one driver."""

    def copy(name):
        root = tmp_path / name
        shutil.copytree(EXAMPLES / name, root, ignore=shutil.ignore_patterns("target", "warehouse", "landing"))
        profiles = yaml.safe_load((root / "profiles.yml").read_text())
        (output,) = profiles[name]["outputs"].values()
        output["schema"] += str(next(_NUMBERS))
        (root / "profiles.yml").write_text(yaml.safe_dump(profiles))
        return root, output["schema"]

    return copy
