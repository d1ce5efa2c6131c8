"""Calls of templates that Python's own code would make without the limits of a rendering, or that make huge values."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

import pytest

from tests.lsp.client import Editor
from tests.security.bounded_run import run
from tests.written_project import write_project

MERGE = "merge into {{{{ this }}}} t using (select 1 as id) s on t.id = {} when not matched then insert *"
METHOD = "a method is given to a call without being called: add (…)"
SUM = "modules.itertools.accumulate([2**61 - 1] * 99999)"
"""Numbers that have one hash."""
TOO_MUCH = "rendering builds texts and lists of more than"
NUMBER = "fromyaml('0x' ~ 'f' * 90000)"
ATTACKS = {
    "test_of_a_list": ("{{ range(99999) | select('in', range(99999) | list) | list }}", TOO_MUCH),
    "test_of_no_item": ("{{ range(99999) | reject('in', range(99999) | list) | first }}", TOO_MUCH),
    "strip": ("{{ ('a' * 9000000).strip('b' * 9000000 ~ 'a') }}", TOO_MUCH),
    "trim": ("{{ ('a' * 9000000) | trim('b' * 9000000 ~ 'a') }}", TOO_MUCH),
    "find_backwards": ("{{ ('a' * 9000000).rfind('ab' ~ 'a' * 4000000) }}", TOO_MUCH),
    "split_backwards": ("{{ ('a' * 9000000).rsplit('ab' ~ 'a' * 4000000) }}", TOO_MUCH),
    "find_bytes_backwards": ("{{ ('a' * 900000).encode().rpartition(('ab' ~ 'a' * 400000).encode()) }}", TOO_MUCH),
    "division_of_a_text": ("{{ (('f' * 9000000) | int(0, 16)) // 3 }}", "a number of more than 100,000 bits"),
    "division_of_bytes": (
        "{{ (1).from_bytes(('a' * 9000000).encode(), 'big') }}",
        "a number of more than 100,000 bits",
    ),
    "division": ("{{ " + NUMBER + " // 3 }}", "a division of more than 100,000 bits"),
    "remainder": ("{{ " + NUMBER + " % 3 }}", "a division of more than 100,000 bits"),
    "divisible": ("{{ " + NUMBER + " is divisibleby 3 }}", "a division of more than 100,000 bits"),
    "hashes_of_a_dict": ("{{ dict(zip(" + SUM + ", " + SUM + ")) }}", "more than 5,000 keys with one hash"),
    "hashes_of_keys": ("{{ {}.fromkeys(" + SUM + ") }}", "more than 5,000 keys with one hash"),
    "hashes_of_an_update": ("{% do {}.update(zip(" + SUM + ", " + SUM + ")) %}", "more than 5,000 keys with one hash"),
    "one_value_of_many_keys": ("{{ {}.fromkeys(range(99999), ['a'] * 99999).values() | list }}", "10,000,000"),
    "one_default_of_many": ("{{ ([{}] * 9999) | map(attribute='x', default=['a' * 99999]) | list }}", TOO_MUCH),
    "wordwrap": ("{{ ('a' * 1900000) | wordwrap(1) }}", "rendering builds a text or list of more than"),
    "yaml_long": ("{{ fromyaml('- a\\n' * 300000) }}", TOO_MUCH),
    "punycode": ("{{ ('\u00fc\u00e4' * 900000).encode('punycode') }}", "the encoding punycode takes too long"),
    "from_punycode": ("{{ ('a-' ~ 'a' * 900000).encode().decode('punycode') }}", "the encoding punycode takes too"),
    "idna": ("{{ ('\u00fc' * 900000).encode(encoding='idna') }}", "the encoding idna takes too long"),
    "namereplace": (
        "{{ ('\u00fc' * 900000).encode('ascii', 'namereplace') }}",
        "a text or list of more than 10,000,000",
    ),
    "tokens": ("{{ f(" + "a," * 200_000 + ") }}", "the tags of the file have more than 100,000 words and signs"),
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
    "yaml_maps": ("{{ fromyaml('{a: ' * 50000) }}", "fromyaml: more than 100 levels of nesting"),
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


def test_the_language_server_answers_after_each_of_them(tmp_path):
    write_project(tmp_path, "s", {"models/m.sql": "select 1 as a", "models/well.sql": "select 1 as a"})
    editor = Editor()
    with ExitStack() as end:
        end.callback(editor.stop)
        for name in ("test_of_no_item", "strip", "remainder", "hashes_of_a_dict", "wordwrap", "yaml_long", "punycode"):
            template, message = ATTACKS[name]
            editor.open(tmp_path / "models" / "m.sql", MERGE.format(template))
            shown = " ".join(each.message for each in editor.diagnostics(tmp_path / "models" / "m.sql"))
            assert message in shown
            editor.open(tmp_path / "models" / "well.sql", "select 1 as a")
            assert not editor.diagnostics(tmp_path / "models" / "well.sql")


STUCK = """
import threading, time
from merge_runner.template import limits

