"""The truth table of the docs is that of the statements and of what the engines have shown."""

from tests.lineage.test_lineage_against_engines import CASES
from tests.lineage.truth_table import PAGE, SHOWN, page
from tests.yaml_data import read_yaml


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.lineage.truth_table"


def test_every_statement_was_run():
    assert list(read_yaml(SHOWN)) == [case["name"] for case in CASES]
