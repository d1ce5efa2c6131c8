"""The queries of target_subqueries.yml."""

from pathlib import Path
from typing import NamedTuple

from tests.yaml_data import read_yaml


class SourceForm(NamedTuple):
    """A query of USING, whether Delta runs it, and if it does not, the cause; None where that is not known."""

    query: str
    runs: bool
    late: str | None = None


_RECORDED = read_yaml(Path(__file__).with_name("target_subqueries.yml"))

FORMS = (
    *(SourceForm(query, True) for query in _RECORDED["runs"]),
    *(SourceForm(query, False, late) for late, queries in _RECORDED["fails"].items() for query in queries),
    *(SourceForm(query, False) for query in _RECORDED["fails_for_another_cause"]),
)
