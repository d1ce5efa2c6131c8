"""Python values as Spark SQL."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.template.literal import identifier, literal


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "NULL"),
        (True, "true"),
        (0, "0"),
        (-5, "(-5)"),
        (10**37, "1" + "0" * 37),
        (1.5, "1.5D"),
        (-0.25, "(-0.25D)"),
        (1e300, "1e+300D"),
        (Decimal("1.50"), "1.50BD"),
        (Decimal("-1E+3"), "(-1000BD)"),
        (Decimal("0.001"), "0.001BD"),
        (date(2013, 1, 1), "DATE'2013-01-01'"),
        (datetime(2013, 1, 1, 5, 6, 7, 8), "TIMESTAMP'2013-01-01 05:06:07.000008'"),
        (datetime(2013, 1, 1, tzinfo=timezone(timedelta(hours=2))), "TIMESTAMP'2013-01-01 00:00:00+02:00'"),
        ("plain", "'plain'"),
        ("it's", r"'it\'s'"),
        ("a\\b", r"'a\\b'"),
        ("a\nb\0", r"'a\u000ab\u0000'"),
        ("${x} $y", r"'\u0024{x} $y'"),
        ("é🙂", "'é🙂'"),
        ([1, -2, "a", None], "(1, (-2), 'a', NULL)"),
        (("a",), "('a')"),
    ],
)
def test_literal(value: Any, expected: str) -> None:
    assert literal(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, math.inf, -math.inf, Decimal("NaN"), 10**38, Decimal(10) ** -39, Decimal("1" * 39)),
        *([], [[1]], {"a": 1}, object(), b"x", timedelta(1), {1}),
    ],
)
def test_a_value_without_a_literal_is_refused_and_not_shown(value: Any) -> None:
    with pytest.raises(ValueError, match=r"has no SQL literal|have no SQL literal") as caught:
        literal(value)
    assert "1111" not in str(caught.value)


@given(st.text(st.sampled_from("ab'\\\n\r\t\0\"`${}%_u0041\x1f\x7f é")))
def test_spark_reads_back_the_very_text(text: str) -> None:
    # Spark's own order: ${…} is substituted first, then the string ends at the first quote that no backslash escapes.
    quoted = literal(text)
    assert "${" not in quoted
    assert re.fullmatch(r"'(?:[^'\\]|\\.)*'", quoted, re.S)
    unescaped = re.sub(
        r"\\(?:u([0-9a-f]{4})|(.))", lambda m: chr(int(m[1], 16)) if m[1] else m[2], quoted[1:-1], flags=re.S
    )
    assert unescaped == text


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a", "`a`"), ("a.b", "`a.b`"), ("a`b", "`a``b`"), (["c", "s", "t"], "`c`.`s`.`t`"), (("s", "a.b"), "`s`.`a.b`")],
)
def test_identifier(name: Any, expected: str) -> None:
    assert identifier(name) == expected


@pytest.mark.parametrize("name", ["", [], [""], 1, None, "${x}", ["a", ["b"]]])
def test_what_is_no_identifier_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="identifier"):
        identifier(name)


@pytest.mark.spark
def test_spark_reads_literals_and_identifiers_as_they_were_meant(spark: Any) -> None:
    texts = [
        "it's",
        "a\\b",
        "a\nb\r\t",
        "\0001",
        "${x} ${spark.app.name} $y",
        "100%",
        "\\%\\_",
        "\\u0041",
        "é🙂",
        '`"',
        "-- ;",
        "",
    ]
    values = [
        *texts,
        True,
        None,
        0,
        -5,
        2**62,
        1.5,
        0.1,
        -1e-5,
        1e300,
        date(2013, 1, 1),
        Decimal("-1.50"),
        Decimal("0.001"),
    ]
    values += [10**37, Decimal("1" * 38)]
    names = ["select", "a b", "a.b", "a`b", "é", "1"]
    columns = ", ".join(literal(value) for value in values)
    named = ", ".join(f"1 as {identifier(name)}" for name in names)
    row = tuple(spark.sql(f"select {columns}, {named}, 3 - {literal(-2)}, 1 in {literal([1, None])}").first())
    assert row[: len(values)] == tuple(values)
    assert [type(value) for value in row[: len(values) - 2]] == [type(value) for value in values[:-2]]
    assert row[-2:] == (5, True)
    assert spark.sql(f"select {named}").columns == names
    moment = datetime(2013, 1, 1, 5, tzinfo=timezone.utc)
    assert spark.sql(f"select {literal(moment)} = timestamp_seconds({int(moment.timestamp())})").first()[0]
