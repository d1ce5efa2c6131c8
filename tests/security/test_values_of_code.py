"""Python code whose values double, or call each other without an end, is not followed; hostile Scala is over soon."""

from __future__ import annotations

import json

import pytest

from tests.security.bounded_run import run
from tests.written_project import write_files

MERGE = "merge into t using s on t.id = s.id when matched then delete"


def doubled(first: str, step: str, last: str = "") -> str:
    """Return 30 lines, each with the value of the line before it."""
    return "\n".join([first, *(step.format(i=i, j=i - 1) for i in range(1, 30)), last])


PYTHON_TAIL = f'\nspark.sql(f"{MERGE} {{q}}")\n'
PYTHON = {
    "calls": "def f(x): return f(x) + g(x)\ndef g(x): return g(x) + f(x)\nq = f('a')",
    "calls_of_calls": "\n".join(f"def f{i}(x): return f{i + 1}(x) + f{i + 1}(x)" for i in range(25))
    + "\ndef f25(x): return x\nq = f0('a')",
    "sum": doubled("s0 = 'abcdefghij'", "s{i} = s{j} + s{j}", "q = s25"),
    "f_string": doubled("s0 = 'abcdefghij'", "s{i} = f'{{s{j}}}{{s{j}}}'", "q = s25"),
    "format": doubled("s0 = 'abcdefghij'", "s{i} = '{{0}}{{0}}'.format(s{j})", "q = s25"),
    "percent": doubled("s0 = 'abcdefghij'", "s{i} = '%s%s' % (s{j}, s{j})", "q = s25"),
    "template": doubled("s0 = 'abcdefghij'", "s{i} = Template('$a$a').substitute(a=s{j})", "q = s25"),
    "augmented": "q = 'abcdefghij'\n" + "q += q\n" * 30,
    "dictionary": doubled("d0 = {'a': 'x'}", "d{i} = {{'a': d{j}['a'] + d{j}['a']}}", "q = d25['a']"),
    "comprehension": doubled(
        "l = ['a', 'b', 'c', 'd', 'e']\ns0 = 'x'", "s{i} = ','.join(s{j} + x for x in l)", "q = s15"
    ),
    "replaced": "a = '" + "a" * 50_000 + "'\nb = 'b' * 1\nq = a.replace('a', '" + "b" * 50_000 + "')",
    "words": "a = '" + "USING " * 40_000 + "'\nq = ''",
    "fields": "q = '" + "%(" * 40_000 + "' % x",
    "zeros": "q = '%" + "0" * 40_000 + "' % x",
    "braces": "q = '{" + "a" * 40_000 + "'.format(x)",
    "bindings": "".join(f"if c:\n    q = 'a{i}'\n" for i in range(2_000)) + "spark.sql(q)\n" * 2_000,
}
PYTHON_WHOLE = {
    "branches": doubled(f"s0 = '{MERGE}'", "s{i} = s{j} if x else s{j}", "spark.sql(s25)"),
    "parameters": f"def f(x):\n    spark.sql(x)\n    g(x)\n    g(x)\ndef g(x):\n    f(x)\n    f(x)\nf('{MERGE}')",
    "columns": doubled(
        "c0 = col('a') == col('b')",
        "c{i} = c{j} & c{j}",
        "df.mergeInto('t', c25).whenMatched().delete().merge()",
    ),
    "two_names": "a = b\nb = a\na = b\na.merge(x, 'c').whenMatchedDelete().execute()",
    "names_in_a_function": "a = b\nb = a\ndef f():\n    a.merge(x, 'c').whenMatchedDelete().execute()",
}
SCALA_TAIL = f'\nspark.sql(s"{MERGE} $q")\n'
SCALA = {
    "sum": doubled('val s0 = "abcdefghij"', "val s{i} = s{j} + s{j}", "val q = s25"),
    "interpolated": doubled('val s0 = "abcdefghij"', 'val s{i} = s"${{s{j}}}$s{j}"', "val q = s25"),
    "parentheses": "val q = " + "(" * 20_000 + ")" * 20_000,
    "comments": "val q = 1\n" + "/*" * 50_000,
    "quotes": "val a = " + '\\"' * 40_000 + "\nval q = 1",
    "words": 'val a = """' + "USING " * 40_000 + '"""\nval q = 1',
    "arguments": "val q = 1\n" + "(" * 5_000 + "a) => " * 5_000,
    "builder": 'DeltaTable.forName("t")' + '.merge(x, "a")' * 5_000 + ".whenMatched().delete().execute()",
}
FILES = {
    **{f"python_{name}.py": code + PYTHON_TAIL for name, code in PYTHON.items()},
    **{f"python_{name}.py": code for name, code in PYTHON_WHOLE.items()},
    **{f"scala_{name}.scala": code + SCALA_TAIL for name, code in SCALA.items()},
}


@pytest.mark.parametrize("name", FILES)
def test_code_whose_values_have_no_end_is_over_soon(tmp_path, name):
    write_files(tmp_path, {name: FILES[name], "well.py": f'spark.sql("{MERGE}")\n'})
    ended = run(tmp_path, "lint", "--no-cache", "--format", "json", name, "well.py")
    assert ended.returncode in (0, 1), ended.stderr
    report = json.loads(ended.stdout)
    assert "well.py" in {merge["path"] for merge in report["merges"]}


def test_the_file_that_is_not_followed_is_named_with_the_reason(tmp_path):
    write_files(tmp_path, {"a.py": FILES["python_calls.py"]})
    ended = run(tmp_path, "lint", "--no-cache", "a.py")
    assert "a.py:4:13 (lint does not follow this code: its values take more than 100,000 steps)" in ended.stdout
