"""What a reader of a container gives: statements as Spark gets them, with the way back to the author's file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from merge_runner.merge.find import find_merge
from merge_runner.text import Place, SourceText

if TYPE_CHECKING:
    from merge_runner.template.rendered_text import RenderedText

Container = Literal["sql", "script", "notebook", "ipynb", "python", "builder", "scala", "dbt", "model"]
"""What a MERGE is written in; the value of `container` in the JSON of lint.

`sql`: a file of one statement. `script`: a file of several. `notebook`: a notebook of Databricks or Fabric as source.
`python` and `scala`: a string given to `….sql(…)`. `builder`: a chain of `DeltaTable.merge` or `DataFrame.mergeInto`.
"""

CONTAINERS: tuple[Container, ...] = get_args(Container)

NOT_FOLLOWED = "lint cannot follow its calls from `merge(…)` to `execute()`, or from `mergeInto(…)` to `merge()`"
"""Why a builder is not read."""
NOT_RUN = "it is never run: `.execute()` of its builder is missing, or `.merge()` after `mergeInto(…)`"
"""Why a builder whose calls are a statement by themselves is not judged."""
NOT_PUT_TOGETHER = "lint cannot follow how this text is put together"
"""Why the MERGE that a text begins is not read."""


def has_words(text: str, *words: str) -> bool:
    """Return whether a text has the words one after the other; a pattern for all of them takes the square of it."""
    at = 0
    for word in words:
        match = re.compile(rf"\b{word}\b", re.IGNORECASE).search(text, at)
        if match is None:
            return False
        at = match.end()
    return True


@dataclass(frozen=True)
class EmbeddedStatement:
    """A statement in a container: a MERGE, or DDL that describes a table (CREATE TABLE, ALTER TABLE).

    `rendered.text` is what Spark would get, with what is filled at run time as an opaque name or value;
    `rendered.place` gives the place in the author's file (with the cell, in an .ipynb notebook) of a range of it.
    """

    container: Container
    rendered: RenderedText
    in_block: bool = False
    """Whether it is inside of BEGIN … END of a script, so that what it declares is no variable of the session."""
    rows: tuple[str, ...] = ()
    """The variables of the FOR loops around it."""
    discarded: tuple[Place, ...] = ()
    """The calls next to a builder that add a clause to nothing: what they return is thrown away."""


@dataclass(frozen=True)
class UnreadMerge:
    """A MERGE in a container whose text cannot be known without running the code, and why."""

    container: Container
    place: Place
    reason: str


@dataclass(frozen=True)
class Contents:
    """What a file holds: `statements` in the order of their places, and MERGEs that cannot be read.

    `texts` are the texts that places are in: the file's own, or the cells of an .ipynb notebook. `sql` are the texts of
    SQL in another language, or in cells, `code` the cells of Python and Scala in a notebook of another language:
    comments in them count.
    """

    statements: tuple[EmbeddedStatement, ...] = ()
    unread: tuple[UnreadMerge, ...] = ()
    texts: tuple[SourceText, ...] = ()
    sql: tuple[RenderedText, ...] = ()
    code: tuple[tuple[str, SourceText], ...] = ()
    """Each with its language."""

    @property
    def merges(self) -> int:
        """How many of the statements are MERGEs."""
        return sum(find_merge(statement.rendered.text) is not None for statement in self.statements)
