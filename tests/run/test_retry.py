"""`retry` on real tables: what is left over runs, what has committed does not."""

import json

import pytest

pytestmark = pytest.mark.spark

MERGE = """
{{ config(HOOK) }}
merge into {{ this }} as t
using (select 1L as id, 1L as times) as s on t.id = s.id
when matched then update set t.times = t.times + s.times
when not matched then insert *
"""
DELETING = [
    "create or replace temporary view today as select 1L as id",
    "delete from {{ this }} where id = 1",
]
FILES = {
    "models/good.sql": MERGE.replace("HOOK", ""),
    "models/hooked.sql": MERGE.replace("HOOK", "post_hook=\"select raise_error('later')\""),
    "models/below.sql": "{{ config(materialized='table') }} select * from {{ ref('hooked') }}",
}


def results(root):
    document = json.loads((root / "target/run_results.json").read_text())
    return document["args"], {each["unique_id"].split(".")[2]: each["status"] for each in document["results"]}


def messages(root):
    document = json.loads((root / "target/run_results.json").read_text())
    return {each["unique_id"].split(".")[2]: each["message"] for each in document["results"]}


def times(spark, root, name):
    schema = next(iter(json.loads((root / "target/manifest.json").read_text())["nodes"].values()))["schema"]
    return [row["times"] for row in spark.table(f"{schema}.{name}").collect()]


def test_retry_runs_what_is_left_with_the_arguments_of_before(make_project, call, spark, capsys):
    root = make_project(FILES)
    assert call(root, "build", "--no-lint", "--threads", "1", "--vars", "{a: 1}") == 1
    assert results(root)[1] == {"good": "success", "hooked": "error", "below": "skipped"}
    assert "its MERGE is committed as version 1: `merge-runner retry` leaves it out" in messages(root)["hooked"]

    (root / "models/hooked.sql").write_text(MERGE.replace("HOOK", ""))
    assert call(root, "retry", "--threads", "2") == 0
    args, statuses = results(root)
    # Its MERGE had committed before the hook failed: the table says so.
    assert statuses == {"hooked": "no-op", "below": "success"}
    assert times(spark, root, "hooked") == times(spark, root, "good") == [1]
    assert (args["which"], args["threads"], args["vars_text"], args["no_lint"]) == ("build", 2, "{a: 1}", True)
    assert len(args["retried"]) == 1

    capsys.readouterr()
    assert call(root, "retry") == 0
    assert "nothing to retry of the last build" in capsys.readouterr().err
    assert results(root)[1] == {"hooked": "no-op", "below": "success"}  # they are still those of the last run


def test_what_a_pre_hook_takes_out_for_a_merge_is_not_taken_out_again_behind_it(make_project, call, spark):
    first = MERGE.replace("HOOK", "")
    again = MERGE.replace("HOOK", f"pre_hook={DELETING}, post_hook=\"select raise_error('later') from today\"")
    root = make_project({"models/hooked.sql": first})
    assert call(root, "build", "--no-lint") == 0
    (root / "models/hooked.sql").write_text(again)
    assert call(root, "build", "--no-lint") == 1
    assert times(spark, root, "hooked") == [1]  # taken out, and merged anew
    # A retry that is killed before it comes to the model: what had committed had done so in the build before.
    journal = root / "target/journal.jsonl"
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    built = next(event for event in reversed(events) if event["event"] == "invocation_started")
    killed = built | {"invocation_id": "killed", "args": built["args"] | {"retried": [built["invocation_id"]]}}
    with journal.open("a") as file:
        file.write(json.dumps(killed) + "\n")
    (root / "models/hooked.sql").write_text(again.replace("select raise_error('later')", "select 1"))
    assert call(root, "retry") == 0
    assert results(root)[1] == {"hooked": "no-op"}
    assert messages(root)["hooked"].endswith("; its pre_hook does not run again, post_hooks do")
    assert times(spark, root, "hooked") == [1]


def test_retry_after_a_kill_knows_what_was_done_and_names_what_is_gone(make_project, call, spark, capsys):
    root = make_project({name: FILES[name] for name in ("models/good.sql",)})
    assert call(root, "run") == 0
    committed = json.loads((root / "target/run_results.json").read_text())["metadata"]["invocation_id"]
    # What a process leaves that was killed when the MERGE had just committed: no results, no end in its journal.
    (root / "target/run_results.json").unlink()
    journal = root / "target/journal.jsonl"
    events = [json.loads(line) for line in journal.read_text().splitlines()]
    events = [event for event in events if event["event"] not in ("node_finished", "invocation_finished")]
    events[0]["nodes"].append("model.shop.gone")
    journal.write_text("".join(json.dumps(event) + "\n" for event in events))

    capsys.readouterr()
    assert call(root, "retry") == 0
    assert "model.shop.gone is not in the project any more" in capsys.readouterr().err
    args, statuses = results(root)
    assert (statuses, args["retried"], args["which"]) == ({"good": "no-op"}, [committed], "run")
    assert times(spark, root, "good") == [1]


def test_a_full_refresh_that_goes_on_keeps_what_others_have_merged_into_the_table(make_project, call, spark):
    other = MERGE.replace("1L as id", "2L as id")
    config = "alias='both'"
    root = make_project(
        {
            "models/first.sql": MERGE.replace("HOOK", config),
            "models/second.sql": "-- depends_on: {{ ref('first') }}\n"
            + other.replace("HOOK", config).replace("1L as times", "if(true, raise_error('broken'), 1L) as times"),
        }
    )
    assert call(root, "build", "--no-lint", "--full-refresh") == 1
    (root / "models/second.sql").write_text(other.replace("HOOK", config) + "-- depends_on: {{ ref('first') }}")
    assert call(root, "retry") == 0
    assert results(root)[1] == {"second": "success"}
    assert times(spark, root, "both") == [1, 1]
