"""What a comparison has to find, in plain Python; and random tables to compare."""

import math
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

TYPES = {
    "k": "int",
    "name": "string",
    "amount": "double",
    "price": "decimal(12,3)",
    "ratio": "float",
    "day": "date",
    "at": "timestamp",
    "flag": "boolean",
    "raw": "binary",
    "list": "array<double>",
    "pair": "struct<a:int,b:array<double>>",
    "map": "map<string,double>",
    "deep": "array<struct<m:map<string,double>,s:string>>",
}
_DOUBLES = (0.0, -0.0, math.nan, 1.5, 1.5000001, math.inf, -math.inf, None)


def random_row(random, columns):
    """Return values for the columns: few different ones, so that rows are often equal or almost."""
    return tuple(_value(random, TYPES[column]) for column in columns)


def _value(random, kind):
    if random.random() < 0.15:
        return None
    choices = {
        "int": lambda: random.randint(0, 3),
        "string": lambda: random.choice(["a", "A", "b", "", "ä", "a "]),
        "double": lambda: random.choice(_DOUBLES),
        "float": lambda: random.choice([0.0, -0.0, 0.5, math.nan]),
        "decimal(12,3)": lambda: random.choice([Decimal("1.000"), Decimal("1.001"), Decimal("-0.000")]),
        "date": lambda: date(2024, 1, 1) + timedelta(random.randint(0, 2)),
        "timestamp": lambda: datetime(2024, 1, 1, 0, 0, 0, random.randint(0, 2), tzinfo=timezone.utc),
        "boolean": lambda: random.random() < 0.5,
        "binary": lambda: random.choice([b"", b"\0", b"\xff"]),
        "array<double>": lambda: [random.choice(_DOUBLES) for _ in range(random.randint(0, 2))],
        "struct<a:int,b:array<double>>": lambda: (_value(random, "int"), _value(random, "array<double>")),
        "map<string,double>": lambda: {
            key: random.choice(_DOUBLES) for key in random.sample("xyz", random.randint(0, 3))
        },
        "array<struct<m:map<string,double>,s:string>>": lambda: [
            (_value(random, "map<string,double>"), _value(random, "string")) for _ in range(random.randint(0, 2))
        ],
    }
    return choices[kind]()


def normal(value):
    """Return a value that is equal to another one's where the two are stored as equal values."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return ("map", tuple(sorted((key, normal(item)) for key, item in value.items())))
    if isinstance(value, (list, tuple)):
        return tuple(map(normal, value))
    return bytes(value) if isinstance(value, bytearray) else value


def expected(left, right, key, folded=(), tolerance=0.0, fractional=()):
    """Return what differs between two lists of rows: rows of one side alone, changed keys, and columns of these.

    `key`, `folded` and `fractional` are places: of the key, of its texts whose case does not matter, and of floats.
    """
    sides = [Counter(map(normal, rows)) for rows in (left, right)]
    unequal = [sides[0] - sides[1], sides[1] - sides[0]]
    if not key:
        return sum(unequal[0].values()), sum(unequal[1].values()), 0, {}
    by_key = defaultdict(lambda: ([], []))
    for side, rows in enumerate(unequal):
        for row in rows.elements():
            folded_key = tuple(row[at].lower() if at in folded and row[at] is not None else row[at] for at in key)
            by_key[folded_key][side].append(row)
    only_left = only_right = changed = 0
    columns = Counter()
    for rows in by_key.values():
        if len(rows[0]) == len(rows[1]) == 1:
            differing = [
                at
                for at, (one, other) in enumerate(zip(rows[0][0], rows[1][0], strict=True))
                if one != other and not (at in fractional and _is_near(one, other, tolerance))
            ]
            changed += bool(differing)
            columns.update(differing)
        else:
            only_left, only_right = only_left + len(rows[0]), only_right + len(rows[1])
    return only_left, only_right, changed, dict(columns)


def _is_near(one, other, tolerance):
    return isinstance(one, float) and isinstance(other, float) and abs(one - other) <= tolerance
