"""How many threads a run has."""

from types import SimpleNamespace

import pytest

from merge_runner.run.execution.dag_run import thread_count


@pytest.mark.parametrize(
    ("wanted", "profile", "models", "cores", "threads"),
    [
        ("auto", 1, 9, 2, 2),
        ("auto", 1, 9, 16, 8),
        ("auto", 1, 3, 16, 3),
        ("auto", 1, 1, 1, 1),
        ("auto", 1, 0, 4, 1),
        (5, "auto", 1, 2, 5),
        (None, "auto", 9, 12, 6),
        (None, 4, 9, 2, 4),
    ],
)
def test_auto_is_half_the_cores_and_at_least_two_but_no_more_than_models(wanted, profile, models, cores, threads):
    prepared = SimpleNamespace(files=SimpleNamespace(profile=SimpleNamespace(threads=profile)))
    assert thread_count(prepared, wanted, models, cores) == threads
