"""Runs in an environment with Airflow and what merge-runner needs, without Spark: → JSON of two runs by dag.test().

The environment variables say which DAG it is, and where the database and the turns of merge-runner are.
"""

import asyncio
import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], check=True, stdout=subprocess.DEVNULL)

from airflow.models.asset import AssetEvent  # noqa: E402
from airflow.models.taskinstance import TaskInstance  # noqa: E402
from airflow.models.xcom import XComModel  # noqa: E402
from airflow.utils.session import create_session  # noqa: E402

sys.path.insert(0, os.environ["AIRFLOW__CORE__DAGS_FOLDER"])
import airflow  # noqa: E402
import jsonschema  # noqa: E402
import shop_dag  # noqa: E402

from merge_runner.integrations.airflow.waiting import TableTrigger  # noqa: E402
from merge_runner.integrations.airflow_provider import provider_info  # noqa: E402
from merge_runner.integrations.progress import Outcome  # noqa: E402

schema = json.loads((Path(airflow.__file__).parent / "provider_info.schema.json").read_text())
jsonschema.validate(provider_info(), schema)


class Asked(TableTrigger):
    """A trigger whose answers are given: dag.test() runs one task after the other, so that none is deferred there."""

    answers = iter(
        [("wait", None), ("wait", Outcome("error", final=False)), ("done", Outcome("success", figures={"rows": 1}))]
    )

    def ask(self):
        return next(self.answers)


async def fired(trigger):
    """The events of a trigger that was stored in a database and read."""
    _, arguments = trigger.serialize()
    return [event.payload async for event in type(trigger)(**arguments).run()]


def ran(dag, day, turns):
    """Run a DAG with what the processes of merge-runner do; return what Airflow has recorded."""
    file = Path(os.environ["FAKE_ENGINE"])
    for each in file.parent.glob("turns.*"):
        each.unlink()
    file.write_text(json.dumps(turns))
    run = dag.test(logical_date=datetime(2026, 1, day, tzinfo=timezone.utc))
    with create_session() as session:
        mine = {"dag_id": dag.dag_id, "run_id": run.run_id}
        instances = session.query(TaskInstance).filter_by(**mine).all()
        xcoms = session.query(XComModel).filter_by(**mine, key="figures").all()
        events = session.query(AssetEvent).filter_by(source_dag_id=dag.dag_id, source_run_id=run.run_id).all()
        returned = session.query(XComModel).filter_by(**mine, key="return_value").all()
        found = {
            "state": run.state.value,
            "states": {each.task_id: each.state for each in instances},
            "tries": {each.task_id: each.try_number for each in instances},
            "figures": {each.task_id: XComModel.deserialize_value(each) for each in xcoms},
            "returned": {each.task_id: XComModel.deserialize_value(each) for each in returned},
            "assets": {each.asset.uri: each.extra for each in events},
        }
    files = sorted(file.parent.glob("turns.[0-9]*"), key=lambda each: int(each.suffix[1:]))
    return {**found, "commands": [json.loads(each.read_text()) for each in files]}


report = {
    "upstream": {task.task_id: sorted(task.upstream_task_ids) for task in shop_dag.dag.tasks},
    "outlets": {task.task_id: [asset.name for asset in task.outlets] for task in shop_dag.dag.tasks},
    "fired": asyncio.run(fired(Asked("shop", "run", "tables.build", "model.shop.a", 0, 0.01))),
    "mended": ran(shop_dag.dag, 2, [{"faults": {"bad": ["fails"]}, "counts": {"a": {"inserted": 5}}}, {}]),
    "failed": ran(shop_dag.dag, 3, [{"faults": {"bad": ["fails"]}, "failures": {"777": 1}}]),
    "days": ran(shop_dag.days_dag, 4, [{}]),
    "no interval": ran(shop_dag.no_interval_dag, 5, [{}]),
}
sys.stdout.write(f"\nREPORT {json.dumps(report, default=str)}\n")
