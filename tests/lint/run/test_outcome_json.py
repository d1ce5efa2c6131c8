"""What is kept of findings and verdicts is all of them."""

import json
from dataclasses import asdict

from merge_runner.api import lint_paths
from merge_runner.lint.run.outcome_json import as_json, finding_of_json, merge_of_json

MERGE = """merge into a.t as t
using a.s as s
   on t.id = s.id and t.day >= date'2024-01-01' and (t.x = 1 or s.x = t.x)
when matched and t.name <> s.name then update set nam = s.name
when not matched then insert (id) values (rand())
"""


def test_findings_and_verdicts_are_the_same_after_they_were_kept(tmp_path):
    file = tmp_path / "m.sql"
    file.write_text(MERGE, encoding="utf-8")
    report = lint_paths(file, cache=False, env={})
    assert report.findings
    assert report.merges
    for one, again in ((report.findings, finding_of_json), (report.merges, merge_of_json)):
        for each in one:
            kept = json.dumps(as_json(each))
            assert kept == json.dumps(asdict(each))
            assert again(json.loads(kept)) == each
