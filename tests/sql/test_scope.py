"""What a name in a query means, as data; and queries whose rows show that Spark resolves names so."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from merge_runner.merge.read_query import read_query
from merge_runner.sql import scope as sql
from merge_runner.sql.from_clause import from_items
from tests.yaml_data import read_yaml

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Known:
    """Columns with the fields of structs; `complete`: there are no others."""

    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    complete: bool = True

    def has_column(self, name):
        return name.casefold() in self.columns or (False if self.complete else None)

    def has_field(self, column, name):
        return name.casefold() in self.columns[column.casefold()]

    def column_names(self):
        return list(self.columns)

    @property
    def names_known(self):
        return self.complete


TABLES = {
    "t": Known({"id": (), "k": (), "st": ("a", "id")}),
    "s": Known({"id": (), "k": (), "x": (), "t": ("b",)}),
    "u": Known({"id": ()}, complete=False),
    "w": Known(complete=False),
}


def scope_of(text, outer=None):
    scope = sql.Scope(outer=outer)
    for item in from_items(read_query(f"select 1 from {text}").expression):
        columns = Known(dict.fromkeys(item.columns, ()))
        scope.add(item, TABLES[item.parts[-1]] if item.parts else columns if item.is_lateral else TABLES["w"])
        if item.join is not None:
            scope.merge_columns(item.join)
            scope.end_join(item.join)
    return scope


def meaning(resolution):
    match resolution:
        case sql.ColumnOf(relation, path):
            return ".".join((relation.display_name, *path))
        case sql.MergedColumn(sides, path):
            text = " + ".join(f"({meaning(side)})" if " + " in meaning(side) else meaning(side) for side in sides)
            return ".".join((text, *path[1:]))
        case sql.ItemOf(item, fields):
            return ".".join((f"item {item}", *fields))
        case sql.Parameter():
            return "parameter"
        case sql.Ambiguous(columns):
            return f"several: {', '.join(map(meaning, columns))}"
        case sql.Possible(columns, item, outer):
            others = [f", or item {item}"] if item else []
            others += [", or around"] if outer else []
            return f"perhaps: {', '.join(map(meaning, columns))}{''.join(others)}"
        case sql.NoColumn(relation, _):
            return f"nothing of {relation.display_name}" if relation else "nothing"


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case['name']} from {case['from']}, {case['means']}")
                                  for case in read_yaml(HERE / "names.yml")])  # fmt: skip
def test_a_name_means(case):
    scope = scope_of(case["from"], scope_of(case["around"]) if "around" in case else None)
    scope = replace(
        scope,
        items={name: name for name in case.get("items", ())},
        outputs={name: name for name in case.get("outputs", ())},
        parameters=frozenset(case.get("parameters", ())),
    )
    assert meaning(scope.resolve(tuple(case["name"].split(".")))) == case["means"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("t join s using (id)", ["id", "t without id", "s without id"]),
        ("t left semi join s using (id)", ["id", "t without id"]),
        ("t natural join s", ["id", "k", "t without id, k", "s without id, k"]),
        ("t, s", ["t", "s"]),
    ],
)
def test_a_star_gives_the_columns_of_using_first(text, columns):
    star = scope_of(text).star(())
    left_out = f" without {', '.join(star.merged)}" if star.merged else ""
    assert [*star.merged, *(relation.display_name + left_out for relation in star.relations)] == columns


def test_an_outer_join_makes_the_other_side_nullable():
    def nullable(text):
        return [relation.display_name for relation in scope_of(text).relations if relation.is_nullable]

    assert nullable("t join s") == []
    assert nullable("t left join s") == ["s"]
    assert nullable("t join s right join u") == ["t", "s"]
    assert nullable("t left join s full join u") == ["t", "s", "u"]


@pytest.mark.spark
def test_spark_resolves_names_so(driver):
    with driver.session() as spark:
        for name, rows in {
            "ta": "values (1, 10), (2, 20) as v(a, b)",
            "tb": "values (1, named_struct('n', 5, 'z', 6)) as v(id, ta)",
            "tc": "values (1, 7), (3, 9) as v(a, c)",
        }.items():
            spark.sql(f"select * from {rows}").createOrReplaceTempView(name)
        for case in read_yaml(HERE / "on_spark.yml"):
            rows = [list(row) for row in spark.sql(case["query"]).collect()]
            assert sorted(rows, key=str) == sorted(case["rows"], key=str), case["query"]
