"""Spark's built-in functions that a condition of a MERGE cannot hold, by what they are.

Names and groups are those of FunctionRegistry in Spark 4.1.4 (org.apache.spark.sql.catalyst.analysis) and of the
`ExpressionDescription.group` of each class (agg_funcs, window_funcs, generator_funcs). That Delta refuses each sort
was run: DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED, DELTA_AGGREGATION_NOT_SUPPORTED (Spark 4.1, Delta 4.4.0);
Spark refuses them for Iceberg: UNSUPPORTED_MERGE_CONDITION.NON_DETERMINISTIC, .AGGREGATE.
"""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


NON_DETERMINISTIC = _names(
    """
    rand random randn randstr uniform uuid shuffle monotonically_increasing_id spark_partition_id input_file_name
    input_file_block_start input_file_block_length reflect java_method try_reflect
    """
)
"""Classes with the trait `Nondeterministic`, and what is replaced by one of them (`uniform`).

`current_date`, `current_timestamp`, `now` and the like are none: they are the same for the whole statement.
"""

AGGREGATES = _names(
    """
    any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate approx_top_k_combine
    array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list
    collect_set corr count count_if count_min_sketch covar_pop covar_samp every first first_value grouping grouping_id
    histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double kll_merge_agg_float
    kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis last last_value listagg max max_by mean
    median min min_by mode percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev
    stddev_pop stddev_samp string_agg sum theta_intersection_agg theta_sketch_agg theta_union_agg try_avg try_sum
    var_pop var_samp variance
    """
)

WINDOW_ONLY = _names("cume_dist dense_rank lag lead nth_value ntile percent_rank rank row_number")
"""Functions that stand in front of OVER only."""

GENERATORS = _names(
    """
    explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack variant_explode
    variant_explode_outer
    """
)
"""Functions that give several rows: in a SELECT list or LATERAL VIEW only."""
