"""What Spark and Delta say of a user's mistake, and what merge-runner says instead, as data.

An engine's message may be about a shell (`use DROP TABLE IF EXISTS`), repeat its advice, or name no way to correct it.
Messages are those of Spark 4.1.4 and Delta 4.4.0; one that no row fits is shown as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rewording:
    """A message of an error condition in other words.

    `condition` is the beginning of the condition (of the class where it has none), `text` a pattern that fits anywhere
    in its message. `message` and `hint` are templates over the groups of the pattern; an empty message keeps that of
    the engine. The group `name` is what the statement may have in one place only; `known`, in `[…]` and with
    backquotes, are the names that would be right.
    """

    condition: str
    text: str
    message: str = ""
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class RewordedMessage:
    """A message, what to do about it, the name that it is about and those that would be right, without backquotes."""

    message: str
    hint: str | None
    name: str | None = None
    suggestions: tuple[str, ...] = ()


NOT_EMPTY = "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
"""The error condition of CREATE TABLE where the folder of a managed table has files, whatever these are."""

_CAST = "cast it in USING, or where it is written, to the type of the target"

REWORDINGS: tuple[Rewording, ...] = (
    Rewording(
        "UNRESOLVED_COLUMN",
        r"with name (?P<name>\S+) cannot be resolved(?:\. Did you mean one of the following\? \[(?P<known>[^\]]*)\])?",
        "there is no column {name}",
    ),
    Rewording(
        "TABLE_OR_VIEW_NOT_FOUND",
        r"table or view (?P<name>\S+) cannot be found",
        hint="build the model that makes it, or declare the source: one of files has `path` and `format` in its YAML",
    ),
    Rewording(
        "NOT_NULL_ASSERT_VIOLATION",
        r"non-nullable field:\s*(?P<name>\S+)",
        "NULL for the column {name}, which is NOT NULL",
        "keep rows with NULL there out of the source, or declare the column nullable",
    ),
    Rewording(
        "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
        r"constraint violated for column: (?P<name>\S+?)\.?(?:\s|\Z)",
        "NULL for the column {name}, which is NOT NULL",
    ),
    Rewording(
        "",
        r"Updating nested fields is only supported for StructType, but you are trying to update a field of "
        r"(?P<column>.+?), which is of type: (?P<type>[A-Z][a-z]+)",
        "SET cannot write a field of {column}: it is of the type {type}, no struct",
        "set the whole column",
    ),
    Rewording(
        "DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS",
        r"Updating nested fields is only supported for StructType but '(?P<column>[^']+)' is of type "
        r"(?P<type>[A-Z][a-z]+)",
        "SET cannot write a field of {column}: it is of the type {type}, no struct",
        "set the whole column",
    ),
    Rewording(
        "DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE",
        r"Cannot resolve (?P<column>\S+)\.`?(?P<field>\w+)`? in target columns",
        "SET cannot write the field {field} of {column}: it is no struct",
        "set the whole column",
    ),
    Rewording(
        "",
        r"Failed to merge incompatible schemas StructType\(",
        "a column of the source is of another type than that of the target, and schema evolution does not change types",
        _CAST,
    ),
    Rewording(
        "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
        r'incompatible data types (?P<target>".*?") and (?P<source>".*?")',
        "a column of the source is of the type {source}, and that of the target {target}",
        _CAST,
    ),
    Rewording(
        "DELTA_FAILED_TO_MERGE_FIELDS",
        r"Failed to merge fields '(?P<name>[^']+)'",
        "the column {name} of the source is of another type than that of the target",
        _CAST,
    ),
    Rewording(
        "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
        r'Cannot safely cast (?P<name>\S+) (?P<source>"[^"]*") to (?P<target>"[^"]*")',
        "{name} is of the type {target}, and its value of the type {source}",
        _CAST,
    ),
    Rewording(
        "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA",
        r"Cannot find data for the output column (?P<name>`\S+`)",
        "the value that is written has no {name}",
        "give it every field of the column, as `named_struct(…)`",
    ),
    Rewording(
        "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_STRUCT_FIELDS",
        r"Cannot write extra fields (?P<fields>.+?) to the struct (?P<column>`\S+`)",
        "the value that is written has fields that {column} has not: {fields}",
        "leave them out, or write MERGE WITH SCHEMA EVOLUTION",
    ),
    Rewording(
        "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY",
        r"Unsupported subquery expression: (?P<what>Correlated scalar|IN/EXISTS predicate) subqueries",
        "{what} subqueries are not possible here",
        "compute it in the query of USING, as a column of the source",
    ),
    Rewording(
        "UNSUPPORTED_EXPR_FOR_OPERATOR",
        r"Invalid expressions: \[(?P<what>[^\]]*)\]",
        "{what} is not possible here",
        "compute it in the query of USING, as a column of the source",
    ),
    Rewording(
        "INVALID_NON_DETERMINISTIC_EXPRESSIONS",
        r"expects a deterministic expression",
        "a MERGE that copies files cannot have a source or value that differs each time",
        "write the source into a table first, or make the value of its columns",
    ),
    Rewording(
        "DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS",
        r"No assignment for '(?P<column>[^']+)'",
        "INSERT gives no value to {column}, NOT NULL in the target",
        "insert a value, or declare the column nullable",
    ),
    Rewording(
        "INTERNAL_ERROR",
        r"Cannot find main error class 'DELTA_MERGE_UNRESOLVED_EXPRESSION'",
        "a column that the MERGE names, or that a `*` needs, does not exist",
        "compare the columns of target and source: `lint` names the column where both are declared",
    ),
    Rewording(
        "UNRESOLVED_ROUTINE",
        r"Cannot resolve routine (?P<name>\S+) on search path",
        "there is no function {name}",
        "check its spelling: functions of other databases may have another name in Spark SQL",
    ),
    Rewording(
        "AMBIGUOUS_REFERENCE",
        r"Reference (?P<column>\S+) is ambiguous, could be: \[(?P<all>.*)\]",
        "column {column} is ambiguous: {all}",
        "write the alias of one of the tables before it",
    ),
    Rewording(
        "COLUMN_ALREADY_EXISTS",
        r"The column (?P<column>\S+) already exists",
        "there are two columns {column}",
        "give one of them another name with `as`, or leave it out",
    ),
    Rewording(
        "MISSING_AGGREGATION",
        r'The non-aggregating expression "(?P<column>[^"]+)"',
        "{column} is neither in GROUP BY nor aggregated",
        "add it to GROUP BY, or use any_value({column}) where any value of the group will do",
    ),
    Rewording(
        "REQUIRES_SINGLE_PART_NAMESPACE",
        r"but got (?P<name>(?P<catalog>`[^`]+`)\.\S+)",
        "there is no catalog {catalog}",
        "configure it under `catalogs` of the output in profiles.yml",
    ),
    Rewording(
        "CATALOG_NOT_FOUND",
        r"The catalog (?P<catalog>\S+) not found",
        "there is no catalog {catalog}",
        "configure it under `catalogs` of the output in profiles.yml",
    ),
    Rewording(
        "UNABLE_TO_INFER_SCHEMA",
        r"Unable to infer schema for (?P<format>\w+)",
        "no columns can be read from the {format} files of a source: there are none, or they are empty",
        "check its `path` and `format`; declared columns with `data_type` are used as they are",
    ),
    Rewording(
        "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER",
        r"reading file (?P<file>\S+)\. Could not read footer",
        "{file} is no Parquet or ORC file, or is damaged",
        "check `path` and `format` of the source",
    ),
    Rewording(
        NOT_EMPTY,
        r"location \('(?P<folder>[^']+)'\) is not empty and also not a Delta table",
        "the table cannot be created: {folder} has files, and is no Delta table",
        "move them away, or give the model another `alias` or `schema`; for an Iceberg table set `format: iceberg`",
    ),
    Rewording(
        "_LEGACY_ERROR_TEMP_3060",
        r"Couldn't find column (?P<column>\S+) in:",
        "the table has no column {column}",
        "check `partition_by` and `cluster_by`, and the columns that the model gives",
    ),
    Rewording(
        "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
        r"Invalid column names: (?P<names>.+?)\.\n",
        "Delta allows no blank and none of ,;{{}}()= in column names: {names}",
        "rename them with `as`, or set the property delta.columnMapping.mode to name",
    ),
    Rewording(
        "IllegalArgumentException",
        r'^For input string: (?P<value>".*")$',
        "{value} is no value of the type that a setting needs",
        "check `properties`, and `conf` of the model and of profiles.yml",
    ),
)

_ADVICE: tuple[tuple[str, str | None], ...] = (
    (
        r"\.? Use (?:the SQL function )?[`'](?P<name>\w+)(?:\(\))?[`'] to tolerate [^.]+\.?",
        "use {name} where NULL is meant",
    ),
    (r" If necessary,? set \S+ to \S+ to bypass this error\.?", None),
    (r" Correct the value as per the syntax, or change its target type\.?", None),
    (r" Please, refer to '[^']+' for a fix\.?", None),
)
"""Sentences that a message does without, and the hint that says the same."""


def reword(condition: str, message: str) -> RewordedMessage:
    """Return what to say instead of an engine's message."""
    for row in REWORDINGS:
        if condition.startswith(row.condition) and (match := re.search(row.text, message, re.DOTALL)):
            return _fill(row, match, message)
    hint: str | None = None
    for pattern, advice in _ADVICE:
        match = re.search(pattern, message)
        if match is not None:
            message = message[: match.start()] + message[match.end() :]
            hint = advice.format(**match.groupdict()) if advice is not None else hint
    return RewordedMessage(message.strip().rstrip("."), hint)


def _fill(row: Rewording, match: re.Match[str], message: str) -> RewordedMessage:
    groups = match.groupdict()
    name = groups["name"].replace("`", "") if "name" in groups else None
    similar = (name.replace("`", "") for name in re.findall(r"(?:`[^`]*`\.?)+", groups.get("known") or ""))
    hint = row.hint.format(**groups) if row.hint is not None else None
    return RewordedMessage(row.message.format(**groups) if row.message else message, hint, name, tuple(similar))
