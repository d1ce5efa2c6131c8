"""`modules` in templates: datetime, pytz, re and itertools, without the clock and without what may not end."""

import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.errors import ProblemsError
from merge_runner.relation import Relation
from merge_runner.template.context import Context
from merge_runner.template.names.modules import steps
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText
from tests.yaml_data import read_yaml

TEMPLATES = Templates()
CONTEXT = Context(
    model_name="m",
    this=Relation("m"),
    resolve_ref=Relation,
    resolve_source=lambda _source, table: Relation(table),
    vars={},
    env={},
    target={},
    full_refresh=False,
)


@pytest.mark.parametrize("case", read_yaml(Path(__file__).parent / "modules.yml"), ids=lambda case: case["text"])
def test_modules(case):
    source = SourceText("m.sql", case["text"])
    if "error" in case:
        with pytest.raises(ProblemsError) as raised:
            TEMPLATES.render(source, CONTEXT)
        (problem,) = raised.value.problems
        assert case["error"] in f"{problem.message} {problem.hint or ''}"
        assert problem.place.path == "m.sql"
    else:
        assert TEMPLATES.render(source, CONTEXT).text.strip() == case["is"]


ATOMS = st.sampled_from(["a", "b", ".", "[ab]", r"\w", "^", "$", r"\b"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: f"(?:{a}|{b})", inner, inner),
        st.builds(lambda a, times: f"(?:{a}){times}", inner, st.sampled_from(["*", "+", "?", "{2,3}", "*?"])),
    ),
    max_leaves=6,
)


@given(PATTERNS)
def test_a_pattern_takes_no_more_time_than_was_counted(pattern):
    text = "".join(random.Random(1).choice("ab") for _ in range(25)) + "a" * 25 + "!"
    if len(text) * steps(pattern, 0, len(text)) > 10**7:
        return
    begun = time.process_time()
    re.search(f"{pattern}#", text)
    assert time.process_time() - begun < 2