limits.MAX_SECONDS_OF_A_CALL = 0.5
limits.MAX_SECONDS_OF_THE_PROCESS = 1.5

def stay():
    try:
        with limits.watched():
            with limits.watched():
                pass
            {}
    except limits.LimitError as error:
        print(error)
"""


@pytest.mark.parametrize("code", ["10 ** 10 ** 9 % 7", "time.sleep(600)"])
@pytest.mark.parametrize("in_a_thread", [False, True])
def test_a_call_of_python_that_does_not_end_is_interrupted_or_ends_the_process(code, in_a_thread):
    call = "threading.Thread(target=stay).start()" if in_a_thread else "stay()"
    ended = subprocess.run(
        [sys.executable, "-c", STUCK.format(code) + call], capture_output=True, text=True, timeout=100, check=False
    )
    if in_a_thread:
        assert ended.returncode == 1
        assert ended.stderr.startswith("Timeout")
    else:
        assert (ended.returncode, ended.stdout) == (0, "one operation takes more than 0 seconds\n")


LONG = """
from merge_runner.cli.main import main
from merge_runner.template import limits

limits.{} = 1
main(["lint", "--no-cache"])
"""
LONG_OPERATIONS = {
    "a loop that takes no item": (
        "{% set l = range(99999) | list %}{% for i in l if i not in l %}{% endfor %}",
        "MAX_SECONDS",
        "1:121 ",
        "rendering takes more than 1 seconds",
    ),
    "hashes": ("{{ " + SUM + " | unique | list }}", "MAX_SECONDS", "1:", "rendering takes more than 1 seconds"),
    "a search": (
        "{% for i in range(9) %}{{ modules.re.search('a*a*b', 'a' * 940) }}{% endfor %}",
        "MAX_SECONDS_OF_A_CALL",
        "1:",
        "one operation takes more than 1 seconds",
    ),
}


@pytest.mark.parametrize("name", LONG_OPERATIONS)
def test_what_takes_too_long_is_one_problem_at_its_place(tmp_path, name):
    template, limit, place, message = LONG_OPERATIONS[name]
    models = {"models/m.sql": MERGE.format(template), "models/well.sql": MERGE.format("s.id")}
    write_project(tmp_path, "s", models)
    code = [sys.executable, "-c", LONG.format(limit)]
    ended = subprocess.run(code, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode in (1, 2), ended.stderr
    shown = " ".join((ended.stdout + ended.stderr).split())
    assert f"m.sql:{place}" in shown
    assert message in shown


def test_what_ends_in_time_goes_on():
    code = "from merge_runner.template import limits\nimport time\nlimits.MAX_SECONDS_OF_A_CALL = 1\n"
    code += "with limits.watched():\n    pass\ntime.sleep(2)\nprint('well')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert (ended.returncode, ended.stdout) == (0, "well\n")
