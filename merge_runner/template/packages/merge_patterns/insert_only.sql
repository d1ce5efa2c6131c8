{#- Each key as it first came. -#}
{% macro insert_only(source, keys, columns, order_by) -%}
{%- set keys, columns = merge_patterns.names(keys), merge_patterns.names(columns) -%}
{%- set all = keys + columns + [order_by] -%}
merge into {{ this }} as t
using (
    select {{ merge_patterns.listed(all) }}
    from (
        select
            {{ merge_patterns.listed(all) }},
            row_number() over (
                partition by {{ merge_patterns.listed(keys) }} order by {{ merge_patterns.listed([order_by] + columns) }}
            ) as nth_of_key
        from {{ source }}
    )
    where nth_of_key = 1
) as s
    on {{ merge_patterns.joined(keys) }}
when not matched then {{ merge_patterns.inserted(all) }}
{%- endmacro %}
