"""Lets a MERGE into an Iceberg table set a field of a struct where the extension of Delta is loaded too.

Spark turns `SET t.s.n1 = …` into an assignment of the column `s` (ResolveRowLevelCommandAssignments), once each
expression of the MERGE is resolved. Implicit casts come after that rule: where there is one, as for a key that is an
int here and a bigint there, Delta's rule sees the field in the same pass. It refuses what is no column in any MERGE,
whatever its target is (`DeltaMergeIntoClause.toActions`, Delta 4.4.0: DELTA_MERGE_UNEXPECTED_ASSIGNMENT_KEY). So
Spark's rule runs once more, between the casts and Delta's. What takes Spark more passes is refused still: a function of
an array whose lambda casts, a cast with a schema that evolves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import from_engine
from merge_runner.engine.spark.jvm_util import java_class
from merge_runner.engine.spark.user_confs import EXTENSIONS, split_list

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BUILDERS = "resolutionRuleBuilders"
_RULE = "org.apache.spark.sql.catalyst.analysis.ResolveRowLevelCommandAssignments$"
_EMPTY_MAP = "scala.collection.immutable.Map$EmptyMap$"


def assign_columns_before_delta(session: SparkSession) -> None:
    """Have the sessions that are made of this one assign whole columns before Delta's rules look at a MERGE.

    Does nothing with one extension, and where Spark's classes are others than those of the lines that are known:
    such a MERGE then fails as it is analysed.
    """
    if len(split_list(session.sparkContext.getConf().get(EXTENSIONS) or "", ",")) < 2:
        return
    try:
        extensions = session._jsparkSession.extensions()
        field = extensions.getClass().getDeclaredField(_BUILDERS)
        field.setAccessible(True)  # rules are added at its end, which is too late
        builders = field.get(extensions)
        # A map is a function: this one gives the rule for any session.
        rule = getattr(java_class(session, _RULE), "MODULE$")
        builder = getattr(java_class(session, _EMPTY_MAP), "MODULE$").withDefaultValue(rule)
        if not builders.contains(builder):
            builders.prepend(builder)
    except Exception as error:
        if not from_engine(error):
            raise
