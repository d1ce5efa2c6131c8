"""The Spark driver of an invocation: one that runs already, or a new one that ends with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.spark.embedded_catalog import embedded_catalog
from merge_runner.engine.spark.storage.check import check_reachable
from merge_runner.engine.startup import DriverStart
from merge_runner.errors import Problem, ProblemsError
from merge_runner.location import Uri, location
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project.syntax.environment import whole_env
from merge_runner.run.results.event_types import Message, SparkStarted, SparkStarting
from merge_runner.run.results.events import Events
from merge_runner.run.scheduling.scheduler import EndedAtOnceError


def starting_driver(prepared: Prepared, events: Events) -> DriverStart:
    """The driver that the project's profile asks for; nothing has been started yet."""
    events.conceal_with(prepared.concealed)
    return DriverStart(
        prepared.files.profile,
        prepared.files.root,
        prepared.target_path / "logs" / "spark.log",
        whole_env(prepared.invocation.env),
        notify=lambda message: events.emit(Message(message)),
    )


@contextmanager
def driving(prepared: Prepared, events: Events, source: DriverSource) -> Iterator[Driver]:
    """A running driver inside the block: one that was given is left running, an own one is stopped in the end.

    After an EndedAtOnceError an own one is killed. Raises what `DriverSource.driver` raises, ProblemsError `storage`
    where the object store of the warehouse does not answer, or refuses to list it, `other-catalog` where a given one
    has an embedded catalog in another warehouse.
    """
    if not source.is_own:
        given = source.driver()
        _check_catalogs(prepared, given)
        yield given
        return
    started = time.monotonic()
    events.emit(SparkStarting(master=prepared.files.profile.where))
    try:
        own = source.driver()
    finally:
        source.abandon()
    events.emit(SparkStarted(seconds=round(time.monotonic() - started, 2)))
    try:
        warehouse = location(prepared.files.root, prepared.files.profile.warehouse or "")
        if isinstance(warehouse, Uri):
            check_reachable(own.spark, warehouse)
        yield own
    except EndedAtOnceError:
        own.kill()  # it would end with this process, unless it is stopped: then it could commit whenever it goes on
        raise
    except BaseException:
        own.stop()
        raise
    else:
        own.stop()


def _check_catalogs(prepared: Prepared, driver: Driver) -> None:
    """Raise ProblemsError where an embedded catalog of the profile is another one in a driver that was given."""
    profile, root = prepared.files.profile, prepared.files.root
    for name in profile.embedded_catalogs:
        own = embedded_catalog(profile, root, name)["uri"]
        there = driver.spark.conf.get(f"spark.sql.catalog.{name}.uri", own)
        if there != own:
            message = f'the catalog "{name}" is meant in {own}, and the Spark driver that was given has it in {there}'
            hint = "give each warehouse a driver of its own, or each catalog another name"
            raise ProblemsError([Problem("other-catalog", message, hint=hint)])
