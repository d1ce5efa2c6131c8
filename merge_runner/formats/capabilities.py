"""What is true of a table format, as declared facts: what planning, analysis, lint and the engine ask about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from merge_runner.formats import Format

DAY = 86_400.0
"""In seconds."""


@dataclass(frozen=True, slots=True)
class Retention:
    """The table property that sets it, the seconds where it is not set, and how its value is read.

    `parse` returns seconds; None for a value that cannot be read.
    """

    property: str
    default: float
    parse: Callable[[str], float | None]

    def seconds(self, properties: Mapping[str, str]) -> float:
        """Return the seconds for which a table with these properties keeps what is no longer needed.

        A value that cannot be read counts as not set: the engine refuses it.
        """
        value = next((value for key, value in properties.items() if key.lower() == self.property.lower()), None)
        seconds = self.parse(value) if value is not None else None
        return self.default if seconds is None else seconds


@dataclass(frozen=True, slots=True)
class Marking:
    """The table property that decides whether a MERGE marks old rows as deleted instead of copying all others.

    `marks` is the value with which it marks them, in deletion vectors or delete files; `copies` the one with which it
    rewrites the touched files.
    """

    property: str
    marks: str
    copies: str


@dataclass(frozen=True, slots=True)
class StatisticsProperties:
    """The table properties that name the columns with file statistics, in lower case: their names do not have a case.

    `columns` lists them and takes precedence; `count` is how many of the first leaves have some.
    """

    columns: str
    count: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The facts of one table format, each true of the format itself.

    Measured on Spark 4.1.4 with Delta 4.4.0 and Iceberg 1.12.0; the tests that show a fact are those of what uses it.
    """

    name: Format
    label: str
    """The name as messages write it."""
    marking: Marking
    retention: Retention
    by_source_scan: str
    """What WHEN NOT MATCHED BY SOURCE costs on the table, as text after a colon."""
    commit_metadata_conf: str
    """The conf of a session whose value each of its commits carries."""

    catalog_class: str | None = None
    """The class of the Spark catalog that its tables need. None: a folder is a table, also without a catalog."""
    change_feed_property: str | None = None
    """The table property by which commits keep the rows that they have changed. None: they keep none."""
    changes_conf: str | None = None
    """The conf with which it gives the changes of a table by CHANGES FROM; None: it gives none."""
    statistics_properties: StatisticsProperties | None = None
    """None: other properties say for each column what a file keeps of it."""
    schema_evolution_conf: str | None = None
    """The conf with which every MERGE is one WITH SCHEMA EVOLUTION. None: there is none."""
    most_listed: int = 1
    """Up to how many values a list makes the engine skip more files than their range does."""
    low_shuffle_confs: Mapping[str, str] = field(default_factory=dict)
    """By platform, the configuration key of a MERGE that leaves unchanged rows out of the shuffle."""
    row_level_concurrency: frozenset[str] = frozenset()
    """The platforms that detect conflicts by row on tables whose old rows are marked; others detect them by file."""
    artifacts: tuple[str, ...] = ()
    """The names in Maven of what has its classes for Spark, the newest first."""
    least_java: int = 8
    """The oldest Java that its builds run on: of a build for Java 17 a JVM of 11 loads no class."""
    main_class: str = ""
    """A class of that artifact, by which it is seen whether a JVM has it."""
    may_skip_by_join: frozenset[str] = frozenset()
    """The platforms where a MERGE may skip files of its target by what ON joins to the source, on some compute."""

    shallow_clone: bool = False
    """A table can begin as a clone of another that shares its files, and that is written without changing the other."""
    replaced_keeps_properties: bool = False
    """CREATE OR REPLACE TABLE leaves a table the properties that the statement does not name."""
    has_branches: bool = False
    """A session can write to a separate branch of a table, and main is fast-forwarded to it."""
    partition_transforms: bool = False
    """A table is partitioned by transforms of columns (`days(ts)`, `bucket(16, id)`) as well as by columns."""
    generated_columns: bool = False
    """A column can be computed from others, and a table be partitioned by it."""
    liquid_clustering: bool = False
    """CLUSTER BY: files are laid out by columns without partitions."""
    sort_order: bool = False
    """A table has a sort order by which every file is written."""
    storage_partitioned_join: bool = False
    """Spark can join two tables partition by partition, without a shuffle, by how their files are partitioned."""

    when_conditions_prune: bool = False
    """Where all clauses of a MERGE are WHEN MATCHED, what they all ask of the target prunes as ON does."""
    infers_through_join: bool = False
    """Spark infers a constant of a source column for the target column that is joined to it, and prunes by that."""
    writes_through_views: bool = False
    """A MERGE into a temporary view that gives all columns of its table as they are writes the table."""
    duplicates_unmatched_rows: bool = False
    """A MERGE that copies and has no WHEN MATCHED writes a row once for each source row that it is joined to."""
    keeps_batches: bool = False
    """The log keeps the highest batch of each application, also where the table is replaced, and the engine skips a
    statement of such a batch or a lower one."""
    counts_files_by_query: bool = False
    """A query of the target with a condition reads the files that a MERGE with it would read."""
    plans_false: bool = False
    """A MERGE with `false` in ON can be planned (else None.get in RewritePredicateSubquery)."""
    evolution_widens: bool = False
    """A MERGE WITH SCHEMA EVOLUTION gives a column the wider type of the values that it writes."""
    evolves_while_analysed: bool = False
    """Spark adds and widens columns of the target as it analyses a MERGE WITH SCHEMA EVOLUTION: EXPLAIN alters it."""
    conflicts_with_source_reads: bool = False
    """A MERGE conflicts with commits to what its source reads of the target; else with what its ON selects alone."""
    leaves_subqueries_unread: bool = False
    """A subquery in USING over the target is read where it is simple only: else the statement fails."""
    logs_conditions: bool = False
    """The conditions of MERGE and OPTIMIZE are written into the table's log as text."""
    conflicts_by_partition: bool = False
    """A commit conflicts with files added to the partitions it has read; of a table without partitions, with any."""
    appends_conflict: bool = True
    """A MERGE that only inserts conflicts as others do; else it is an append, and two at once both commit."""
    compacts_by_partition: bool = False
    """Compaction takes partitions as a whole: it is restricted by partition columns, and orders by other columns."""

    @property
    def a_table(self) -> str:
        """One of its tables, as text."""
        return f"{'an' if self.label[0] in 'AEIOU' else 'a'} {self.label} table"

    @property
    def needs_catalog(self) -> bool:
        """Whether its tables are in a catalog only: no folder of the embedded warehouse is one."""
        return self.catalog_class is not None
