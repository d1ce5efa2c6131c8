"""Random MERGEs over the probe tables: what people write in ON and WHEN, in many spellings.

A constant lies inside the values of one file as a rule, so that a condition that the engine can use has files to skip.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

SOURCE = "select * from judged.src"
"""Columns id bigint, k int, dt date, ts timestamp, n int; a table, so that nothing is inferred from its rows."""

_TYPES = {
    **{"tiny": "tinyint", "small": "smallint", "k": "int", "one": "int", "gone": "int", "st.a": "int", "n": "int"},
    **{"id": "bigint", "nn": "bigint", "fl": "float", "db": "double", "de": "decimal", "b": "bigint", "tn": "int"},
    **{"s": "text", "v": "text", "digits": "digits", "vdigits": "digits", "st.b": "digits", "differ": "long"},
    **{"same": "long", "day_text": "day_text", "vday": "day_text", "yes_no": "boolean_text", "region": "region"},
    **{"dt": "date", "day": "date", "ts": "moment", "ntz": "moment", "p_ts": "moment", "i_s": "text", "bs": "text"},
    **{"y": "moment", "mo": "moment", "d": "moment", "h": "moment", "tr": "text", "flag": "boolean", "bin": "binary"},
    **{"open": "boolean", "arr": "array", "m": "map", "c1": "int", "c2": "int", "c3": "int"},
}
"""What kind of constants the columns are compared with."""

COLUMNS = {
    "data": [
        *("id", "nn", "flag", "tiny", "small", "k", "fl", "db", "de", "s", "v", "bin", "dt", "ts", "ntz", "day", "arr"),
        *("m", "st.a", "st.b", "same", "differ", "digits", "vdigits", "day_text", "vday", "yes_no", "one", "gone"),
    ],
    "parts": ["id", "k", "dt", "ts", "region", "n", "open", "p_ts"],
    "hidden": ["id", "i_s", "y", "mo", "d", "h", "b", "bs", "tr", "tn"],
    "two_indexed": ["c1", "c2", "c3"],
    "counts": ["id", "k", "gone"],
}
_PARTITIONS = {"parts": ["dt", "region", "n", "open", "p_ts"]}
_TABLES = {
    "delta": ["data"] * 6 + ["parts"] * 4 + ["two_indexed"],
    "iceberg": ["data"] * 5 + ["parts"] * 3 + ["hidden"] * 3 + ["counts"],
}
TABLES = {form: sorted(set(tables)) for form, tables in _TABLES.items()}
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_COMPARISONS = ["=", "=", "=", "==", "<=>", "<", "<=", ">", ">=", ">=", "<>", "!="]
_IN_SOURCE = {"id", "k", "dt", "ts", "n"}


NESTED = "array, struct, CASE or IF of values"
"""A kind of predicate."""


@dataclass(frozen=True)
class RandomMerge:
    """A MERGE into a probe table, as t, from SOURCE, as s; `kinds` are the kinds of predicate in its ON."""

    form: str
    table: str
    on: str
    clauses: str
    kinds: frozenset[str]
    drawn: tuple[str, int, int]

    @property
    def arguments(self) -> tuple[str, str, str, str]:
        """What a measurement needs."""
        return self.table, self.on, self.clauses, SOURCE


def random_merges(form: str, seed: int, number: int) -> list[RandomMerge]:
    """Return random MERGEs into tables of a format, the same ones for the same seed."""
    return [_Generator((form, seed, at)).merge() for at in range(number)]


def with_other_constants(merge: RandomMerge, number: int) -> list[RandomMerge]:
    """Return MERGEs of the same shape, whose constants are those of other rows."""
    return [_Generator(merge.drawn, other).merge() for other in range(1, number + 1)]


class _Generator:
    def __init__(self, drawn: tuple[str, int, int], constants: int = 0) -> None:
        form, seed, at = drawn
        self.form = form
        self.drawn = drawn
        self.random = Random(f"{form} {seed} {at}")
        """Draws the shape: everything but the rows whose values the constants are."""
        self.rows = Random(f"{form} {seed} {at} {constants}")
        self.kinds: set[str] = set()
        self.table = self.random.choice(_TABLES[form])
        self.plain = False
        """Whether a condition stands by itself, so that it may also be one that is true for no row.

        Inside others, the engines fold such a condition and what is around it, which the judge does not follow.
        """

    def merge(self) -> RandomMerge:
        depths = [self.random.choice([0, 0, 0, 1, 1, 2]) for _ in range(self.count())]
        self.plain = depths == [0]
        on = " and ".join(self.condition(depth) for depth in depths)
        self.plain = False
        kinds = frozenset(self.kinds)
        return RandomMerge(self.form, self.table, on, self.clauses(), kinds, self.drawn)

    def count(self) -> int:
        return self.random.choice([1, 1, 1, 1, 2, 2, 3, 4])

    def clauses(self) -> str:
        key = "c1" if self.table == "two_indexed" else "id"
        names, values = ("id, nn", "s.id, s.id") if self.table == "data" else (key, "s.id")
        insert = f"when not matched then insert ({names}) values ({values})"
        update, delete = f"update set {key} = s.id", "delete"
        roll = self.random.random()
        if roll < 0.2:
            return insert
        if roll < 0.55:
            return f"when matched then {self.random.choice([update, delete])}"
        if roll < 0.7:
            return f"when matched and {self.condition(1)} then {delete}"
        if roll < 0.8:
            return (
                f"when matched and {self.condition(1)} then {delete} when matched and {self.condition(0)} then {update}"
            )
        if roll < 0.9 or self.form == "delta":  # Delta meets BY SOURCE when it runs only
            return f"when matched then {update} {insert}"
        return f"when matched then {update} when not matched by source and {self.leaf()} then delete"

    # Conditions

    def condition(self, depth: int) -> str:
        if depth == 0:
            return self.leaf()
        one, other = self.condition(depth - 1), self.condition(depth - 1)
        kind, combined = self.random.choice(
            [
                ("or", lambda: f"({one} or {other})"),
                ("or", lambda: f"({one} or {other})"),
                ("or", lambda: f"({one} and {other} or {self.leaf()})"),
                ("or", lambda: f"(({one} and {other}) or ({one} and {self.leaf()}))"),
                ("or", lambda: f"({one} or ({other} and {self.leaf()}) or {self.leaf()})"),
                ("not", lambda: f"not ({one} and {other})"),
                ("not", lambda: f"not ({one} or {other})"),
                ("not", lambda: f"not ({one})"),
                ("not", lambda: f"not {one}"),
                ("and", lambda: f"({one} and ({other}))"),
                ("compared with true or false", lambda: f"({one}) = true"),
                ("compared with true or false", lambda: f"({one}) is true"),
                ("compared with true or false", lambda: f"({one}) = false"),
                ("compared with true or false", lambda: f"({one}) is not false"),
                ("compared with true or false", lambda: f"({one}) <=> true"),
                ("coalesce of a condition", lambda: f"coalesce({one}, false)"),
                ("case of conditions", lambda: self.case(one)),
                ("or", lambda: f"({one} or {self.truth()})"),
                ("and", lambda: f"({one} and {self.truth()})"),
                ("or", lambda: f"(({one}) or ({one}))"),
            ]
        )
        self.kinds.add(kind)
        return combined()

    def case(self, condition: str) -> str:
        """A CASE of a condition; none inside another, which Spark 4.1.4 translates for Iceberg without end."""
        if re.search(r"\b(case|coalesce|if|nvl)\b", condition):
            return f"({condition})"
        return f"case when {condition} then true else false end"

    def leaf(self) -> str:
        roll = self.random.random()
        for limit, kind, other in (
            (0.05, "join", self.join),
            (0.08, "condition of the source", self.source_only),
            (0.11, "two columns of the target", self.columns),
            (0.13, "constant", self.truth),
        ):
            if roll < limit:
                self.kinds.add(kind)
                return other()
        if roll < 0.18 and self.form == "iceberg" and self.table in ("hidden", "data"):
            self.kinds.add("Iceberg transform")
            return self.transform()
        if self.random.random() < 0.05:
            self.kinds.add(NESTED)
            return self.nested()
        return self.of_column(self.random.choice(COLUMNS[self.table]), roll)

    def of_column(self, name: str, roll: float) -> str:
        """A condition on one column; `roll` says of which kind."""
        kind = _TYPES[name]
        shown = self.shown(name)
        if roll < 0.24:
            self.kinds.add("null test")
            return self.null_question(shown, kind)
        if kind == "boolean" and roll < 0.6:
            self.kinds.add("boolean column")
            tests = ["", " is true", " is false", " is not true", " is not false", " = true", " <> true", " <=> false"]
            return self.random.choice(["", "not "]) + shown + self.random.choice(tests)
        if kind in ("text", "digits", "long", "region", "day_text") and roll < 0.45:
            self.kinds.add("LIKE and its kin")
            return self.like(shown, kind)
        if kind in ("array", "map"):
            self.kinds.add("element of an array or a map")
        if kind == "array":
            return self.random.choice([f"array_contains({shown}, 120)", f"{shown}[0] = 120", f"size({shown}) > 1"])
        if kind == "map":
            return f"{shown}['a'] = 120"
        left, kind = self.wrapped(shown, kind, name)
        self.plain = self.plain and left == shown
        within = "" if left == shown else ": cast" if "::" in left or "cast(" in left else ": function or arithmetic"
        self.kinds.add(("IN" if roll < 0.62 else "BETWEEN" if roll < 0.7 else "comparison") + within)
        if roll < 0.62:
            values = self.values(kind, self.random.choice([1, 1, 2, 2, 3, 12]))
            return f"{left} {self.random.choice(['in', 'in', 'not in'])} ({', '.join(values)})"
        if roll < 0.7:
            low, more = self.rows.randrange(30, 180), self.rows.randrange(40)
            ends = self.constant(kind, low), self.constant(kind, low + more)
            return f"{left} {self.random.choice(['between', 'between', 'not between'])} {ends[0]} and {ends[1]}"
        right, operator = self.constant(kind), self.random.choice(_COMPARISONS)
        if self.random.random() < 0.06:
            return f"equal_null({left}, {right})"
        return f"{right} {operator} {left}" if self.random.random() < 0.2 else f"{left} {operator} {right}"

    def nested(self) -> str:
        """A comparison with a value that is put together of columns, or chosen among them."""
        numbers = [name for name in COLUMNS[self.table] if _TYPES[name] in ("int", "bigint") and name != "gone"]
        one, other = (f"t.{self.random.choice(numbers)}" for _ in range(2))
        value, more = (str(self.rows.randrange(30, 210)) for _ in range(2))
        return self.random.choice(
            [
                f"array({one}, {other})[0] = {value}",
                f"element_at(array({one}, {other}), 1) >= {value}",
                f"named_struct('a', {one}).a = {value}",
                f"map('a', {one})['a'] = {value}",
                f"({one}, {other}) = ({value}, {value})",
                f"({one}, {other}) in (({value}, {value}), ({more}, {more}))",
                f"if(true, {one}, {other}) = {value}",
                f"if(1 > 2, {one} = {value}, {other} = {more})",
                f"if({one} > {value}, {other}, null) = {more}",
                f"case when false then {one} else {other} end = {value}",
                f"case when 1 = 1 then {one} = {value} else {other} = {more} end",
                f"case when {one} >= {value} then 1 else 0 end = 1",
                f"case {one} when {value} then 'a' else 'b' end = 'a'",
                f"case when {one} > {value} then false else {other} = {more} end",
                f"nullif({one}, {value}) = {more}",
                f"least({one}, {other}) >= {value}",
                f"hash({one}) % 8 = 3",
                f"pmod({one}, 10) = 7",
                f"exists(array({one}, {other}), x -> x = {value})",
            ]
        )

    def shown(self, name: str) -> str:
        roll = self.random.random()
        if roll < 0.08 and name not in _IN_SOURCE:
            return name
        if roll < 0.13:
            return f"T.{name.upper()}"
        if roll < 0.16:
            return "t." + ".".join(f"`{part}`" for part in name.split("."))
        return f"(t.{name})" if roll < 0.19 else f"t.{name}"

    def truth(self) -> str:
        never = ["null = 1", "cast(null as boolean)"] if self.plain else []
        return self.random.choice(["1 = 1", "true", "false", "1 = 0", "1 > 2", "'a' = 'a'", "1 < 2", *never])

    def join(self) -> str:
        key = "c1" if self.table == "two_indexed" else "id"
        return self.random.choice(
            [
                *(f"t.{key} = s.id", f"t.{key} = s.id", f"s.id = t.{key}", f"t.{key} <=> s.id", f"t.{key} <= s.id"),
                f"abs(t.{key}) = s.id",
                f"t.{key} = s.id + 1",
                f"t.{key} between s.id and s.id + 5",
                f"t.{key} in (s.id, 5)",
                f"coalesce(t.{key}, -1) = coalesce(s.id, -1)",
            ]
        )

    def source_only(self) -> str:
        return self.random.choice(
            ["s.id > 5", "s.k = 100", "s.dt >= date'2020-06-01'", "s.n is not null", "s.id = 100"]
        )

    def columns(self) -> str:
        one, other = self.random.choice(COLUMNS[self.table]), self.random.choice(COLUMNS[self.table])
        if self.random.random() < 0.5 or one in ("arr", "m"):
            one = other = "c2" if self.table == "two_indexed" else "id"
        return f"t.{one} {self.random.choice(_COMPARISONS)} t.{other}"

    def null_question(self, shown: str, kind: str) -> str:
        asked = self.random.choice(["is null", "is null", "is not null", "<=> null", "isnull", "isnotnull"])
        if self.plain and self.random.random() < 0.1:
            asked = "= null"
        if self.random.random() < 0.2 and kind in _NUMBERS:
            shown = self.random.choice([f"cast({shown} as string)", f"{shown} + 1"])
        return f"{asked}({shown})" if asked.startswith("isn") else f"{shown} {asked}"

    def like(self, shown: str, kind: str) -> str:
        stem = {"text": "v", "digits": "1", "long": "5", "region": "nor", "day_text": "202"}[kind]
        digit = self.rows.randrange(1, 9) if kind in ("text", "digits", "day_text") else ""
        stem = f"{stem}{digit}" if self.random.random() < 0.8 else stem
        forms = [f"'{stem}%'", f"'{stem}%'", f"'{stem}%3'", f"'{stem}23'", f"'%{stem}'", f"'%{stem}%'", f"'{stem}_'"]
        forms += ["'%'", "'%%'", f"'{stem}_%'", f"'{stem}%%'", "''", f"'{stem}%3%'", f"all ('{stem}%', '%3')"]
        forms += [f"any ('{stem}%', '{stem}23')", f"any ('{stem}%', '%3')", f"concat('{stem}', '%')"]
        roll = self.random.random()
        if roll < 0.15:
            call = self.random.choice(["startswith", "endswith", "contains"])
            return f"{self.random.choice(['', 'not '])}{call}({shown}, '{stem}')"
        if roll < 0.2:
            return f"{shown} {self.random.choice(['rlike', 'ilike', 'not rlike'])} '{stem}.*'"
        return f"{shown} {self.random.choice(['like', 'like', 'not like'])} {self.random.choice(forms)}"

    def transform(self) -> str:
        if self.table == "data":
            forms = [
                "years(t.ts) = 50",
                "days(t.ts) >= date'2020-06-01'",
                "truncate(10, t.k) = 120",
                "bucket(8, t.id) = 3",
            ]
            forms += [
                "truncate(3, t.s) = 'v12'",
                "hours(t.ts) < 442000",
                "months(t.dt) = 605",
                "days(t.ts) is not null",
            ]
        else:
            forms = [
                "days(t.d) = date'2020-06-01'",
                "bucket(8, t.b) = 3",
                "bucket(4, t.b) = 3",
                "years(t.y) in (49, 50)",
            ]
            forms += [
                "truncate(2, t.tr) = 'v5'",
                "truncate(100, t.tn) >= 500",
                "hours(t.h) < 438293",
                "months(t.mo) <> 605",
            ]
            forms += ["bucket(8, t.bs) <> 3", "bucket(8, t.b) >= 3", "years(t.y) between 48 and 50", "years(t.d) = 50"]
        return f"ice.system.{self.random.choice(forms)}"

    # What stands around a column

    def wrapped(self, shown: str, kind: str, name: str) -> tuple[str, str]:
        """An expression of the column, and the kind of what it gives."""
        often = 0.3 if name in _PARTITIONS.get(self.table, ()) else 0.55
        if self.random.random() < often:
            return shown, kind
        choices: list[tuple[str, str]] = []
        if kind in _NUMBERS:
            to = self.random.choice(["bigint", "int", "smallint", "double", "float", "decimal(12,2)", "decimal(20,0)"])
            given = "decimal" if to.startswith("decimal") else to
            choices += [
                (f"cast({shown} as {to})", given),
                (f"{shown}::{to}", given),
                (f"try_cast({shown} as {to})", given),
            ]
            choices += [(f"{given}({shown})", given), (f"cast({shown} as string)", "number_text")]
            choices += [(f"{shown} + 1", kind), (f"{shown} * 2", kind), (f"-{shown}", kind), (f"+{shown}", kind)]
            choices += [(f"abs({shown})", kind), (f"coalesce({shown}, 0)", kind), (f"nvl({shown}, 5)", kind)]
            choices += [(f"coalesce({shown})", kind), (f"round({shown})", kind), (f"{shown} % 200", kind)]
            choices += [(f"floor({shown})", kind), (f"greatest({shown}, 1)", kind)]
        elif kind in ("date", "moment"):
            choices += [(f"to_date({shown})", "date"), (f"date({shown})", "date"), (f"cast({shown} as date)", "date")]
            choices += [(f"{shown}::date", "date"), (f"try_cast({shown} as date)", "date")]
            choices += [(f"cast({shown} as timestamp)", "moment"), (f"timestamp({shown})", "moment")]
            choices += [(f"to_timestamp({shown})", "moment"), (f"cast({shown} as timestamp_ntz)", "moment")]
            choices += [(f"cast({shown} as string)", "day_text"), (f"date_format({shown}, 'yyyy-MM-dd')", "day_text")]
            choices += [
                (f"year({shown})", "year"),
                (f"date_trunc('month', {shown})", "moment"),
                (f"trunc({shown}, 'month')", "date"),
            ]
            choices += [
                (f"date_add({shown}, 1)", "date"),
                (f"{shown} + interval 1 day", kind),
                (f"extract(year from {shown})", "year"),
            ]
            choices += [(f"coalesce({shown}, date'2020-01-01')", kind), (f"last_day({shown})", "date")]
        elif kind == "boolean":
            choices += [(f"cast({shown} as string)", "boolean_text"), (f"coalesce({shown}, false)", kind)]
        else:
            choices += [(f"upper({shown})", kind), (f"trim({shown})", kind), (f"substring({shown}, 1, 3)", kind)]
            choices += [
                (f"cast({shown} as string)", kind),
                (f"{shown}::varchar(30)", kind),
                (f"concat({shown}, 'x')", kind),
            ]
            choices += [(f"coalesce({shown}, '')", kind), (f"left({shown}, 2)", kind), (f"string({shown})", kind)]
            if kind in ("digits", "number_text"):
                choices += [(f"cast({shown} as int)", "int"), (f"{shown}::bigint", "bigint"), (f"int({shown})", "int")]
            if kind == "day_text":
                choices += [
                    (f"to_date({shown})", "date"),
                    (f"cast({shown} as date)", "date"),
                    (f"date({shown})", "date"),
                ]
        return self.random.choice(choices)

    # Constants

    def values(self, kind: str, number: int) -> list[str]:
        first = self.rows.randrange(30, 200)
        spread = self.random.choice([1, 1, 3, 17])
        values = [self.constant(kind, (first + at * spread) % 240) for at in range(number)]
        if self.plain and self.random.random() < 0.12:
            values.append("null")
        return values

    def constant(self, kind: str, at: int | None = None) -> str:
        """A constant for a column of a kind: the value of row `at`, in one of many spellings."""
        if self.plain and self.random.random() < 0.02:
            return self.random.choice(["null", "cast(null as int)", "cast(null as date)"])
        at = self.rows.randrange(30, 210) if at is None else at
        if self.table == "parts" and kind in ("date", "moment", "day_text") and self.rows.random() < 0.5:
            at = 26 * (at // 24)  # the days of partitions
        makers: dict[str, Callable[[int], str]] = {
            "text": self.text,
            "digits": self.digits,
            "number_text": lambda n: f"'{n}'",
            "long": lambda n: self.random.choice(
                [f"concat('{n % 9}', repeat('x', 40))", f"concat(repeat('x', 40), '{n % 9}')"]
            ),
            "day_text": lambda n: self.random.choice([f"'{_day(n)}'", f"'{_day(n)}'", f"date'{_day(n)}'"]),
            "boolean_text": lambda n: self.random.choice(["'true'", "'false'", "true"]),
            "region": lambda n: self.random.choice(["'east'", "'north'", "'west'", "upper('west')", "'o'", "5"]),
            "year": lambda n: str(2015 + n // 24),
            "date": self.day,
            "moment": self.moment,
            "boolean": lambda n: self.random.choice(["true", "false", "'true'", "1 = 1"]),
            "binary": lambda n: self.random.choice(
                [f"X'{f'v{n:03}'.encode().hex()}'", f"'v{n:03}'", f"cast('v{n:03}' as binary)"]
            ),
        }
        return makers[kind](at) if kind in makers else self.number(kind, at)

    def number(self, kind: str, n: int) -> str:
        if kind == "tinyint":
            n //= 2
        if self.table == "parts" and self.random.random() < 0.5:
            n //= 24  # the values of n
        spelled = [f"{n}"] * 8 + [
            f"{n}L",
            f"{n}S",
            f"{n}.0",
            f"{n}.00",
            f"{n}D",
            f"{n}F",
            f"{n}BD",
            f"'{n}'",
            f"{n}e0",
        ]
        spelled += [
            f"cast({n} as bigint)",
            f"cast('{n}' as int)",
            f"{n}::smallint",
            f"bigint({n})",
            f"int('{n}')",
            f"-{n}",
        ]
        spelled += [
            f"{n} + 1",
            f"{n} - 1L",
            f"2 * {n // 2}",
            f"abs(-{n})",
            f"-(-{n})",
            f"coalesce(null, {n})",
            f"+{n}",
            f"({n})",
        ]
        spelled += [
            f"greatest({n}, 1)",
            f"try_cast('{n}' as int)",
        ]
        spelled += [
            f"cast({n} as decimal(10,2))",
            f"cast({n} as decimal(38,0))",
            f"'{n}.0'",
            f"if(true, {n}, 0)",
            "year(date'2020-01-01') - 1900",
        ]
        spelled += [
            f"case when 1 = 1 then {n} end",
            f"round({n}.4)",
            f"{2 * n} / 2",
            f"{n} % 1000",
            f"floor({n}.5)",
            f"length('{'x' * (n % 9)}')",
        ]
        if self.plain:
            spelled += [f"{n}.5", "3000000000", "-40000", "99999999999999999999", "1e30", "300"]
        return self.random.choice(spelled)

    def text(self, n: int) -> str:
        word = f"v{n // 24}" if self.table == "hidden" else f"v{n:03}"
        if self.table == "hidden" and self.random.random() < 0.5:
            word += f"{n % 24:02}"
        spelled = [f"'{word}'"] * 5 + [
            f"concat('v', '{word[1:]}')",
            f"'v' || '{word[1:]}'",
            f"lower('{word.upper()}')",
            f'"{word}"',
        ]
        spelled += [
            f"cast('{word}' as string)",
            f"trim(' {word} ')",
            "''",
            f"substring('{word}xx', 1, {len(word)})",
            f"'{word}'::string",
        ]
        spelled += [
            f"cast('{word}' as varchar(10))",
            f"replace('w{word[1:]}', 'w', 'v')",
            f"'{word} '",
            f"lpad('{word}', 3, 'x')",
        ]
        return self.random.choice(spelled)

    def digits(self, n: int) -> str:
        return self.random.choice(
            [
                f"'{1000 + n}'",
                f"'{n}'",
                f"cast({1000 + n} as string)",
                f"{1000 + n}",
                f"string({1000 + n})",
                f"{1000 + n}L",
            ]
        )

    def day(self, n: int) -> str:
        day = _day(n)
        year, month, number = day.year, day.month, day.day
        spelled = (
            [f"date'{day}'"] * 4 + [f"'{day}'"] * 3 + [f"DATE '{day}'", f"to_date('{day}')", f"cast('{day}' as date)"]
        )
        spelled += [
            f"'{day}'::date",
            f"date('{day}')",
            f"make_date({year}, {month}, {number})",
            f"timestamp'{day} 00:00:00'",
        ]
        spelled += [
            f"date'{day}' + interval 1 day",
            f"date_add(date'{day}', 3)",
            f"date_sub('{day}', 3)",
            f"last_day(date'{day}')",
        ]
        spelled += [
            f"trunc(date'{day}', 'month')",
            f"timestamp_ntz'{day} 00:00:00'",
            f"timestamp'{day} 05:00:00'",
            f"date'{day}' - 1",
        ]
        spelled += [
            f"to_date('{day:%Y%m%d}', 'yyyyMMdd')",
            "current_date() - interval 2500 days",
            "add_months(current_date(), -80)",
        ]
        spelled += [
            "date_sub(current_date(), 2500)",
            "now() - interval 2500 days",
            f"'{year}'",
            f"'{year}-{month}-{number}'",
            f"date'{year}-{month:02}'",
        ]
        spelled += [
            f"try_cast('{day}' as date)",
            f"cast(date'{day}' as timestamp)",
            f"add_months(date'{day}', 1)",
            f"to_timestamp('{day} 00:00:00')",
        ]
        spelled += [
            f"date_trunc('month', timestamp'{day} 01:00:00')",
            f"date'{day}' + interval 5 hours",
            f"cast(timestamp'{day} 01:00:00' as date)",
        ]
        return self.random.choice(spelled)

    def moment(self, n: int) -> str:
        if self.table == "hidden" and self.random.random() < 0.3:
            return f"timestamp'2020-01-01 0{n // 30}:{n % 24:02}:00'"
        at = f"{_day(n)} {self.random.choice(['00:00:00', '05:30:00', '05:30:00.123456'])}"
        spelled = (
            [f"timestamp'{at}'"] * 4
            + [f"'{at}'"] * 2
            + [f"cast('{at}' as timestamp)", f"to_timestamp('{at}')", f"'{at}'::timestamp"]
        )
        spelled += [
            f"timestamp_ntz'{at}'",
            f"cast('{at}' as timestamp_ntz)",
            f"timestamp'{at}' - interval 1 hour",
            "current_timestamp() - interval 2500 days",
        ]
        spelled += [
            f"date_trunc('day', timestamp'{at}')",
            f"timestamp('{at}')",
            f"timestamp'{at}' + interval 1 month",
            f"try_cast('{at}' as timestamp)",
        ]
        spelled += [
            f"timestamp'{at}+02:00'",
            f"'{at}Z'",
            f"timestamp_ltz'{at}'",
            "localtimestamp() - interval 2500 days",
            f"make_timestamp(2020, 5, {1 + n % 24}, 1, 1, 1)",
        ]
        return self.random.choice([*spelled, self.day(n)])


def _day(n: int) -> date:
    """The `dt` of row n."""
    return date(2015 + n // 24, 1 + n // 24, 1) + timedelta(days=n % 24)
