"""The tasks of tables: each waits until a build has done its table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseSensorOperator
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
from airflow.sdk.execution_time.xcom import XCom
from airflow.triggers.base import BaseTrigger, TriggerEvent

from merge_runner.integrations.progress import Outcome, what_next

if TYPE_CHECKING:
    from airflow.sdk import Context


class MergeRunnerTableSensor(BaseSensorOperator):
    """Wait for a table of a `MergeRunnerBuildOperator` in the same run; fail where it, or a test of it, has failed.

    While the build runs it is deferred, and takes no slot of a worker. Without `deferrable`, and before the build runs,
    it is rescheduled every `poke_interval` seconds. It does not retry: it waits for other attempts of the build.
    """

    ui_color = "#d9f2e6"

    def __init__(
        self,
        *,
        build_task_id: str,
        unique_id: str,
        deferrable: bool = True,
        poke_interval: float = 5.0,
        timeout: timedelta | float = timedelta(days=7),
        **kwargs: Any,
    ) -> None:
        kwargs = {**kwargs, "retries": 0}
        super().__init__(mode="reschedule", poke_interval=poke_interval, timeout=timeout, **kwargs)
        self.build_task_id = build_task_id
        self.unique_id = unique_id
        self.deferrable = deferrable

    def execute(self, context: Context) -> Any:
        """Wait, and return the figures of the table."""
        trigger = self._trigger(context)
        if self.deferrable and trigger.build_state() == "running" and trigger.ask()[0] == "wait":
            self.defer(trigger=trigger, method_name="resume", timeout=timedelta(seconds=self.timeout))
        return super().execute(context)

    def poke(self, context: Context) -> bool:
        """Return whether the table is done. Raises AirflowFailException; AirflowSkipException for what is left out."""
        next_step, outcome = self._trigger(context).ask()
        if next_step != "wait":
            self._finish(context, next_step, outcome)
        return next_step != "wait"

    def resume(self, context: Context, event: Mapping[str, Any]) -> None:
        """Go on where the trigger has seen that the table is done."""
        outcome = event["outcome"]
        self._finish(context, event["next"], None if outcome is None else Outcome(**outcome))

    def _trigger(self, context: Context) -> TableTrigger:
        ti, run = context["ti"], context["dag_run"]
        return TableTrigger(
            ti.dag_id, ti.run_id, self.build_task_id, self.unique_id, run.clear_number or 0, self.poke_interval
        )

    def _finish(self, context: Context, next_step: str, outcome: Outcome | None) -> None:
        if next_step == "left out":
            raise AirflowSkipException(f"{self.unique_id} was not part of the build")
        if outcome is None:
            raise AirflowFailException(f"the build ended without a result of {self.unique_id}; see the log of its task")
        if next_step == "failed":
            raise AirflowFailException(f"{outcome.status}: {outcome.message}" if outcome.message else outcome.status)
        for name, value in outcome.figures.items():
            self.log.info("%s: %s", name, value)
        if outcome.message:
            self.log.info("%s", outcome.message)
        for asset in self.outlets:
            context["outlet_events"][asset].extra.update(outcome.figures)
        context["ti"].xcom_push(key="figures", value=dict(outcome.figures))


class TableTrigger(BaseTrigger):
    """Ask for the outcome of a table, as `MergeRunnerBuildOperator` has published it, until it is final."""

    def __init__(
        self, dag_id: str, run_id: str, build_task_id: str, unique_id: str, generation: int, poke_interval: float
    ) -> None:
        super().__init__()
        self.dag_id = dag_id
        self.run_id = run_id
        self.build_task_id = build_task_id
        self.unique_id = unique_id
        self.generation = generation
        self.poke_interval = poke_interval

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class and its arguments, for the database."""
        arguments = ("dag_id", "run_id", "build_task_id", "unique_id", "generation", "poke_interval")
        return f"{type(self).__module__}.{type(self).__qualname__}", {name: getattr(self, name) for name in arguments}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Wait, and fire once."""
        from asgiref.sync import sync_to_async

        while True:
            next_step, outcome = await sync_to_async(self.ask)()
            if next_step != "wait":
                yield TriggerEvent({"next": next_step, "outcome": None if outcome is None else outcome.as_json()})
                return
            await asyncio.sleep(self.poke_interval)

    def ask(self) -> tuple[str, Outcome | None]:
        """Return what the table's task does next, and the outcome of the table."""
        state = self.build_state()  # first: what a build has published is there when it has ended
        outcome = self._outcome()
        return what_next(outcome, state, self.generation), outcome

    def build_state(self) -> str | None:
        """Return the state of the task that builds; None: not scheduled yet."""
        states = RuntimeTaskInstance.get_task_states(
            dag_id=self.dag_id, task_ids=[self.build_task_id], run_ids=[self.run_id]
        )
        state = states.get(self.run_id, {}).get(self.build_task_id)
        return None if state is None else str(getattr(state, "value", state))

    def _outcome(self) -> Outcome | None:
        value = XCom.get_one(
            run_id=self.run_id, key=self.unique_id, task_id=self.build_task_id, dag_id=self.dag_id, map_index=-1
        )
        return None if value is None else Outcome(**value)
