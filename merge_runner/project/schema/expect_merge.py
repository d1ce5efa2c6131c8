"""What a model's MERGE may do at most, as its config key `expect_merge` says; else it is not committed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from merge_runner.project.schema.accepts import Exactly
from merge_runner.project.schema.quantities import Seconds, Size
from merge_runner.project.syntax.annotations import CLOSED, Before, Limits, StrictBool, StrictInt
from merge_runner.project.syntax.size import size_in_words

_Rows = Annotated[StrictInt, Limits(ge=0)]


def _percent(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise ValueError("a number from 0 to 100")
    return float(value)


_Percent = Annotated[float, Before(_percent), Exactly({"type": "number", "minimum": 0, "maximum": 100})]


@dataclass(frozen=True)
class ExpectMerge:
    """Limits of one run of a MERGE; None: no limit."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    min_source_rows: _Rows | None = None
    """The least number of rows of the source. Example: `min_source_rows: 1`"""
    max_inserts: _Rows | None = None
    """The largest number of rows that may be inserted. Does not count where the target is empty.
    Example: `max_inserts: 100000`"""
    max_updates: _Rows | None = None
    """The largest number of rows that may be updated. Example: `max_updates: 5000`"""
    max_deletes: _Rows | None = None
    """The largest number of rows that may be deleted. Example: `max_deletes: 100`"""
    max_percent_deleted: _Percent | None = None
    """The largest share of the target's rows before the MERGE that may be deleted, in percent (0 to 100).
    Example: `max_percent_deleted: 1`"""
    max_percent_touched: _Percent | None = None
    """The largest share of the target's rows before the MERGE that may be updated or deleted, in percent (0 to 100).
    Example: `max_percent_touched: 5`"""
    no_inserts: StrictBool = False
    """Whether the MERGE may not insert at all. Does not count where the target is empty. Example: `no_inserts: true`"""
    unique_source: StrictBool = False
    """Whether two source rows with equal join keys (the equalities in ON) are refused.
    Example: `unique_source: true`"""
    max_scanned: Size | None = None
    """The most that may be read of the target, as predicted before the MERGE runs: a number of bytes, or a text with a
    unit (`kB MB GB TB PB`, `KiB MiB GiB TiB PiB`). Example: `max_scanned: 50 GiB`"""
    max_rewritten: Size | None = None
    """The largest size of the files that may have to be rewritten, as predicted before the MERGE runs.
    Example: `max_rewritten: 10 GiB`"""
    max_seconds: Seconds | None = None
    """The longest time of the statement, as projected from earlier runs before the MERGE runs. Does not count without
    such runs, and does not stop a MERGE that runs. Example: `max_seconds: 30m`"""

    def __str__(self) -> str:
        conditions = []
        for name, value in vars(self).items():
            if name in ("max_scanned", "max_rewritten") and value is not None:
                conditions.append(f"{name} {size_in_words(value)}")
            elif value is True:
                conditions.append(name)
            elif value is not None and value is not False:
                conditions.append(f"{name} {value:g}" if isinstance(value, float) else f"{name} {value:,}")
        return ", ".join(conditions)

    @property
    def about_source(self) -> bool:
        """Whether something is expected of the source by itself."""
        return self.min_source_rows is not None or self.unique_source

    @property
    def about_inserts(self) -> bool:
        """Whether the rows that are inserted are limited."""
        return self.no_inserts or self.max_inserts is not None

    @property
    def about_updates(self) -> bool:
        """Whether the rows that are updated are limited, alone or with others."""
        return self.max_updates is not None or self.max_percent_touched is not None

    @property
    def about_deletes(self) -> bool:
        """Whether the rows that are deleted are limited, alone or with others."""
        return self.max_deletes is not None or self.about_share

    @property
    def about_share(self) -> bool:
        """Whether a limit is a share of the target's rows."""
        return self.max_percent_deleted is not None or self.max_percent_touched is not None

    @property
    def about_rows(self) -> bool:
        """Whether rows that the MERGE changes are limited, and not its source alone."""
        return self.about_inserts or self.about_updates or self.about_deletes
