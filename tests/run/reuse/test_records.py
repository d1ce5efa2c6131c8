"""What is kept of runs: the file, and what is made of one that is broken."""

from dataclasses import replace

import pytest

from merge_runner.run.reuse.records import Record, Records

RECORD = Record({"text": "f"}, {"files:/a": "1"}, "delta:/t", "2", 3, "i", "2024-01-01T00:00:00+00:00")
DOUBTED = replace(RECORD, doubt="it may change rows")


def test_what_is_kept_is_read_again_next_to_what_others_have_kept(tmp_path):
    path = tmp_path / "target/reuse.json"
    one, other = Records(path), Records(path)
    one.keep("a", RECORD)
    one.keep("b", DOUBTED)
    one.save()
    other.keep("c", RECORD)
    other.save()
    found = Records(path)
    assert (found.get("a"), found.get("c"), found.get("b")) == (RECORD, RECORD, DOUBTED)


def test_the_last_run_counts_and_what_is_dropped_is_gone(tmp_path):
    path = tmp_path / "reuse.json"
    for found in (RECORD, DOUBTED, RECORD):
        records = Records(path)
        records.keep("a", found)
        records.save()
        assert Records(path).get("a") == found
    records.drop("a")
    records.save()
    assert Records(path).get("a") is None


def test_nothing_is_written_where_nothing_was_kept(tmp_path):
    Records(tmp_path / "reuse.json").save()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        '{"format": 99, "records": {}}',
        '{"format": 4, "records": {"a": {}}}',
        '{"format": 4, "records": {"a": {"fingerprint": "f", "inputs": {}, "target": null, "left": null, "version": null, '
        '"invocation_id": "i", "at": "2024-01-01T00:00:00+00:00"}}}',
        '{"format": 4, "records": {"a": {"fingerprint": {"text": 1}, "inputs": {}, "target": null, "left": null, "version": null, '
        '"invocation_id": "i", "at": "2024-01-01T00:00:00+00:00"}}}',
        '{"format": 4, "records": {"a": {"fingerprint": {"text": "f"}, "inputs": {}, "target": null, "left": null, "version": null, '
        '"invocation_id": "i", "at": "yesterday"}}}',
    ],
)
def test_what_cannot_be_read_is_as_good_as_missing(tmp_path, text):
    path = tmp_path / "reuse.json"
    path.write_text(text)
    records = Records(path)
    assert records.get("a") is None
    records.keep("a", RECORD)
    records.save()
    assert Records(path).get("a") == RECORD
