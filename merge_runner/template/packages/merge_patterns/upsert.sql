{#- Each key with its values of the last run that had it. The source has one row per key. -#}
{% macro upsert(source, keys, columns) -%}
{%- set keys, columns = merge_patterns.names(keys), merge_patterns.names(columns) -%}
merge into {{ this }} as t
using (
    select {{ merge_patterns.listed(keys + columns) }}
    from {{ source }}
) as s
    on {{ merge_patterns.joined(keys) }}
when matched and {{ merge_patterns.differs(columns) }}
    then update set {{ merge_patterns.assigned(columns) }}
when not matched then {{ merge_patterns.inserted(keys + columns) }}
{%- endmacro %}
