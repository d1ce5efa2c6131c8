"""The MERGE that an incremental model of dbt becomes: what dbt-spark and dbt-databricks generate, as its author's text.

The forms are those of dbt-spark 1.11 (incremental/strategies.sql) and dbt-databricks 1.12. Their first run is a CREATE
TABLE AS: what restricts INSERT applies from the second run on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from merge_runner.conversion.dbt.config_call import Value
from merge_runner.conversion.dbt.model_text import indented, renamed
from merge_runner.conversion.dbt.project import DbtModelFile
from merge_runner.conversion.dbt.todo import LeftOutError
from merge_runner.relation import quote
from merge_runner.text import Place

Columns = Callable[[str], tuple[str, ...] | None]
"""Gives the columns of a model's query, None where they are not all known."""

_DEFAULT_STRATEGY = {"spark": "append", "fabricspark": "append"}
"""The strategy of a model that sets none, by adapter; it is merge for all others."""
_OVERWRITES = "`merge_patterns.snapshot_partition` replaces one partition by a MERGE (docs/guides/patterns.md)"
_WRITTEN = re.compile(r"(?:\w+|`(?:[^`]|``)+`)(?:\.(?:\w+|`(?:[^`]|``)+`))*")
"""A key that is a name as it is written, perhaps a field of a column; any other is quoted, as dbt-databricks does."""
_LEFT_OUT = {
    "insert_overwrite": f"it replaces the partitions that its query returns: {_OVERWRITES}",
    "replace_where": f"it replaces the rows of a condition: {_OVERWRITES}",
    "delete+insert": "it deletes all rows of a key before it inserts: write a MERGE, which is the same where the key "
    "is unique in the query",
}


@dataclass
class Merge:
    """The text of a MERGE, what it adds to the model's config, and what its author has to decide, each with a place."""

    text: str
    config: dict[str, Value] = field(default_factory=dict)
    notes: list[tuple[str, Place]] = field(default_factory=list)


def strategy_of(model: DbtModelFile, adapter: str | None) -> str:
    """Return the strategy of an incremental model. Raises LeftOutError where only rendering shows it."""
    strategy = model.setting("incremental_strategy")
    return strategy if isinstance(strategy, str) else _DEFAULT_STRATEGY.get(adapter or "spark", "merge")


def merges_by_adapter(model: DbtModelFile) -> bool:
    """Whether the adapter decides if a model is merged by its key or appended: it has a key, and no strategy."""
    values = {key: value.value for key, value in model.config.items()}
    is_incremental = not model.is_snapshot and values.get("materialized") == "incremental"
    return is_incremental and not values.get("incremental_strategy") and bool(values.get("unique_key"))


def merge_of(model: DbtModelFile, query: str, adapter: str | None, columns: Columns) -> Merge:
    """Return the MERGE of an incremental model. Raises LeftOutError."""
    strategy = strategy_of(model, adapter)
    place = model.place_of("incremental_strategy", "materialized")
    if strategy in ("append", "merge"):
        return MergeMaker(model, adapter, columns).merge(query, appends=strategy == "append")
    reason = _LEFT_OUT.get(strategy, "it is a strategy of the project itself")
    raise LeftOutError(f"{model.name} has the strategy {strategy}, which is no MERGE", reason, place)


