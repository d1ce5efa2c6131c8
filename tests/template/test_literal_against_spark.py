"""`literal` and `identifier` against Spark's own parser: whatever the value, the statement stays what it was."""

from __future__ import annotations

import random
from typing import Any

import pytest

from merge_runner.template.literal import identifier, literal

pytestmark = [pytest.mark.spark, pytest.mark.fuzz("SQL injection")]

TEXTS = 2_000
NAMES = 600
PIECES = [
    *(
        "'",
        "''",
        "\\",
        "\\'",
        '"',
        "`",
        "``",
        ";",
        "--",
        "/*",
        "*/",
        "/*+",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "\0",
        "\x1a",
        "\x7f",
    ),
    *("${", "${x}", "${spark.app.name}", "${env:HOME}", "$", "{", "}", "{{", "%", "_", ":p", "?", "@", "#"),
    *(
        "\\u0027",
        "\\047",
        "\\x27",
        "\\n",
        "\\0",
        "\\Z",
        "\\%",
        "r'",
        'R"',
        "X'00'",
        "u0027",
        "\u2019",
        "\uff07",
        "\u02bc",
    ),
    *(
        " or 1=1",
        "') union select 1 --",
        "' || 'x",
        "); drop table t; --",
        "$$",
        "q'[",
        "é",
        "🦊",
        "\u202e",
        "\u2028",
        "a",
        " ",
    ),
]


def made(seed: int, most: int) -> str:
    draw = random.Random(seed)
    return "".join(draw.choice(PIECES) for _ in range(draw.randint(1, most)))


def test_a_text_is_one_literal_and_reads_as_itself(spark: Any, fuzzed: Any) -> None:
    texts = sorted({made(seed, 8) for seed in range(TEXTS)})
    parser = spark._jsparkSession.sessionState().sqlParser()
    for start in range(0, len(texts), 250):
        some = texts[start : start + 250]
        row = spark.sql(f"select {', '.join(map(literal, some))}").first()
        assert list(row) == some
        # An IN list and a comparison keep their shape: Spark's parser reads them back as one filter over one table.
        condition = " and ".join(f"c <> {literal(text)}" for text in some[:20])
        plan = parser.parsePlan(f"select c from t where {condition} and c in {literal(some[:20])}").toString()
        assert plan.count("UnresolvedRelation") == 1
        assert "Union" not in plan
    fuzzed(len(texts))


def test_a_name_is_one_identifier_and_reads_as_itself(spark: Any, fuzzed: Any) -> None:
    names = sorted({made(seed, 6) for seed in range(NAMES)})
    quoted = {}
    for name in names:
        try:
            quoted[name] = identifier(name)
        except ValueError:
            assert "${" in name
    parser = spark._jsparkSession.sessionState().sqlParser()
    for name, text in quoted.items():
        parts = parser.parseMultipartIdentifier(text)
        assert [parts.apply(at) for at in range(parts.size())] == [name]
    some = list(quoted)[:200]
    unique = {name.casefold(): name for name in some}.values()
    assert spark.sql(f"select {', '.join(f'1 as {quoted[name]}' for name in unique)}").columns == list(unique)
    fuzzed(len(names))
