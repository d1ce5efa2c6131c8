"""The hints in models."""

import pytest

from merge_runner.lsp.answers.inlay_hints import inlay_hints
from tests.lsp.cases import saved

FIVE = "flight_date, flight_month, carrier, flight, … 15 columns"


@pytest.mark.parametrize(
    ("path", "hints"),
    [
        ("models/facts/fct_flight.sql", [(7, "scan: static"), (33, FIVE), (34, FIVE)]),
        ("models/facts/fct_cancellation.sql", [(7, "scan: runtime")]),
        (
            "models/dimensions/dim_route.sql",
            [(4, "scan: none (meant)"), (26, "origin, dest, distance_miles, first_flight_date, … 5 columns")],
        ),
        ("models/staging/stg_flight.sql", []),
    ],
)
def test_a_model_has_hints(path, hints):
    text = saved().text(path)
    found = inlay_hints(saved(), path, text, 0, len(text))

    assert [(text.count("\n", 0, hint.offset) + 1, hint.label) for hint in found] == hints
    assert inlay_hints(saved(), path, text, 0, 1) == []


def test_columns_of_macros_are_among_those_of_a_star():
    path = "models/aggregates/agg_route_day.sql"
    text = saved().text(path)

    assert [hint.label for hint in inlay_hints(saved(), path, text, 0, len(text))][1:] == [
        "flight_month, flight_date, origin, dest, … 11 columns"
    ] * 2


def test_a_merge_with_a_fault_has_no_verdict():
    path = "models/facts/fct_flight.sql"
    text = saved().text(path).replace("using (", "usin (")

    assert [hint.label for hint in inlay_hints(saved(), path, text, 0, len(text))] == []
