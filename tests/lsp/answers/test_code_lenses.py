"""The commands above models and unit tests."""

from merge_runner.lsp.answers.code_lenses import code_lenses
from tests.lsp.cases import saved


def lenses(path):
    text = saved().text(path)
    return [(lens.span.of(text), lens.title, " ".join(lens.arguments)) for lens in code_lenses(saved(), path, text)]


def test_a_model_is_built_explained_and_compiled():
    assert lenses("models/facts/fct_flight.sql") == [
        ("merge", "build", "build --select fct_flight"),
        ("merge", "explain", "explain --select fct_flight"),
        ("merge", "show compiled", "compile --select fct_flight"),
        ("merge", "lineage", "lineage fct_flight"),
    ]


def test_models_in_yaml_are_built_and_a_unit_test_is_run():
    found = lenses("models/facts/_facts.yml")

    assert found[:2] == [
        ("fct_flight", "build", "build --select fct_flight"),
        ("fct_flight", "explain", "explain --select fct_flight"),
    ]
    assert ("a_late_correction_wins", "run this unit test", "test --select a_late_correction_wins") in found
    assert {title for _, title, _ in found} == {"build", "explain", "run this unit test"}


def test_a_file_of_macros_has_none():
    assert lenses("macros/window.sql") == []
