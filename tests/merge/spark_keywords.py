"""What Spark's parser makes of each of its keywords where a name may be: asked of Spark, and kept in keywords.yml."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from tests.yaml_data import read_yaml

FILE = Path(__file__).parent / "keywords.yml"

TEXTS = {
    "table": "select * from {}",
    "table of a schema": "select * from db.{}",
    "joined table": "select * from s join {} on s.id = {}.id",
    "alias": "select * from s {}",
    "alias with AS": "select * from s as {} where {}.id = 1",
    "alias, joined": "select * from s {} join u on s.id = u.id",
    "alias with AS, joined": "select * from s as {} join u on {}.id = u.id",
    "CTE": "with {} as (select 1 as id) select * from {}",
    "column": "select {} from s",
    "column of a table": "select s.{} from s",
    "table of a column": "select {}.id from s",
    "column alias": "select id {} from s",
    "column alias with AS": "select id as {} from s",
    "column in WHERE": "select * from s where {} = 1",
    "column in ORDER BY": "select * from s order by {}",
    "column in GROUP BY": "select {}, count(*) from s group by {}",
    "source": "merge into t using {} on t.id = 1 when matched then delete",
    "source alias": "merge into t using s {} on t.id = {}.id when matched then delete",
    "source alias with AS": "merge into t using s as {} on t.id = {}.id when matched then delete",
    "target": "merge into {} using s on s.id = 1 when matched then delete",
    "target alias": "merge into t {} using s on s.id = {}.id when matched then delete",
    "target alias with AS": "merge into t as {} using s on s.id = {}.id when matched then delete",
    "column in ON": "merge into t using s on t.{} = s.{} when matched then update set {} = s.{}",
    "bare column in ON": "merge into t using s on {} = s.id when matched then delete",
}
"""Where a keyword is tried; `{}` is its place."""


def sql(where: str, keyword: str) -> str:
    """The text with a keyword in its place. It is written `sELECT`, as no plan of Spark writes it by itself."""
    return TEXTS[where].replace("{}", written(keyword))


def written(keyword: str) -> str:
    return keyword[0].lower() + keyword[1:]


def recorded() -> dict[str, Any]:
    return read_yaml(FILE)


def asked_of_spark(spark: Any) -> dict[str, Any]:
    """All keywords, and for each text those that Spark refuses there, and those that it reads otherwise than a name."""
    keywords = sorted(row[0] for row in spark.sql("select keyword from sql_keywords()").collect())
    parser = spark._jsparkSession.sessionState().sqlParser()
    places = {}
    for where in TEXTS:
        plans = {keyword: _plan(parser, sql(where, keyword), keyword) for keyword in keywords}
        as_name = Counter(plan for plan in plans.values() if plan is not None).most_common(1)[0][0]
        found = {
            "refused": [keyword for keyword, plan in plans.items() if plan is None],
            "otherwise": [keyword for keyword, plan in plans.items() if plan not in (None, as_name)],
        }
        places[where] = {key: words for key, words in found.items() if words}
    return {"keywords": keywords, "places": places}


def _plan(parser: Any, text: str, keyword: str) -> str | None:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        plan = parser.parsePlan(text).toString()
    except (PySparkException, Py4JJavaError):
        return None
    return re.sub(r"#\d+", "", plan).replace(written(keyword), "{}")
