from merge_runner.formats.facts.table import Fact, FactTable

TABLE = FactTable(
    {"delta": "read in Delta", "iceberg": "measured on Iceberg"},
    {
        "=": ("t.k = 100", "yes"),
        "not like": ("t.s not like 'v0%'", {"delta": "no", "iceberg": "yes"}),
        ("char", "string"): ("parts: t.c = 'a: b'", {"iceberg": "seldom"}),
    },
)


def test_one_answer_is_that_of_every_format_with_a_source():
    assert (TABLE.answer("=", "delta"), TABLE.answer("=", "iceberg")) == ("yes", "yes")
    only_iceberg = FactTable({"iceberg": "measured"}, {"=": ("t.k = 100", "yes")})
    assert (only_iceberg.answer("=", "delta"), only_iceberg.answer("=", "iceberg")) == (None, "yes")


def test_formats_may_differ():
    assert (TABLE.answer("not like", "delta"), TABLE.answer("not like", "iceberg")) == ("no", "yes")


def test_a_row_that_a_format_lacks_has_no_answer():
    assert TABLE.answer(("char", "string"), "delta") is None
    assert TABLE.answer("like", "delta") is None


def test_the_facts_of_a_format_have_its_answers_and_sources():
    assert list(TABLE.facts("delta")) == [
        Fact("=", "yes", "t.k = 100", "data", "read in Delta"),
        Fact("not like", "no", "t.s not like 'v0%'", "data", "read in Delta"),
    ]
    assert list(TABLE.facts("iceberg"))[-1] == Fact(
        "char, string", "seldom", "t.c = 'a: b'", "parts", "measured on Iceberg"
    )
