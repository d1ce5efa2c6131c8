{#- In one partition exactly the rows of the source. -#}
{% macro snapshot_partition(source, partition, keys, columns) -%}
{%- if partition is not mapping or not partition -%}
    {{ exceptions.raise_compiler_error("partition is a dict of partition columns and their values, as in {'day': var('day')}") }}
{%- endif -%}
{%- set columns, places = merge_patterns.names(columns), partition.keys() | list -%}
{%- set keys = places + (merge_patterns.names(keys) | reject('in', places) | list) -%}
merge into {{ this }} as t
using (
    select {{ merge_patterns.listed(keys + columns) }}, is_gone
    from (
        select
            *,
            row_number() over (
                partition by {{ merge_patterns.listed(keys) }} order by is_gone, {{ merge_patterns.last_first(columns) }}
            ) as nth_of_key
        from (
            select {{ merge_patterns.listed(keys + columns) }}, false as is_gone
            from {{ source }}
            where {{ merge_patterns.in_partition(partition) }}
            {%- if is_incremental() %}
            union all
            -- and what the partition has: a row that is not in the source is gone
            select {{ merge_patterns.listed(keys + columns) }}, true
            from {{ this }}
            where {{ merge_patterns.in_partition(partition) }}
            {%- endif %}
        )
    )
    where nth_of_key = 1
) as s
    on {{ merge_patterns.in_partition(partition, 't.') }}
    and {{ merge_patterns.joined(keys) }}
when matched and s.is_gone then delete
when matched and {{ merge_patterns.differs(columns) }}
    then update set {{ merge_patterns.assigned(columns) }}
when not matched and not s.is_gone then {{ merge_patterns.inserted(keys + columns) }}
{%- endmacro %}
