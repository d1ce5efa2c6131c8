"""`build_after`: what waits for time to pass or for new data, and what does not wait."""

import json
import os
from datetime import datetime, timedelta, timezone

import pytest

from merge_runner import Project
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.plan import Planner
from merge_runner.run.reuse.fingerprint import environment_of, fingerprint
from merge_runner.run.reuse.likely import likely_unchanged
from merge_runner.run.reuse.reads import states_of_inputs, stored_target
from merge_runner.run.reuse.records import FILE, Record, Records
from merge_runner.run.reuse.stored_state import States

FILES = {
    "models/raw.yml": """
        version: 2
        sources: [{name: raw, tables: [
          {name: orders, path: data/orders.csv, format: csv, columns: [{name: id, data_type: bigint}]},
          {name: codes, path: data/codes.csv, format: csv, columns: [{name: id, data_type: bigint}]}]}]
    """,
    "data/orders.csv": "1\n",
    "data/codes.csv": "1\n",
    "models/stg.sql": "{{ config(materialized='ephemeral') }} select * from {{ source('raw', 'orders') }}",
    "models/daily.sql": "{{ config(materialized='table', build_after=CONFIG) }}\n"
    "select o.id QUERY from {{ ref('stg') }} o join {{ source('raw', 'codes') }} c on o.id = c.id",
}


@pytest.fixture
def shop(make_project):
    return lambda config, query="": _Shop(make_project, config, query)


class _Shop:
    """A project with a model that was built so many minutes ago, as its record says."""

    def __init__(self, make_project, config, query):
        text = FILES["models/daily.sql"].replace("CONFIG", config).replace("QUERY", query)
        self.root = make_project({**FILES, "models/daily.sql": text})
        self.clock = 1_700_000_000
        for name in ("orders", "codes"):
            self.write(f"data/{name}.csv", "1\n")
        self.commit("one")

    def write(self, path, text):
        self.clock += 1
        (self.root / path).write_text(text)
        os.utime(self.root / path, (self.clock, self.clock))

    def commit(self, name):
        """Write the log of the model's table, as Delta has it."""
        schema = Project.load(self.root).graph.nodes["model.shop.daily"].relation.schema
        log = self.root / f"warehouse/{schema}/daily/_delta_log"
        log.mkdir(parents=True, exist_ok=True)
        (log / f"{0:020}.json").write_text(json.dumps({"commitInfo": {"operation": "WRITE", "txnId": name}}))

    def built(self, minutes_ago, doubt=None):
        prepared = Project.load(self.root).prepared
        node, plan = prepared.graph.nodes["model.shop.daily"], Planner(prepared).plan("model.shop.daily")
        target, inputs = stored_target(plan, prepared), states_of_inputs(plan, prepared, States())
        at = datetime.now(timezone.utc) - timedelta(minutes=minutes_ago)
        text = fingerprint(environment_of(prepared), node, plan, Scratch.of(""))
        records = Records(prepared.target_path / FILE)
        records.keep(node.unique_id, Record(text, inputs, str(target), target.state(), 0, "i", at.isoformat(), doubt))
        records.save()

    def said(self):
        (level,) = Project.load(self.root).explain().levels
        return str(level[0].reuse)

    def likely(self):
        return likely_unchanged(Project.load(self.root).prepared, ["model.shop.daily"])


HOUR = "{'count': 1, 'period': 'hour'}"
ALL = "{'count': 0, 'period': 'minute', 'updates_on': 'all'}"


def test_new_data_waits_until_the_time_has_passed(shop):
    one = shop(HOUR)
    one.built(minutes_ago=10)
    assert (one.said(), one.likely()) == ("would be left out: inputs unchanged since version 0", True)
    one.write("data/orders.csv", "2\n")
    until = datetime.now(timezone.utc) + timedelta(minutes=50)
    assert one.said() in {
        f"would be left out: `build_after`: it waits until {each:%Y-%m-%d %H:%M} UTC"
        for each in (until, until - timedelta(minutes=1))
    }
    assert one.likely()
    one.built(minutes_ago=61)
    one.write("data/orders.csv", "3\n")
    assert (one.said(), one.likely()) == ("would run: raw.orders has changed", False)
    one.built(minutes_ago=-5)  # the clock was set back: nobody knows how long ago it was
    one.write("data/orders.csv", "4\n")
    assert one.said() == "would run: raw.orders has changed"


def test_new_data_of_each_reference_where_all_are_asked_for(shop):
    one = shop(ALL)
    one.built(minutes_ago=1)
    one.write("data/orders.csv", "2\n")  # through stg, which is part of the statement
    assert one.said() == "would be left out: `build_after`: it waits for new data of codes"
    one.write("data/codes.csv", "2\n")
    assert one.said() == "would run: raw.codes has changed"
    one.built(minutes_ago=1)
    one.write("data/codes.csv", "3\n")
    assert one.said() == "would be left out: `build_after`: it waits for new data of stg"


def test_another_text_and_another_writer_do_not_wait(shop):
    one = shop(HOUR)
    one.built(minutes_ago=1)
    one.commit("two")
    assert one.said() == "would run: its table has been changed by another writer"
    one.built(minutes_ago=1)
    path = one.root / "models/daily.sql"
    path.write_text(path.read_text().replace("o.id = c.id", "o.id < c.id"))
    assert one.said() == "would run: its compiled text has changed"


def test_another_period_is_no_other_text(shop):
    one = shop(HOUR)
    one.built(minutes_ago=70)
    path = one.root / "models/daily.sql"
    path.write_text(path.read_text().replace("'hour'", "'day'"))
    assert one.said() == "would be left out: inputs unchanged since version 0"
    one.write("data/orders.csv", "2\n")
    assert one.said().startswith("would be left out: `build_after`: it waits until")


@pytest.mark.parametrize(
    ("query", "doubt", "why"),
    [
        (", current_timestamp() as now", None, "its query may read the clock"),
        (", 1 as one", "a second run may change rows: a counter", "a second run may change rows: a counter"),
    ],
)
def test_what_would_always_run_waits_as_well(shop, query, doubt, why):
    one = shop(HOUR, query)
    one.built(minutes_ago=10, doubt=doubt)
    assert one.said().startswith("would be left out: `build_after`: it waits until")
    one.built(minutes_ago=70, doubt=doubt)
    assert one.said() == f"would run: {why}"


def test_what_is_asked_for_does_not_wait(shop):
    one = shop(HOUR + ", reuse='off'")
    one.built(minutes_ago=1)
    assert one.said() == "would run: its config says `reuse: off`"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{'count': -1, 'period': 'hour'}", "0"),
        ("{'count': 1, 'period': 'week'}", "minute"),
        ("{'period': 'hour'}", "count"),
        ("{'count': 1, 'period': 'hour', 'updates_on': 'some'}", "any"),
    ],
)
def test_what_it_cannot_be_is_an_error_at_its_place(shop, config, said):
    from merge_runner.errors import ProblemsError

    with pytest.raises(ProblemsError) as raised:
        shop(config)
    (problem,) = raised.value.problems
    assert said in str(problem)
    assert "daily.sql:1" in str(problem)
