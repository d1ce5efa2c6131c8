"""The summary of a run in Markdown."""

from merge_runner.markdown import cell
from merge_runner.pages.runs.comparison import Change
from merge_runner.pages.runs.run_summary import run_summary
from tests.pages.runs import batch, node, record


def test_a_run_that_failed():
    run = record(
        {
            **node(
                "fct", 12.0, verdict="static", verdict_held=True, files_scanned=3, files_total=40, rows_inserted=1200
            ),
            "message": "",
        },
        {**node("dim", 1.0, "error"), "message": "no such column\nmore"},
    )
    text = run_summary(run, [Change("model.shop.fct", "fct", "slower", "3.0 s", "12.0 s")])
    assert text.splitlines() == [
        "### ❌ merge-runner build of shop: 1 success, 1 error",
        "",
        "13.0 s in target dev",
        "",
        "#### What did not pass",
        "",
        "|  | node | message |",
        "| --- | --- | --- |",
        "| ❌ | dim | no such column |",
        "",
        "#### Merges, slowest first",
        "",
        "| merge | seconds | files scanned | inserted | updated | deleted | copied | verdict |",
        "| --- | --: | --: | --: | --: | --: | --: | --- |",
        "| fct | 12.0 | 3 of 40 | 1,200 | – | – | – | static |",
        "",
        "#### Since the last runs",
        "",
        "| node | what |  |",
        "| --- | --- | --- |",
        "| fct | slower | 3.0 s → 12.0 s |",
    ]


def test_a_run_of_nothing():
    assert run_summary(record(), []).startswith("### ✅ merge-runner build of shop: nothing ran\n")


def test_no_text_is_read_as_markdown_or_html():
    assert cell("a | <b>`x`</b>\n[l](javascript:1)") == "a \\| &lt;b&gt;\\`x\\`&lt;/b&gt; \\[l\\](javascript:1)"


def test_what_a_run_changed_in_its_tables():
    rows = {"left": 1205, "right": 5, "only_left": 1200, "only_right": 0, "changed": 1}
    differences = {
        "fct": {"equal": False, "rows": rows, "columns": {"price": 1}},
        "new": {"equal": None, "error": "new has no version from before the run"},
    }
    nodes = [{**node(name), "difference": difference} for name, difference in differences.items()]
    text = run_summary(record(*nodes, node("other")), [])
    assert text.splitlines()[-5:] == [
        "",
        "| table |  | added | removed | changed | changed rows by column |",
        "| --- | --- | --: | --: | --: | --- |",
        "| fct | different | 1,200 | 0 | 1 | price 1 |",
        "| new | new has no version from before the run | – | – | – |  |",
    ]


def test_how_many_batches_of_each_model_are_done():
    days = [
        batch("2026-01-01", "2026-01-02"),
        batch("2026-01-02", "2026-01-03", "error", rows=None, message="Division by zero\nmore"),
        batch("2026-01-03", "2026-01-04", "no-op", rows=0),
    ]
    nodes = [
        {**node("days", 1.0, "partial success"), "batch_size": "day", "batches": days},
        {**node("hours"), "batch_size": "hour", "batches": [batch("2026-01-01T05", "2026-01-01T06")]},
        {**node("none"), "batch_size": "hour"},
    ]
    text = run_summary(record(*nodes), [])
    assert text.splitlines()[-5:] == [
        "",
        "| model | batches | windows | first that failed |",
        "| --- | --- | --- | --- |",
        "| days | 2 of 3 batches | 2026-01-01 to 2026-01-04 | 2026-01-02/2026-01-03: Division by zero |",
        "| hours | 1 of 1 batch | 2026-01-01T05 to 2026-01-01T06 |  |",
    ]
