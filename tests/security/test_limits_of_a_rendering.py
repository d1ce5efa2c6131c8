"""Calls of templates that Python's own code would make without the limits of a rendering, or that make huge values."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.security.bounded_run import run
from tests.written_project import write_project

MERGE = "merge into {{{{ this }}}} t using (select 1 as id) s on t.id = {} when not matched then insert *"
METHOD = "a method is given to a call without being called: add (…)"
ATTACKS = {
    "sort_key": ("{{ [3 * 10**9].sort(key='x'.center) }}", METHOD),
    "sort_format": ("{{ [1].sort(key='{:>3000000000}'.format) }}", METHOD),
    "accumulate_method": ("{{ modules.itertools.accumulate([3, 10**9], 'x'.center) }}", METHOD),
    "keyword_method": ("{{ modules.itertools.accumulate([3, 10**9], func='x'.ljust) }}", METHOD),
    "accumulate_texts": (
        "{{ modules.itertools.accumulate(['x' * 99999] * 99999) | length }}",
        "rendering builds texts and lists of more than",
    ),
    "chain": (
        "{{ modules.itertools.chain(*(['x' * 9999999] * 99)) | length }}",
        "rendering builds a text or list of more than",
    ),
    "round": ("{{ 15 | round(-99999999) }}", "a rounding of more than 100,000 bits"),
    "round_up": ("{{ 15 | round(99999999, 'ceil') }}", "a rounding of more than 100,000 bits"),
    "pattern": ("{{ modules.re.compile('a' * 3000000) }}", "re: a pattern has at most 10,000 characters"),
    "pattern_of_match": ("{{ modules.re.match('(a)' * 300000, 'a') }}", "re: a pattern has at most 10,000 characters"),
    "yaml": ("{{ fromyaml('[' * 100000) }}", "fromyaml: more than 100 levels of nesting"),
    "yaml_maps": ("{{ fromyaml('{a: ' * 100000) }}", "fromyaml: more than 100 levels of nesting"),
    "time_zone": ("{{ modules.pytz.timezone('a' * 1000000) }}", "there is no time zone"),
    "number": ("{{ config(meta={'a': 10**8000}) }}", "holds a number of more than 10,000 bits"),
    "number_written": ("{{ 10**8000 }}", "digits"),
    "surrogate": ("{{ '\\ud800' }}", "the rendered text has the character U+D800, which is no text alone"),
    "surrogate_joined": ("'{{ 'a' ~ '\\udfff' }}'", "the rendered text has the character U+DFFF"),
    "surrogate_config": ("{{ config(meta={'a': '\\ud800'}) }}", "holds half of a character"),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("command", ["lint", "compile"])
def test_a_model_that_would_take_everything_is_one_problem(tmp_path, name, command):
    template, message = ATTACKS[name]
    models = {"models/m.sql": MERGE.format(template), "models/well.sql": MERGE.format("s.id")}
    write_project(tmp_path, "s", models)
    ended = run(tmp_path, command, *(["--no-cache"] if command == "lint" else []))
    assert ended.returncode in (1, 2)
    shown = " ".join((ended.stdout + ended.stderr).split())
    assert message in shown
    assert len(shown) < 5_000
    assert "m.sql:1:" in shown


STUCK = """
import time
from merge_runner.template import limits

limits.MAX_SECONDS_OF_A_CALL = 0.5
with limits.watched():
    with limits.watched():
        pass
    {}
"""


@pytest.mark.parametrize("code", ["10 ** 10 ** 9 % 7", "time.sleep(600)"])
def test_a_call_of_python_that_does_not_end_ends_the_process(code):
    ended = subprocess.run(
        [sys.executable, "-c", STUCK.format(code)], capture_output=True, text=True, timeout=100, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("Timeout")


def test_what_ends_in_time_goes_on():
    code = "from merge_runner.template import limits\nimport time\nlimits.MAX_SECONDS_OF_A_CALL = 1\n"
    code += "with limits.watched():\n    pass\ntime.sleep(2)\nprint('well')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert (ended.returncode, ended.stdout) == (0, "well\n")