class MergeMaker:
    """Makes the MERGE of one model."""

    def __init__(self, model: DbtModelFile, adapter: str | None, columns: Columns) -> None:
        self.model = model
        self.is_databricks = adapter == "databricks"
        self.columns = columns
        self.target = self._alias("target_alias", "t")
        self.source = self._alias("source_alias", "s")
        self.result = Merge("")
        self.query = ""

    def merge(self, query: str, *, appends: bool) -> Merge:
        """Return the MERGE of the strategies append and merge."""
        self.query = query
        keys = [] if appends else self.model.setting_texts("unique_key")
        change = self.model.setting("on_schema_change")
        evolves = change in ("append_new_columns", "sync_all_columns") or self._is_true("merge_with_schema_evolution")
        lines = [
            f"merge {'with schema evolution ' if evolves else ''}into {{{{ this }}}} as {self.target}",
            f"using (\n{indented(query)}\n) as {self.source}",
            f"    on {self.on(keys) if keys else 'false'}",
            *(self._matched_clauses() if keys else ()),
            *self._not_matched_clauses(),
            *(self._by_source() if not appends else ()),
        ]
        self.result.text = "\n".join(lines) + "\n"
        if change == "fail":
            self.result.config["on_schema_change"] = Value.of("fail")
            self.note("declare the columns with their types in YAML: a run compares them", "on_schema_change")
        elif change == "sync_all_columns":
            self.note("columns that the query no longer has stay in the table, with NULL", "on_schema_change")
        if not keys:
            self.note("each run appends the rows of its query, also when it is repeated: join on a key", "unique_key")
        return self.result

    def on(self, keys: Sequence[str]) -> str:
        """Return the condition that joins by the keys, with those of `incremental_predicates` in front of it."""
        predicates = self.predicates()
        equal = "<=>" if self.is_databricks else "="
        names = [key if _WRITTEN.fullmatch(key) else quote(key) for key in keys]
        equalities = [f"{self.source}.{name} {equal} {self.target}.{name}" for name in names]
        return "\n    and ".join([*predicates, *equalities])

    def predicates(self) -> list[str]:
        """Return the conditions that ON begins with, as dbt writes them; an expression is rendered with the model."""
        key = "predicates" if self.model.setting("predicates") else "incremental_predicates"
        predicates = self.model.config.get(key)
        if predicates is None or predicates.value is None:
            return []
        if not predicates.is_known:
            return [f"{{{{ ({predicates.expression}) | join(' and '){self._renaming} }}}}"]
        if isinstance(predicates.value, list | tuple) and all(
            isinstance(predicate, str) for predicate in predicates.value
        ):
            return [renamed(predicate, self.target, self.source) for predicate in predicates.value]
        reason = f"{key} of {self.model.name} is no list of conditions"
        raise LeftOutError(reason, "write it as a list of texts", self.model.place_of(key))

    def _matched_clauses(self) -> list[str]:
        if self._is_true("skip_matched_step"):
            return []
        condition = self._condition("matched_condition")
        return [f"when matched{condition} then update set {self._assignments()}"]

    def _assignments(self) -> str:
        updated, excluded = (
            self.model.setting_texts("merge_update_columns"),
            self.model.setting_texts("merge_exclude_columns"),
        )
        if excluded:
            if updated:
                reason = f"{self.model.name} has merge_update_columns and merge_exclude_columns, which dbt refuses"
                raise LeftOutError(reason, "keep one of them", self.model.place_of("merge_exclude_columns"))
            columns = self.columns(self.model.name)
            if columns is None:
                reason = f"merge_exclude_columns of {self.model.name}: the columns of its query are not known"
                hint = "name the columns in its SELECT, declare those of its sources, or write merge_update_columns"
                raise LeftOutError(reason, hint, self.model.place_of("merge_exclude_columns"))
            left_out = {name.casefold() for name in excluded}
            updated = [quote(name) for name in columns if name.casefold() not in left_out]
            note = "all columns but those of merge_exclude_columns: a new one is to be added"
            self.note(note, "merge_exclude_columns")
        return ", ".join(f"{name} = {self.source}.{name}" for name in updated) if updated else "*"

    def _not_matched_clauses(self) -> list[str]:
        condition = self._condition("not_matched_condition")
        if self._is_true("skip_not_matched_step"):
            return ["{% if not is_incremental() %}", "when not matched then insert *", "{% endif %}"]
        guarded = f"{{% if is_incremental() %}}{condition}{{% endif %}}" if condition else ""
        return [f"when not matched{guarded} then insert *"]

    def _by_source(self) -> list[str]:
        action = self.model.setting("not_matched_by_source_action")
        if not isinstance(action, str):
            return []
        condition = self._condition("not_matched_by_source_condition")
        return [f"when not matched by source{condition} then {renamed(action, self.target, self.source)}"]

    def _condition(self, key: str) -> str:
        condition = self.model.config.get(key)
        if condition is not None and not condition.is_known:
            return f" and ({{{{ ({condition.expression}){self._renaming} }}}})"
        text = self.model.setting(key)
        return f" and ({renamed(text, self.target, self.source)})" if isinstance(text, str) else ""

    @property
    def _renaming(self) -> str:
        """Filters that put the aliases of the MERGE in the place of dbt's, in what is known when the model renders."""
        return f" | replace('DBT_INTERNAL_DEST', '{self.target}') | replace('DBT_INTERNAL_SOURCE', '{self.source}')"

    def _alias(self, key: str, otherwise: str) -> str:
        alias = self.model.setting(key)
        return alias if isinstance(alias, str) else otherwise

    def _is_true(self, key: str) -> bool:
        return self.model.setting(key) is True or str(self.model.setting(key)).lower() == "true"

    def note(self, text: str, *keys: str) -> None:
        """Add what the author has to decide, at the place of the first of the config keys that is written."""
        self.result.notes.append((text, self.model.place_of(*keys)))
