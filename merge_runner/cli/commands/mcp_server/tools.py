"""The tools: each is a command, some of its options, and the words that have it print JSON."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.cli.commands import diff, explain, lineage, lint, ls, rule, show, test
from merge_runner.options.nodes import NodeOptions
from merge_runner.options.output import OutputOptions


@dataclass(frozen=True)
class Tool:
    """A command that clients may call, by its name.

    `parameters` are the options of the command that they may give, `words` what the command gets in any case.
    """

    name: str
    description: str
    kind: type[OutputOptions]
    """The options of the command."""
    parameters: tuple[str, ...]
    required: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    answers: tuple[int, ...] = (0,)
    """The exit statuses with which the command has answered; with any other one it has failed."""
    writes: bool = False


_SELECTION = ("select", "exclude")
_JSON = ("--output", "json")

READING_TOOLS = (
    Tool(
        "lint",
        "Prove what each MERGE scans of its target, and find what is wrong with it: verdicts, and findings with file, "
        "line, column and fix. Reads files alone; needs no Spark. Call it after each edit of a model.",
        lint.Options,
        ("paths", *_SELECTION, "changed", "rules", "ignore"),
        words=("--format", "json"),
        answers=(0, 1),
    ),
    Tool(
        "rule",
        "What a rule of lint means and why, with a bad and a good example.",
        rule.Options,
        ("codes",),
        required=("codes",),
        words=_JSON,
    ),
    Tool(
        "ls",
        "The selected nodes of the project, one JSON object in a line: models, seeds, sources and tests.",
        ls.Options,
        (*_SELECTION, "resource_type", "output_keys"),
        words=_JSON,
    ),
    Tool(
        "lineage",
        "Which columns each column comes from, through MERGE, and which depend on it.",
        lineage.Options,
        ("name", "direction", "direct"),
        words=_JSON,
        answers=(0, 1),
    ),
    Tool(
        "explain",
        "What a build would do: levels, steps, the verdict of each MERGE, and whether a model would run at all. Runs "
        "nothing; `spark` asks Spark for its own plans, too.",
        explain.Options,
        (*_SELECTION, "spark"),
        words=_JSON,
        answers=(0, 1),
    ),
    Tool(
        "show",
        "The first rows of models, seeds and sources, or of a query; of a merge model the rows that each clause would "
        "insert, update and delete. Writes nothing. Starts Spark.",
        show.Options,
        (*_SELECTION, "inline", "limit"),
        words=_JSON,
    ),
    Tool(
        "diff",
        "Compare the tables of models, row by row, with another target, an earlier version, a branch, or a rebuild "
        "from nothing. Writes none of them; a rebuild is in a separate schema that is dropped. Starts Spark.",
        diff.Options,
        (
            *_SELECTION,
            *("against", "version", "timestamp", "branch", "rebuild"),
            *("key", "where", "limit", "tolerance", "exclude_columns"),
        ),
        words=_JSON,
        answers=(0, 1),
    ),
    Tool(
        "test",
        "Run the unit tests of merges, in separate schemas that are dropped, and the data tests, which are "
        "queries. Returns run_results.json. Starts Spark.",
        test.Options,
        (*_SELECTION, "fail_fast", "threads"),
    ),
)
BUILD = Tool(
    "build",
    "Lint, then run the selected merges and their tests. Writes tables. Refuses a merge without `expect_merge`, one "
    "that was not selected when the server was started, and one of which more than the MERGE has changed since then. "
    "Without `select` it builds all that it may. Returns run_results.json. Starts Spark.",
    NodeOptions,
    (*_SELECTION, "fail_fast", "threads", "max_scanned"),
    writes=True,
)
