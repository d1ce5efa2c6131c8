"""What an author gets for a mistake in a template, as data in problems.yml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.template.context import Context
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("problems.yml"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_problem(case: dict[str, Any], context: Context) -> None:
    templates = Templates([SourceText("macros/m.sql", case["macros"])] if "macros" in case else [])
    with pytest.raises(ProblemsError) as caught:
        templates.render(SourceText("models/m.sql", case["model"]), context)
    assert str(caught.value).split("\n") == [line.rstrip() for line in case["problems"].rstrip().split("\n")]
