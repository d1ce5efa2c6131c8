"""Inputs that nobody should write and somebody will: statements, templates, and folders with odd files in them.

Everything is made when it is asked for, so that nothing large is kept. Sizes are those of the worst files seen, or far
beyond what Spark itself reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

Files = dict[str, str | bytes]
"""The content of files by their path."""

SAMPLE = """-- what came late wins
merge with schema evolution into {{ this }} as t
using (
    select s.id, s.dt, /* a hint? */ `s`.name, 'it''s' as said, 1.5e3 as n
    from raw.s as s where s.dt between date'2024-01-01' and date'2024-12-31'
) as s
    on t.id <=> s.id and t.dt = s.dt and (t.region in ('a', "b") or not t.flag)
when matched and s.ts > t.ts then update set name = concat(s.name, '\\'s'), t.amount = case when s.n > 0 then s.n end
when matched then delete
when not matched and s.id is not null then insert (id, dt, name) values (s.id, s.dt, cast(s.name as string))
when not matched by source and t.dt >= current_date() - interval '3' days then update set name = null
"""
"""A MERGE with one of everything, to be cut anywhere."""


def merge(
    on: str = "t.id = s.id and t.dt = s.dt",
    source: str = "raw.s as s",
    clauses: str = "when matched then update set * when not matched then insert *",
) -> str:
    """A MERGE into the model's table."""
    return f"merge into {{{{ this }}}} as t using {source}\non {on}\n{clauses}\n"


def nested(times: int, inside: str = "t.id = s.id", opening: str = "(", closing: str = ")") -> str:
    """Something in many brackets."""
    return opening * times + inside + closing * times


def joined(times: int, part: str, between: str) -> str:
    """Many parts; `#` is the number of each."""
    return between.join(part.replace("#", str(number)) for number in range(times))


def _twice(relation: str) -> str:
    return f"select a.* from {relation} as a join {relation} as b on a.id = b.id"


_QUOTED = "'region #'"
_CASE = "case when t.id = s.id then "
_CALLS = nested(2_000, "t.id", "coalesce(", ", 1)")
_SETS = joined(50_000, "c# = s.c#", ", ")
_SELECTS = joined(500, "select # as id, date'2024-01-01' as dt", " union all ")

Texts = dict[str, Callable[[], str]]

DEEP: Texts = {
    "brackets in ON": lambda: merge(nested(2_000)),
    "brackets around each side": lambda: merge(f"{nested(2_000, 't.id')} = {nested(2_000, 's.id')}"),
    "brackets around a conjunction": lambda: merge(nested(2_000, "t.id = s.id and t.dt = s.dt")),
    "brackets with a conjunct at each level": lambda: merge(nested(2_000, "t.id = s.id", "(t.dt = s.dt and (", "))")),
    "brackets with a disjunct at each level": lambda: merge(nested(2_000, "t.id = s.id", "(t.dt = s.dt or (", "))")),
    "brackets around the source": lambda: merge(source=nested(2_000, "select * from raw.s") + " as s"),
    "subqueries in the source": lambda: merge(source=f"({nested(2_000, 'raw.s', 'select * from (', ') as s')}) as s"),
    "brackets in a condition": lambda: merge(clauses=f"when matched and {nested(2_000)} then delete"),
    "brackets in a value": lambda: merge(clauses=f"when matched then update set a = {nested(2_000, 's.a')}"),
    "CASE in CASE": lambda: merge(nested(2_000, "true", _CASE, " else false end")),
    "CASE in the first WHEN": lambda: merge(nested(2_000, "t.id = s.id", "case when ", " then true end")),
    "functions in functions": lambda: merge(f"{_CALLS} = s.id"),
    "casts in casts": lambda: merge(f"{nested(2_000, 't.dt', 'cast(', ' as date)')} = s.dt and t.id = s.id"),
    "NOT NOT": lambda: merge(f"{'not ' * 2_000}t.id = s.id"),
    "NOT in brackets": lambda: merge(nested(2_000, "t.id = s.id", "not (")),
    "!!": lambda: merge(f"{'!' * 2_000}(t.id = s.id)"),
    "minus minus": lambda: merge(f"t.id = {'- ' * 2_000}s.id"),
    "arrays in arrays": lambda: merge(f"t.a = {nested(2_000, 's.a', 'array(')} and t.id = s.id"),
    "index in index": lambda: merge(f"t.id = {nested(2_000, '1', 's.a[', ']')}"),
    "lambdas in lambdas": lambda: merge(f"t.id = {nested(500, 's.a', 'transform(s.a, x -> ')}"),
    "types in types": lambda: merge(f"t.a = cast(s.a as {nested(2_000, 'int', 'array<', '>')}) and t.id = s.id"),
    "comments in comments": lambda: merge(f"{nested(2_000, ' ', '/*', '*/')} t.id = s.id"),
    "CTEs in CTEs": lambda: (
        f"with a as ({nested(500, 'select 1 as id', 'with b as (', ') select * from b')}) {merge(source='a as s')}"
    ),
}
"""Statements that nest. The only Jinja in them is `{{ this }}`."""

LONG: Texts = {
    "conjuncts": lambda: merge(joined(20_000, "t.id = s.id and t.c# = s.c#", " and ")),
    "conjuncts that Spark reads otherwise": lambda: merge(joined(5_000, "t.a# = s.a# = t.b#", " and ")),
    "conjuncts in brackets": lambda: merge(joined(5_000, "((t.c# = s.c#))", " and ")),
    "the same conjunct": lambda: merge(joined(20_000, "t.dt = s.dt", " and ")),
    "literals of one column": lambda: merge(f"t.id = s.id and {joined(5_000, 't.dt <> #', ' and ')}"),
    "an IN list": lambda: merge(f"t.id = s.id and t.dt in ({joined(120_000, '#', ', ')})"),
    "an IN list of strings": lambda: merge(f"t.id = s.id and t.region in ({joined(50_000, _QUOTED, ', ')})"),
    "OR of equalities": lambda: merge(joined(2_000, "t.id = #", " or ")),
    "OR of pairs": lambda: merge(joined(2_000, "(t.id = s.id and t.dt = #)", " or ")),
    "AND of ORs": lambda: merge(joined(200, "(t.a# = s.a# or t.b# = s.b# or t.dt = #)", " and ")),
    "OR of ANDs of ORs": lambda: merge(joined(60, "((t.a = # or t.b = #) and (t.c = # or t.dt = #))", " or ")),
    "ORs that would multiply out": lambda: merge(
        f"not ({joined(30, '((t.a = # and t.b = s.b) or (t.c = # and t.dt = #))', ' and ')})"
    ),
    "additions": lambda: merge(f"t.id = {joined(20_000, 's.c#', ' + ')}"),
    "concatenations": lambda: merge(f"t.id = {joined(2_000, 's.c#', ' || ')}"),
    "comparisons in a row": lambda: merge(joined(2_000, "s.c#", " = ")),
    "BETWEENs": lambda: merge(joined(2_000, "t.c# between # and #", " and ")),
    "a path": lambda: merge(f"t.id = s.{joined(2_000, 'c#', '.')}"),
    "a target of many parts": lambda: merge().replace("{{ this }}", joined(2_000, "p#", ".")),
    "assignments": lambda: merge(clauses=f"when matched then update set {_SETS}"),
    "the same assignment": lambda: merge(clauses=f"when matched then update set {joined(20_000, 'a = s.a', ', ')}"),
    "insert columns": lambda: merge(
        clauses=f"when not matched then insert ({joined(10_000, 'c#', ', ')}) values ({joined(10_000, 's.c#', ', ')})"
    ),
    "select columns": lambda: merge(source=f"(select {joined(10_000, 'c#', ', ')} from raw.s) as s"),
    "clauses": lambda: merge(
        clauses=joined(499, "when matched and s.a = # then update set a = #", "\n") + "\nwhen not matched then insert *"
    ),
    "clauses behind an unconditional one": lambda: merge(clauses=joined(500, "when matched then delete", "\n")),
    "UNION": lambda: merge(source=f"({_SELECTS}) as s"),
    "CTEs": lambda: f"with {joined(500, 'c# as (select # as id, # as dt)', ', ')} {merge(source='c7 as s')}",
    "CTEs that double": lambda: (
        "with c0 as (select 1 as id, 2 as dt), "
        + ", ".join(f"c{n} as ({_twice(f'c{n - 1}')})" for n in range(1, 40))
        + " "
        + merge(source="c39 as s")
    ),
    "joins": lambda: merge(
        source=f"(select a.* from raw.s as a {joined(300, 'join raw.s as b# on a.id = b#.id', ' ')}) as s"
    ),
    "VALUES": lambda: merge(source=f"(select * from values {joined(20_000, '(#, #)', ', ')} as v(id, dt)) as s"),
    "a long string": lambda: merge(f"t.id = s.id and t.name = '{'x' * 1_000_000}'"),
    "a string of quotes": lambda: merge("t.id = s.id and t.name = " + "'" * 400_002),
    "a string of backslashes": lambda: merge(f"t.id = s.id and t.name = '{chr(92) * 200_000}'"),
    "adjacent strings": lambda: merge(f"t.id = s.id and t.name = {joined(5_000, _QUOTED, ' ')}"),
    "a LIKE pattern": lambda: merge(f"t.id = s.id and t.name like '{'%_' * 5_000}'"),
    "a long number": lambda: merge(f"t.id = s.id and t.dt = {'9' * 100_000}"),
    "a large exponent": lambda: merge("t.id = s.id and t.id = 1e999999999 and t.dt = 9e-999999999"),
    "arithmetic without end": lambda: merge(f"t.id = s.id and t.id = {joined(200, '99999999999999999999', ' * ')}"),
    "shifts": lambda: merge("t.id = s.id and t.id = 1 << 9999999999 and t.id = shiftleft(1, 999999999999)"),
    "powers": lambda: merge("t.id = s.id and t.id = power(9999, 9999999999) and t.id = repeat('x', 9999999999)"),
    "sequences": lambda: merge("t.id = s.id and t.dt in (sequence(date'0001-01-01', date'9999-12-31'))"),
    "dates that there are not": lambda: merge(
        "t.id = s.id and t.dt = date'2024-02-31' and t.dt >= date'99999-01-01' and t.dt < date_add(date'9999-12-31', 9)"
        " and t.dt > date'0001-01-01' - interval 99999999999 years and t.dt <> make_date(-5, 0, 99)"
    ),
    "a long line": lambda: merge(f"{' ' * 900_000}t.id = s.id"),
    "many lines": lambda: merge("\n" * 500_000 + "t.id = s.id"),
    "many comments": lambda: "-- noqa: P001\n" * 50_000 + merge(),
    "many suppressions in a line": lambda: merge() + "-- noqa: " + joined(50_000, "P001", ",") + "\n",
    "semicolons": lambda: merge() + ";" * 100_000,
    "some statements": lambda: (merge() + ";\n") * 500,
    "statements": lambda: (merge() + ";\n") * 2_000,
    "a long alias": lambda: merge(source=f"raw.s as {'s' * 100_000}"),
}
"""Statements that are long, or ask for long arithmetic."""

CHARACTERS: Texts = {
    "NUL": lambda: merge("t.id = s.id\0 and t.dt = s.dt"),
    "NULs": lambda: "\0" * 10_000,
    "NUL in a string": lambda: merge("t.id = s.id and t.name = '\0'"),
    "control characters": lambda: merge("t.id = s.id" + "".join(map(chr, range(1, 32)))),
    "carriage returns alone": lambda: merge().replace("\n", "\r"),
    "strange blanks": lambda: merge("t.id\u00a0=\u2003s.id\u2028and\x85t.dt\u3000=\ufeffs.dt"),
    "letters from the right": lambda: merge("t.id = s.id and t.`\u202ename\u202c` = '\u05d0'"),
    "an emoji as a column": lambda: merge("t.`🦊` = s.`🦊` and t.🦊 = s.id"),
    "combined letters": lambda: merge(f"t.id = s.id and t.`e{chr(0x301) * 5_000}` = 1"),
    "quotes in names": lambda: merge("t.`a``b` = s.`'` and t.`\"` = s.`${x}` and t.`` = 1"),
    "a variable of Spark": lambda: merge("t.id = s.id and t.dt = ${dt} and ${what}"),
    "a surrogate as text": lambda: merge("t.id = s.id and t.name = '\\uD800' and t.name = '\\377'"),
    "a parameter": lambda: merge("t.id = :id and t.dt = ? and ? = s.id"),
}
"""Statements with letters that nobody expects."""

BROKEN: Texts = {
    "a string without end": lambda: merge("t.id = s.id and t.name = 'x"),
    "a name without end": lambda: merge("t.id = s.id and t.`name = 1"),
    "a comment without end": lambda: merge("t.id = s.id /* and /* so on */"),
    "comments without end": lambda: "/*" * 100_000,
    "quotes": lambda: "'" * 100_001,
    "backquotes": lambda: "`" * 100_001,
    "open brackets": lambda: merge("(" * 100_000),
    "closed brackets": lambda: merge(")" * 100_000),
    "brackets crossed": lambda: merge("([" * 10_000 + ")]" * 10_000),
    "open CASEs": lambda: merge("case when " * 20_000),
    "ENDs": lambda: merge("t.id = s.id " + "end " * 20_000),
    "CASE as a name": lambda: merge(joined(1_000, "case = case", " and ")),
    "keywords as names": lambda: merge(
        "t.merge = s.using and t.when = s.matched and on.not = s.then and t.select = s.from",
        clauses="when matched then update set set = s.update, values = s.insert, when = then",
    ),
    "keywords": lambda: "merge into using on when matched then " * 5_000,
    "dots": lambda: merge("t" + "." * 10_000 + "id"),
    "commas": lambda: merge(f"coalesce({',' * 50_000})"),
    "angle brackets": lambda: merge(f"cast(t.a as map{'<' * 20_000}) = 1"),
    "stars": lambda: merge("*" * 20_000),
}
"""Texts that are hardly a MERGE any more."""

STATEMENTS: Texts = {**DEEP, **LONG, **CHARACTERS, **BROKEN}

_DOUBLING = "{% set x = 'x' * 1000 %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}"

TEMPLATES: Texts = {
    "an endless loop": lambda: merge("{% for i in range(10**9) %}t.id = s.id and {% endfor %} true"),
    "an endless loop without output": lambda: merge("{% for i in range(10**12) %}{% endfor %} t.id = s.id"),
    "loops in loops": lambda: merge(
        "{% for i in range(9999) %}" * 10 + "t.id = s.id and " + "{% endfor %}" * 10 + "true"
    ),
    "a range as a list": lambda: merge("{{ range(10**9) | list | length }} = t.id"),
    "a range summed up": lambda: merge("{{ range(10**9) | sum }} = t.id"),
    "a join of a range": lambda: merge("{{ range(10**9) | join(',') }} = t.id"),
    "a macro that calls itself": lambda: "{% macro a(n) %}{{ a(n + 1) }}{% endmacro %}" + merge("{{ a(0) }}"),
    "macros that call each other": lambda: (
        "{% macro a() %}{{ b() }}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{{ a() }}{% endmacro %}"
        + merge("{{ a() }}")
    ),
    "calls that double": lambda: (
        "{% macro m0() %}x{% endmacro %}"
        + "".join(f"{{% macro m{n}() %}}{{{{ m{n - 1}() }}}}{{{{ m{n - 1}() }}}}{{% endmacro %}}" for n in range(1, 40))
        + merge("{{ m39() }}")
    ),
    "a caller in itself": lambda: (
        "{% macro a() %}{% call a() %}{{ caller() }}{% endcall %}{% endmacro %}" + merge("{{ a() }}")
    ),
    "a huge text": lambda: merge("{{ 'x' * 10**10 }}"),
    "a text that doubles": lambda: merge(_DOUBLING),
    "a list that doubles": lambda: merge(
        "{% set l = [1] * 1000 %}" + "{% set l = l + l %}" * 40 + "{{ l | length }} = t.id"
    ),
    "a large power": lambda: merge("t.id = {{ 9 ** 9 ** 9 }}"),
    "a large power bit by bit": lambda: merge(
        "{% set ns = namespace(x=9) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}t.id = {{ ns.x }}"
    ),
    "a large number as text": lambda: merge("t.id = {{ 10 ** 20000 }}"),
    "padding by format": lambda: merge("{{ '%0999999999d' % 1 }} = t.id"),
    "padding by the filter": lambda: merge("{{ '%0999999999d' | format(1) }} = t.id"),
    "padding by str.format": lambda: merge("{{ '{:999999999}'.format(1) }} = t.id"),
    "padding by center": lambda: merge("{{ 'x' | center(10**10) }} = t.id"),
    "padding by ljust": lambda: merge("{{ 'x'.ljust(10**10) }} = t.id"),
    "padding by indent": lambda: merge("{{ ('x\n' * 1000) | indent(10**8) }} = t.id"),
    "a text of replacements": lambda: merge("{{ ('x' * 100000).replace('x', 'y' * 100000) }} = t.id"),
    "batches that are filled": lambda: merge("{{ [1] | batch(10**10, 0) | list }} = t.id"),
    "slices": lambda: merge("{{ [1] | slice(10**9) | list | length }} = t.id"),
    "blocks in blocks": lambda: merge("{% if true %}" * 2_000 + "t.id = s.id" + "{% endif %}" * 2_000),
    "loops in loops, deep": lambda: merge("{% for i in [1] %}" * 500 + "t.id = s.id" + "{% endfor %}" * 500),
    "brackets in an expression": lambda: merge("t.id = {{ " + nested(2_000, "1") + " }}"),
    "lists in lists": lambda: merge("t.id = {{ " + nested(2_000, "1", "[", "]") + " }}"),
    "NOT in an expression": lambda: merge("t.id = {{ " + "not " * 2_000 + "1 }}"),
    "additions in an expression": lambda: merge("t.id = {{ " + joined(5_000, "#", " + ") + " }}"),
    "filters in a row": lambda: merge("t.id = {{ 'a' " + "| upper " * 5_000 + "}}"),
    "attributes in a row": lambda: merge("t.id = {{ this" + ".name" * 5_000 + " }}"),
    "many expressions": lambda: merge("t.id = s.id" + "{{ '' }}" * 20_000),
    "many undefined names": lambda: merge(joined(2_000, "t.c# = {{ nothing_# }}", " and ")),
    "many refs": lambda: merge(joined(2_000, "t.id = {{ ref('no_#') }}", " and ")),
    "a ref to itself": lambda: merge(source="{{ ref('m') }} as s"),
    "a macro called like the SQL": lambda: "{% macro merge() %}merge{% endmacro %}{{ merge() }}" + merge()[5:],
    "an expression without end": lambda: merge("t.id = {{ this"),
    "a block without end": lambda: merge("{% if true %} t.id = s.id"),
    "a comment without end": lambda: merge("{# t.id = s.id"),
    "a raw block without end": lambda: merge("{% raw %} t.id = s.id"),
    "opening braces": lambda: "{{" * 50_000,
    "opening tags": lambda: "{%" * 50_000,
    "comments in Jinja": lambda: merge("t.id = s.id" + "{# x #}" * 20_000),
    "a string with braces": lambda: merge("t.id = s.id and t.name = '{{ \"}}\" }}' and t.x = '{{{{'"),
    "texts kept in a list": lambda: (
        "{% set l = [] %}{% for i in range(9999) %}{% do l.append('x' * 9999999) %}{% endfor %}" + merge()
    ),
    "a filter mapped over a range": lambda: merge("{{ range(99999) | map('center', 9999999) | list | length }} = t.id"),
    "a join by a long text": lambda: merge("{{ range(99999) | join('x' * 999999) | length }} = t.id"),
    "JSON indented": lambda: merge("{{ [1, 2] | tojson(9999999999) | length }} = t.id"),
    "wrapping by a long text": lambda: merge(
        "{{ ('x ' * 99999) | wordwrap(1, wrapstring='y' * 999999) | length }} = 1"
    ),
    "the sandbox's walls": lambda: merge("t.id = {{ ''.__class__.__mro__[1].__subclasses__() }}"),
    "an import": lambda: merge("t.id = {% include '/etc/passwd' %}{% import 'os' as os %}"),
    "config that is not one": lambda: "{{ config(1, *[2], **{'3': 4}) }}{{ config(bounds=this) }}" + merge(),
    "config of a huge text": lambda: "{{ config(meta={'x': 'y' * 10**10}) }}" + merge(),
    "config in a loop": lambda: "{% for i in range(20000) %}{{ config(tags=['x' ~ i]) }}{% endfor %}" + merge(),
    "logs": lambda: "{% for i in range(5000) %}{{ log('x' * 1000, true) }}{% endfor %}" + merge(),
    "a regex that never ends": lambda: merge("{{ ('a' * 5000 ~ '!') | striptags | wordwrap(1) | urlize }} = t.id"),
}
"""Models whose Jinja is the trouble."""

MODEL = merge(source="{{ source('raw', 's') }} as s")
SOURCES = "sources:\n  - {name: raw, tables: [{name: s, columns: [{name: id, data_type: bigint}]}]}\n"


def _described(columns: str) -> Files:
    return {"models/m.sql": MODEL, "models/m.yml": f"{SOURCES}models:\n  - name: m\n    columns:{columns}\n"}


def _bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    return "\n".join(lines) + "\n"


PROJECTS: dict[str, Callable[[], Files]] = {
    "aliases that multiply": lambda: {"models/m.sql": MODEL, "models/m.yml": SOURCES + _bomb()},
    "an alias of itself": lambda: {"models/m.sql": MODEL, "models/m.yml": SOURCES + "models: &a [*a]\n"},
    "merges of merges": lambda: {
        "models/m.sql": MODEL,
        "models/m.yml": SOURCES + "a: &a {x: 1}\n" + joined(2_000, "b#: {<<: *a}", "\n"),
    },
    "deep YAML in brackets": lambda: {
        "models/m.sql": MODEL,
        "models/m.yml": SOURCES + "models: " + nested(10_000, "", "[", "]"),
    },
    "deep YAML in braces": lambda: {"models/m.sql": MODEL, "models/m.yml": "{a: " * 10_000 + "}" * 10_000},
    "deep YAML by indentation": lambda: {
        "models/m.sql": MODEL,
        "models/m.yml": "".join(" " * depth + "a:\n" for depth in range(2_000)),
    },
    "open YAML": lambda: {"models/m.sql": MODEL, "models/m.yml": "[" * 10_000},
    "a list on one line": lambda: {"models/m.sql": MODEL, "models/m.yml": SOURCES + "models:\n" + "- " * 10_000},
    "a long key": lambda: {"models/m.sql": MODEL, "models/m.yml": SOURCES + f"{'x' * 100_000}: 1\n"},
    "YAML with a tag": lambda: {
        "models/m.sql": MODEL,
        "models/m.yml": "models: !!python/object/apply:os.system ['true']\n",
    },
    "YAML with tabs": lambda: {"models/m.sql": MODEL, "models/m.yml": "models:\n\t- name: m\n"},
    "YAML with NUL": lambda: {"models/m.sql": MODEL, "models/m.yml": "models:\0\n"},
    "binary YAML": lambda: {"models/m.sql": MODEL, "models/m.yml": bytes(range(256)) * 40},
    "empty YAML": lambda: {"models/m.sql": MODEL, "models/m.yml": "", "models/n.yml": "---\n", "models/o.yml": "# x\n"},
    "Jinja without end in YAML": lambda: {
        "models/m.sql": MODEL,
        "models/m.yml": SOURCES + "models: [{name: m, description: '{% for i in range(10**9) %}x{% endfor %}'}]\n",
    },
    "columns": lambda: _described(
        joined(10_000, "\n      - {name: c#, data_type: string, data_tests: [not_null]}", "")
    ),
    "the same column": lambda: _described("\n      - {name: ID, data_type: bigint}" * 500),
    "columns with odd names": lambda: _described(
        "\n      - {name: '🦊', data_type: string}\n      - {name: 'a`b', data_type: int}\n"
        "      - {name: 'x y\"', data_type: string}\n      - {name: '', data_type: string}\n      - {name: null}"
    ),
    "types that there are not": lambda: _described(
        "\n      - {name: id, data_type: 'decimal(99999999999, -5)'}\n      - {name: dt, data_type: 'array<'}"
        f"\n      - {{name: a, data_type: '{nested(2_000, 'int', 'array<', '>')}'}}"
        f"\n      - {{name: b, data_type: '{'struct<a:' * 20}'}}\n      - {{name: c, data_type: ''}}"
        "\n      - {name: d, data_type: 'int); drop table x'}\n      - {name: e, data_type: [1]}"
    ),
    "a partition column that there is not": lambda: {
        **_described("\n      - {name: id, data_type: bigint}"),
        "models/m.sql": "{{ config(partition_by=['nothing', 'days(', 'bucket(0, id)', 'ID', 'id', ''], cluster_by=[7]) }}"
        + MODEL,
    },
    "a generated column that is not one": lambda: _described(
        "\n      - {name: dt, data_type: date, constraints: [{type: custom, expression: 'generated always as ((('}]}"
        f"\n      - {{name: e, data_type: date, constraints: [{{type: custom, expression: '{nested(2_000, 'id')}'}}]}}"
    ),
    "models called like keywords": lambda: {
        "models/sources.yml": SOURCES,
        **{
            f"models/{name}.sql": MODEL for name in ("merge", "select", "using", "on", "null", "true", "this", "t", "s")
        },
    },
    "models that cannot be named": lambda: {
        "models/sources.yml": SOURCES,
        **{f"models/{name}.sql": MODEL for name in ("🦊", "a b", "a.b", "1a", "it's", "-x", "{{ x }}", "'", "`")},
    },
    "a view of itself": lambda: {"models/m.sql": "select * from {{ ref('m') }}"},
    "views in a circle": lambda: {
        "models/a.sql": "select * from {{ ref('b') }}",
        "models/b.sql": "select * from {{ ref('a') }}",
        "models/m.sql": merge(source="{{ ref('a') }} as s"),
    },
    "ephemeral models in a circle": lambda: {
        "models/a.sql": "{{ config(materialized='ephemeral') }}select * from {{ ref('b') }}",
        "models/b.sql": "{{ config(materialized='ephemeral') }}select * from {{ ref('a') }}",
        "models/m.sql": merge(source="{{ ref('a') }} as s"),
    },
    "a long chain of views": lambda: {
        "models/v0.sql": "select 1 as id, date'2024-01-01' as dt",
        **{f"models/v{n}.sql": f"select * from {{{{ ref('v{n - 1}') }}}}" for n in range(1, 300)},
        "models/m.sql": merge(source="{{ ref('v299') }} as s"),
    },
    "ephemeral models that double": lambda: {
        "models/v0.sql": "{{ config(materialized='ephemeral') }}select 1 as id, date'2024-01-01' as dt",
        **{
            f"models/v{n}.sql": "{{ config(materialized='ephemeral') }}" + _twice(f"{{{{ ref('v{n - 1}') }}}}")
            for n in range(1, 40)
        },
        "models/m.sql": merge(source="{{ ref('v39') }} as s"),
    },
    "views that double": lambda: {
        "models/v0.sql": "select 1 as id, date'2024-01-01' as dt",
        **{f"models/v{n}.sql": _twice(f"{{{{ ref('v{n - 1}') }}}}") for n in range(1, 40)},
        "models/m.sql": merge(source="{{ ref('v39') }} as s"),
    },
    "models that merge into each other's tables": lambda: {
        "models/sources.yml": SOURCES,
        **{f"models/m{n}.sql": "{{ config(alias='one') }}" + MODEL for n in range(30)},
    },
    "a macro without end": lambda: {
        "models/m.sql": MODEL,
        "models/sources.yml": SOURCES,
        "macros/a.sql": "{% macro a() %}",
    },
    "a macro file of anything": lambda: {
        "models/m.sql": MODEL,
        "models/sources.yml": SOURCES,
        "macros/a.sql": "\0{{ }} {% macro %}",
        "macros/b.sql": "{% for i in range(10**9) %}{% endfor %}{% macro b() %}{% endmacro %}",
    },
    "settings of anything": lambda: {
        "models/m.sql": MODEL,
        "models/sources.yml": SOURCES,
        "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.lint]\nselect = [1, "NOPE", "P"]\n'
        'severity = {P001 = "fatal", Q = 1}\nper-path-ignores = {"[" = ["P001"], "**" = 3}\nbaseline = "/dev/null"\n',
    },
    "a profile that is not one": lambda: {
        "models/m.sql": MODEL,
        "models/sources.yml": SOURCES,
        "profiles.yml": "[" * 500,
    },
    "a schema of odd letters": lambda: {
        "models/m.sql": MODEL,
        "models/sources.yml": SOURCES,
        "profiles.yml": 'shop: {outputs: {dev: {schema: "a`b\'\\u0001🦊"}}}\n',
    },
    "an empty project": lambda: {"models/x.txt": ""},
    "empty models": lambda: {"models/m.sql": "", "models/n.sql": " \n\t", "models/o.sql": "-- x", "models/p.sql": ";"},
    "a test of anything": lambda: {
        "models/m.sql": MODEL,
        "models/sources.yml": SOURCES,
        "tests/x.sql": nested(2_000, "{{"),
    },
}
"""Projects whose files together are the trouble."""


def _link(path: Path, target: Path) -> None:
    path.symlink_to(target)


def _write(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content) and None


def _unreadable(path: Path) -> None:
    path.write_text(MODEL)
    path.chmod(0)


_PLAIN = "merge into t using s on t.id = s.id when matched then delete\n"

ODD_FILES: dict[str, Callable[[Path], None]] = {
    "binary": _write(bytes(range(256)) * 400),
    "random bytes as text": _write(b"merge into t using s on \xff\xfe\xfd when matched then delete"),
    "UTF-16": _write(_PLAIN.encode("utf-16")),
    "UTF-16 without a mark": _write(_PLAIN.encode("utf-16-le")),
    "UTF-32": _write(_PLAIN.encode("utf-32")),
    "Latin 1": _write(_PLAIN.replace("s on", "été on").encode("latin-1")),
    "byte order mark": _write(b"\xef\xbb\xbf" + _PLAIN.encode()),
    "byte order marks": _write(b"\xef\xbb\xbf" * 3 + _PLAIN.encode()),
    "surrogates": _write(_PLAIN.encode() + b"-- \xed\xa0\x80"),
    "a cut letter": _write(_PLAIN.encode() + b"-- \xf0\x9f"),
    "CR only": _write(_PLAIN.replace(" ", "\r").encode()),
    "CR CR LF": _write(_PLAIN.replace(" ", "\r\r\n").encode()),
    "empty": _write(b""),
    "one NUL": _write(b"\0"),
    "gzip": _write(b"\x1f\x8b\x08\0\0\0\0\0" + os.urandom(1000)),
    "a folder": lambda path: path.mkdir(),
    "a dangling link": lambda path: _link(path, path.parent / "nothing"),
    "a link to itself": lambda path: _link(path, path),
    "a link to its folder": lambda path: _link(path, path.parent),
    "unreadable": _unreadable,
}
"""What a path that ends in .sql may be."""
