"""Layout files: read strictly, written so that they read the same."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.errors import Problems
from merge_runner.plan.layout.layout_file import Namespace, recorded_layouts
from merge_runner.project.schema.layout_file import FileColumn, FileTable, layout_file_text, read_layout_file
from merge_runner.project_file import Boundary
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "layout_file.yml")

TEXT = """\
version: 1
tables:
  - name: sales.`order lines`
    format: delta
    partition_by: [dt]
    cluster_by: []
    columns:
      - {name: id, data_type: bigint, nullable: false}
      - {name: dt, data_type: date, generated: cast(ts as date)}
      - name: ts
    properties: {delta.dataSkippingNumIndexedCols: 2}
    unique: [[ID, dt], id]
"""


def read(tmp_path, text):
    file = tmp_path / "layout.yml"
    file.write_text(text)
    problems = Problems()
    return recorded_layouts([(file, "layout.yml")], Namespace("main"), problems, Boundary(tmp_path)), list(problems)


def test_a_layout_file_tells_a_table(tmp_path):
    recorded, problems = read(tmp_path, TEXT)
    assert problems == []
    layout = recorded.lookup(("Sales", "Order Lines")).layout
    assert [str(field) for field in layout.partition_by] == ["dt"]
    assert (layout.format, layout.cluster_by, layout.complete, layout.indexed) == ("delta", (), True, 2)
    assert layout.unique == (frozenset({"id", "dt"}), frozenset({"id"}))
    assert [(c.name, c.nullable, c.generated) for c in layout.columns] == [
        ("id", False, None),
        ("dt", None, "cast(ts as date)"),
        ("ts", None, None),
    ]


def test_named_statistics_count_before_the_properties(tmp_path):
    text = "{version: 1, tables: [{name: t, format: delta, statistics: [a], properties: {delta.dataSkippingStatsColumns: b}}]}"
    assert read(tmp_path, text)[0].lookup(("main", "t")).layout.statistics == ("a",)


def test_what_is_absent_is_unknown(tmp_path):
    layout = read(tmp_path, "version: 1\ntables: [{name: t}]")[0].lookup(("t",)).layout
    assert (layout.format, layout.columns, layout.partition_by, layout.cluster_by) == (None, None, None, None)
    assert layout.complete is False


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_mistake_is_told_at_its_place(tmp_path, case):
    _, problems = read(tmp_path, case["text"])
    problems.sort(key=lambda problem: (problem.place.line, problem.place.column))
    told = [f"{problem.place.line}:{problem.place.column} {problem.message}" for problem in problems]
    assert len(told) == len(case["problems"]), told
    for message, expected in zip(told, case["problems"], strict=True):
        assert expected in message


def test_a_file_that_is_not_there_is_a_problem(tmp_path):
    problems = Problems()
    recorded_layouts([(tmp_path / "no.yml", "no.yml")], Namespace(), problems, Boundary(tmp_path))
    assert [problem.code for problem in problems] == ["unreadable"]


NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8) | st.sampled_from(
    ["on", "Null", "1", "a b", "a: #"]
)
COLUMNS = st.builds(
    FileColumn,
    name=NAMES,
    data_type=st.none() | st.sampled_from(["bigint", "decimal(10,2)", "struct<a:int,b:string>"]),
    nullable=st.none() | st.booleans(),
    generated=st.none() | NAMES,
)
MANY = st.none() | st.lists(NAMES, max_size=3).map(tuple)
TABLES = st.builds(
    FileTable,
    name=NAMES,
    format=st.sampled_from([None, "delta", "iceberg", "csv"]),
    partition_by=MANY,
    cluster_by=MANY,
    columns=st.none() | st.lists(COLUMNS, max_size=3).map(tuple),
    statistics=MANY,
    properties=st.dictionaries(NAMES, NAMES, max_size=2),
    unique=st.lists(st.lists(NAMES, max_size=2).map(tuple), max_size=2).map(tuple),
    commits=st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(0, 99), max_size=2), max_size=2),
)


@given(st.lists(TABLES, max_size=3))
def test_what_is_written_reads_the_same(tmp_path_factory, tables):
    file = tmp_path_factory.mktemp("layout") / "catalog.yml"
    file.write_text(layout_file_text(tables, "recorded"), encoding="utf-8")
    problems = Problems()
    found = read_layout_file(file, "catalog.yml", problems, Boundary(file.parent))
    assert list(problems) == []
    assert found.tables == tuple(sorted(tables, key=lambda table: table.name))
