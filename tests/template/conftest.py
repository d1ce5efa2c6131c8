from __future__ import annotations

import pytest

from merge_runner.relation import Relation
from merge_runner.template.context import Context, model_values


def resolve_ref(name: str) -> Relation:
    if name.startswith("no_"):
        raise LookupError(f'there is no model "{name}"')
    return Relation(name, "flights")


def resolve_source(source: str, table: str) -> Relation:
    if source.startswith("no_"):
        raise LookupError(f'there is no source "{source}"')
    return Relation(table, source)


@pytest.fixture(scope="session")
def context() -> Context:
    """A model `m` of schema `flights`; models and sources named `no_…` do not exist."""
    return Context(
        model_name="m",
        this=Relation("m", "flights"),
        resolve_ref=resolve_ref,
        resolve_source=resolve_source,
        vars={"start": "2013-01-01", "days": 3, "carriers": ["AA", "UA"], "nothing": None},
        env={"TOKEN": "hunter2", "SHORT": "k"},
        target={"name": "local", "schema": "flights", "threads": 4},
        full_refresh=False,
        config={"format": "delta", "a": 0},
        model=model_values("model", ("shop", "m"), "models/m.sql"),
    )
