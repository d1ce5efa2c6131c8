"""Random MERGEs of the shapes that people write: keys, versions, `*`, deletes by a flag, rows the source has lost."""

from __future__ import annotations

from random import Random

from tests.oracle.expression import Call, Column, Literal
from tests.oracle.generate import COLUMNS, Generator
from tests.oracle.merge import Clause, Delete, Insert, Merge, Update

KEY = Call("=", (Column("t", "id"), Column("s", "id")))
VERSION = Call(">", (Column("s", "n"), Column("t", "n")))
VALUES = {name: Column("s", name) for name in COLUMNS}


def usual(random: Random) -> Merge:
    """A MERGE of one of these shapes."""
    make = Generator(random)

    def assignments(least):
        names = random.sample(list(COLUMNS), k=random.randint(least, len(COLUMNS)))
        odd = random.random() < 0.4
        return tuple((name, of_target(name) if odd and name in "nm" else VALUES[name]) for name in names)

    def of_target(name):
        own = Column("t", random.choice("nm"))
        first = [(own, VALUES[name]), (VALUES[name], own)]
        return own if random.random() < 0.3 else Call("coalesce", random.choice(first))

    def condition(sides):
        return random.choice(
            [None, VERSION if "t" in sides else None, make.condition(sides, 1), make.condition(("s",), 0)]
        )

    def update():
        return Update(None if random.random() < 0.5 else assignments(1))

    on = [KEY, *([Call("=", (Column("t", "d"), Column("s", "d")))] if random.random() < 0.4 else [])]
    if random.random() < 0.3:
        on.append(make.condition(random.choice([("t",), ("s",)]), 0))
    clauses = []
    for number in range(random.choice([0, 1, 1, 1, 2])):
        action = update() if number or random.random() < 0.7 else Delete()
        clauses.append(Clause("matched", condition(("s", "t")), action))
    if random.random() < 0.8 or not clauses:
        inserted = None if random.random() < 0.6 else tuple((name, VALUES[name]) for name in COLUMNS)
        asked = None if random.random() < 0.7 else make.condition(("s",), 0)
        clauses.append(Clause("not matched", asked, Insert(inserted)))
    if random.random() < 0.2:
        by_source = Delete() if random.random() < 0.5 else Update((("f", Literal(False)),))
        clauses.append(Clause("not matched by source", make.condition(("t",), 0), by_source))
    # A clause that no condition restricts is the last of its kind, as Spark demands.
    kept = []
    for number, clause in enumerate(clauses):
        later = any(other.kind == clause.kind for other in clauses[number + 1 :])
        if clause.condition is not None or not later:
            kept.append(clause)
    return Merge(on[0] if len(on) == 1 else Call("and", tuple(on)), tuple(kept))
