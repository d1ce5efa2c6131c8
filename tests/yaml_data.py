"""The tests' data files: each worker reads all of them when it collects tests, so libyaml parses where PyYAML has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Any:
    """Return what a YAML file holds."""
    return yaml.load(path.read_text(encoding="utf-8"), _LOADER)
