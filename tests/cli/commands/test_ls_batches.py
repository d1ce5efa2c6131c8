"""`ls --output-keys batches`: what the last kept run has done, on the fake engine."""

import json

import pytest

from merge_runner import Project
from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Lake
from tests.fake_engine.projects import model_files

MODELS = {
    "a": {},
    "days": {"config": "event_time='times', batch_size='day', begin='2026-01-01'"},
    "other": {"config": "event_time='times', batch_size='day', begin='2026-01-01'"},
}
KEYS = ["ls", "--output", "json", "--output-keys", "name", "batches"]


@pytest.fixture
def listed(make_project, monkeypatch, capsys):
    """Return a project, and what lists its nodes by name."""
    root = make_project(model_files(MODELS))
    monkeypatch.chdir(root)

    def run():
        with pytest.raises(SystemExit) as end:
            main(KEYS)
        assert end.value.code == 0
        return {line["name"]: line["batches"] for line in map(json.loads, capsys.readouterr().out.splitlines())}

    return Project.load(root), run


def test_the_batches_of_the_last_run_of_each_model(listed):
    project, run = listed
    assert run() == dict.fromkeys(MODELS)  # nothing has run
    driver, window = FakeDriver(Lake(), {"days": [None, "fails"]}), {"event_time_start": "2026-01-01"}
    project.build(select=["a", "days"], driver=driver, lint=False, event_time_end="2026-01-03", **window)
    batches = run()
    assert [(batch["start"], batch["status"]) for batch in batches["days"]] == [
        ("2026-01-01", "success"),
        ("2026-01-02", "error"),
    ]
    assert (batches["a"], batches["other"]) == (None, None)
    project.build(select="other", driver=driver, lint=False, event_time_end="2026-01-02", **window)
    later = run()
    assert later["days"] == batches["days"]
    assert [batch["reason"] for batch in later["other"]] == ["asked"]


def test_other_keys_have_none_of_them(listed, capsys):
    with pytest.raises(SystemExit):
        main(KEYS[:3])
    assert '"batches"' not in capsys.readouterr().out
