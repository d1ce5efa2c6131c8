"""Which subqueries over the target are found to be left unread: no form that Delta runs, and each with a known cause."""

import pytest

from merge_runner.merge.parse import parse
from merge_runner.pruning.runtime_filter.target_subqueries import target_subqueries
from tests.formats.subquery_forms import FORMS

NAMES = {
    "t": "shop.t",
    "o": "shop.o",
    "o2": "shop.o2",
    "p": "shop.p",
    "view": "shop.v",
    "files": "shop.f",
    "on_files": "shop.g",
}
RANKED = "(select *, row_number() over (order by id) as rn from shop.o)"
MARK = "(select max(ts) from shop.t)"


def is_files(parts):
    return parts == ("shop", "f")


def found(using, ctes=""):
    statement = parse(f"{ctes} merge into shop.t as t using {using} as s on t.id = s.id when matched then delete")
    return [(each.read.span.of(statement.text), each.late) for each in target_subqueries(statement, is_files)]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.query)
def test_the_cause_of_each_form_is_found(form):
    causes = {late for _, late in found(f"({form.query.format(**NAMES)})")}
    assert causes - {None} == ({form.late} - {None})


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        # Nothing else is resolved late: literals next to a star, conditions and queries without columns.
        (f"select * from (select *, null as a, true as b, -1 as c from shop.o) where ts > {MARK}", ["shop.t"]),
        (
            f"select * from (select id, first(v) as v from (select id, v from shop.o) group by id) where 1 > {MARK}",
            ["shop.t"],
        ),
        ("select id from shop.o where ts > (select max(ts) from other.t)", []),
        # A subquery is resolved as a whole, with all that is in it.
        (
            f"select id from shop.o where ts > (select max(ts) from {RANKED} where id in (select id from shop.t))",
            ["shop.t"],
        ),
        # What is joined to the SELECT of the subquery, or is above it, does not count.
        (
            f"select a.id from (select id from shop.o where ts > {MARK}) as a join {RANKED} as b on a.id = b.id",
            ["shop.t"],
        ),
        (f"select id from shop.o where ts > {MARK} union all select id from {RANKED}", ["shop.t"]),
        # A CTE that has the name of the target is not the target.
        (f"with t as (select 1 as id) select id from {RANKED} where id > (select max(id) from t)", []),
    ],
)
def test_what_delta_reads_has_no_cause(query, reads):
    assert found(f"({query})") == [(read, None) for read in reads]


def test_ctes_in_front_of_the_merge_are_part_of_the_source():
    ctes = f"with d as {RANKED}, s as (select id from d where ts > {MARK})"
    assert found("s", ctes) == [("shop.t", "a window function")]
    assert found("(select id from d where rn = 1)", f"with d as {RANKED}") == []


def test_a_source_that_cannot_be_read_has_none():
    assert found("(select * from u with ('split-size' = 5))") == []
    assert found("shop.o") == []


def test_each_read_is_found_once_in_the_order_of_the_text():
    query = f"select id from {RANKED} where ts > {MARK} and id not in (select id from SHOP.T)"
    twice = f"with d as ({query}) select a.id from d as a join d as b on a.id = b.id"
    assert found(f"({twice})") == [("shop.t", "a window function"), ("SHOP.T", "a window function")]
