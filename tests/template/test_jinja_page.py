"""docs/guides/jinja.md has every name that a template can use, and what the sandbox removes of Jinja's own."""

from __future__ import annotations

import re
from pathlib import Path

from jinja2 import Environment

from merge_runner.project.schema.profile import Profile
from merge_runner.template.context import Context
from merge_runner.template.environment import RELATION_ATTRIBUTES, ModelEnvironment
from merge_runner.template.library import Library
from merge_runner.template.names.dbt_names import DbtNames
from merge_runner.template.packages import Packages
from merge_runner.template.rendering import Rendering

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "jinja.md"
CODE = [found[1] for found in re.finditer(r"`([^`\n]+)`", PAGE.read_text(encoding="utf-8"))]
WORDS = {word for code in CODE for word in re.findall(r"\w+", code)}


def test_every_name_is_in_the_page(context: Context):
    rendering = Rendering(Library({}, (), Packages()), context)
    own = rendering.built_ins.names()
    dbt = DbtNames(rendering, rendering.built_ins).names(own)
    filters = ModelEnvironment().filters.keys() - Environment().filters.keys()
    target = Profile(name="p", target="t", schema="s").target_values
    attributes = RELATION_ATTRIBUTES - {"catalog"}  # of the macros that name tables; dbt's word is `database`
    assert {"ref", "changes"} <= own.keys()
    assert {"literal", "identifier"} <= filters
    assert sorted({*own, *dbt, *filters, *target, *attributes, "is_incremental", "is_full_refresh"} - WORDS) == []


def test_what_the_sandbox_removes_is_in_the_page():
    environment = ModelEnvironment()
    gone = {
        *(Environment().globals.keys() - environment.globals.keys()),
        *(Environment().filters.keys() - environment.filters.keys()),
    }
    assert gone == {"lipsum", "random"}
    assert gone <= WORDS
