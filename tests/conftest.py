"""Fixtures that all rooms share: one Spark driver for the whole run, and projects made of texts."""

import itertools
import os
import signal
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import settings

# A shell that runs tests in the background has them ignore Ctrl-C, and every process that they start; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("untimed", deadline=None)  # how long an example takes is no property of the code
settings.load_profile("untimed")

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """The one Spark driver of the test run, as an embedded target has it."""
    from merge_runner.engine.session import start_driver
    from merge_runner.project.profile import Profile

    root = tmp_path_factory.mktemp("spark")
    # Iceberg beside Delta, in a catalog of its own, for the tests that hold facts against both engines.
    ice = {"type": "hadoop", "warehouse": str(root / "ice"), "cache-enabled": "false"}
    profile = Profile("tests", "tests", schema="tests", master="local[2]", warehouse="warehouse", catalogs={"ice": ice})
    running = start_driver(profile, root, root / "spark.log", os.environ)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def spark(driver):
    """The driver's first session."""
    return driver.spark


@pytest.fixture
def make_project(tmp_path):
    """Writes a project of files by path and gives its folder; settings and a profile are added where they are missing.

    Each project has a schema of its own, since all tests share the catalog of one driver; `table_format` iceberg
    puts it into the driver's Iceberg catalog.
    """

    def make(files: dict[str, str], table_format: str = "delta") -> Path:
        number = next(_NUMBERS)
        root = tmp_path / f"project{number}"
        schema = f"ice.shop{number}" if table_format == "iceberg" else f"shop{number}"
        models = f'[tool.merge-runner.models]\nformat = "{table_format}"\n' if table_format != "delta" else ""
        given = {
            "pyproject.toml": f'[tool.merge-runner]\nname = "shop"\n{models}',
            "profiles.yml": f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: {schema}}}}}}}\n",
            **files,
        }
        for path, text in given.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(dedent(text))
        return root

    return make
