"""Which subqueries over the target Delta reads in the source of its own MERGE, as data.

Spark resolves a statement in passes, and a subquery expression in the first one after its FROM is resolved. Where the
source is not resolved when the first pass ends, Delta 4.4.0 marks the target's relation, so that Spark does not resolve
the MERGE (DeltaAnalysis, KEEP_AS_V2_RELATION_TAG); Spark resolves each further read of the table to a copy with the
mark. Delta does not replace a marked relation, and Spark cannot scan it: "Table does not support reads". A relation in
FROM is resolved in the first pass, whatever it is joined to, and so is all of a view's query.
"""

from __future__ import annotations

from dataclasses import dataclass
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
]
"""What FROM holds that Spark resolves after the first pass, whatever the types of the columns are."""

REWRITE = "read it in FROM: `cross join (select max(ts) as mark from {{ this }}) as m where ts > m.mark`"
"""What Delta runs whatever USING holds; EXISTS and IN become a LEFT SEMI JOIN, NOT EXISTS a LEFT ANTI JOIN."""
REWRITE_ROWS = "read it in FROM: `left semi join {{ this }} as x on …`, for NOT `left anti join`"
"""The same for a subquery that is not one row of aggregates, as in EXISTS and IN."""


@dataclass(frozen=True, slots=True)
class SourceForm:
    """A query of USING that reads the target `{t}` in a subquery or in FROM, and whether Delta runs it.

    `{t}`, `{o}` and `{o2}` have the columns id int, v string, ts bigint; `{p}` has id int, paid int; `{view}` is a view
    of `{o}` with a window function. `late` is the cause; None where Delta does not run it: Spark converts a type, or
    needs another pass for what is not in the list of causes.
    """

    query: str
    runs: bool
    late: Late | None = None


_MARK = "(select max(ts) from {t})"
_OUT = f" where ts > {_MARK}"
_RANKED = "select *, row_number() over (partition by id order by ts desc) as rn from {o}"
_JOINED = "{o} as o left join {p} as p"


def _fails(late: Late | None, *queries: str) -> tuple[SourceForm, ...]:
    return tuple(SourceForm(query, False, late) for query in queries)


def _runs(*queries: str) -> tuple[SourceForm, ...]:
    return tuple(SourceForm(query, True) for query in queries)


def _above(query: str) -> str:
    return f"select id, ts from ({query}){_OUT}"


FORMS: tuple[SourceForm, ...] = (
    *_runs(
        "select id, ts from {o}" + _OUT,
        "select id, ts from {view}" + _OUT,
        f"select id, ts from ({_RANKED}{_OUT}) where rn = 1",
        f"select id, ts, row_number() over (order by id) as rn from {{o}}{_OUT}",
        f"select o.id, ts from {_JOINED} on o.id = p.id where ts > {_MARK}",
        f"select o.id, ts from {_JOINED} on abs(o.id) = p.id where ts > {_MARK}",
        f"select id, max(ts) as ts from {{o}}{_OUT} group by id",
        f"select id, ts, {_MARK} as mark from {{o}}",
        "select id, ts from {o} as o where not exists (select 1 from {t} as x where x.id = o.id)",
        _above("select id, ts from {o}"),
        _above("select * from {o}"),
        _above("select *, 1 as one from {o}"),
        _above("select id, upper(v) as v, ts from {o}"),
        _above("select id, max(ts) as ts from {o} group by id"),
        _above("select distinct id, ts from {o}"),
        _above(f"select o.id, ts, paid from {_JOINED} on o.id = p.id"),
        _above("select id, ts from {o} union all select id, ts from {o2}"),
        "with a as (select id, ts from {o}), b as (select id, ts from a) select id, ts from b" + _OUT,
        # In FROM it is read in the first pass, next to whatever there is.
        f"select id, ts from ({_RANKED}) cross join (select max(ts) as mark from {{t}}) as m where ts > m.mark",
        f"with m as (select max(ts) as mark from {{t}}) select id, ts from ({_RANKED}) cross join m where ts > m.mark",
        f"select d.id, d.ts from ({_RANKED}) as d left anti join {{t}} as x on x.id = d.id",
    ),
    *_fails(
        "a window function",
        _above(_RANKED),
        _above("select id, ts, row_number() over (partition by id order by ts) as rn from {o}"),
        f"select id, ts from (select id, ts from ({_RANKED}) where rn = 1){_OUT}",
        f"with d as ({_RANKED}) select id, ts from d where rn = 1 and ts > {_MARK}",
        f"with m as (select max(ts) as mark from {{t}}) select id, ts from ({_RANKED}) where ts > (select mark from m)",
        f"select id, ts, {_MARK} as mark from ({_RANKED})",
        f"select id, ts from ({_RANKED}) where id in (select id from {{t}})",
        f"select id, ts from ({_RANKED}) as d where not exists (select 1 from {{t}} as x where x.id = d.id)",
        f"select o.id, ts from {{o}} as o join (select id, count(*) over () as n from {{p}}) as p on o.id = p.id{_OUT}",
    ),
    *_fails(
        "a star next to other columns",
        _above(f"select o.*, p.paid from {_JOINED} on o.id = p.id"),
        _above("select *, v as w from {o}"),
        _above("select *, upper(v) as w from {o}"),
    ),
    *_fails("HAVING", _above("select id, max(ts) as ts from {o} group by id having count(*) > 0")),
    *_fails("an aggregate without GROUP BY", _above("select 1 as id, max(ts) as ts from {o}")),
    *_fails("GROUP BY ALL", _above("select id, max(ts) as ts from {o} group by all")),
    *_fails("JOIN … USING", f"select id, ts from {_JOINED} using (id){_OUT}"),
    *_fails("NATURAL JOIN", "select id, ts from {o} as o natural join {p} as p" + _OUT),
    *_fails("LATERAL VIEW", "select id, ts from {o} lateral view explode(array(1, 2)) as e" + _OUT),
    *_fails("a list of column aliases", f"select a, b from (select id, ts from {{o}}) as q (a, b) where b > {_MARK}"),
    *_fails(
        "a function below another SELECT",
        _above("select id, v, ts from (select id, upper(v) as v, ts from {o})"),
        _above("select id, ts from {o} where upper(v) = 'A'"),
        "select o.id, ts from {o} as o join (select id, count(*) as n from {p} group by id) as p on o.id = p.id" + _OUT,
    ),
    *_fails(
        None,
        _above("select id, v, ts + 1 as ts from {o}"),
        _above("select id, ts from {o} where ts > 5"),
        _above("select id, ts, cast('2026-01-01' as timestamp) as at from {o}"),
        f"select o.id, ts from {_JOINED} on o.ts = p.id where ts > {_MARK}",
    ),
)
"""The forms that were run, each as the USING of a MERGE into `{t}`."""
