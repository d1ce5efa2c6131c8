"""Which subqueries over the target Delta reads in the source of its own MERGE, as data.

Spark resolves a statement in passes, and a subquery expression in the first one after its FROM is resolved. Where the
source is not resolved when the first pass ends, Delta 4.4.0 marks the target's relation, so that Spark does not resolve
the MERGE (DeltaAnalysis, KEEP_AS_V2_RELATION_TAG); Spark resolves each further read of the table to a copy with the
mark. A table of files (CSV, JSON, Parquet, ORC, text) is resolved after it, what is under a view is not. Delta does
not replace a marked relation, and Spark cannot scan it: "Table does not support reads". A relation in FROM is resolved
in the first pass, whatever it is joined to, and so is all of a view's query.
"""

from __future__ import annotations

from typing import Literal

Late = Literal[
    "a window function",
    "a star next to other columns",
    "HAVING",
    "an aggregate without GROUP BY",
    "GROUP BY ALL",
    "JOIN … USING",
    "NATURAL JOIN",
    "LATERAL VIEW",
    "a list of column aliases",
    "a function below another SELECT",
    "a table of files",
]
"""What FROM holds that Spark resolves after the first pass, whatever the types of the columns are."""

FILES = frozenset(("csv", "json", "orc", "parquet", "text"))
"""The formats of Spark's own tables of files, as `CREATE TABLE … USING` has them."""

REWRITE = "read it in FROM: `cross join (select max(ts) as mark from {{ this }}) as m where ts > m.mark`"
"""What Delta runs whatever USING holds; EXISTS and IN become a LEFT SEMI JOIN, NOT EXISTS a LEFT ANTI JOIN."""
REWRITE_ROWS = "read it in FROM: `left semi join {{ this }} as x on …`, for NOT `left anti join`"
"""The same for a subquery that is not one row of aggregates, as in EXISTS and IN."""
