"""One history of a random project: a source, a staging model, a MERGE of it, what reads that, and the edits of all of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from random import Random

from tests.oracle.expression import Call, Column, Expression, Literal, Row
from tests.oracle.generate import COLUMNS, Generator
from tests.oracle.query import SIDE, Arm, Query
from tests.oracle.spark_sql import literal_text, merge_text
from tests.oracle.usual import usual
from tests.run.reuse.sums import COLUMNS as SUMS
from tests.run.reuse.sums import Sums

_ALIASES = {"t": "t", "s": "s"}
FIRST_TEXT = "-- the text of a first run\n"


class Chain:
    """The files of a chain of models; its rows are in files, a seed, or a table that another writer keeps.

    All choices follow from `seed`, but for the time that `clock` reads, which is soon after it is chosen.
    """

    def __init__(self, name: str, table_format: str, seed: str) -> None:
        self.name = name
        self.random = random = Random(seed)
        self.of_target = Random(f"{seed} target")
        """Chooses whether its MERGE reads its own table, and which rows of it."""
        self.make = Generator(random)
        self.format = table_format
        self.source = random.choice(["files", "files", "seed", "table", "table"])
        views = ["view"] * (2 if table_format == "delta" else 1)  # what reads a view in a catalog runs in every build
        self.staging = random.choice(["table", *views, "ephemeral", "ephemeral"])
        self.reads_clock = random.random() < 0.2
        """Whether its staging model reads the clock."""
        self.claims = self.source != "seed" and random.random() < 0.5
        """Whether it declares that its ids are unique, which they are not always."""
        self.read, self.tested, self.unit = (random.random() < share for share in (0.3, 0.4, 0.3))
        """Whether a table reads its table, or its staging model as a whole; whether it has a data test, and a unit test."""
        self.reads_staging = random.random() < 0.5
        self.has_first_text = random.random() < 0.2
        self.config: dict[str, object] = {"on_schema_change": "append_new_columns"}
        if random.random() < 0.5:
            self.config["partition_by"] = ["d"]
        of_sums = Random(f"{seed} sums")
        self.sums = Sums.of(of_sums) if self.source == "table" and of_sums.random() < 0.8 else None
        """Another MERGE, over the table of another writer and over that of the chain `other`."""
        self.other = self
        self.rows = self.make.rows(8, keys=["id"], unique=True, least=1)
        self.extra: list[str] = []
        """Columns that were declared later."""
        self.numbers = {"upstream": 1000, "macro": -9, "env": -9, "severity": 3, "split": 1, "shuffle": 1}
        self.changes_at = datetime.now(timezone.utc)
        """When the clock gives other rows, where it is read."""
        self.change_text()

    # Edits

    def change_text(self) -> None:
        """Another MERGE."""
        names = (*COLUMNS, *self.extra)
        columns = (
            *((name, Column(SIDE, name)) for name in COLUMNS),
            *((name, Column(SIDE, "n")) for name in self.extra),
        )
        latest = ("id",) if self.random.random() < 0.6 else ()
        arms = (Arm("src", None, columns),)
        if self.of_target.random() < 0.4:
            arms, latest = self._arms_over_target(columns), ("id",)
        self.query = Query(arms, latest, names if latest else ())
        """The source of its MERGE, over its staging model `src`."""
        self.merges, texts = [], []
        """Its MERGE, and that of its first run where that has another text."""
        for number in range(2 if self.has_first_text else 1):
            merge, mark = usual(self.random), FIRST_TEXT if number else ""
            cte = self.random.random() < 0.1
            text = merge_text(merge, "{{ this }}", self.query, self._named, _ALIASES, cte=cte)
            self.merges.append(merge)
            texts.append(mark + text)
        self.text = "\n{% else %}\n".join(texts)
        if self.has_first_text:
            self.text = f"{{% if is_incremental() %}}\n{self.text}\n{{% endif %}}"

    def _named(self, table: str) -> str:
        return "{{ this }}" if table == "this" else f"{{{{ ref('stg_{self.name}') }}}}"

    def _arms_over_target(self, columns: tuple[tuple[str, Expression], ...]) -> tuple[Arm, ...]:
        """The rows of its staging model with some of its own table, or those with a larger `n` than any there."""
        some = Generator(self.of_target).condition((SIDE,), 1)
        if self.of_target.random() < 0.5:
            return Arm("src", some, columns), Arm("src", None, columns, newer=("n", "this"))
        others = {
            name: Literal(None) for name in self.of_target.sample(["n", "m", "f"], k=self.of_target.randint(0, 2))
        }
        if self.of_target.random() < 0.4:
            others["n"] = Call("+", (Column(SIDE, "n"), Literal(1)))  # a counter, which no run leaves as it is
        carried = tuple((name, others.get(name, value)) for name, value in columns)
        return Arm("src", None, columns), Arm("this", some, carried)

    def change_rows(self) -> None:
        """Other rows, most of them with the ids of earlier ones."""
        self.rows = self.make.rows(8, self.rows, ["id"], unique=self.random.random() < 0.8)

    def change_some_rows(self, random: Random) -> None:
        """Change, add or remove one row or two, all with an id and a day."""
        for _ in range(random.choice([1, 1, 2])):
            known = [place for place, row in enumerate(self.rows) if row["id"] is not None and row["d"] is not None]
            what, place = random.random(), random.choice(known) if known else None
            if place is None or what < 0.25:
                row = self.make.rows(1, least=1)[0]
                days = [each["d"] for each in self.rows if each["d"] is not None]
                day = row["d"] or (random.choice(days) if days else date(2024, 1, 1))
                self.rows = [*self.rows, row | {"id": 1 + max([0, *(each["id"] or 0 for each in self.rows)]), "d": day}]
            elif what < 0.45:
                self.rows = [*self.rows[:place], *self.rows[place + 1 :]]
            else:
                column, values = ("n", range(6)) if what < 0.8 else ("d", [self.rows[each]["d"] for each in known])
                changed = self.rows[place] | {column: random.choice(values)}
                self.rows = [*self.rows[:place], changed, *self.rows[place + 1 :]]

    def change_number(self, what: str) -> None:
        """Another constant of the staging model, macro, variable, test or conf."""
        self.numbers[what] = self.random.randrange(8)

    def declare_column(self) -> None:
        """One more column in the YAML and in the MERGE's source."""
        self.extra.append(f"x{len(self.extra)}")
        self.change_text()

    def change_time(self, seconds: float) -> None:
        """What reads the clock gives other rows after so many seconds."""
        self.changes_at = (datetime.now(timezone.utc) + timedelta(seconds=seconds)).replace(microsecond=0)

    # Files

    def files(self, raw: str) -> dict[str, str]:
        """The files of its models by path; `raw` is the schema of its source."""
        name, columns = self.name, [*COLUMNS.items(), *((each, "int") for each in self.extra)]
        files = {
            f"models/{name}.sql": f"{{{{ config({self._config()}) }}}}\n{self.text}",
            f"models/stg_{name}.sql": self._staging(raw),
            f"models/{name}.yml": json.dumps(self._properties(raw, columns)),
            f"macros/{name}.sql": f"{{% macro kept_{name}() %}}n is null or n <> {self.numbers['macro']}{{% endmacro %}}",
            "macros/tested.sql": "{% test tested(model, least) %} select * from {{ model }} where n < {{ least }} {% endtest %}",
        }
        if self.sums is not None:
            tables = (f"{{{{ source('{raw}', 'src_{each}') }}}}" for each in (name, self.other.name))
            files[f"models/sum_{name}.sql"] = f"{self.sums.text(*tables)}"
        if self.read:
            query = f"select n, count(*) as c from {{{{ ref('{name}') }}}} group by n"
            query = f"select * from {{{{ ref('stg_{name}') }}}}" if self.reads_staging else query
            files[f"models/by_{name}.sql"] = f"{{{{ config(materialized='table') }}}}\n{query}"
        return files

    def data(self) -> dict[str, str]:
        """The files of its rows by path; none where they are in a table."""
        if self.source == "table":
            return {}
        if self.source == "seed":
            text = io.StringIO()
            writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows({key: _cell(value) for key, value in row.items()} for row in self.rows)
            return {f"seeds/src_{self.name}.csv": text.getvalue()}
        lines = [json.dumps(row, default=str) + "\n" for row in self.rows]
        parts = 2 if self.numbers["split"] % 2 else 1
        return {f"data/{self.name}/{part}.json": "".join(lines[part::parts]) for part in range(parts)}

    def values(self) -> str:
        """Its rows as a query."""
        cells = [", ".join(literal_text(row[name]) for name in COLUMNS) for row in self.rows]
        casts = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in COLUMNS.items())
        rows = ", ".join(f"({each})" for each in cells) or f"({', '.join('null' for _ in COLUMNS)})"
        none = "" if self.rows else " where false"
        return f"select {casts} from values {rows} as v ({', '.join(COLUMNS)}){none}"

    def _config(self, **more: object) -> str:
        confs = {"spark.sql.shuffle.partitions": str(self.numbers["shuffle"] + 1)}
        return ", ".join(f"{key}={value!r}" for key, value in {**self.config, **more, "conf": confs}.items())

    def _staging(self, raw: str) -> str:
        source = f"ref('src_{self.name}')" if self.source == "seed" else f"source('{raw}', 'src_{self.name}')"
        conditions = [
            f"(id < {self.numbers['upstream']} or n <> {{{{ var('n_{self.name}', 0) }}}})",
            f"({{{{ kept_{self.name}() }}}})",
            f"(id is null or id <> {{{{ env_var('N_{self.name.upper()}', '-9') }}}})",
        ]
        if self.reads_clock:
            conditions.append(f"(n > 2 or current_timestamp() >= timestamp'{self.changes_at:%Y-%m-%d %H:%M:%S}Z')")
        where = "\n   and ".join(conditions)
        return f"{{{{ config(materialized='{self.staging}') }}}}\nselect * from {{{{ {source} }}}}\n where {where}\n"

    def _properties(self, raw: str, columns: list[tuple[str, str]]) -> Mapping[str, object]:
        typed = [{"name": name, "data_type": kind} for name, kind in columns]
        model: dict[str, object] = {"name": self.name, "columns": typed}
        if self.tested:
            model["data_tests"] = [{"tested": {"least": self.numbers["severity"], "config": {"severity": "warn"}}}]
        of_sums = [{"name": each, "data_type": kind} for each, kind in SUMS.items()]
        more = [{"name": f"sum_{self.name}", "columns": of_sums}] if self.sums is not None else []
        document: dict[str, object] = {"version": 2, "models": [model, *more]}
        if self.source == "seed":
            document["seeds"] = [{"name": f"src_{self.name}", "config": {"column_types": dict(COLUMNS)}}]
        else:
            of_source: list[dict[str, object]] = [{"name": name, "data_type": kind} for name, kind in COLUMNS.items()]
            if self.claims:
                of_source[0]["data_tests"] = [{"unique": {"config": {"severity": "warn"}}}]
            table: dict[str, object] = {"name": f"src_{self.name}", "columns": of_source}
            if self.source == "files":
                table |= {"path": f"data/{self.name}", "format": "json"}
            elif self.format == "delta":
                table |= {"path": f"raw/{self.name}", "format": "delta"}
            else:
                table |= {"catalog": "lake"}
            document["sources"] = [{"name": raw, "tables": [table]}]
        if self.unit and self.read and not self.reads_staging:
            given = [{"input": f"ref('{self.name}')", "rows": [{"n": self.numbers["severity"]}]}]
            expect = {"rows": [{"n": self.numbers["severity"], "c": 1}]}
            test = {"name": f"of_{self.name}", "model": f"by_{self.name}", "given": given, "expect": expect}
            document["unit_tests"] = [test]
        return document


def _cell(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def row_texts(rows: list[Row]) -> str:
    """Rows as a person reads them."""
    return "\n".join(json.dumps(row, default=str) for row in rows)
