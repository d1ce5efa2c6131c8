"""The changes of a MERGE that unit tests should notice."""

import pytest

from merge_runner.merge.parse import parse
from merge_runner.testing.mutants import mutants

TEXT = """merge into t using (
  select *, row_number() over (partition by id order by ts desc) as n from x where cast(a as array<int>) is null and b > 1
) s
on t.id = s.id and t.d between 1 and 2
when matched and s.del then delete
when matched and s.u > t.u and (s.x is null or s.y <> 1) then update set *
when not matched then insert (id, v) values (s.id, s.v)
when not matched by source then update set v = 0"""


def test_every_piece_is_changed_once():
    assert [(mutant.name, mutant.words) for mutant in mutants(parse(TEXT), ["id", "v"])] == [
        ("query 1 direction 1", "the source's query sorts asc instead of desc"),
        ("query 1 comparison 1", "the source's query with >= in place of >"),
        ("on 1", "ON without `t.id = s.id`"),
        ("on comparison 1", "ON with <> in place of ="),
        ("on 2", "ON without `t.d between 1 and 2`"),
        ("clause 1", "without WHEN MATCHED THEN DELETE"),
        ("clause 1 condition", "WHEN MATCHED THEN DELETE without its condition"),
        ("clause 2", "without WHEN MATCHED THEN UPDATE"),
        ("clause 2 set v", "WHEN MATCHED THEN UPDATE does not set v"),
        ("clause 2 condition", "WHEN MATCHED THEN UPDATE without its condition"),
        ("clause 2 condition 1", "WHEN MATCHED THEN UPDATE without `s.u > t.u`"),
        ("clause 2 comparison 1", "the condition of WHEN MATCHED THEN UPDATE with >= in place of >"),
        ("clause 2 condition 2", "WHEN MATCHED THEN UPDATE without `(s.x is null or s.y <> 1)`"),
        ("clause 2 comparison 2", "the condition of WHEN MATCHED THEN UPDATE with = in place of <>"),
        ("clause 3", "without WHEN NOT MATCHED THEN INSERT"),
        ("clause 3 value id", "WHEN NOT MATCHED THEN INSERT gives id no value"),
        ("clause 3 value v", "WHEN NOT MATCHED THEN INSERT gives v no value"),
        ("clause 4", "without WHEN NOT MATCHED BY SOURCE THEN UPDATE"),
        ("clause 4 set v", "WHEN NOT MATCHED BY SOURCE THEN UPDATE does not set v"),
    ]


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("on 1", "on true and t.d between 1 and 2"),
        ("clause 1", "when matched and false then delete"),
        ("clause 2 set v", "then update set id = s.id, v = t.v"),
        ("clause 3", "when not matched and false then insert"),
        ("clause 3 value v", "values (s.id, NULL)"),
        ("clause 4 set v", "then update set v = t.v"),
    ],
)
def test_the_rest_of_the_text_stays(name, piece):
    mutant = next(mutant for mutant in mutants(parse(TEXT), ["id", "v"]) if mutant.name == name)
    assert piece in mutant.text
    assert TEXT.startswith(mutant.text[: mutant.span.start])
    parse(mutant.text)


def test_columns_that_are_not_known_are_not_changed_one_by_one():
    names = [mutant.name for mutant in mutants(parse(TEXT), None)]
    assert "clause 2 set v" not in names
    assert "clause 3 value v" in names


def test_a_star_of_insert_is_written_out():
    text = "merge into t using s on t.id = s.id when not matched then insert *"
    found = {mutant.name: mutant.text for mutant in mutants(parse(text), ["id", "odd name"])}
    assert found["clause 1 value odd name"].endswith("insert (id, `odd name`) values (s.id, NULL)")
    assert found["clause 1"].endswith("when not matched and false then insert *")


@pytest.mark.parametrize(
    ("clause", "kept", "left_out"),
    [
        ("when not matched then insert (id, v, w) values (s.id, NULL, s.w)", ["id", "w"], ["v"]),
        (
            "when not matched then insert (id, v, w) values (s.id, cast( null as decimal(5, 2) ), null::int)",
            ["id"],
            ["v", "w"],
        ),
        ("when not matched then insert (id, v, w) values (s.id, default, DEFAULT)", ["id", "w"], ["v"]),
        (
            "when not matched and s.id > 0 and S.`v` is null then insert (id, v, w) values (s.id, s.v, s.w)",
            ["id", "w"],
            ["v"],
        ),
        ("when not matched and (s.v is null or s.w is null) then insert (v, w) values (s.v, s.w)", ["v", "w"], []),
        ("when not matched and s.v is null then insert *", ["id", "w"], ["v"]),
        ("when matched then update set id = s.id, v = t.v, w = s.w", ["w"], ["id", "v"]),
        ("when matched then update set id = s.w, v = 'T.V', w = null", ["id", "v", "w"], []),
        ("when not matched by source then update set id = 3", ["id"], []),
    ],
)
def test_a_change_that_no_rows_could_show_is_not_made(clause, kept, left_out):
    text = f"merge into t using s on t.id = s.id {clause}"
    found = {
        mutant.name.split()[-1]
        for mutant in mutants(parse(text), ["id", "v", "w"], ["w"])
        if " set " in mutant.name or " value " in mutant.name
    }
    assert sorted(found) == kept
    assert not found & set(left_out)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "merge into t using s on t.id = s.id and true when matched and true then delete",
            {"on 1", "on comparison 1", "clause 1"},
        ),
        (
            "merge into t using s on t.id = s.id when matched and FALSE then delete",
            {"on 1", "on comparison 1", "clause 1 condition"},
        ),
    ],
)
def test_what_is_there_already_is_no_change(text, names):
    assert {mutant.name for mutant in mutants(parse(text), None)} == names


def test_without_declared_columns_a_default_may_be_anything():
    text = "merge into t using s on t.id = s.id when not matched then insert (id, v) values (s.id, default)"
    assert "clause 1 value v" in {mutant.name for mutant in mutants(parse(text), None)}
